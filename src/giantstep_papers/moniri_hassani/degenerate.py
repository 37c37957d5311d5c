"""Where the third spike is missing: a second layer of signs, and ReLU."""

from collections.abc import Callable
from functools import partial

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Judging,
    Ruling,
    Seeds,
    Size,
    Tolerance,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.checks.claim import Side
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.dandi import column
from giantstep_papers.moniri_hassani import layers

CLAIM = Claim(
    order=7,
    of="giantstep",
    statement="The k-th spike needs E σ⁽ᵏ⁾ ≠ 0 and powers of a that are linearly independent: a "
    "second layer of signs and ReLU lack the third spike and its direction.",
    where="the conditions behind the number of outliers",
    how="We measure the share of the target's three directions in the span of the outliers. The "
    "third must be above 0.3 for a Gaussian second layer and tanh, and below for signs and "
    "for ReLU. All shares must be those predicted for the seed's second layer and batches. The "
    "share of x3 for signs has a margin of its own, because the signal matrix has rank two there. "
    "This margin is not derived, and was set by other seeds than those that are judged.",
    judges=(
        Judge(
            "share of x3",
            margin=0.02,
            departure=0.2,
            because="the share that chance gives, of order 1/d",
        ),
        Judge(
            "share less predicted",
            margin=(0.05, 0.03),
            departure=(0.15, 0.08),
            because="terms of order 1/√d",
        ),
        Judge(
            "share of x3 for signs less predicted",
            margin=(0.08, 0.06),
            departure=(0.18, 0.12),
            because="terms that the signal matrix leaves out",
        ),
    ),
    seeds={"quick": Seeds(12, 60), "full": Seeds(10, 70)},
)

ALPHAS = (0.4, 0.45)
CASES = {  # activation and second layer, and whether the third direction can have a spike
    "Gaussian a, tanh": (layers.SMOOTH, "gaussian", True),
    "signs, tanh": (layers.SMOOTH, "rademacher", False),
    "Gaussian a, ReLU": ("relu", "gaussian", False),
}
DIMENSIONS = {"quick": 100, "full": 400}
# the judges
THIRD = "share of x3"
LESS = "share less predicted"
# the signal matrix has rank two, and what is left of x3 comes from terms that it leaves out
LEFT = "share of x3 for signs less predicted"
# a share of the third direction in the outliers' span: between none and the share predicted
LEARNED = 0.3


def _shares(function: Callable[..., Data], size: Size, seeds: range) -> Data:
    """Share of every direction inside the span of the outliers, (cases, directions, seeds)."""
    cells = [((DIMENSIONS[size], *ALPHAS, "fresh", *case[:2]),) for case in CASES.values()]
    return {"shares": cache.over(function, cells, seeds)["cosines"][:, 0].sum(axis=1)}


measure, predict_draws = partial(_shares, layers.measured), partial(_shares, layers.predicted)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The third direction is there or missing as stated, and every share is that predicted."""
    found, names, judge = measured["shares"], list(CASES), judging(CLAIM, size)
    there = np.array([case[2] for case in CASES.values()])
    at = [f"x{k + 1}, {name}" for name in names for k in range(layers.DIRECTIONS)]
    sides: tuple[tuple[str, np.ndarray, Side], ...] = (
        ("where it has a spike", there, "above"),
        ("where it has none", ~there, "below"),
    )
    third = [
        judge(
            f"{THIRD} {word}",
            found[of, 2],
            LEARNED,
            by=THIRD,
            at=[names[i] for i in np.flatnonzero(of)],
            side=side,
        )
        for word, of, side in sides
    ]
    within = _within(judge)
    every = statistics.compare(LESS, found - predicted["shares"], at=at, within=within)
    return statistics.stated(*third, every)


def _within(judge: Judging) -> Tolerance:
    """The tolerance of every share, (cases, directions): that of x3 for signs is its own."""
    left = np.zeros((len(CASES), layers.DIRECTIONS), bool)
    left[list(CASES).index("signs, tanh"), 2] = True
    own, other = judge.tolerance(LEFT), judge.tolerance(LESS)
    margins = np.where(left, own.margin, other.margin)
    return Tolerance(margins, np.where(left, own.departure, other.departure))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = DIMENSIONS[size]
    (mean, error), expected = mean_and_error(measured["shares"]), predicted["shares"].mean(axis=-1)
    lack = max(mean[i, 2] for i, case in enumerate(CASES.values()) if not case[2])
    return Verdict(
        sentence=f"With Gaussian a and tanh the outliers span {mean[0, 2]:.3f} ± {error[0, 2]:.3f} "
        f"of the target's third direction, and with signs or ReLU at most {lack:.3f} of it. "
        f"{ruling.stated.sentence}",
        sizes=f"d = {d}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; fresh batches",
        figure=_figure(mean, ruling.stated.of(LESS).half.reshape(mean.shape), expected),
        caption="With a second layer of signs, or with ReLU, no outlier lies along x₃.",
        settings=tuple(
            layers.experiment(d, *ALPHAS, "fresh", *case[:2]).id for case in CASES.values()
        ),
    )


def _figure(mean: np.ndarray, half: np.ndarray, expected: np.ndarray) -> str:
    blocks = {
        name: [
            column.ColumnRow(formula(f"x{k + 1}"), mean[i, k], half[i, k], expected[i, k])
            for k in range(layers.DIRECTIONS)
        ]
        for i, name in enumerate(CASES)
    }
    with column.figure(blocks, ["measured"], "signal matrix") as (fig, ax, _):
        ax.set(xlabel="share in the span of the outliers", xlim=(-0.1, 1.05))
        return style.svg(fig, below=2)
