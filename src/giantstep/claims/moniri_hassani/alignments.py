"""Every outlier is a learned direction: for several targets, the directions that the outliers span are those predicted."""

from collections.abc import Callable
from functools import partial

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.moniri_hassani import layers
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula

ALPHAS = (0.4, 0.45)
TARGETS = {  # and their directions
    "x1 + x1*x2": ("x1", "x2"),
    "x1 + H2(x1)*x2/sqrt(2)": ("x1", "x2"),
    "(x1 + x2 + x3)/sqrt(3) + x1*x2*x3": ("x1", "x2", "x3"),
}
SHOWN = {"quick": tuple(TARGETS)[:2], "full": tuple(TARGETS)}
BATCHES = {"quick": ("fresh",), "full": ("fresh", "reuse")}
WORDS = {"fresh": "fresh", "reuse": "reused"}
DIMENSIONS = {"quick": 100, "full": 300}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(10, 45), "full": Seeds(12, 90)}
RULE = {"quick": Tolerance(0.05, 0.15), "full": Tolerance(0.03, 0.08)}  # of a share
LEARNED = 0.2  # a share in the outliers' span, far beyond the 1/d of chance
APART = Tolerance(0.02, 0.15)


def cases(size: Size) -> list[tuple[str, str, int]]:
    """Batch, target and direction of every share."""
    return [(b, t, k) for b in BATCHES[size] for t in SHOWN[size] for k in range(len(TARGETS[t]))]


def _shares(function: Callable[..., Data], size: Size, seeds: range) -> Data:
    """Share of every direction of the target inside the span of the outliers, (cases, seeds)."""
    runs = [(b, t) for b in BATCHES[size] for t in SHOWN[size]]
    cells = [((DIMENSIONS[size], *ALPHAS, b, layers.SMOOTH, "gaussian", t),) for b, t in runs]
    shares = cache.over(function, cells, seeds)["cosines"][:, 0].sum(axis=1)
    return {"shares": np.stack([shares[runs.index((b, t)), k] for b, t, k in cases(size)])}


measure, predict_draws = partial(_shares, layers.measured), partial(_shares, layers.predicted)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The outliers have every direction, each as much as the signal matrix says for the same second layer and batches."""
    at = [f"{TARGETS[t][k]} of {t}, {WORDS[b]}" for b, t, k in cases(size)]
    found = measured["shares"]
    return statistics.stated(
        statistics.compare("share of a direction", found, LEARNED, at=at, side="above", within=APART),
        statistics.compare("share less predicted", found - predicted["shares"], at=at, within=RULE[size]),
    )  # fmt: skip


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = DIMENSIONS[size]
    (mean, error), expected = mean_and_error(measured["shares"]), predicted["shares"].mean(axis=-1)
    return Verdict(
        sentence=f"The shares of the directions in the outliers' span are {mean.min():.2f} to {mean.max():.2f}. "
        f"{ruling.stated.sentence}",
        header=("batches", "target", "direction", "share", "± s.e.", "predicted"),
        rows=tuple(
            (WORDS[b], t, TARGETS[t][k], float(mean[i]), float(error[i]), float(expected[i]))
            for i, (b, t, k) in enumerate(cases(size))
        ),
        sizes=f"d = {d}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, "
        f"C2 = {layers.CONSTANTS[1]}",
        figure=_figure(size, mean, error, expected),
        caption="Share of each direction of the targets in the span of the outliers after two steps: measured (dots, one "
        "standard error) and predicted from the signal matrix (bars).",
        settings=tuple(
            layers.experiment(d, *ALPHAS, b, layers.SMOOTH, "gaussian", t).id
            for b in BATCHES[size]
            for t in SHOWN[size]
        ),
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    with style.figure(len(SHOWN[size]), width=2.7, height=2.9) as (fig, axes):
        for ax, target in zip(axes, SHOWN[size], strict=True):
            for i, (b, marker) in enumerate(zip(BATCHES[size], "os", strict=False)):
                own = [j for j, (batch, t, _) in enumerate(cases(size)) if (batch, t) == (b, target)]
                at, colour = np.arange(len(own)) + 0.36 * (i - (len(BATCHES[size]) - 1) / 2), style.COLOURS[i]
                ax.bar(at, expected[own], 0.32, color=colour, alpha=0.35, label=f"{WORDS[b]}: predicted")
                style.dots(ax, at, mean[own], error[own], color=colour, marker=marker, label=f"{WORDS[b]}: measured")
            names = [formula(name) for name in TARGETS[target]]
            ax.set(xticks=range(len(names)), xticklabels=names, ylim=(0, 1.05))
            ax.set_title(formula(target), fontsize=9)
        axes[0].set_ylabel("share in the outliers' span")
        return style.svg(fig, below=4)
