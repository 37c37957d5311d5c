"""Tidy: one row for each route and point of a sweep, averaged over seeds, as text, CSV or plain data."""

import csv
import io
import math
from typing import Any

import numpy as np

from giantstep.lab.sweep.sweep import Sweep

__all__ = ["averages", "text", "to_csv"]

_INSIDE = ("direction", "neuron", "index", "other")
SHOWN = 40  # rows of the table as text


def averages(sweep: Sweep, found: Any) -> list[dict[str, Any]]:
    """Rows of the Dataset of a sweep: values of all names, route, how many seeds count, and mean and standard error of every
    measure; of ``captured`` one for each direction. Trials that cannot be trusted are counted apart and left out."""
    rows = []
    ok, stored = found.ok.values, found.stored.values
    columns = [column for name in sweep.measures for column in _columns(name, found[name])]
    for r, route in enumerate(found.route.values.tolist()):
        seeds = len(sweep.seeds) if sweep.routes[r].random else 1
        for point in sweep.points:
            here = (r, *point.place, slice(seeds))
            good = ok[here]
            row: dict[str, Any] = {**point.values, "route": route, "seeds": int(good.sum())}
            row["lost"] = int(stored[here].sum() - good.sum())
            for label, values in columns:
                mean, error = _mean(values[here][good])
                row |= {label: mean, f"{label}_se": error}
            rows.append(row)
    return rows


def _columns(name: str, values: Any) -> list[tuple[str, np.ndarray]]:
    """A number is one column, ``captured`` one a direction; larger arrays are no table."""
    inside = [dim for dim in values.dims if dim in _INSIDE]
    if not inside:
        return [(name, values.values)]
    if inside == ["direction"]:
        return [(f"{name}_{k + 1}", values.values[..., k]) for k in range(values.sizes["direction"])]
    return []


def _mean(values: np.ndarray) -> tuple[float | None, float | None]:
    known = values[~np.isnan(values)]
    if known.size == 0:
        return None, None
    error = float(known.std(ddof=1) / math.sqrt(known.size)) if known.size > 1 else None
    return float(known.mean()), error


def to_csv(rows: list[dict[str, Any]]) -> str:
    """The rows with all digits."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def text(rows: list[dict[str, Any]], shown: int = SHOWN) -> str:
    """A table for reading: means with their errors in brackets, the first rows if there are many."""
    if not rows:
        return ""
    names = [name for name in rows[0] if f"{name.removesuffix('_se')}_se" not in rows[0] and name != "lost"]
    means = [name.removesuffix("_se") for name in rows[0] if name.endswith("_se")]
    lost = any(row["lost"] for row in rows)
    header = [*names, *(("lost",) if lost else ()), *means]
    lines = [header]
    for row in rows[:shown]:
        cells = [_cell(row[name]) for name in header[: len(header) - len(means)]]
        lines.append([*cells, *(_with_error(row[name], row[f"{name}_se"]) for name in means)])
    widths = [max(len(line[k]) for line in lines) for k in range(len(header))]
    body = ["  ".join(cell.rjust(width) for cell, width in zip(line, widths, strict=True)) for line in lines]
    more = [f"... and {len(rows) - shown} rows more"] if len(rows) > shown else []
    return "\n".join([body[0], "-" * len(body[0]), *body[1:], *more])


def _cell(value: Any) -> str:
    return f"{value:.6g}" if isinstance(value, float) else str(value)


def _with_error(mean: float | None, error: float | None) -> str:
    """0.1234(5): the error in units of the last digit."""
    if mean is None:
        return "-"
    if error is None or not error > 0 or not math.isfinite(error):
        return f"{mean:.5g}"
    digits = max(0, 1 - math.floor(math.log10(error)))
    return f"{mean:.{digits}f}({error * 10**digits:.0f})"
