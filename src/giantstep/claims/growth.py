"""What grows with d and what does not: powers of d, straight lines through measured points, and on which side an exponent is."""

from collections.abc import Iterable, Sequence
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from giantstep.checks import power
from giantstep.measure import mean_and_error

LEVEL = 3.0  # standard errors


def growth(sizes: Sequence[int], values: np.ndarray) -> tuple[float, float]:
    """Exponent in d of values (sizes, seeds), and its standard error over seeds."""
    x = np.log(sizes) - np.mean(np.log(sizes))
    mean, error = mean_and_error(x @ np.log(values) / np.sum(x**2))
    return float(mean), float(error)


def line(x: ArrayLike, y: ArrayLike, error: ArrayLike) -> tuple[float, float, float, float]:
    """Weighted straight line through measured points: intercept, its standard error, slope, its standard error."""
    x, y, error = (np.asarray(v, dtype=float) for v in (x, y, error))
    A = np.stack([np.ones_like(x), x], 1) / error[:, None]
    inverse = np.linalg.inv(A.T @ A)
    fit = inverse @ A.T @ (y / error)
    return float(fit[0]), float(inverse[0, 0] ** 0.5), float(fit[1]), float(inverse[1, 1] ** 0.5)


def as_said(exponent: tuple[float, float], learned: bool, between: float) -> bool | None:
    """Whether an exponent (and its standard error) is above ``between`` where learned, below where not; else None."""
    value, error = exponent
    beyond = (value - between) * (1 if learned else -1)
    return None if abs(beyond) <= LEVEL * error else beyond > 0


def outcome(sides: Iterable[bool | None]) -> Literal["holds", "fails", "inconclusive"]:
    """One exponent on the wrong side is enough to fail, and one that is undecided to leave the statement open."""
    sides = list(sides)
    return "fails" if False in sides else ("inconclusive" if None in sides else "holds")


def stated(errors: Sequence[float], between: float, seeds: int) -> str:
    """Size and power of telling exponents of 0 from exponents of 1, in words."""
    # a true 0 or 1 is at least min(between, 1 - between) away from the wrong side
    levels = [LEVEL + min(between, 1 - between) / error for error in errors]
    wrong = sum(power.alarm(1.0, level, 0.0, seeds) for level in levels) / 2
    departures = [power.detectable(error, LEVEL) for error in errors]
    return (
        f"{len(levels)} exponents at {LEVEL:g} s.e. from {between:g}: where they should be 0 or 1, one is called wrong "
        f"with probability {wrong:.0e} at most; one that is {min(departures):.2g} to {max(departures):.2g} beyond "
        f"{between:g} on the "
        f"wrong side is seen with probability {power.SEEN:g}."
    )
