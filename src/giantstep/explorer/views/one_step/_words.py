"""The sentences below the errors: what theory predicts, how far to trust it, and what the simulation says."""

from typing import Any

import numpy as np

from giantstep.explorer import _settings as settings
from giantstep.explorer._state import OneStep
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.explorer.views.one_step._trust import trust, trusted
from giantstep.results.table import rounded, with_error, within

ALONG = np.linspace(settings.ALPHAS[0], settings.ALPHAS[-1], 71)
FAR = 3.0  # standard errors from the line that are no chance


def error_words(s: OneStep, known: OneStepAnswer) -> str:
    """What theory predicts at the slider, how sure it is, and what the simulation says to it."""
    at = known.alphas.index(s.alpha)
    test, train = (digits(known, name, at) for name in ("test", "train"))
    said = f"At α = {s.alpha:g} theory predicts a test error of {test} and a training error of {train}."
    paragraphs = [
        [said, *_band(known, at)],
        [*trust(s, known), *_least(s, known)],
        _against_a(s, known),
        _measured(s, known),
    ]
    return "\n".join(" ".join(sentences) for sentences in paragraphs if sentences)


def digits(known: OneStepAnswer, name: str, at: int) -> str:
    """A predicted error with as many digits as its band allows."""
    band = known.bands.get(name)
    return rounded(float(getattr(known, name)[at]), None if band is None else tuple(band[at]), None)


def through(alphas: Any, values: Any) -> np.ndarray:
    """The smooth line through the points of the theory."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(alphas, values)(ALONG)


def _band(known: OneStepAnswer, at: int) -> list[str]:
    if "test" not in known.bands:
        return []
    low, high = (float(end) for end in known.bands["test"][at])
    return [f"The band of the test error is {within(low, low, high)} to {within(high, low, high)}."]


def _least(s: OneStep, known: OneStepAnswer) -> list[str]:
    """The least predicted test error where the line is to be trusted."""
    sure = trusted(s, known)
    if not sure.any():
        return []
    least = int(np.argmin(np.where(sure, known.test, np.inf)))
    what = "The lowest test error" if sure.all() else "The lowest trusted test error"
    return [f"{what} is {digits(known, 'test', least)}, at α = {known.alphas[least]:g}."]


def _against_a(s: OneStep, known: OneStepAnswer) -> list[str]:
    if known.first is None:
        return []
    there = float(through(known.first.alphas, known.first.test)[np.argmin(np.abs(ALONG - s.alpha))])
    ratio = float(known.test[known.alphas.index(s.alpha)] / there)
    change = 100 * (ratio - 1)
    where = f"{abs(change):.2g}% {'above' if change > 0 else 'below'} it" if abs(change) >= 0.01 else "the same"
    where = f"{ratio:.2g} times that" if ratio >= 2 else where
    return [f"At the same α setting A has {there:.4g}: this one is {where}."]


def _measured(s: OneStep, known: OneStepAnswer) -> list[str]:
    """What the simulation measures at the slider, against the band and against the line."""
    if known.simulation is None or s.alpha not in settings.ALPHAS:
        return []
    i, mean = settings.ALPHAS.index(s.alpha), known.simulation.mean()
    value, error = float(mean.test_error[i]), None if mean.test_error_se is None else float(mean.test_error_se[i])
    found = f"At α = {s.alpha:g} the simulation measures {with_error(value, error)}."
    at = known.alphas.index(s.alpha)
    if "test" not in known.bands:
        return [found]
    band = tuple(float(end) for end in known.bands["test"][at])
    return [found, against(value, error, float(known.test[at]), band)]


def against(value: float, error: float | None, line: float, band: tuple[float, ...]) -> str:
    """Where a measured value lies: inside the band or outside, and how many standard errors from the line."""
    low, high = band
    inside = low <= value <= high
    place = f"{'inside' if inside else 'above' if value > high else 'below'} {_name(line, low, high)}"
    if error is None or not error > 0:
        return f"That is {place}."
    away = abs(value - line) / error
    if away < 1:
        return f"That is {place}, and less than one standard error from the line."
    side = "above" if value > line else "below"
    gap = f"{away:.2g} standard errors {side} the line"
    if inside:
        return f"That is {place}, {'but' if away > FAR else 'and'} {gap}."
    return f"That is {place} and {gap}: theory is off here." if away > FAR else f"That is {place}, but only {gap}."


def _name(line: float, low: float, high: float) -> str:
    """The band of ±x, or from one end to the other where the line is not in its middle."""
    half = (high - low) / 2
    if abs((low + high) / 2 - line) <= 0.05 * half:
        return f"the band of ±{half:.2g}"
    return f"the band from {within(low, low, high)} to {within(high, low, high)}"
