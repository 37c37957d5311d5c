"""One step of any size n^alpha, 0 < alpha < 1/2, improves on random features."""

from itertools import product
from typing import NamedTuple

import numpy as np

from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import Compared, compare
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import talk
from giantstep.plot import style

ALPHAS = (0.05, 0.15, 0.25, 0.35, 0.42, 0.49)
SIZES = {"quick": (500, 14), "full": (2000, 40)}
POSITIVE = 3.0  # standard errors of a gain above zero
SURE = 4.0  # standard errors off the prediction, for 24 comparisons
NEAR = 0.1  # of a gain, granted to finite sizes


class Gain(NamedTuple):
    """One row of the table; ``sure`` is the distance from zero in standard errors."""

    target: str
    what: str
    alpha: float
    mean: float
    error: float
    predicted: float
    sure: float


def measure(size: Size) -> Data:
    """The gains, (targets, errors, alphas, seeds)."""
    n, seeds = SIZES[size]
    runs = [paired.measured(paired.experiment(n, ALPHAS, target), seeds) for target in talk.targets().values()]
    return {"gains": np.array([paired.gains(errors) for errors in runs])}


def predict(size: Size) -> Data:
    """The gains, (targets, errors, alphas), and along a fine grid."""
    fine = np.linspace(0.01, max(ALPHAS) + 0.005, 31)
    settings = [
        paired.experiment(SIZES[size][0], (*ALPHAS, *fine.tolist()), target) for target in talk.targets().values()
    ]
    gains = np.array([paired.gains(paired.predicted(setting)) for setting in settings])
    return {"gains": gains[..., : len(ALPHAS)], "fine": fine, "lines": gains[..., len(ALPHAS) :]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, seeds = SIZES[size]
    comparison = compare(measured["gains"], predicted["gains"], level=SURE, granted=NEAR * np.abs(predicted["gains"]))
    columns = (
        x.ravel().tolist()
        for x in (comparison.mean, comparison.error, comparison.predicted, comparison.mean / comparison.error)
    )
    at = product(talk.LABELS, paired.ERRORS.values(), ALPHAS)
    rows = [Gain(*where, *numbers) for where, numbers in zip(at, zip(*columns, strict=True), strict=True)]
    negative, positive = [r for r in rows if r.sure < -POSITIVE], [r for r in rows if r.sure > POSITIVE]
    least, lowest, highest = (f(rows, key=k) for f, k in ((min, _sure), (min, _mean), (max, _mean)))
    return Verdict(
        outcome="fails"
        if negative or np.any(comparison.missed)
        else ("holds" if len(positive) == len(rows) else "inconclusive"),
        sentence=f"{len(positive)} of {len(rows)} gains over random features are positive by {POSITIVE:g} s.e., and "
        f"{len(negative)} negative; the least sure is {least.mean:.3f} ± {least.error:.3f}, {least.sure:+.1f} s.e. from "
        f"zero ({least.what}, {least.target}, alpha = {least.alpha:g}). {np.sum(~comparison.missed)} agree with the finite-size "
        f"theory, never further than {np.max(np.abs(comparison.distance)):.1f} s.e.",
        header=("target", "error", "alpha", "gain", "s.e.", "predicted", "from zero in s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, comparison, predicted),
        caption="Gains over random features in test error (left) and training loss (right) against alpha for both "
        f"targets, dots over the theory's lines: all lie above zero, from {lowest.mean:.3f} ± {lowest.error:.3f} "
        f"({lowest.what}, {lowest.target}, alpha = {lowest.alpha:g}) to {highest.mean:.3f} ± {highest.error:.3f} "
        f"({highest.what}, {highest.target}, alpha = {highest.alpha:g}).",
        settings=tuple(paired.experiment(n, ALPHAS, target).id for target in talk.targets().values()),
        power=comparison.relative().power("% of a predicted gain", 100),
    )


def _sure(row: Gain) -> float:
    return row.sure


def _mean(row: Gain) -> float:
    return row.mean


def _figure(n: int, comparison: Compared, predicted: Data) -> str:
    """The gains in both errors over the theory's lines."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, name in enumerate(talk.LABELS.values()):
            for j, (ax, label) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
                ax.plot(predicted["fine"], predicted["lines"][i, j], color=style.COLOURS[i])
                style.dots(
                    ax, ALPHAS, comparison.mean[i, j], comparison.error[i, j], color=style.COLOURS[i], label=name
                )
                ax.set_ylabel(f"gain in {label}")
        for ax in axes:
            paired.step_axis(ax, 0.5)
            ax.set(xlim=(0, 0.51), ylim=(0, None))
        axes[0].plot([], [], color=style.INK, label=f"theory at n = {n}")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)


CLAIM = claim("moniri/improvement", measure=measure, predict=predict, judge=judge)
