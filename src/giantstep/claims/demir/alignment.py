"""Fig. 2b: the cosine of the spikes of the two components."""

from giantstep.claims.demir.figure import functions
from giantstep.claims.demir.panel import SEEDS as SEEDS
from giantstep.claims.demir.panel import STEPPED, Panel, PanelCurve, activated

QUICK, FULL = (0.0, 0.5, 1.0), (-1.0, -0.5, 0.0, 0.5, 1.0)
LINE = (0.0, 0.25, 0.5, 0.75, 1.0)


def random(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1/2", lambda s, _: {"alignment": s}, x, line, x)  # noqa: RUF001


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1, β = 0.86", lambda s, _: {"alignment": s, **STEPPED}, x, line, x)  # noqa: RUF001


PANEL = Panel(
    symbol="cos(γ₁, γ₂)",
    axis="alignment $\\cos(\\gamma_1, \\gamma_2)$",
    caption="The error falls by {change:.0f}% as the two spikes turn into one direction.",
    curves={
        "quick": (random(QUICK, LINE), stepped((0.5,), (0.0, 0.5, 1.0))),
        "full": (
            random(FULL, (-1.0, -0.75, -0.5, -0.25, *LINE)),
            activated(random(FULL, LINE), (0.0, 1.0)),
            stepped((0.0, 1.0), LINE),
        ),
    },
    better=1.0,
    worse=0.0,
)
measure, predict, compare, describe = functions(PANEL)
