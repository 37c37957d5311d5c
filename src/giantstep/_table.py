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
    o = outcome.mean()
    lines = [title(outcome, outcome.route), *_rows(o)]
    which = "" if "eta" not in o.axes else f" at eta = {np.asarray(o.eta)[-1]:.4g}"
    if isinstance(o.penalty, float | np.ndarray) and o.setting.protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        lines.append(f"penalty chosen by GCV{which}: {np.ravel(o.penalty)[-1]:.3g}")
    if o.captured is not None:
        share = np.atleast_2d(o.captured)[-1]
        null = np.ravel(o.null_level)[-1]
        text = ", ".join(f"x{k + 1} {v:.3g}" for k, v in enumerate(share))
        lines.append(f"share of a neuron along each direction{which}: {text} (null level {null:.2g})")
    if o.outliers is not None:
        edge, count = np.ravel(np.asarray(o.bulk_edge))[-1], np.ravel(o.outliers)[-1]
        lines.append(f"singular values of the features{which}: bulk edge {edge:.4g}, {count:.3g} above it")
    lines.append(f"status: {o.status}  ({outcome.seconds:.1f} s)")
    return "\n".join(lines)


def title(outcome: "Outcome", route: str) -> str:
    """Target, network, sizes and seeds in one line."""
    s, count = outcome.setting, len(outcome.seeds or ())
    sizes = s.protocol.sizes()
    steps = f"{len(sizes)} steps, " if len(sizes) > 1 else ("" if sizes else "no step, ")
    samples = ", ".join(map(str, dict.fromkeys(sizes or [s.protocol.readout_size if s.protocol.readout else 0])))
    eta = f", eta = {outcome.eta:.4g}" if isinstance(outcome.eta, float) else ""
    seeds = "" if outcome.seeds is None else f", mean of {count} seed{'s' * (count > 1)}"
    noise = f" (noise {s.target.noise:g})" if s.target.noise else ""
    return (
        f"{route}: {s.target.name}{noise}, {s.network.activation.name}, "
        f"d = {s.d}, p = {s.p}, {steps}n = {samples}{eta}{seeds}"
    )


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
    return aligned(header, body)


def aligned(header: list[str], body: list[list[str]]) -> list[str]:
    """Columns to the right; of many rows the first and the last."""
    shown = body if len(body) <= MAX_ROWS else [*body[: MAX_ROWS // 2], ["..."] * len(header), *body[-MAX_ROWS // 2 :]]
    widths = [max(len(r[i]) for r in [header, *shown]) for i in range(len(header))]
    return ["  " + "  ".join(cell.rjust(w) for cell, w in zip(r, widths, strict=True)) for r in [header, *shown]]
