"""Fig. 2a: the share of the first component, where the label is the component."""

from giantstep.checks import Seeds, Size
from giantstep.claims.demir.figure import functions
from giantstep.claims.demir.panel import STEPPED, Panel, PanelCurve, activated

QUICK, FULL = (0.05, 0.2, 0.5), (0.05, 0.2, 0.5, 0.8, 0.95)
LINE = (0.05, 0.1, 0.2, 0.35, 0.5)
SEEDS: dict[Size, Seeds] = {"quick": Seeds(20, 70), "full": Seeds(30, 150)}


def classes(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, y = ±1 by component", lambda r, _: {"rho": r, "target": "-1 | 1"}, x, line, x)


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    """Labels by component have E[y x] = 0 and the step does nothing; with y = relu(xi^T x) it does."""
    return PanelCurve("ReLU, y = relu(ξᵀx), α = 1, β = 0.86", lambda r, _: {"rho": r, **STEPPED}, x, line, x)  # noqa: RUF001


PANEL = Panel(
    symbol="ρ",
    axis="mixture ratio ρ",
    caption="Where one component is rare the error is {change:.0f}% smaller than where both are equally large.",
    curves={
        "quick": (classes(QUICK, LINE), stepped((0.2,), (0.05, 0.2, 0.5))),
        "full": (
            classes(FULL, (*LINE, 0.65, 0.8, 0.9, 0.95)),
            activated(classes(FULL, LINE), FULL[::2]),
            stepped((0.05, 0.5), LINE),
        ),
    },
    better=0.05,
    worse=0.5,
)
measure, predict, compare, describe = functions(PANEL)
