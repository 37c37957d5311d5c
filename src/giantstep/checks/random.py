"""Random numbers of a claim that draws for itself: each comes from a stream of the seed."""

from giantstep._machine.random import Stream, generator, normals

__all__ = ["Stream", "generator", "normals"]
