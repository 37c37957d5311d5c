"""Fig. 2a: the share of the first component, where the label is the component."""

from giantstep.checks import Claim, Judge, Seeds
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import STEPPED, Panel, PanelCurve, activated

CLAIM = Claim(
    order=4,
    quote="(a) Impact of mixture ratio for classification […] The generalization errors of the NNs "
    "and the Hermite model closely align. Mixture properties significantly affect the "
    "generalization errors.",
    place="ICLR slides of Demir and Dogan, “Impacts of Mixture Properties”",
    kind="figure",
    statement="The mixture ratio significantly affects the generalization error for "
    "classification, and the errors of the networks and the Hermite model closely align.",
    where="panel (a), mixture ratio at α = 1/2, β = 3/4⁻, where the label is the component, with "
    "the error as the poster defines it, E(y − ŷ)²",
    how="The error must change by a tenth at least between ρ = 1/20 and ρ = 1/2, in either "
    "direction, since the poster names none. Less could be a difference between models that align. "
    "The error of the Hermite model must be that of the network on the same draws, at every point "
    "and on average over a curve. Labels by component have E[y x] = 0, and the step does nothing. "
    "So a second curve has labels relu(ξᵀx) and a larger step.",
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
    seeds={"quick": Seeds(20, 70), "full": Seeds(30, 150)},
)

QUICK, FULL = (0.05, 0.2, 0.5), (0.05, 0.2, 0.5, 0.8, 0.95)
LINE = (0.05, 0.1, 0.2, 0.35, 0.5)


def classes(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    return PanelCurve(
        "ReLU, y = ±1 by component", lambda r, _: {"rho": r, "target": "-1 | 1"}, x, line, x
    )


def stepped(x: tuple[float, ...], line: tuple[float, ...]) -> PanelCurve:
    """With y = relu(xi^T x) the step does something.

    Labels by component have E[y x] = 0, and it does nothing.
    """
    return PanelCurve(
        "ReLU, y = relu(ξᵀx), α = 1, β = 0.86", lambda r, _: {"rho": r, **STEPPED}, x, line, x
    )


PANEL = Panel(
    symbol="ρ",
    axis="mixture ratio ρ",
    caption="Where one component is rare the error is {change:.0f}% smaller than where both are "
    "equally large.",
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
measure, predict, compare, describe = functions(CLAIM, PANEL)
