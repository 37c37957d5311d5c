"""The table of a panel: its points, and what the axis does."""

from giantstep.checks.claim import Data, Size
from giantstep.claims.demir.panel import Panel, PanelCurve
from giantstep.claims.demir.seen import NEAR, look
from giantstep.measure import mean_and_error

HEADER = (
    "curve", "axis", "network", "s.e.", "η = 0", "Hermite in %", "s.e.", "conditional in %", "predicted", "network over ½Var(y)",
    "s.e.", "verdict",
)  # fmt: skip


def rows(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data, size: Size) -> list[tuple]:
    """One for every point, and one for the axis of every curve."""
    seen, made = look(panel, curves, measured, predicted), []
    for curve in curves:
        found, theory = measured[curve.name], dict(zip(curve.told, predicted["errors"][curve.name], strict=True))
        given = {g.x: g for g in seen.conditional if g.curve == curve.name}
        for i, x in enumerate(curve.x):
            mean, error = map(float, mean_and_error(found["network"][i, 1]))
            over = map(float, mean_and_error(found["network"][i, 1] / found["variance"][i]))
            hermite = next(g for g in seen.hermite if (g.curve, g.x) == (curve.name, x))
            off = hermite.beyond(NEAR[size], predicted["difference"])
            more = (given[x].mean if x in given else "", float(theory[x].mean()) if x in theory else "")
            idle = float(found["network"][i, 0].mean())
            point = (curve.name, x, mean, error, idle, hermite.mean, hermite.error, *more, *over)
            made.append((*point, "apart" if off else "align"))
    for raw, over in zip(seen.raw, seen.normalised, strict=True):
        axis = f"{panel.better:g} against {panel.worse:g}"
        said = f"raw: {raw.verdict}; normalised: {over.verdict}"
        numbers = [f"{x:{sign}.1f}%" for each in (raw, over) for x, sign in ((each.mean, "+"), (each.error, ""))]
        made.append((raw.curve, axis, *numbers[:2], *[""] * 5, *numbers[2:], said))
    return made
