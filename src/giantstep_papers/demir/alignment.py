"""Fig. 2b: the cosine of the spikes of the two components."""

from giantstep.checks import Claim, Judge, Seeds
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import STEPPED, Panel, PanelCurve, activated

CLAIM = Claim(
    order=5,
    quote="(b) Impact of mixture alignment for regression […] The generalization errors of the NNs "
    "and the Hermite model closely align. Mixture properties significantly affect the "
    "generalization errors.",
    place="ICLR slides of Demir and Dogan, “Impacts of Mixture Properties”",
    kind="figure",
    statement="The mixture alignment significantly affects the generalization error for "
    "regression, and the errors of the networks and the Hermite model closely align.",
    where="panel (b), alignment of the spikes at α = 1/2, β = 3/4⁻, with the error as the poster "
    "defines it, E(y − ŷ)²",
    how="The error must change by a tenth at least between the cosines 0 and 1, in either "
    "direction, since the poster names none. Less could be a difference between models that align. "
    "The error of the Hermite model must be that of the network on the same draws, at every point "
    "and on average over a curve. At α = 1/2 and random ξ the step does nothing, so a second curve "
    "has a larger step.",
    judges=(
        Judge("change of the log error", side="above", margin=0, departure=0.1),
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

QUICK, FULL = (0.0, 0.5, 1.0), (-1.0, -0.5, 0.0, 0.5, 1.0)
LINE = (0.0, 0.25, 0.5, 0.75, 1.0)


def random(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1/2", lambda s, _: {"alignment": s}, x, line, x)


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve("ReLU, α = 1, β = 0.86", lambda s, _: {"alignment": s, **STEPPED}, x, line, x)


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
measure, predict, compare, describe = functions(CLAIM, PANEL)
