"""Which features have a variance that falls again: the sine's does, that of tanh, nearly linear, rises to a level."""

import numpy as np
from jaxtyping import Float

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, statistics
from giantstep.measure import mean_and_error
from giantstep_papers.liu.bias_variance import (
    ACTIVATIONS,
    FALL,
    LARGE,
    PARTS,
    SIZES,
    SURE,
    TANH,
    TOP,
    WIDTHS,
    figure,
    measure,
    predict,
    predict_draws,
    variance,
)
from giantstep_papers.liu.runs import NOISE, SHARE
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=27,
    of="giantstep",
    statement="With tanh features, which are nearly linear, the variance of one pass of SGD does not "
    "fall again with the width: it rises to a level. Bias and variance are those predicted "
    "for the same first layers.",
    where="one pass of SGD on random features, the setting of Liu, Suykens and Cevher (2022); recursion of gs.theory",
    how="The log variance of tanh must not fall from p = n/2 to 3n by more than a least fall. By "
    "theory at p/n = 0.1 to 100 and three d it must fall nowhere. Bias and variance must be, "
    "in the mean over the widths, as predicted for sine and tanh, within terms of order "
    "2.4/d.",
    seeds={"quick": Seeds(18, 90), "full": Seeds(60, 700)},
)

__all__ = ["CLAIM", "compare", "describe", "measure", "predict", "predict_draws"]

RULE = {
    "quick": Tolerances(Tolerance(0.06, 0.3), Tolerance(0.05, 0.2)),
    "full": Tolerances(Tolerance(0.03, 0.1), Tolerance(0.02, 0.04)),
}  # of a mean part, and of the mean of all four


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The variance of tanh does not fall beyond p = n/2, at hand and in theory; both parts are those predicted."""
    logs = np.log(predicted[f"large {TANH}"][:, 1])
    return statistics.stated(
        variance(size, measured[TANH][1], TOP, len(WIDTHS) - 1, -FALL, "above", TANH),
        statistics.compare(
            "least step of the log variance of tanh, theory", np.diff(logs).min(axis=-1), 0.0,
            at=[f"d = {d}" for d in LARGE], side="above", within=SURE, noisy=False,
        ),
        *statistics.each_and_mean(
            "mean over the predicted", np.concatenate([_theory(measured, predicted, name) for name in ACTIVATIONS]), 1.0,
            at=[f"{part}, {name}" for name in ACTIVATIONS for part in PARTS], within=RULE[size],
        ),
    )  # fmt: skip


def _theory(measured: Data, predicted: Data, name: str) -> Float[np.ndarray, "parts seeds"]:
    """Means over the widths of each part over its prediction given the first layers."""
    scale = predicted[name].mean(axis=-1, keepdims=True)
    return np.mean(1 + (measured[name] - predicted[name]) / scale, axis=1)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    found = {name: mean_and_error(measured[name]) for name in ACTIVATIONS}
    own, large = found[TANH][0][1], predicted[f"large {TANH}"][-1, 1]
    words = (
        f"Beyond p = {WIDTHS[TOP]:g}n the variance of tanh features goes from {own[TOP]:.3f} to {own[-1]:.3f}. In theory it "
        f"rises to {large[-1]:.3f} for the widest networks, without a maximum."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {SHARE:g}, noise {NOISE:g}",
        figure=figure(d, n, found, {name: predicted[name].mean(axis=-1) for name in ACTIVATIONS}, predicted),
        caption="The variance of sine features falls beyond its maximum (left), that of tanh "
        "features does not (right).",
    )
