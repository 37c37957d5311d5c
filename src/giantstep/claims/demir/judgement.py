"""The verdict on a panel."""

from typing import Any

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import decided, detectable, stated
from giantstep.claims.demir import drawn, said, table
from giantstep.claims.demir.panel import PENALTY, Panel, experiment
from giantstep.claims.demir.seen import ENOUGH, FINITE, LEVEL, NEAR, PanelEffects, look


def outcome(seen: PanelEffects, size: Size, expected: float, told: tuple[str, ...] = ()) -> Any:
    """Fails where the models or theory are off, or the raw effect is reversed; open where too little would be seen."""
    missed = any(g.beyond(NEAR[size], expected) for g in seen.hermite) or any(
        g.beyond(FINITE[size]) for g in seen.theory
    )
    found = {each.verdict for each in seen.raw if each.curve.split(",")[0] not in told}
    least = [detectable(g.error, LEVEL, NEAR[size]) for g in seen.hermite]
    least += [detectable(g.error, LEVEL, FINITE[size]) for g in seen.theory]
    open_ = "not seen" in found or not all(x <= ENOUGH for x in least)  # NaN: one seed
    return decided(missed or "reversed" in found, ENOUGH + 1 if open_ else ENOUGH, ENOUGH)


def judge(panel: Panel, size: Size, measured: Data, predicted: Data) -> Verdict:
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
