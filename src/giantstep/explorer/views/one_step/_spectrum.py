"""The chart of the spectrum in the one-step view, of all seeds, with its legend and numbers."""

from typing import Any

import numpy as np

from giantstep.explorer import _controls as controls
from giantstep.explorer._chart import band, chart, curve, marks
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.explorer.views.one_step._spectrum_words import seeds
from giantstep.plot.style import COLOURS, histogram, law_line

GREY = {"color": "#9aa1a8", "width": 1.6}
VIEWED = 2.4  # edges that the axis shows at least, so that it stands still until a spike goes further


def law_marks(known: OneStepAnswer) -> dict[str, Any]:
    """The legend: what is drawn, and nothing else."""
    found: dict[str, Any] = {"line ink": [controls.term("bulk", "bulk"), ", theory"]}
    if known.law.outliers:
        found["dash second"] = [controls.term("spike", "spike"), ", theory"]
    if known.spectra:
        found["bar"] = f"simulation, {seeds(known)}"
    if any(len(histogram(values)[1]) for values in known.spectra):
        found["wedge"] = [controls.term("outlier", "outlier"), " of a seed"]
    if known.first is not None:
        found["line faint"] = "setting A"
    return found


def law_chart(known: OneStepAnswer) -> dict[str, Any]:
    """The bulk's predicted density, the predicted outliers, and the histogram of all simulated networks."""
    law, traces = known.law, []
    x, density = law_line(law)
    places, top = [one.position for one in law.outliers], float(np.max(density))
    furthest = max([law.edge, *places])
    if known.spectra:
        heights, ends, above = _pooled(known)
        traces.append(band(ends, heights, "simulation"))
        furthest, top = max([furthest, *above]), max(top, float(np.max(heights)))
        if len(above):
            mark = {"symbol": "triangle-down", "size": 11, "color": COLOURS[1], "opacity": 0.75}
            traces.append(marks(above, np.full(len(above), 0.04 * top), None, "outlier, simulation", 1, marker=mark))
    if known.first is not None:
        traces += _first(known.first.law, top)
        furthest = max([furthest, *(one.position for one in known.first.law.outliers)])
    traces.append(curve(x, density, "bulk, theory", None))
    for place in places:
        dashed = {"dash": "dash", "width": 1.6, "color": COLOURS[1]}
        traces.append(curve([place, place], [0, 0.5 * top], "spike, theory", 1, line=dashed))
    axis = {"title": "singular value", "range": [0, max(1.08 * furthest, VIEWED * law.edge)]}
    return chart(traces, axis, {"title": "density", "range": [0, 1.08 * top]}, bargap=0)


def _pooled(known: OneStepAnswer) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The density of the bulk over all seeds, the ends of its bins, and every outlier of every seed."""
    above = [histogram(values)[1] for values in known.spectra]
    bulk = np.concatenate([np.sort(v)[: len(v) - len(out)] for v, out in zip(known.spectra, above, strict=True)])
    heights, ends = np.histogram(bulk, bins=int(np.clip(len(bulk) / 15, 8, 50)), density=True)
    return heights, ends, np.concatenate(above)


def _first(law: Any, top: float) -> list[dict[str, Any]]:
    """The spectrum of the setting A."""
    x, density = law_line(law)
    spikes = [one.position for one in law.outliers]
    lines = [curve([at, at], [0, 0.5 * top], "A: spike, theory", 0, line={**GREY, "dash": "dash"}) for at in spikes]
    return [curve(x, density, "A: bulk, theory", 0, line=GREY), *lines]


def law_rows(known: OneStepAnswer) -> Any:
    """The table behind the spectrum."""
    law = known.law
    rows = [["bulk, lower end", f"{law.low:.5g}", ""], ["bulk, edge", f"{law.edge:.5g}", ""]]
    for i, one in enumerate(law.outliers):
        rows.append([f"spike {i + 1}", f"{one.position:.5g}", ", ".join(f"{a:.3f}" for a in one.alignments)])
    for seed, values in enumerate(known.spectra):
        edge, above, *_ = histogram(values)
        rows.append([f"bulk edge, seed {seed}", f"{edge:.5g}", ""])
        rows += [[f"outlier {i + 1}, seed {seed}", f"{value:.5g}", ""] for i, value in enumerate(np.sort(above)[::-1])]
    return controls.numbers(["", "singular value", "cos² with κ, κ², κ³, κ⁴"], rows)
