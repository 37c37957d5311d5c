"""Signs in the second layer cap the rank of what giant steps learn at two, whatever the activation.

On batches of order d, what a step adds to a neuron along the target is a_i times
E[f* sigma'(<w_i, x>) x], and after the first one <w_i, x> depends on the neuron through a_i alone.
So with m values of a_i the rows have m values along the target, and rank m.
"""

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
)
from giantstep.plot import style
from giantstep_papers.dandi import ranks, second_layer
from giantstep_papers.dandi.ranks import RankCase

CLAIM = Claim(
    order=16,
    of="giantstep",
    statement="Signs in the second layer cap the rank of what giant steps on batches of order d "
    "learn at two, whatever the activation: rows depend on the neuron through a_i alone.",
    where="a count of the second layer's values, on example 3 of the second talk "
    "(dandi/second-layer); three activations that have all orders",
    how="We fit the third eigenvalue of the mean of π πᵀ over the null level, after two steps, "
    "freely by a power of d. The exponent must be zero, and the eigenvalue less than two null"
    " levels at the largest d. The first must grow like d.",
    judges=(
        Judge(
            "exponent of d",
            margin=EXPONENT,
            departure=(0.7, 0.35),
            mean=(EXPONENT, (0.4, 0.2)),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "null levels of eigenvalue 3",
            side="below",
            margin=0.1,
            departure=1.0,
            because="the scatter of the null level",
        ),
    ),
    seeds={"quick": Seeds(24, 120), "full": Seeds(40, 240)},
)

# activations that have all orders
ACTIVATIONS = {"elu": "elu", "sin(x + π/4)": "sin(x+pi/4)", "x + H2 + H3": "x + H2(x)/2 + H3(x)/6"}
RANK = 2
SIZES = {"quick": (2**7, 2**8, 2**9), "full": (2**9, 2**11, 2**13)}
MOST = second_layer.LEARNED  # null levels: what is learned has more


def cases(size: Size) -> dict[str, RankCase]:
    return {
        name: RankCase(
            name,
            second_layer.TARGET,
            SIZES[size],
            ratio=64,
            strength=4.0,
            steps=2,
            activation=sigma,
            width=12,
        )
        for name, sigma in ACTIVATIONS.items()
    }


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for every activation, (sizes, steps, seeds, 3, 3)."""
    return {name: ranks.measured(case, seeds) for name, case in cases(size).items()}


def predict(size: Size) -> Data:
    """The rank."""
    return {"rank": RANK}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of the eigenvalues: one for the first of them, zero for the third,
    which has few null levels."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    third = {}
    for name, case in cases(size).items():
        values = second_layer.levels(case, measured)
        rank = predicted["rank"]
        for k in (0, rank):
            grown = ranks.growth(case.sizes, values[:, k])
            slopes[k < rank][f"{name}, eigenvalue {k + 1}"] = grown
        third[name] = values[-1, rank]
    judge = judging(CLAIM, size)
    level = judge("null levels of eigenvalue 3", list(third.values()), MOST, at=third)
    return Evidence((*ranks.fitted(slopes, judge), level))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    third = {
        name: second_layer.levels(case, measured)[:, RANK].mean(-1) for name, case in some.items()
    }
    most = max(values.max() for values in third.values())
    d, one = ", ".join(map(str, SIZES[size])), next(iter(some.values()))
    return Verdict(
        sentence=f"With every activation the third eigenvalue is {most:.2g} null levels at most. "
        f"{ruling.sentence}",
        sizes=f"d = {d}; n = {one.ratio}d, two steps, p = {one.width}, signs, pairs, s = "
        f"{one.strength:g}; y = {one.formula}",
        figure=_figure(some, measured),
        caption="Two directions are learned, in proportion to d (dotted), and the third stays "
        "near the null level (dashed).",
        settings=tuple(case.setting(case.sizes[-1]).id for case in some.values()),
    )


def _figure(some: dict[str, RankCase], measured: Data) -> str:
    with style.figure(len(some), width=3.4, height=3.0) as (fig, axes):
        for ax, (name, case) in zip(axes, some.items(), strict=True):
            ranks.panel(
                ax,
                case.sizes,
                second_layer.levels(case, measured),
                [f"eigenvalue {k}" for k in (1, 2, 3)],
            )
            ax.set(title=name, ylim=(0.2, 2 * ax.get_ylim()[1]))
        axes[0].set_ylabel("eigenvalue / null level")
        return style.svg(fig, below=5)
