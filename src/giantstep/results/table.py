"""Numbers as text that a person wants to read: a value with its error, and a table."""

import numpy as np

MAX_ROWS = 24


def with_error(value: float, error: float | None) -> str:
    """0.1234 +- 0.0056 as 0.1234(56)-like plain text: the value to the digits its error allows."""
    if error is None or not np.isfinite(error) or error <= 0:
        return f"{value:.5g}"
    digits = int(np.clip(1 - np.floor(np.log10(error)), 0, 12))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def aligned(header: list[str], body: list[list[str]]) -> list[str]:
    """Columns to the right; of many rows the first and the last."""
    shown = body if len(body) <= MAX_ROWS else [*body[: MAX_ROWS // 2], ["..."] * len(header), *body[-MAX_ROWS // 2 :]]
    widths = [max(len(r[i]) for r in [header, *shown]) for i in range(len(header))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(r, widths, strict=True)) for r in [header, *shown]]
