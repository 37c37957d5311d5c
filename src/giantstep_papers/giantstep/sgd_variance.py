"""Which features have a variance that falls again: the sine's does, that of tanh, nearly linear,
rises to a level."""

import numpy as np
from jaxtyping import Float

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
from giantstep.measure import mean_and_error
from giantstep_papers.liu.bias_variance import (
    ACTIVATIONS,
    FALL,
    LARGE,
    PARTS,
    SIZES,
    TANH,
    TOP,
    WIDTHS,
    figure,
    measure,
    predict,
    predict_draws,
)
from giantstep_papers.liu.runs import NOISE, SHARE
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=27,
    of="giantstep",
    statement="With tanh features, which are nearly linear, the variance of one pass of SGD does "
    "not fall again with the width: it rises to a level. Bias and variance are those predicted for "
    "the same first layers.",
    where="one pass of SGD on random features, the setting of Liu, Suykens and Cevher (2022); "
    "recursion of gs.theory",
    how="The log variance of tanh must not fall from p = n/2 to 3n by more than a least fall. By "
    "theory at p = n/10 to 100n and three d it must fall nowhere. Bias and variance must be, "
    "in the mean over the widths, as predicted for sine and tanh.",
    judges=(
        Judge(
            "change of the log variance",
            side="above",
            margin=0.0,
            departure=(0.25, 0.1),
        ),
        Judge(
            "least step of the log variance of tanh, theory",
            side="above",
            margin=0.0,
            departure=0.02,
        ),
        Judge(
            "mean over the predicted",
            percent=True,
            margin=(0.06, 0.03),
            departure=(0.3, 0.1),
            mean=((0.05, 0.02), (0.2, 0.04)),
            because="terms of order 2.4/d",
        ),
    ),
    seeds={"quick": Seeds(18, 90), "full": Seeds(60, 700)},
)

__all__ = ["CLAIM", "compare", "describe", "measure", "predict", "predict_draws"]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The variance of tanh does not fall beyond p = n/2, at hand and in theory;
    both parts are those predicted."""
    judge = judging(CLAIM, size)
    change = statistics.pseudovalues(_change, measured[TANH][1])[None]
    beyond = f"{TANH}, p = {WIDTHS[TOP]:g}n to {WIDTHS[-1]:g}n"
    steps = np.diff(np.log(predicted[f"large {TANH}"][:, 1])).min(axis=-1)
    large = [f"d = {d}" for d in LARGE]
    over = np.concatenate([_theory(measured, predicted, name) for name in ACTIVATIONS])
    at = [f"{part}, {name}" for name in ACTIVATIONS for part in PARTS]
    return statistics.stated(
        judge("change of the log variance", change, -FALL, at=[beyond]),
        judge("least step of the log variance of tanh, theory", steps, at=large, noisy=False),
        *judge.each_and_mean("mean over the predicted", over, 1.0, at=at),
    )


def _change(values: Float[np.ndarray, "widths seeds"]) -> float:
    """The log of the mean variance at the largest width over that at p = n/2."""
    return float(np.log(np.mean(values[-1]) / np.mean(values[TOP])))


def _theory(measured: Data, predicted: Data, name: str) -> Float[np.ndarray, "parts seeds"]:
    """Means over the widths of each part over its prediction given the first layers."""
    scale = predicted[name].mean(axis=-1, keepdims=True)
    return np.mean(1 + (measured[name] - predicted[name]) / scale, axis=1)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    found = {name: mean_and_error(measured[name]) for name in ACTIVATIONS}
    own, large = found[TANH][0][1], predicted[f"large {TANH}"][-1, 1]
    words = (
        f"Beyond p = {WIDTHS[TOP]:g}n the variance of tanh features goes from {own[TOP]:.3f} to "
        f"{own[-1]:.3f}. In theory it rises to {large[-1]:.3f} for the widest networks, without a "
        "maximum."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {SHARE:g}, noise {NOISE:g}",
        figure=figure(
            d, n, found, {name: predicted[name].mean(axis=-1) for name in ACTIVATIONS}, predicted
        ),
        caption="The variance of sine features falls beyond its maximum (left), that of tanh "
        "features does not (right).",
    )
