"""Every outlier is a learned direction.

For several targets, the directions that the outliers span are those predicted.
"""

from collections.abc import Callable
from functools import partial

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
    cache,
    judging,
    statistics,
)
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.dandi import column
from giantstep_papers.moniri_hassani import layers

CLAIM = Claim(
    order=2,
    of="giantstep",
    statement="After two giant steps the outliers span the directions of three targets, as much of "
    "each direction as the signal matrix predicts.",
    where="the learned directions of the abstract, here for three targets; the amounts are ours",
    how="We measure the share of every direction in the span of the outliers at α = 0.4, 0.45. "
    "Quick size has two targets on fresh batches. Full size has three, and a reused batch "
    "too. Every share must be above 0.2. All must be those predicted for the seed's second layer "
    "and batches.",
    judges=(
        Judge(
            "share of a direction",
            side="above",
            margin=0.02,
            departure=0.15,
            because="the share that chance gives, of order 1/d",
        ),
        Judge(
            "share less predicted",
            margin=(0.05, 0.03),
            departure=(0.15, 0.08),
            because="terms of order 1/√d",
        ),
    ),
    seeds={"quick": Seeds(10, 45), "full": Seeds(12, 90)},
)

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
LESS = "share less predicted"
LEARNED = 0.2  # a share in the outliers' span, far beyond the 1/d of chance


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
    """The outliers have every direction, each as much as the signal matrix says.

    The matrix is that of the same second layer and batches.
    """
    at = [f"{TARGETS[t][k]} of {t}, {WORDS[b]}" for b, t, k in cases(size)]
    found, judge = measured["shares"], judging(CLAIM, size)
    return statistics.stated(
        judge("share of a direction", found, LEARNED, at=at),
        judge(LESS, found - predicted["shares"], at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = DIMENSIONS[size]
    (mean, error), expected = mean_and_error(measured["shares"]), predicted["shares"].mean(axis=-1)
    return Verdict(
        sentence=f"After two steps the outliers span {mean.min():.2f} to {mean.max():.2f} of each "
        f"direction of the target. {ruling.stated.sentence}",
        header=("batches", "target", "direction", "share", "± s.e.", "predicted"),
        rows=tuple(
            (WORDS[b], t, TARGETS[t][k], float(mean[i]), float(error[i]), float(expected[i]))
            for i, (b, t, k) in enumerate(cases(size))
        ),
        sizes=f"d = {d}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; {layers.SMOOTH}; C1 = "
        f"{layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=_figure(size, mean, ruling.stated.of(LESS).half, expected),
        caption="After two steps the outliers span every direction of the target, with shares from "
        f"{mean.min():.2f} to {mean.max():.2f}.",
        settings=tuple(
            layers.experiment(d, *ALPHAS, b, layers.SMOOTH, "gaussian", t).id
            for b in BATCHES[size]
            for t in SHOWN[size]
        ),
    )


def _figure(size: Size, mean: np.ndarray, half: np.ndarray, expected: np.ndarray) -> str:
    every, batches = cases(size), BATCHES[size]

    def row(target: str, k: int, batch: str) -> column.ColumnRow:
        i = every.index((batch, target, k))
        return column.ColumnRow(
            formula(TARGETS[target][k]), mean[i], half[i], expected[i], batches.index(batch)
        )

    blocks = {
        formula(t): [row(t, k, b) for k in range(len(TARGETS[t])) for b in batches]
        for t in SHOWN[size]
    }
    names = [f"{WORDS[b]} batch" for b in batches]
    with column.figure(blocks, names, "signal matrix") as (fig, ax, _):
        ax.set(xlabel="share in the span of the outliers", xlim=(-0.05, 1.05))
        return style.svg(fig, below=1 + len(names), columnspacing=1, handlelength=1.5)
