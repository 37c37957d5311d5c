"""The constants behind the talk's scaling of one step: those of the activation's Hermite coefficients and of E[sigma'^2]."""

from itertools import product

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep_papers.dandi import scaling
from giantstep_papers.dandi.scaling import GROUPS, SIZES, WHAT, measure, predict, values

CLAIM = Claim(
    order=17,
    of="giantstep",
    statement="After one step a neuron has gained s a_i c_ℓ ℓ √ℓ! μ_{k,ℓ} ⟨w_i, w*_k⟩^(ℓ−1) along w*_k,"
    " and s² a_i² (d/n) E y² E σ'² in squared length.",
    where="the constants of the slide “Behind the scenes” (dandi/scaling), with the activation's "
    "coefficient that it drops",
    how="We compare overlaps gained, by regression on the predicted ones of the same neurons, and"
    " squared lengths gained with the prediction at the largest d. The prediction has the "
    "terms of order 1/d. The margin is for what is left, of order 1/d² in overlaps and 1/(nd)"
    " in lengths.",
    seeds={"quick": Seeds(24, 120), "full": Seeds(24, 160)},
)

__all__ = ["compare", "describe", "measure", "predict"]

RULE = {
    "quick": (Tolerance(0.025, 0.1), Tolerance(0.1, 0.6)),
    "full": (Tolerance(0.012, 0.05), Tolerance(0.03, 0.3)),
}  # for l = 1 and 2, and for l = 3, whose small d make squared lengths scatter by (2/d)^(1/2)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Overlaps and squared lengths gained over the predicted ones at the largest d."""
    found = values(size, measured, predicted)
    return statistics.stated(
        *(
            statistics.compare(
                what, [found[order][k, -1] for order in some], 1.0, at=[f"ℓ = {o}, d = {SIZES[size][o][-1]}" for o in some],
                relative=True, within=RULE[size][third],
            )
            for (k, what), (third, some) in product(enumerate(WHAT), enumerate(GROUPS))
        )
    )  # fmt: skip


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    return Verdict(
        sizes=scaling.sizes(size),
        figure=scaling.figure(size, measured, predicted),
        caption="What a step gains, in overlap (left) and in squared length (right), is what is "
        "predicted, for every ℓ.",
        settings=scaling.ids(size),
    )
