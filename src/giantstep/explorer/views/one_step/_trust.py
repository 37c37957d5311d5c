"""Up to which step size the predicted line is to be trusted, and what goes wrong beyond."""

import math
from typing import Any

import numpy as np

from giantstep.explorer import _settings as settings
from giantstep.explorer._state import OneStep
from giantstep.explorer.views.one_step._numbers import OneStepAnswer
from giantstep.plot import TRUSTED

WIDE = f"wider than ±{100 * TRUSTED:g}%"


def narrow(values: Any, low: Any, high: Any) -> np.ndarray:
    """Where half a band is at most a tenth of the value."""
    return high - low <= 2 * TRUSTED * np.abs(values)


def solid(known: OneStepAnswer) -> np.ndarray:
    """Where the line of the test error is drawn solid."""
    if "test" not in known.bands:
        return np.full(len(known.alphas), True)
    return narrow(known.test, *known.bands["test"].T)


def trusted(s: OneStep, known: OneStepAnswer) -> np.ndarray:
    """At which of the step sizes the line is to be trusted."""
    return solid(known) & (np.array(known.alphas) <= min(_ends(s, known))[0])


def trust(s: OneStep, known: OneStepAnswer) -> list[str]:
    """How far to trust the line, and why no further."""
    drawn = solid(known)
    if not drawn.any():
        return [f"The band is {WIDE} at every step size: simulate before you quote a value."]
    end, reason = min(_ends(s, known))
    first, last = known.alphas[0], known.alphas[-1]
    if end < first:
        found = f"Do not trust the line: {reason} at every step size shown."
    elif end < last:
        found = f"Trust the line up to α = {_down(end):g}; beyond, {reason}."
    else:
        found = "Trust the line at every step size shown." if drawn.all() else ""
    return [found, *_dashes(known, drawn, end)] if found else _dashes(known, drawn, end)


def _ends(s: OneStep, known: OneStepAnswer) -> list[tuple[float, str]]:
    """Exponents up to which nothing is wrong, and what is wrong beyond: a step of size eta moves by U = move eta."""
    from giantstep.theory.one_step._predict import BENT, LONG

    each = math.log(settings.sizes(s)[0])
    ends = [(math.inf, "")]
    if known.unit.move > 0:
        # U = move n^alpha = LONG
        said = f"neurons move by more than {LONG:g} times their length"
        ends.append((math.log(LONG / known.unit.move) / each, said))
    if known.unit.noise > 0:
        # noise n^(2 alpha) = BENT
        ends.append(
            (math.log(BENT / known.unit.noise) / (2 * each), "the noise of the gradient is longer than the neurons")
        )
    drawn = solid(known)
    if drawn[0] and not drawn.all():
        ends.append((known.alphas[int(np.argmin(drawn)) - 1], f"its band is {WIDE}"))
    return ends


def _dashes(known: OneStepAnswer, drawn: np.ndarray, end: float) -> list[str]:
    """Where the line is dashed, if that is not what ends the trust."""
    if drawn.all():
        return []
    begin = int(np.argmin(drawn))
    if drawn[begin:].any():
        return [f"Where it is dashed, its band is {WIDE}."]
    if begin and end == known.alphas[begin - 1]:
        return ["There it is dashed."]
    return [f"From α = {known.alphas[begin]:g} on it is dashed: its band is {WIDE}."]


def _down(alpha: float) -> float:
    """The exponent in hundredths, rounded down."""
    return math.floor(100 * alpha + 1e-9) / 100
