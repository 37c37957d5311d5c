"""Fig. 1c: the strength beta of spread and step together.

Beside it are labels along the spikes, which keep their size.
"""

from giantstep.checks import Claim, Judge, Seeds
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import Panel, PanelCurve, activated

CLAIM = Claim(
    order=3,
    quote="(a, b, c) The generalization errors of the NNs and the Hermite model closely align. […] "
    "(c) Larger strength parameter results in improved generalization in general.",
    place="ICLR slides of Demir and Dogan, “Impacts of Data Spread and Learning Rate”",
    kind="figure",
    statement="A larger strength parameter results in improved generalization in general, and the "
    "generalization errors of the networks and the Hermite model closely align.",
    where="panel (c), impact of the strength β at α = 1/2, with the error as the poster defines "
    "it, E(y − ŷ)²",
    how="The error at β = 1 must be below that at β = 0 by a tenth at least. Less could be a "
    "difference between models that align. The error of the Hermite model must be that of the "
    "network on the same draws, at every point and on average over a curve.",
    judges=(
        Judge("change of the log error", side="below", margin=0, departure=0.1),
        Judge(
            "error of the Hermite model over that of the network",
            percent=True,
            margin=(0.1, 0.05),
            departure=(0.2, 0.1),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="corrections of order n^(−1/4)",
        ),
    ),
    seeds={"quick": Seeds(12, 60), "full": Seeds(40, 200)},
)

QUICK, FULL = (0.0, 0.5, 1.0), (0.0, 0.5, 0.74, 1.0)
LINE = (0.0, 0.25, 0.5, 0.75, 1.0)


def random(x: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, random ξ", lambda b, _: {"beta": b}, x, LINE, x[1:])


def clean(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    """Labels along the sum of the two spikes, as in Fig. 4a: the labels keep their size."""
    return PanelCurve(
        "ReLU, ξ along the spikes",
        lambda b, _: {"beta": b, "spiked_target": True},
        x,
        line,
        along=True,
    )


STEP = PanelCurve("ReLU, α = 1", lambda b, _: {"alpha": 1.0, "beta": b}, (0.86,), (), (0.86,))
PANEL = Panel(
    symbol="β",
    axis="β: spread and step $n^{\\beta/2}$ each",
    caption="The stronger spread and step, the smaller the error: for random ξ it falls by "
    "{change:.0f}%.",
    curves={
        "quick": (random(QUICK), clean((0.0, 1.0), LINE[::2]), STEP),
        "full": (random(FULL), activated(random(FULL), QUICK), clean((0.0, 1.0), LINE), STEP),
    },
    better=1.0,
    worse=0.0,
    directed=True,
    shared=2,
)
measure, predict, compare, describe = functions(CLAIM, PANEL)
