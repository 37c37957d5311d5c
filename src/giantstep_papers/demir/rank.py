"""Fig. 2c: the number of spikes of every component, averaged over populations.

Their strengths are theta U(0, 1).
"""

from typing import Any

import numpy as np

from giantstep.checks import Claim, Judge, Seeds
from giantstep.checks.claim import Data, Size
from giantstep.checks.random import Stream, generator
from giantstep_papers.demir.figure import functions
from giantstep_papers.demir.panel import ALPHA, BETA, SIZES, STEPPED, Panel, PanelCurve

CLAIM = Claim(
    order=6,
    quote="(c) Impact of covariance rank for regression […] The generalization errors of the NNs "
    "and the Hermite model closely align. Mixture properties significantly affect the "
    "generalization errors.",
    place="ICLR slides of Demir and Dogan, “Impacts of Mixture Properties”",
    kind="figure",
    statement="The covariance rank significantly affects the generalization error for regression, "
    "and the errors of the networks and the Hermite model closely align.",
    where="panel (c), covariance rank at α = 1/2, β = 3/4⁻, strengths θ U(0, 1), with the error as "
    "the poster defines it, E(y − ŷ)²",
    how="The error must change by a tenth at least between the ranks 1 and 8, in either direction, "
    "since the poster names none. Less could be a difference between models that align. The error "
    "of the Hermite model must be that of the network on the same draws, at every point and on "
    "average over a curve. At α = 1/2 and random ξ the step does nothing, so a second curve has a "
    "larger step.",
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

QUICK, FULL = (1.0, 8.0), (1.0, 2.0, 4.0, 8.0)


def options(x: float, seed: int) -> dict[str, Any]:
    """Strengths uniform in (0, 1), the same in both components, so that the traces are equal.

    A larger rank adds to them.
    """
    own = generator(seed, Stream.POPULATION, 2, 97).random(round(max(FULL)))[: round(x)]
    return {"strengths": tuple(own.tolist()), "seed": seed}


def curve(name: str, x: tuple[float, ...], more: dict[str, Any]) -> PanelCurve:
    return PanelCurve(name, lambda at, seed: {**options(at, seed), **more}, x, (), x, own=True)


STEP = curve("ReLU, α = 1, β = 0.86", (8.0,), STEPPED)
PANEL = Panel(
    symbol="rank",
    axis="spikes of each component",
    caption="With eight spikes in a component the error is {change:.0f}% smaller than with one.",
    curves={
        "quick": (curve("ReLU, α = 1/2", QUICK, {}), STEP),
        "full": (
            curve("ReLU, α = 1/2", FULL, {}),
            curve("tanh, α = 1/2", FULL[::3], {"activation": "tanh"}),
            STEP,
        ),
    },
    better=8.0,
    worse=1.0,
)
measure, _, compare, describe = functions(CLAIM, PANEL)


def log_variance(theta: float, rank: int) -> float:
    """E log Var(y) but for a constant.

    Var(y) is proportional to 1/||Sigma|| = 1/(1 + theta max_i t_i/2), t_i ~ U(0, 1).
    """
    nodes, weights = np.polynomial.legendre.leggauss(60)
    t = (nodes + 1) / 2
    return -float(weights @ (np.log1p(theta * t / 2) * rank * t ** (rank - 1))) / 2


def predict(size: Size) -> Data:
    """The mean over populations of log Var(y) at rank 8 less that at rank 1."""
    theta = SIZES[size] ** (BETA * (1 - ALPHA))
    return {"change of log Var(y)": log_variance(theta, 8) - log_variance(theta, 1)}
