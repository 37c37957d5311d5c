"""Gaussian features with the covariance of random ones leave training and test error as they are."""

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict
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
    statement="A random feature model with a nonlinear activation is asymptotically equivalent to a "
    "linear Gaussian model with a matching covariance matrix, in terms of training and "
    "generalization errors.",
    where="random features without a step, of three activations",
    how="Test error and training objective with Gaussian features must be the network's own on "
    "the same draws: each of them, and their mean for an activation. The margin is about "
    "n^(−1/2) of an error.",
    seeds={"quick": Seeds(36, 80), "full": Seeds(40, 280)},
)

SIZES = {"quick": (100, 200, 400), "full": (375, 750, 1500)}  # the last is judged, the others show the trend
CELL = {"quick": Tolerance(0.05, 0.16), "full": Tolerance(0.02, 0.04)}  # of an error
MEAN = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.04)}  # of the mean over the errors of an activation
ARMS = tuple(Arm(activation, "rank1", ()) for activation in ("relu", "tanh", "sin(1.5*x)"))


def measure(size: Size, seeds: range) -> Data:
    return replaced.by_size(SIZES[size], ARMS, seeds)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    return replaced.evidence(ARMS, measured, Tolerances(CELL[size], MEAN[size]))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (small, *_, n), (before, most) = SIZES[size], replaced.furthest_of(ARMS, measured)
    return Verdict(
        sizes=f"n = {n}, and smaller ones for the trend; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        sentence=f"With every activation both errors change by at most {most:.1f}% when Gaussian features of "
        "the same covariance replace random features.",
        figure=replaced.draw(n, ARMS, [measured[arm.name]["last"] for arm in ARMS]),
        caption=f"Gaussian features with the covariance of random ones have their errors within {most:.1f}%.",
        trend=f"The largest change goes from {before:.1f}% at n = {small} to {most:.1f}% at n = {n}.",
        settings=tuple(replaced.experiment(n, arm).id for arm in ARMS),
    )
