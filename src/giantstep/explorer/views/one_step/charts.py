"""The chart of the errors in the one-step view, with its words and numbers."""

from typing import Any

import numpy as np

from giantstep.explorer import controls, settings
from giantstep.explorer.chart import chart, curve, marks, rule, strip
from giantstep.explorer.state import OneStep
from giantstep.explorer.views.one_step.numbers import OneStepAnswer
from giantstep.plot import TRUSTED
from giantstep.results.table import rounded, with_error, within

ALONG = np.linspace(settings.ALPHAS[0], settings.ALPHAS[-1], 71)
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
    trusted = high - low <= 2 * TRUSTED * np.abs(y)
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


def through(alphas: Any, values: Any) -> np.ndarray:
    """The smooth line through the points of the theory."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(alphas, values)(ALONG)


def error_words(s: OneStep, known: OneStepAnswer) -> str:
    """What the theory predicts at the slider, how sure it is, and what the simulation says to it."""
    at = known.alphas.index(s.alpha)
    sentences = [
        f"At α = {s.alpha:g} the theory predicts a test error of {_digits(known, 'test', at)}{_band(known, at)} and a "
        f"training error of {_digits(known, 'train', at)}.",
        *_least(known),
        *_against_a(s, known),
        *_verified(s, known),
    ]
    return " ".join(sentences)


def _digits(known: OneStepAnswer, name: str, at: int) -> str:
    """A predicted error with as many digits as its band allows."""
    band = known.bands.get(name)
    return rounded(float(getattr(known, name)[at]), None if band is None else tuple(band[at]), None)


def _band(known: OneStepAnswer, at: int) -> str:
    if "test" not in known.bands:
        return ""
    low, high = (float(end) for end in known.bands["test"][at])
    return f" (band {within(low, low, high)} to {within(high, low, high)})"


def _least(known: OneStepAnswer) -> list[str]:
    """The least predicted error where the band is narrow, and from where on it is not."""
    if "test" not in known.bands:
        least = int(np.argmin(known.test))
        return [f"The least test error shown is {known.test[least]:.4g}, at α = {known.alphas[least]:g}."]
    low, high = known.bands["test"].T
    trusted = high - low <= 2 * TRUSTED * np.abs(known.test)
    if not trusted.any():
        return ["The band is wide at every step size: simulate before you quote a value."]
    least = int(np.argmin(np.where(trusted, known.test, np.inf)))
    found = f"Where the band is narrow, the least test error is {_digits(known, 'test', least)}, at α = {known.alphas[least]:g}."
    if trusted.all():
        return [found]
    wide = known.alphas[int(np.argmin(trusted))]
    return [found, f"From α = {wide:g} on its line is dashed: simulate before you quote a value."]


def _against_a(s: OneStep, known: OneStepAnswer) -> list[str]:
    if known.first is None:
        return []
    there = float(through(known.first.alphas, known.first.test)[np.argmin(np.abs(ALONG - s.alpha))])
    ratio = float(known.test[known.alphas.index(s.alpha)] / there)
    change = 100 * (ratio - 1)
    where = f"{abs(change):.2g}% {'above' if change > 0 else 'below'} it" if abs(change) >= 0.01 else "the same"
    where = f"{ratio:.2g} times that" if ratio >= 2 else where
    return [f"At the same α setting A has {there:.4g}: this one is {where}."]


def _verified(s: OneStep, known: OneStepAnswer) -> list[str]:
    """What the simulation measures at the slider, against the band."""
    if known.simulation is None or s.alpha not in settings.ALPHAS:
        return []
    i, mean = settings.ALPHAS.index(s.alpha), known.simulation.mean()
    value, error = float(mean.test_error[i]), None if mean.test_error_se is None else float(mean.test_error_se[i])
    found = f"The simulation measures {with_error(value, error)} there"
    if "test" not in known.bands:
        return [f"{found}."]
    low, high = (float(end) for end in known.bands["test"][known.alphas.index(s.alpha)])
    where = "above" if value > high else "below" if value < low else "inside"
    return [f"{found}, {where} the band."]


def error_rows(known: OneStepAnswer) -> Any:
    """The table behind the errors."""
    mean = None if known.simulation is None else known.simulation.mean()
    n = known.theory.setting.protocol.sizes()[0]
    rows = []
    for i, alpha in enumerate(known.alphas):
        row = [f"{alpha:g}", f"{n**alpha:.4g}", *(_digits(known, name, i) for name in KINDS)]
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
