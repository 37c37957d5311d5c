"""Nodes of Gaussian coordinates: products of Gauss rules while the coordinates are few, scrambled Sobol points beyond.

A rule has as many nodes as the function needs: ``strength`` is the standard deviation of what the coordinate adds to the argument
of the activation, whose own width is about one.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

from giantstep.functions import hermite

FEW = 3  # coordinates up to which products of rules are taken
MOST = 320  # nodes of a product
COUNTS = ((3, 0.03), (4, 0.1), (6, 0.25), (8, 0.6), (12, 1.5), (16, np.inf))  # nodes up to a strength
SIDE = 8  # nodes on each side of a kink
SMOOTH = 12  # nodes along a smooth label
REACH = 6.5


class Nodes(NamedTuple):
    """Points (coordinates, N) and weights (N,)."""

    points: Float[np.ndarray, "coordinates N"]
    weights: Float[np.ndarray, " N"]


def rules(strengths: Sequence[float], most: int) -> list[tuple[np.ndarray, np.ndarray]]:
    """Gauss-Hermite rules for coordinates of those strengths, of at most so many nodes in all."""
    counts = [next(count for count, limit in COUNTS if strength <= limit) for strength in strengths]
    while np.prod(counts) > most and max(counts) > COUNTS[0][0]:
        counts[int(np.argmax(counts))] -= 1
    return [hermite.gauss_hermite(count) for count in counts]


def kinked(cuts: Sequence[float]) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """A rule for N(0, 1) that is good for functions with kinks at the cuts."""
    inside = sorted({float(c) for c in cuts if abs(c) < REACH - 1})
    if not inside:
        return hermite.gauss_hermite(SMOOTH)
    x, w = np.polynomial.legendre.leggauss(SIDE)
    edges = np.array([-REACH, *inside, REACH])
    half = np.diff(edges)[:, None] / 2
    z = edges[:-1, None] + half * (1 + x)
    weights = (half * w * np.exp(-0.5 * z**2)).ravel()
    return z.ravel(), weights / weights.sum()


def product(rules: Sequence[tuple[np.ndarray, np.ndarray]]) -> Nodes:
    """All combinations of the nodes of several rules."""
    grids = np.meshgrid(*(x for x, _ in rules), indexing="ij")
    weights = np.ones(1)
    for _, w in rules:
        weights = np.multiply.outer(weights, w)
    return Nodes(np.array([g.ravel() for g in grids]).reshape(len(rules), weights.size), weights.ravel())


@lru_cache(maxsize=16)
def sobol(coordinates: int, count: int, seed: int) -> Nodes:
    """Scrambled Sobol points made Gaussian, of equal weight, mean zero and covariance one; ``count`` is a power of two."""
    from scipy.stats import qmc  # here: it takes longer to import than a prediction with few coordinates

    x = qmc.Sobol(coordinates, rng=np.random.default_rng(seed)).random(count)
    z = ndtri(np.clip(x, 1e-12, 1 - 1e-12)).T
    z = z - z.mean(axis=1, keepdims=True)
    if count > 2 * coordinates:
        z = np.linalg.solve(np.linalg.cholesky(z @ z.T / count), z)
    made = Nodes(z, np.full(count, 1 / count))
    for each in made:
        each.flags.writeable = False  # they are shared
    return made
