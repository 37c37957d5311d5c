"""Fig. 1b: the strength n^beta as spread of the data or as step size.

Beside it are labels along the spikes, which keep their size.
"""

from giantstep.checks import Claim, Judge, Seeds
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import Panel, PanelCurve, activated

CLAIM = Claim(
    order=2,
    quote="(a, b, c) The generalization errors of the NNs and the Hermite model closely align. (b) "
    "High data spread leads to better performance compared to high learning rate.",
    place="ICLR slides of Demir and Dogan, “Impacts of Data Spread and Learning Rate”",
    kind="figure",
    statement="High data spread leads to better performance compared to high learning rate, and "
    "the generalization errors of the networks and the Hermite model closely align.",
    where="panel (b), impact of the weighting α at β = 3/4⁻, with the error as the poster defines "
    "it, E(y − ŷ)²",
    how="The error at α = 0 must be below that at α = 1 by a tenth at least. Less could be a "
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
    seeds={"quick": Seeds(20, 70), "full": Seeds(36, 180)},
)

QUICK = FULL = (0.0, 0.5, 1.0)
LINE = (0.0, 0.25, 0.5, 0.75, 1.0)


def random(x: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, random ξ", lambda a, _: {"alpha": a}, x, LINE, x)


def clean(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    """Labels along the sum of the two spikes, as in Fig. 4a.

    The step learns, and the labels keep their size.
    """
    return PanelCurve(
        "ReLU, ξ along the spikes",
        lambda a, _: {"alpha": a, "spiked_target": True},
        x,
        line,
        (1.0,),
        along=True,
    )


PANEL = Panel(
    symbol="α",
    axis="α: spread $n^{\\beta(1-\\alpha)}$, step $n^{\\beta\\alpha}$",
    caption="The error grows {times:.0f}-fold as the strength moves from the spread (left) to the "
    "step (right).",
    curves={
        "quick": (random(QUICK), clean((0.0, 1.0), LINE[::2])),
        "full": (random(LINE), activated(random(FULL), FULL), clean((0.0, 1.0), LINE)),
    },
    better=0.0,
    worse=1.0,
    directed=True,
    shared=2,
)
measure, predict, compare, describe = functions(CLAIM, PANEL)
