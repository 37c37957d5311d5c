"""Warm-up: compile what the views need first, in the background, so that the first slider moves at once."""

import threading

from giantstep.explorer.laboratory import Laboratory

__all__ = ["warm_up"]


def warm_up(lab: Laboratory) -> None:
    """Start compiling on every process; the page can be used meanwhile, a little slower."""
    threading.Thread(target=lambda: lab.read("warm-up", _reader, limit=300.0), daemon=True).start()


def _reader() -> None:
    import giantstep as gs

    gs.explain("x1")
