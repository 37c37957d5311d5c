"""Fig. 1b: the strength n^beta as spread of the data or as step size; and labels along the spikes, which keep their size."""

from giantstep.checks import Seeds, Size
from giantstep.claims.demir.figure import functions
from giantstep.claims.demir.panel import Panel, PanelCurve, activated

QUICK = FULL = (0.0, 0.5, 1.0)
LINE = (0.0, 0.25, 0.5, 0.75, 1.0)
SEEDS: dict[Size, Seeds] = {"quick": Seeds(20, 70), "full": Seeds(36, 180)}


def random(x: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, random ξ", lambda a, _: {"alpha": a}, x, LINE, x)


def clean(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    """Labels along the sum of the two spikes, as in Fig. 4a: the step learns, and the labels keep their size."""
    return PanelCurve(
        "ReLU, ξ along the spikes", lambda a, _: {"alpha": a, "spiked_target": True}, x, line, (1.0,), along=True
    )


PANEL = Panel(
    symbol="α",
    axis="α: spread $n^{\\beta(1-\\alpha)}$, step $n^{\\beta\\alpha}$",
    caption="The error grows {times:.0f}-fold as the strength moves from the spread (left) to the step (right).",
    curves={
        "quick": (random(QUICK), clean((0.0, 1.0), LINE[::2])),
        "full": (random(LINE), activated(random(FULL), FULL), clean((0.0, 1.0), LINE)),
    },
    better=0.0,
    worse=1.0,
    directed=True,
    shared=2,
)
measure, predict, compare, describe = functions(PANEL)
