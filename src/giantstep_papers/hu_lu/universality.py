"""Gaussian features with the covariance of random ones leave training and test error as they
are."""

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Tolerances,
    Verdict,
    judging,
)
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired, replaced
from giantstep_papers.shared.replaced import Arm

CLAIM = Claim(
    order=1,
    quote="in terms of training and generalization errors, a random feature model with a nonlinear "
    "activation function is asymptotically equivalent to a surrogate linear Gaussian model "
    "with a matching covariance matrix",
    place="abstract only",
    kind="theorem",
    statement="A random feature model with a nonlinear activation is asymptotically equivalent to "
    "a linear Gaussian model with a matching covariance matrix, in terms of training and "
    "generalization errors.",
    where="random features without a step, of three activations",
    how="Test error and training objective with Gaussian features must be the network's own on "
    "the same draws: each of them, and their mean for an activation. A change is counted as a "
    "share of the network's mean error.",
    judges=(
        Judge(
            "change of an error",
            margin=(0.05, 0.02),
            departure=(0.16, 0.04),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="corrections of about n^(−1/2)",
        ),
    ),
    seeds={"quick": Seeds(36, 80), "full": Seeds(40, 280)},
)

# n: the last is judged, the others show the trend
SIZES = {"quick": (100, 200, 400), "full": (375, 750, 1500)}
JUDGED = "change of an error"
ARMS = tuple(Arm(activation, "rank1", ()) for activation in ("relu", "tanh", "sin(1.5*x)"))


def measure(size: Size, seeds: range) -> Data:
    return replaced.by_size(SIZES[size], ARMS, seeds)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    judge = judging(CLAIM, size)
    within = Tolerances(judge.tolerance(JUDGED), judge.mean_tolerance(JUDGED))
    return replaced.evidence(ARMS, measured, within)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (small, *_, n), (before, most) = SIZES[size], replaced.furthest_of(ARMS, measured)
    return Verdict(
        sizes=f"n = {n}, and smaller ones for the trend; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        sentence=f"With every activation both errors change by at most {most:.1f}% when Gaussian "
        "features of the same covariance replace random features.",
        figure=replaced.draw(n, ARMS, [measured[arm.name]["last"] for arm in ARMS]),
        caption="Gaussian features with the covariance of random ones have their errors within "
        f"{most:.1f}%.",
        trend=f"The largest change goes from {before:.1f}% at n = {small} to {most:.1f}% at n = "
        f"{n}.",
        settings=tuple(replaced.experiment(n, arm).id for arm in ARMS),
    )
