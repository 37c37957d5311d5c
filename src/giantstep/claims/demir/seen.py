"""What a panel shows: distances of the models and of theory from the network, and what the axis does, raw and normalised."""

from typing import TYPE_CHECKING, Any, NamedTuple

from giantstep.claims.demir.panel import PENALTY, Curve, Panel, experiment
from giantstep.lab.verdict import Data, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

LEVEL = 3.0  # standard errors
NEAR = {
    "quick": 10.0,
    "full": 4.0,
}  # % granted to the Hermite model: where alpha = 0 its gap is 6% at n = 200, 3% at n = 800
FINITE = {"quick": 6.0, "full": 3.0}  # % granted to theory at finite sizes
ENOUGH = 20.0  # % that each comparison should see
TEST = (
    "the Hermite model should be within 3 s.e. or 10% (4% at full size) of the network on the same draws, theory within 3 s.e. "
    "or 6% (3%). The verdict is on the raw errors; errors over the variance of the labels stand beside it. Open if a "
    "departure of 20% would not be seen."
)


class Gap(NamedTuple):
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


def gaps(curve: Curve, found: Data, model: str) -> list[Gap]:
    """Of a model, or of the network without its step ("no step"), from the network, at every abscissa where it was measured."""
    from giantstep.measure import mean_and_error

    at = curve.at(curve.some if model == "conditional" else curve.x)
    values = found["network"][:, 0] if model == "no step" else found[model]
    made = []
    for i, there in zip(at, values, strict=True):
        here = found["network"][i, 1, : len(there)]
        mean, error = mean_and_error(100 * (there - here) / here.mean())
        made.append(Gap(curve.name, curve.x[i], float(mean), float(error)))
    return made


def predicted_gaps(curve: Curve, found: Data, errors: "np.ndarray") -> list[Gap]:
    """Of the network from theory, in % of the prediction; population by population where there are several."""
    from giantstep.measure import mean_and_error

    made = []
    for i, expected in zip(curve.at(curve.told), errors, strict=True):
        here = found["network"][i, 1]
        mean, error = mean_and_error(100 * ((here[: len(expected)] if curve.populations else here) / expected - 1))
        made.append(Gap(curve.name, curve.x[i], float(mean), float(error)))
    return made


def effect(curve: Curve, found: Data, better: float, worse: float, *, normalised: bool) -> Effect:
    """The change of the network's mean error from one abscissa to another, with the error of a ratio of paired means."""
    from giantstep.measure import mean_and_error

    values = found["network"][:, 1] / (found["variance"] if normalised else 1.0)
    a, b = (values[curve.x.index(x)] for x in (better, worse))
    ratio = a.mean() / b.mean()
    _, error = mean_and_error(a / a.mean() - b / b.mean())
    return Effect(curve.name, float(100 * (ratio - 1)), float(100 * ratio * error))


class Seen(NamedTuple):
    """All of a panel: gaps of the models and of theory, and the effects of the axis where it is said to have one."""

    hermite: list[Gap]
    conditional: list[Gap]
    idle: list[Gap]
    theory: list[Gap]
    raw: list[Effect]
    normalised: list[Effect]


def look(panel: Panel, curves: tuple[Curve, ...], measured: Data, predicted: Data) -> Seen:
    every = [(curve, measured[curve.name]) for curve in curves]
    ends = None if panel.better is None or panel.worse is None else (panel.better, panel.worse)
    return Seen(
        *([g for curve, found in every for g in gaps(curve, found, m)] for m in ("hermite", "conditional", "no step")),
        theory=[g for curve, found in every for g in predicted_gaps(curve, found, predicted["errors"][curve.name])],
        raw=[effect(c, found, *ends, normalised=False) for c, found in every] if ends else [],
        normalised=[effect(c, found, *ends, normalised=True) for c, found in every] if ends else [],
    )


def outcome(seen: Seen, size: Size, expected: float, told: tuple[str, ...] = ()) -> Any:
    """Fails where the models or theory are off, or the raw effect is reversed; open where too little would be seen."""
    from giantstep.lab.power import decided, detectable

    missed = any(g.beyond(NEAR[size], expected) for g in seen.hermite) or any(
        g.beyond(FINITE[size]) for g in seen.theory
    )
    found = {each.verdict for each in seen.raw if each.curve.split(",")[0] not in told}
    least = [detectable(g.error, LEVEL, NEAR[size]) for g in seen.hermite]
    least += [detectable(g.error, LEVEL, FINITE[size]) for g in seen.theory]
    open_ = "not seen" in found or not all(x <= ENOUGH for x in least)  # NaN: one seed
    return decided(missed or "reversed" in found, ENOUGH + 1 if open_ else ENOUGH, ENOUGH)


def judge(panel: Panel, size: Size, measured: Data, predicted: Data) -> Verdict:
    from giantstep.claims.demir import drawn, said, table
    from giantstep.lab.power import stated

    n, seeds = panel.size(size)
    curves = panel.curves[size]
    seen, expected = look(panel, curves, measured, predicted), predicted["difference"]
    every = [*seen.hermite, *seen.theory]
    granted = [NEAR[size]] * len(seen.hermite) + [FINITE[size]] * len(seen.theory)
    return Verdict(
        outcome=outcome(seen, size, expected, panel.told),
        sentence=said.sentence(panel, curves, seen, size, expected, measured),
        header=table.HEADER,
        rows=tuple(table.rows(panel, curves, measured, predicted, size)),
        seeds=f"0-{seeds - 1}" + (", each with a mixture of its own" if curves[0].populations else ""),
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}; "
        + "; ".join(f"{c.name}: {panel.symbol} = {', '.join(f'{x:g}' for x in c.x)}" for c in curves),
        figure=drawn.figure(panel, curves, measured, predicted),
        caption=said.caption(panel, curves, seen, measured),
        power=stated([g.error for g in every], LEVEL, granted, "% of an error", seeds=seeds),
        settings=tuple(experiment(n, c, x).id for c in curves for x in c.x),
    )
