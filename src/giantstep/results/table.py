"""Numbers as text to read: a value with its error, a duration, a table."""

import numpy as np

MAX_ROWS = 24


def with_error(value: float, error: float | None) -> str:
    """The value with its standard error, rounded as the error suggests: 0.1234 ± 0.0056."""
    if error is None or not np.isfinite(error) or error <= 0:
        return f"{value:.5g}"
    digits = _decimals(error / 10)
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def within(value: float, low: float, high: float) -> str:
    """The value with as many digits as its band allows: the last one shown is of the order of a quarter of the band."""
    quarter = (high - low) / 4
    if not np.isfinite(quarter) or quarter <= 0:
        return f"{value:.5g}"
    return f"{value:.{_decimals(quarter)}f}"


def rounded(value: float, band: tuple[float, float] | None, error: float | None) -> str:
    """A prediction with as many digits as its band allows, or else the standard error of the measurement beside it."""
    if band is not None:
        return within(value, *band)
    if error is None or not np.isfinite(error) or error <= 0:
        return f"{value:.4g}"
    return f"{value:.{_decimals(error / 10)}f}"


def _decimals(unit: float) -> int:
    """Decimals of a number whose last digit is of the order of ``unit``."""
    return int(np.clip(-np.floor(np.log10(unit)), 0, 12))


def aligned(header: list[str], body: list[list[str]], most: int = MAX_ROWS) -> list[str]:
    """The lines of a table with right-aligned columns; of more than ``most`` rows only the first and the last."""
    shown = shortened(body, most)
    widths = [max(len(r[i]) for r in [header, *shown]) for i in range(len(header))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(r, widths, strict=True)) for r in [header, *shown]]


def shortened(body: list[list[str]], most: int) -> list[list[str]]:
    """The first and the last rows, if there are more than ``most``."""
    return body if len(body) <= most else [*body[: most // 2], ["..."] * len(body[0]), *body[-(most // 2) :]]


def duration(seconds: float, *, rough: bool = False) -> str:
    """A duration such as 12.3 s, 4.5 min or 2.1 h; with ``rough`` it is rounded: about 20 s, about 3 min, about 1.5 h."""
    if seconds >= 5400:
        return f"{'about ' * rough}{seconds / 3600:.1f} h"
    if rough:
        tens = max(10, round(seconds / 10) * 10)
        return f"about {tens} s" if seconds < 55 else f"about {max(1, round(seconds / 60))} min"
    return f"{seconds:.1f} s" if seconds < 90 else f"{seconds / 60:.1f} min"
