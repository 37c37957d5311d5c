"""What a panel shows: distances of the models and of theory from the network, and what the axis does, raw and normalised."""

from typing import NamedTuple

import numpy as np

from giantstep.checks.claim import Data
from giantstep.claims.demir.panel import Panel, PanelCurve
from giantstep.measure import mean_and_error

LEVEL = 3.0  # standard errors
NEAR = {
    "quick": 10.0,
    "full": 4.0,
}  # % granted to the Hermite model: where alpha = 0 its gap is 6% at n = 200, 3% at n = 800
FINITE = {"quick": 6.0, "full": 3.0}  # % granted to theory at finite sizes
ENOUGH = 20.0  # % that each comparison should see


class ModelGap(NamedTuple):
    """By how many % something is off the network, on the same draws."""

    curve: str
    x: float
    mean: float
    error: float

    def beyond(self, granted: float, expected: float = 0.0) -> bool:
        return abs(self.mean - expected) > max(LEVEL * self.error, granted)

    def __str__(self) -> str:
        return f"{self.mean:+.1f} ± {self.error:.1f}%"


class Effect(NamedTuple):
    """By how many % the error at one abscissa is below or above that at another, raw or over the variance of the labels."""

    curve: str
    mean: float
    error: float

    @property
    def verdict(self) -> str:
        return "not seen" if abs(self.mean) <= LEVEL * self.error else "holds" if self.mean < 0 else "reversed"


def gaps(curve: PanelCurve, errors: Data, model: str) -> list[ModelGap]:
    """Of a model, or of the network without its step ("no step"), from the network, at every abscissa where it was measured."""
    at = curve.at(curve.some if model == "conditional" else curve.x)
    values = errors["network"][:, 0] if model == "no step" else errors[model]
    made = []
    for i, there in zip(at, values, strict=True):
        here = errors["network"][i, 1, : len(there)]
        mean, error = mean_and_error(100 * (there - here) / here.mean())
        made.append(ModelGap(curve.name, curve.x[i], float(mean), float(error)))
    return made


def predicted_gaps(curve: PanelCurve, measured: Data, errors: np.ndarray) -> list[ModelGap]:
    """Of the network from theory, in % of the prediction; population by population where there are several."""
    made = []
    for i, expected in zip(curve.at(curve.predicted_at), errors, strict=True):
        here = measured["network"][i, 1]
        mean, error = mean_and_error(100 * ((here[: len(expected)] if curve.populations else here) / expected - 1))
        made.append(ModelGap(curve.name, curve.x[i], float(mean), float(error)))
    return made


def effect(curve: PanelCurve, errors: Data, better: float, worse: float, *, normalised: bool) -> Effect:
    """The change of the network's mean error from one abscissa to another, with the error of a ratio of paired means."""
    values = errors["network"][:, 1] / (errors["variance"] if normalised else 1.0)
    a, b = (values[curve.x.index(x)] for x in (better, worse))
    ratio = a.mean() / b.mean()
    _, error = mean_and_error(a / a.mean() - b / b.mean())
    return Effect(curve.name, float(100 * (ratio - 1)), float(100 * ratio * error))


class PanelEffects(NamedTuple):
    """All of a panel: gaps of the models and of theory, and the effects of the axis where it is said to have one."""

    hermite: list[ModelGap]
    conditional: list[ModelGap]
    idle: list[ModelGap]
    theory: list[ModelGap]
    raw: list[Effect]
    normalised: list[Effect]


def look(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data) -> PanelEffects:
    every = [(curve, measured[curve.name]) for curve in curves]
    ends = None if panel.better is None or panel.worse is None else (panel.better, panel.worse)
    return PanelEffects(
        *(
            [g for curve, errors in every for g in gaps(curve, errors, m)]
            for m in ("hermite", "conditional", "no step")
        ),
        theory=[g for curve, errors in every for g in predicted_gaps(curve, errors, predicted["errors"][curve.name])],
        raw=[effect(c, errors, *ends, normalised=False) for c, errors in every] if ends else [],
        normalised=[effect(c, errors, *ends, normalised=True) for c, errors in every] if ends else [],
    )
