"""What grows with d and what does not: powers of d, straight lines through measured points, and on which side an exponent is."""

from typing import TYPE_CHECKING, Literal

from giantstep.lab import power

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    import numpy as np
    from numpy.typing import ArrayLike

LEVEL = 3.0  # standard errors


def growth(sizes: "Sequence[int]", values: "np.ndarray") -> tuple[float, float]:
    """Exponent in d of values (sizes, seeds), and its standard error over seeds."""
    import numpy as np

    from giantstep.measure import mean_and_error

    x = np.log(sizes) - np.mean(np.log(sizes))
    mean, error = mean_and_error(x @ np.log(values) / np.sum(x**2))
    return float(mean), float(error)


def line(x: "ArrayLike", y: "ArrayLike", error: "ArrayLike") -> tuple[float, float, float, float]:
    """Weighted straight line through measured points: intercept, its standard error, slope, its standard error."""
    import numpy as np

    x, y, error = (np.asarray(v, dtype=float) for v in (x, y, error))
    A = np.stack([np.ones_like(x), x], 1) / error[:, None]
    inverse = np.linalg.inv(A.T @ A)
    fit = inverse @ A.T @ (y / error)
    return float(fit[0]), float(inverse[0, 0] ** 0.5), float(fit[1]), float(inverse[1, 1] ** 0.5)


def as_said(exponent: tuple[float, float], learned: bool, between: float) -> bool | None:
    """Whether an exponent, given with its standard error, is above ``between`` where something is learned and below where not; None within the error bars."""
    value, error = exponent
    beyond = (value - between) * (1 if learned else -1)
    return None if abs(beyond) <= LEVEL * error else beyond > 0


def outcome(said: "Iterable[bool | None]") -> Literal["holds", "fails", "inconclusive"]:
    """One exponent on the wrong side is enough to fail, and one that is undecided to leave the statement open."""
    said = list(said)
    return "fails" if False in said else ("inconclusive" if None in said else "holds")


def stated(errors: "Iterable[float]", between: float, seeds: int) -> str:
    """Size and power of telling exponents near 0 from exponents near 1."""
    unit = f" (in an exponent, beyond the {between:g} between 0, not learned, and 1, learned)"
    return power.stated(errors, LEVEL, unit=unit, seeds=seeds)
