"""One pass of SGD has no peak at p = n, where the minimum-norm fit diverges;
many passes have one and tend to the fit."""

import numpy as np

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
from giantstep_papers.liu import runs
from giantstep_papers.liu.threshold import (
    AT,
    PASSES,
    PEAK,
    PEAKED,
    SIZES,
    WIDTHS,
    figure,
    measure,
    peaks,
    predict_draws,
)
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=28,
    of="giantstep",
    statement="One pass of SGD has no peak at p = n, where the minimum-norm fit has one. Many "
    "passes tend to that fit, and have a peak.",
    where="SGD on random features, the setting of Liu, Suykens and Cevher (2022), beside the "
    "minimum-norm fit",
    how="We compare the log of the error at p = n with that beside it, at p = 0.75n and 1.5n. The"
    " peak must be below the least peak after one pass, above it after the most passes, and "
    "above log 3 for the fit. At p > n many passes must leave at most half of the way from "
    "one pass to the fit. One pass must be better than the fit at every other width. What "
    "concerns the fit scatters more.",
    judges=(
        Judge(
            "log of the error at p = n over that beside it",
            margin=0.0,
            departure=(0.2, 0.1),
        ),
        Judge(
            "log of the minimum-norm fit's error at p = n over that beside it",
            side="above",
            margin=0.0,
            departure=(2.0, 0.8),
        ),
        Judge(
            "share left of the way to the fit",
            side="below",
            margin=0.0,
            departure=(0.4, 0.15),
        ),
        Judge(
            "log of the error of one pass over the fit's",
            side="below",
            margin=0.0,
            departure=(0.4, 0.15),
        ),
    ),
    seeds={"quick": Seeds(18, 80), "full": Seeds(72, 600)},
)

__all__ = ["CLAIM", "compare", "describe", "measure", "predict_draws"]

ABOVE = [4, 5]  # the places of p > n
LEAST = float(np.log(3.0))  # the least peak of the fit, as a logarithm
LEFT = 0.5  # the most that many passes may leave of the way


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Whether there is a peak at p = n: after one pass, after the most, for the fit;
    and how near many passes are to it."""
    logs, found = np.log(measured["errors"]), peaks(measured)
    most = f"{PASSES[size][-1]} passes"
    above = [f"{most}, p = {WIDTHS[i]:g}n" for i in ABOVE]
    others = [f"p = {w:g}n" for i, w in enumerate(WIDTHS) if i != AT]
    left = statistics.pseudovalues(_left, measured["errors"][:, ABOVE])
    over = np.delete(logs[0] - logs[-1], AT, axis=0)
    judge = judging(CLAIM, size)
    fit = "log of the minimum-norm fit's error at p = n over that beside it"
    return statistics.stated(
        judge(PEAK, found[:1], PEAKED, at=["one pass"], side="below"),
        judge(PEAK, found[-2:-1], PEAKED, at=[most], side="above"),
        judge(PEAK, found[-1:], LEAST, by=fit, at=["minimum norm"]),
        judge("share left of the way to the fit", left, LEFT, at=above),
        judge("log of the error of one pass over the fit's", over, 0.0, at=others),
    )


def _left(errors: np.ndarray) -> np.ndarray:
    """What the most passes leave of the way from one pass to the fit, by width."""
    mean = errors.mean(axis=-1)
    return (mean[-1] - mean[-2]) / (mean[-1] - mean[0])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (d, n), passes = SIZES[size], PASSES[size]
    height = np.exp(np.mean(peaks(measured), axis=-1))
    words = (
        f"After one pass the error has no peak at p = n: it is {height[0]:.2f} times that beside "
        f"it. After {passes[-1]} passes it is {height[-2]:.2f} times, and for the minimum-norm fit "
        f"{height[-1]:.0f} times."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"d = {d}, n = {n}, averaged, rate {runs.rate():.3g}, noise {runs.NOISE:g}",
        figure=figure(d, n, passes, np.median(measured["errors"], axis=-1), predicted["errors"]),
        caption="One pass has no peak at p = n. The minimum-norm fit has a high one, and many "
        "passes stay well below it.",
        settings=tuple(runs.experiment(d, n, w).id for w in WIDTHS),
    )
