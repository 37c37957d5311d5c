"""The test error of one pass of SGD across p = n.

SGD is averaged or not, at constant and falling rates.
"""

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.liu import runs
from giantstep_papers.liu.runs import NOISE

CLAIM = Claim(
    order=1,
    of="giantstep",
    statement="The test error of one pass of SGD on random features, averaged or last, at a "
    "constant or a falling rate, follows from the second moments of the features, on both sides of "
    "p = n.",
    where="the setting of its bounds; the recursion is ours, exact but for fourth moments as of "
    "Gaussian features",
    how="Population risks at four widths, two decays and both iterates must be those predicted "
    "for the same first layers. Last iterates scatter more.",
    judges=(
        Judge(
            "test error of averaged iterates",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.12, 0.04),
            because="terms of order 1/d by which features differ from Gaussian ones",
        ),
        Judge(
            "test error of last iterates",
            relative=True,
            margin=(0.05, 0.02),
            departure=(0.25, 0.08),
            because="terms of order 1/d by which features differ from Gaussian ones",
        ),
        Judge(
            "mean of the test errors",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="terms of order 1/d by which features differ from Gaussian ones",
        ),
    ),
    seeds={"quick": Seeds(24, 60), "full": Seeds(48, 240)},
)

SIZES = {"quick": (40, 160), "full": (80, 480)}  # d, n
WIDTHS = (0.25, 0.5, 1.0, 3.0)  # p/n
DECAYS = (0.0, 0.5)
CASES = tuple((decay, average) for average in (True, False) for decay in DECAYS)


def readout(n: int, case: tuple[float, bool]) -> gs.SGD:
    return gs.SGD(n, runs.rate(), decay=case[0], average=case[1])


def errors(d: int, n: int, seeds: tuple[int, ...]) -> np.ndarray:
    """Test errors (seeds, cases, widths)."""
    data = runs.features(d, n, seeds, runs.ACTIVATION, WIDTHS[-1])
    labels = data["signal"] + data["noise"]
    risks = [
        [runs.risks(data, round(width * n), readout(n, case), labels) for width in WIDTHS]
        for case in CASES
    ]
    return np.moveaxis(np.array(risks), 2, 0) + NOISE**2


def expected(d: int, n: int, seed: int) -> np.ndarray:
    """What is predicted given the first layer of a seed, (cases, widths)."""
    of = [runs.moments(d, n, width, seed) for width in WIDTHS]
    risks = [[sum(runs.predicted(each, readout(n, case), n)) for each in of] for case in CASES]
    return np.array(risks) + NOISE**2


def measure(size: Size, seeds: range) -> Data:
    """Test errors (cases, widths, seeds)."""
    found = cache.each(errors, [(*SIZES[size], group) for group in runs.groups(seeds)])
    return {"errors": np.moveaxis(np.concatenate(found), 0, -1)}


def predict_draws(size: Size, seeds: range) -> Data:
    """The same, given the first layer of every seed."""
    return {"errors": cache.over(expected, SIZES[size], seeds)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every test error over its prediction given the first layer.

    There are averaged iterates, last ones, and the mean of all.
    """
    judge = judging(CLAIM, size)
    over = measured["errors"] / predicted["errors"].mean(axis=-1, keepdims=True)
    over = over - predicted["errors"] / predicted["errors"].mean(axis=-1, keepdims=True) + 1
    blocks = []
    for average, what, by in (
        (True, "test error, averaged", "test error of averaged iterates"),
        (False, "test error, last iterate", "test error of last iterates"),
    ):
        chosen = [k for k, case in enumerate(CASES) if case[1] is average]
        at = [f"decay {CASES[k][0]:g}, p = {width:g}n" for k in chosen for width in WIDTHS]
        blocks.append(judge(what, over[chosen], 1.0, by=by, at=at))
    mean = judge("mean of the test errors", over.mean(axis=(0, 1)), 1.0)
    return statistics.stated(*blocks, mean)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    mean, se = mean_and_error(measured["errors"])
    return Verdict(
        sizes=f"d = {d}, n = {n}, one pass, rate {runs.rate():.3g}, p/n = "
        f"{', '.join(f'{w:g}' for w in WIDTHS)}",
        figure=_figure(d, n, mean, se, predicted["errors"].mean(axis=-1)),
        caption="The test error falls with the width at every rate, without a peak at p = n "
        "(dotted).",
        settings=tuple(runs.experiment(d, n, w).id for w in WIDTHS),
    )


def _figure(d: int, n: int, mean: np.ndarray, se: np.ndarray, expected: np.ndarray) -> str:
    with style.figure(2, width=3.6) as (fig, axes):
        for k, (decay, average) in enumerate(CASES):
            ax, colour = axes[0 if average else 1], style.COLOURS[DECAYS.index(decay)]
            style.curve(ax, WIDTHS, expected[k], log="x", color=colour)
            label, marker = (f"rate ~ $t^{{-{decay:g}}}$", "s") if decay else ("constant rate", "o")
            style.dots(ax, WIDTHS, mean[k], se[k], color=colour, marker=marker, label=label)
        for ax, title in zip(axes, ("averaged", "last iterate"), strict=True):
            ax.plot([], [], color=style.INK, label="theory")
            ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
            ax.set(xlabel="features per sample p/n", ylabel="test error")
            ax.set_title(f"{title}, d = {d}, n = {n}")
            ticks.logarithmic(ax, "x", WIDTHS)
        axes[0].legend()
        return style.svg(fig)
