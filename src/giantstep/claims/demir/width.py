"""Fig. 1a: neurons per sample. The labels are the same along the axis."""

from giantstep.claims.demir.figure import functions
from giantstep.claims.demir.panel import SEEDS as SEEDS
from giantstep.claims.demir.panel import STEPPED, Panel, PanelCurve, activated

QUICK, FULL = (0.3, 1.0, 3.0), (0.1, 0.3, 1.0, 2.0, 5.0)
LINE = (0.1, 0.3, 0.6, 1.0, 1.5, 3.0, 5.0)
STEP = "ReLU, α = 1, β = 0.86"  # noqa: RUF001


def random(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1/2", lambda k, _: {"width": k}, x, line, x)  # noqa: RUF001


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve(STEP, lambda k, _: {"width": k, **STEPPED}, x, line, x)


PANEL = Panel(
    symbol="k/m",
    axis="neurons per sample k/m",
    caption="Wider networks err less. A step helps only where it is long, by up to {step:.0f}%.",
    curves={
        "quick": (random(QUICK, LINE[1:-1]), stepped((1.0, 3.0), (1.0, 1.5, 3.0))),
        "full": (random(FULL, LINE), activated(random(FULL, LINE), FULL[::2]), stepped(FULL[2:], LINE[3:])),
    },
    log=True,
)
measure, predict, compare, describe = functions(PANEL)
