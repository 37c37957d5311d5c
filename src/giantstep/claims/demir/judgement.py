"""The verdict on a panel, and its table."""

from typing import Any

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import decided, detectable, stated
from giantstep.claims.demir import figure, wording
from giantstep.claims.demir.effects import ENOUGH, FINITE, LEVEL, NEAR, PanelEffects, look
from giantstep.claims.demir.panel import PENALTY, Panel, PanelCurve, experiment
from giantstep.measure import mean_and_error

HEADER = (
    "curve", "axis", "network", "s.e.", "η = 0", "Hermite in %", "s.e.", "conditional in %", "predicted", "network over ½Var(y)",
    "s.e.", "verdict",
)  # fmt: skip


def outcome(effects: PanelEffects, size: Size, expected: float, unjudged: tuple[str, ...] = ()) -> Any:
    """Fails where the models or theory are off, or the raw effect is reversed; open where too little would be seen."""
    missed = any(g.beyond(NEAR[size], expected) for g in effects.hermite) or any(
        g.beyond(FINITE[size]) for g in effects.theory
    )
    verdicts = {each.verdict for each in effects.raw if each.curve.split(",")[0] not in unjudged}
    least = [detectable(g.error, LEVEL, NEAR[size]) for g in effects.hermite]
    least += [detectable(g.error, LEVEL, FINITE[size]) for g in effects.theory]
    open_ = "not seen" in verdicts or not all(x <= ENOUGH for x in least)  # NaN: one seed
    return decided(missed or "reversed" in verdicts, ENOUGH + 1 if open_ else ENOUGH, ENOUGH)


def judge(panel: Panel, size: Size, measured: Data, predicted: Data) -> Verdict:
    n, seeds = panel.size(size)
    curves = panel.curves[size]
    effects, expected = look(panel, curves, measured, predicted), predicted["difference"]
    every = [*effects.hermite, *effects.theory]
    granted = [NEAR[size]] * len(effects.hermite) + [FINITE[size]] * len(effects.theory)
    return Verdict(
        outcome=outcome(effects, size, expected, panel.unjudged),
        sentence=wording.sentence(panel, curves, effects, size, expected, measured),
        header=HEADER,
        rows=tuple(rows(panel, curves, measured, predicted, size)),
        seeds=f"0-{seeds - 1}" + (", each with a mixture of its own" if curves[0].populations else ""),
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}; "
        + "; ".join(f"{c.name}: {panel.symbol} = {', '.join(f'{x:g}' for x in c.x)}" for c in curves),
        figure=figure.figure(panel, curves, measured, predicted),
        caption=wording.caption(panel, curves, effects, measured),
        power=stated([g.error for g in every], LEVEL, granted, "% of an error", seeds=seeds),
        settings=tuple(experiment(n, c, x).id for c in curves for x in c.x),
    )


def rows(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data, size: Size) -> list[tuple]:
    """One for every point, and one for the axis of every curve."""
    effects, made = look(panel, curves, measured, predicted), []
    for curve in curves:
        errors, theory = (
            measured[curve.name],
            dict(zip(curve.predicted_at, predicted["errors"][curve.name], strict=True)),
        )
        given = {g.x: g for g in effects.conditional if g.curve == curve.name}
        for i, x in enumerate(curve.x):
            mean, error = map(float, mean_and_error(errors["network"][i, 1]))
            over = map(float, mean_and_error(errors["network"][i, 1] / errors["variance"][i]))
            hermite = next(g for g in effects.hermite if (g.curve, g.x) == (curve.name, x))
            off = hermite.beyond(NEAR[size], predicted["difference"])
            more = (given[x].mean if x in given else "", float(theory[x].mean()) if x in theory else "")
            idle = float(errors["network"][i, 0].mean())
            point = (curve.name, x, mean, error, idle, hermite.mean, hermite.error, *more, *over)
            made.append((*point, "apart" if off else "align"))
    for raw, over in zip(effects.raw, effects.normalised, strict=True):
        axis = f"{panel.better:g} against {panel.worse:g}"
        words = f"raw: {raw.verdict}; normalised: {over.verdict}"
        numbers = [f"{x:{sign}.1f}%" for each in (raw, over) for x, sign in ((each.mean, "+"), (each.error, ""))]
        made.append((raw.curve, axis, *numbers[:2], *[""] * 5, *numbers[2:], words))
    return made
