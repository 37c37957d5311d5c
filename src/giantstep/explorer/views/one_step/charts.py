"""The two charts of the one-step view, with their words and numbers."""

from typing import Any

import numpy as np

from giantstep.explorer import controls, settings
from giantstep.explorer.chart import band, chart, curve, marks, rule
from giantstep.explorer.state import OneStep
from giantstep.explorer.views.one_step.numbers import Known
from giantstep.plot.style import COLOURS, histogram, law_line

__all__ = ["error_chart", "error_rows", "error_words", "law_chart", "law_rows", "law_words"]

ALONG = np.linspace(settings.ALPHAS[0], settings.ALPHAS[-1], 71)
KINDS = {"test": "test error", "train": "training error"}


def error_chart(s: OneStep, known: Known) -> dict[str, Any]:
    """Test and training error against alpha: lines of the theory through its points, dots with error bars."""
    traces = []
    for colour, (name, words) in enumerate(KINDS.items()):
        traces.append(
            curve(ALONG, through(known.alphas, getattr(known, name)), f"{words}, theory", colour, hoverinfo="x+y")
        )
    if known.limit is not None:
        y, published = known.limit.test_error, {"dash": "dot", "width": 1.3, "shape": "hvh"}
        traces.append(curve(known.alphas, y, "test error, published limit", None, line=published, uid="ink2"))
    if known.simulation is not None:
        mean = known.simulation.mean()
        for colour, (name, words) in enumerate(KINDS.items()):
            y, error = getattr(mean, f"{name}_error"), getattr(mean, f"{name}_error_se")
            traces.append(marks(settings.ALPHAS, y, error, f"{words}, simulation", colour))
    x = {"title": "α, the step size being n^α", "range": [-0.02, 0.72]}
    highest = max(float(np.nanmax(np.array(one["y"], dtype=float))) for one in traces)
    return chart(traces, x, {"title": "mean square error", "range": [0, 1.08 * highest]}, shapes=[rule(s.alpha)])


def through(alphas: Any, values: Any) -> np.ndarray:
    """The smooth line through the points of the theory."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(alphas, values)(ALONG)


def error_words(s: OneStep, known: Known) -> str:
    at = known.alphas.index(s.alpha)
    least = int(np.argmin(known.test))
    return (
        f"At α = {s.alpha:g} the theory predicts a test error of {known.test[at]:.4g} and a training error of "
        f"{known.train[at]:.4g}. The least test error shown is {known.test[least]:.4g}, at α = {known.alphas[least]:g}."
    )


def error_rows(known: Known) -> Any:
    """The table behind the errors."""
    mean = None if known.simulation is None else known.simulation.mean()
    n = known.theory.setting.protocol.sizes()[0]
    rows = []
    for i, alpha in enumerate(known.alphas):
        row = [f"{alpha:g}", f"{n**alpha:.4g}", f"{known.test[i]:.5g}", f"{known.train[i]:.5g}"]
        if mean is not None:
            row += [_measured(mean, name, alpha) for name in KINDS]
        rows.append(row)
    header = ["α", "η", *(f"{words}, theory" for words in KINDS.values())]
    header += [] if mean is None else [f"{words}, simulated" for words in KINDS.values()]
    return controls.numbers(header, rows)


def _measured(mean: Any, name: str, alpha: float) -> str:
    if alpha not in settings.ALPHAS:
        return ""
    from giantstep.results.table import with_error

    i, error = settings.ALPHAS.index(alpha), getattr(mean, f"{name}_error_se")
    return with_error(float(getattr(mean, f"{name}_error")[i]), None if error is None else float(error[i]))


def law_chart(s: OneStep, known: Known) -> dict[str, Any]:
    """The bulk's predicted density, the predicted outliers, and the histogram of a simulated network."""
    law, traces = known.law, []
    x, density = law_line(law)
    places, top = [one.position for one in law.outliers], float(np.max(density))
    furthest = max([law.edge, *places])
    if known.values is not None:
        _, above, heights, ends = histogram(known.values)
        traces.append(band(ends, heights, "simulation"))
        furthest, top = max([furthest, *above]), max(top, float(np.max(heights)))
        if len(above):
            mark = {"symbol": "triangle-down", "size": 11, "color": COLOURS[1]}
            traces.append(marks(above, np.full(len(above), 0.04 * top), None, "outlier, simulation", 1, marker=mark))
    traces.append(curve(x, density, "bulk, theory", None))
    for place in places:
        dashed = {"dash": "dash", "width": 1.6, "color": COLOURS[1]}
        traces.append(curve([place, place], [0, 0.5 * top], "spike, theory", 1, line=dashed))
    axis = {"title": "singular value", "range": [0, 1.08 * furthest]}
    return chart(traces, axis, {"title": "density", "range": [0, 1.08 * top]}, bargap=0)


def law_words(known: Known) -> str:
    law = known.law
    places = ", ".join(f"{one.position:.4g}" for one in law.outliers)
    spikes = f"{len(law.outliers)} spike{'s' * (len(law.outliers) > 1)} at {places}" if places else "no spike"
    simulated = ""
    if known.values is not None:
        _, above, *_ = histogram(known.values)
        simulated = f" The simulated network has {len(above)} above its bulk."
    return f"The bulk ends at {law.edge:.4g}; theory predicts {spikes}.{simulated}"


def law_rows(known: Known) -> Any:
    """The table behind the spectrum."""
    law = known.law
    rows = [["bulk, lower end", f"{law.low:.5g}", ""], ["bulk, edge", f"{law.edge:.5g}", ""]]
    for i, one in enumerate(law.outliers):
        rows.append([f"spike {i + 1}", f"{one.position:.5g}", ", ".join(f"{a:.3f}" for a in one.alignments)])
    if known.values is not None:
        edge, above, *_ = histogram(known.values)
        rows.append(["bulk edge, simulated", f"{edge:.5g}", ""])
        rows += [[f"outlier {i + 1}, simulated", f"{value:.5g}", ""] for i, value in enumerate(np.sort(above)[::-1])]
    return controls.numbers(["", "singular value", "cos² with κ, κ², κ³, κ⁴"], rows)
