"""The constants behind the talk's scaling of one step: those of the activation's Hermite
coefficients and of E[sigma'^2]."""

from itertools import product

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep_papers.dandi import scaling
from giantstep_papers.dandi.scaling import GROUPS, SIZES, WHAT, measure, predict, values

CLAIM = Claim(
    order=17,
    of="giantstep",
    statement="After one step a neuron has gained s a_i c_ℓ ℓ √ℓ! μ_{k,ℓ} ⟨w_i, w*_k⟩^(ℓ−1) along "
    "w*_k, and s² a_i² (d/n) E y² E σ'² in squared length.",
    where="the constants of the slide “Behind the scenes” (dandi/scaling), with the activation's "
    "coefficient that it drops",
    how="We compare overlaps gained, by regression on the predicted ones of the same neurons, and "
    "squared lengths gained with the prediction at the largest d. The prediction has the terms of "
    "order 1/d. The small d of ℓ = 3 make squared lengths scatter by (2/d)^(1/2).",
    judges=(
        Judge(
            "gain for ℓ = 1 and 2 over the predicted one",
            relative=True,
            margin=(0.025, 0.012),
            departure=(0.1, 0.05),
            because="terms of order 1/d² in overlaps and 1/(nd) in lengths",
        ),
        Judge(
            "gain for ℓ = 3 over the predicted one",
            relative=True,
            margin=(0.1, 0.03),
            departure=(0.6, 0.3),
            because="terms of order 1/d² in overlaps and 1/(nd) in lengths",
        ),
    ),
    seeds={"quick": Seeds(24, 120), "full": Seeds(24, 160)},
)

__all__ = ["compare", "describe", "measure", "predict"]

GAINS = tuple(each.what for each in CLAIM.judges)  # of both groups of orders


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Overlaps and squared lengths gained over the predicted ones at the largest d."""
    found, judge = values(size, measured, predicted), judging(CLAIM, size)
    at = {order: f"ℓ = {order}, d = {each[-1]}" for order, each in SIZES[size].items()}
    groups = tuple(zip(GROUPS, GAINS, strict=True))
    return statistics.stated(
        *(
            judge(
                what,
                [found[order][k, -1] for order in some],
                1.0,
                by=gain,
                at=[at[order] for order in some],
            )
            for (k, what), (some, gain) in product(enumerate(WHAT), groups)
        )
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    return Verdict(
        sizes=scaling.sizes(size),
        figure=scaling.figure(size, measured, predicted),
        caption="What a step gains, in overlap (left) and in squared length (right), is what is "
        "predicted, for every ℓ.",
        settings=scaling.ids(size),
    )
