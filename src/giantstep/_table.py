"""An Outcome as text that a person wants to read."""

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from giantstep.outcome import Outcome

MAX_ROWS = 24
COLUMNS = ("test_error", "train_error", "train_objective")


def with_error(value: float, error: float | None) -> str:
    """0.1234 +- 0.0056 as 0.1234(56)-like plain text: the value to the digits its error allows."""
    if error is None or not np.isfinite(error) or error <= 0:
        return f"{value:.5g}"
    digits = int(np.clip(1 - np.floor(np.log10(error)), 0, 12))
    return f"{value:.{digits}f} ± {error:.{digits}f}"


def outcome_table(outcome: "Outcome") -> str:
    """Sizes, then one line per step size and penalty (averaged over seeds), then what was learned and the status."""
    s, o = outcome.setting, outcome.mean()
    seeds = "" if outcome.seeds is None else f", mean of {len(outcome.seeds)} seeds"
    sizes = ", ".join(f"n = {n}" for n in s.protocol.sizes()) or "no step"
    lines = [
        f"{outcome.route}: {s.target.name} (noise {s.target.noise:g}), {s.network.activation.name}, "
        f"d = {s.d}, p = {s.p}, {sizes}{seeds}"
    ]
    lines += _rows(o)
    if o.captured is not None:
        per_direction = np.atleast_2d(o.captured)
        null = (1 - per_direction.sum(-1)) / max(s.d - s.target.rank, 1)
        text = ", ".join(f"x{k + 1} {v:.3g}" for k, v in enumerate(per_direction[-1]))
        last = " at the largest index of eta" if "eta" in o.axes else ""
        lines.append(f"share of a neuron along each direction{last}: {text} (null level {null[-1]:.2g})")
    if o.outliers is not None:
        edge, count = np.ravel(o.bulk_edge), np.ravel(o.outliers)
        lines.append(f"features: bulk edge {edge[-1]:.4g}, outliers {', '.join(f'{c:g}' for c in count)}")
    lines.append(f"status: {o.status}  ({outcome.seconds:.1f} s)")
    return "\n".join(lines)


def _rows(o: "Outcome") -> list[str]:
    names = [c for c in COLUMNS if getattr(o, c) is not None]
    keys = [a for a in o.axes if a != "seed"]
    header = [*keys, *(n.replace("_", " ") for n in names)]
    body = []
    for index in np.ndindex(*(len(getattr(o, k)) for k in keys)):
        row = [f"{getattr(o, k)[i]:.4g}" for k, i in zip(keys, index, strict=True)]
        for name in names:
            error = getattr(o, f"{name}_se")
            value = np.asarray(getattr(o, name))[index]
            row.append(with_error(float(value), None if error is None else float(np.asarray(error)[index])))
        body.append(row)
    shown = body if len(body) <= MAX_ROWS else [*body[: MAX_ROWS // 2], ["..."] * len(header), *body[-MAX_ROWS // 2 :]]
    widths = [max(len(r[i]) for r in [header, *shown]) for i in range(len(header))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(r, widths, strict=True)) for r in [header, *shown]]
