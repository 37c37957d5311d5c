"""Averages: one row for each route and point of a sweep, averaged over seeds, as text, CSV or plain data."""

import csv
import io
from collections.abc import Sequence
from typing import Any

import numpy as np

from giantstep.experiment._header import folded
from giantstep.lab.sweep.sweep import Sweep
from giantstep.measure import mean_and_error
from giantstep.results.outcome import WIDTH
from giantstep.results.table import aligned, rounded, with_error

_INSIDE = ("direction", "neuron", "index", "other")
FEW = 9  # seeds whose standard errors are told to be short
SHOWN = 40  # rows of the table as text


def averages(sweep: Sweep, data: Any) -> list[dict[str, Any]]:
    """Make one row for each route and point from the Dataset of a sweep.

    A row holds the values of all names, the route, the number of seeds that count, and the mean and standard error of every
    measure; ``captured`` has one mean for each direction. A predicted measure has the ends of its band, ``_low`` and ``_high``.
    Trials that cannot be trusted are left out and counted as ``lost``.
    """
    rows = []
    ok, stored = data.ok.values, data.stored.values
    columns = [column for name in sweep.measures for column in _columns(name, data[name])]
    for r, route in enumerate(data.route.values.tolist()):
        seeds = len(sweep.seeds) if sweep.routes[r].random else 1
        for point in sweep.points:
            here = (r, *point.place, slice(seeds))
            good = ok[here]
            row: dict[str, Any] = {**point.values, "route": route, "seeds": int(good.sum())}
            row["lost"] = int(stored[here].sum() - good.sum())
            for label, values in columns:
                mean, error = _mean(values[here][good])
                row |= {label: mean, f"{label}_se": error} | _band(data, label, here, good)
            rows.append(row)
    return rows


def _columns(name: str, values: Any) -> list[tuple[str, np.ndarray]]:
    """A number becomes one column and ``captured`` one column for each direction; larger arrays are left out."""
    inside = [dim for dim in values.dims if dim in _INSIDE]
    if not inside:
        return [(name, values.values)]
    if inside == ["direction"]:
        return [(f"{name}_{k + 1}", values.values[..., k]) for k in range(values.sizes["direction"])]
    return []


def _band(data: Any, label: str, here: tuple, good: np.ndarray) -> dict[str, float | None]:
    """The ends of a band, which are the same for every seed; None for a route that has no band."""
    if f"{label}_band" not in data:
        return {}
    ends = data[f"{label}_band"].values[here][good]
    low, high = ends[0].tolist() if len(ends) and np.isfinite(ends[0]).all() else (None, None)
    return {f"{label}_low": low, f"{label}_high": high}


def _mean(values: np.ndarray) -> tuple[float | None, float | None]:
    known = values[~np.isnan(values)]
    if known.size == 0:
        return None, None
    mean, error = mean_and_error(known, 0)
    return float(mean), float(error) if known.size > 1 else None


def to_csv(rows: list[dict[str, Any]]) -> str:
    """The rows as CSV, with all digits."""
    buffer = io.StringIO()
    writer = csv.DictWriter(buffer, list(rows[0]) if rows else [], lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return buffer.getvalue()


def text(rows: list[dict[str, Any]], shown: int = SHOWN, held: Sequence[str] = ()) -> str:
    """The rows as a table to read, with standard errors; it shows at most ``shown`` rows. Above it stands what all rows have
    in common, and below it how short the standard errors of few seeds are."""
    if not rows:
        return ""
    above = folded(held, WIDTH)
    means = [name.removesuffix("_se") for name in rows[0] if name.endswith("_se")]
    hidden = {"lost", *(f"{name}{end}" for name in means for end in ("", "_se", "_low", "_high"))}
    names = [name for name in rows[0] if name not in hidden]
    lost = any(row["lost"] for row in rows)
    header = [*names, *(("lost",) if lost else ()), *means]
    body = []
    for row in rows[:shown]:
        values = [row[name] for name in header[: len(header) - len(means)]]
        cells = [f"{value:.6g}" if isinstance(value, float) else str(value) for value in values]
        body.append([*cells, *(_mean_cell(row, name) for name in means)])
    more = [f"... and {len(rows) - shown} rows more"] if len(rows) > shown else []
    return "\n".join([*above, *aligned(header, body, most=shown), *more, *_few(rows)])


def _few(rows: list[dict[str, Any]]) -> list[str]:
    """Sentences on standard errors of few seeds: the factor of Student's t over a Gaussian's, for intervals of 95%."""
    counts = [row["seeds"] for row in rows if row["seeds"] > 1]
    if not counts or min(counts) > FEW:
        return []
    from scipy.stats import norm, t

    factor = t.ppf(0.975, min(counts) - 1) / norm.ppf(0.975)
    return [
        f"Standard errors of {min(counts)} seeds are short: widen an interval by {factor:.2g} (Student's t at 95%).",
        "Points share their seeds, so neighbouring means are off together.",
    ]


def _mean_cell(row: dict[str, Any], name: str) -> str:
    """A mean with its standard error, or a prediction with the digits of its band."""
    mean, low, high = row[name], row.get(f"{name}_low"), row.get(f"{name}_high")
    if mean is None:
        return "-"
    return with_error(mean, row[f"{name}_se"]) if low is None or high is None else rounded(mean, (low, high), None)
