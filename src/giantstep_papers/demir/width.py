"""Fig. 1a: neurons per sample. The labels are the same along the axis."""

from giantstep.checks import Claim, Judge, Seeds
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import STEPPED, Panel, PanelCurve, activated

CLAIM = Claim(
    order=1,
    quote="(a, b, c) The generalization errors of the NNs and the Hermite model closely align.",
    place="ICLR slides of Demir and Dogan, “Impacts of Data Spread and Learning Rate”",
    kind="figure",
    statement="The generalization errors of the networks and the Hermite model closely align.",
    where="panel (a), impact of k/m at α = 1/2, β = 3/4⁻",
    how="The error of the Hermite model must be that of the network on the same draws, at every "
    "point and on average over a curve. At α = 1/2 and random ξ the step does nothing, so a second "
    "curve has a larger step.",
    judges=(
        Judge(
            "error of the Hermite model over that of the network",
            percent=True,
            margin=(0.1, 0.05),
            departure=(0.2, 0.1),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="corrections of order n^(−1/4)",
        ),
    ),
    seeds={"quick": Seeds(12, 60), "full": Seeds(12, 90)},
)

QUICK, FULL = (0.3, 1.0, 3.0), (0.1, 0.3, 1.0, 2.0, 5.0)
LINE = (0.1, 0.3, 0.6, 1.0, 1.5, 3.0, 5.0)
STEP = "ReLU, α = 1, β = 0.86"


def random(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1/2", lambda k, _: {"width": k}, x, line, x)


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve(STEP, lambda k, _: {"width": k, **STEPPED}, x, line, x)


PANEL = Panel(
    symbol="k/m",
    axis="neurons per sample k/m",
    caption="Wider networks err less. A step helps only where it is long, by up to {step:.0f}%.",
    curves={
        "quick": (random(QUICK, LINE[1:-1]), stepped((1.0, 3.0), (1.0, 1.5, 3.0))),
        "full": (
            random(FULL, LINE),
            activated(random(FULL, LINE), FULL[::2]),
            stepped(FULL[2:], LINE[3:]),
        ),
    },
    log=True,
)
measure, predict, compare, describe = functions(CLAIM, PANEL)
