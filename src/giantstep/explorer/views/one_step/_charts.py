"""The chart of the errors in the one-step view, with its legend and numbers."""

from typing import Any

import numpy as np

from giantstep.explorer import _controls as controls
from giantstep.explorer import _settings as settings
from giantstep.explorer._chart import chart, curve, marks, rule, strip
from giantstep.explorer._state import OneStep
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.explorer.views.one_step._trust import narrow
from giantstep.explorer.views.one_step._words import ALONG, digits, through
from giantstep.results.table import with_error

KINDS = {"test": "test error", "train": "training error"}
GREY = {"color": "#9aa1a8", "width": 1.6}


def error_marks(known: OneStepAnswer) -> dict[str, Any]:
    """The legend: what is drawn, and nothing else."""
    found: dict[str, Any] = {
        "line first": [controls.term("test error", "test error"), ", theory"],
        "line second": [controls.term("training error", "training error"), ", theory"],
    }
    if known.bands:
        found["area"] = controls.term("band", "band")
    if known.simulation is not None:
        found["dots"] = "simulation"
    if known.limit is not None:
        found["dot ink"] = controls.term("published limit", "published limit")
    if known.first is not None:
        found["line faint"] = "setting A"
    return found


def error_chart(s: OneStep, known: OneStepAnswer) -> dict[str, Any]:
    """Test and training error against alpha: lines of the theory in their bands, dots with error bars, and setting A in grey."""
    traces = [] if known.first is None else _first(known.first)
    for colour, (name, words) in enumerate(KINDS.items()):
        traces += _predicted(known, name, f"{words}, theory", colour)
    if known.limit is not None:
        y, published = known.limit.test_error, {"dash": "dot", "width": 1.3, "shape": "hvh"}
        traces.append(curve(known.alphas, y, "test error, published limit", None, line=published, uid="ink2"))
    if known.simulation is not None:
        mean = known.simulation.mean()
        for colour, (name, words) in enumerate(KINDS.items()):
            y, error = getattr(mean, f"{name}_error"), getattr(mean, f"{name}_error_se")
            traces.append(marks(settings.ALPHAS, y, error, f"{words}, simulation", colour))
    x = {"title": "α, the step size being n<sup>α</sup>", "range": [-0.02, 0.72]}
    highest = max(float(np.nanmax(np.array(one["y"], dtype=float))) for one in traces)
    return chart(traces, x, {"title": "mean square error", "range": [0, 1.08 * highest]}, shapes=[rule(s.alpha)])


def _predicted(known: OneStepAnswer, name: str, words: str, colour: int) -> list[dict[str, Any]]:
    """The line of an error in its band, dashed where the band is wide."""
    y, band = through(known.alphas, getattr(known, name)), known.bands.get(name)
    if band is None:
        return [curve(ALONG, y, words, colour, hoverinfo="x+y")]
    low, high = (through(known.alphas, ends) for ends in band.T)
    trusted = narrow(y, low, high)
    beyond = ~trusted | ~np.append(trusted[1:], True)  # from the last point that is trusted on
    found, dashes = [strip(ALONG, low, high, f"{words}, band", colour)], {"dash": "4px,3px"}
    if trusted.any():
        found.append(curve(ALONG, np.where(trusted, y, np.nan), words, colour, hoverinfo="x+y"))
    if beyond.any():
        name = f"{words}, wide band" if trusted.any() else words
        found.append(curve(ALONG, np.where(beyond, y, np.nan), name, colour, hoverinfo="x+y", line=dashes))
    return found


def _first(known: OneStepAnswer) -> list[dict[str, Any]]:
    """The lines of the setting A."""
    test, train = (through(known.alphas, getattr(known, name)) for name in KINDS)
    return [
        curve(ALONG, test, "A: test error, theory", 0, line=GREY),
        curve(ALONG, train, "A: training error, theory", 0, line={**GREY, "dash": "dot"}),
    ]


def error_rows(known: OneStepAnswer) -> Any:
    """The table behind the errors."""
    mean = None if known.simulation is None else known.simulation.mean()
    n = known.theory.setting.protocol.sizes()[0]
    rows = []
    for i, alpha in enumerate(known.alphas):
        row = [f"{alpha:g}", f"{n**alpha:.4g}", *(digits(known, name, i) for name in KINDS)]
        if mean is not None:
            row += [_measured(mean, name, alpha) for name in KINDS]
        rows.append(row)
    header = ["α", "η", *(f"{words}, theory" for words in KINDS.values())]
    header += [] if mean is None else [f"{words}, simulated" for words in KINDS.values()]
    return controls.numbers(header, rows)


def _measured(mean: Any, name: str, alpha: float) -> str:
    if alpha not in settings.ALPHAS:
        return ""
    i, error = settings.ALPHAS.index(alpha), getattr(mean, f"{name}_error_se")
    return with_error(float(getattr(mean, f"{name}_error")[i]), None if error is None else float(error[i]))
