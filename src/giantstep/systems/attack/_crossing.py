"""The first crossing: where functions that start above zero first fall below it, for many of them at once."""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float

POINTS, TOGETHER = 64, 8  # of the scan, and how many of them at once
ROUNDS, EXACT = 60, 1e-12  # of false position in the bracket that the scan finds, and the relative step that ends it

Function = Callable[[Float[np.ndarray, "n ..."]], Float[np.ndarray, "n ..."]]


def first_crossing(
    value: Function, start: Float[np.ndarray, " n"], far: Float[np.ndarray, " n"]
) -> Float[np.ndarray, " n"]:
    """The first t at which ``value`` is below zero on a scan up to ``far``, refined; infinite where there is none.

    ``value`` takes t of shape (n,) or (n, T), and is ``start`` at 0. Two crossings between neighbours of the scan, far/64 apart,
    go unseen.
    """
    low, high = np.zeros_like(far), np.full_like(far, np.inf)
    above, below = start, np.zeros_like(far)
    for first in range(1, POINTS + 1, TOGETHER):
        steps = far[:, None] * (np.arange(first, first + TOGETHER) / POINTS)
        for t, now in zip(steps.T, value(steps).T, strict=True):
            open_ = np.isinf(high)
            crossed = open_ & (now < 0)
            high, below = np.where(crossed, t, high), np.where(crossed, now, below)
            low, above = np.where(open_ & ~crossed, t, low), np.where(open_ & ~crossed, now, above)
        if np.all(np.isfinite(high)):
            break
    return _between(value, (low, above), (high, below))


def _between(
    value: Function,
    start: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
    end: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
) -> Float[np.ndarray, " n"]:
    """The root inside every bracket by false position, the end that stays halved in value; none stays infinite."""
    (low, above), (high, below) = start, end
    known = np.isfinite(high)
    low, high, above, below = (np.where(known, x, y) for x, y in ((low, 0.0), (high, 1.0), (above, 1.0), (below, -1.0)))
    root, last = high, np.zeros_like(high)
    for _ in range(ROUNDS):
        before, root = root, low + (high - low) * above / (above - below)
        now = np.where(known, value(root), 0.0)
        over = now < 0
        above = np.where(over, np.where(last < 0, above / 2, above), now)
        below = np.where(over, now, np.where(last > 0, below / 2, below))
        low, high, last = np.where(over, low, root), np.where(over, root, high), np.where(over, -1.0, 1.0)
        if np.all((now == 0) | (np.abs(root - before) <= EXACT * root)):
            break
    return np.where(known, root, np.inf)
