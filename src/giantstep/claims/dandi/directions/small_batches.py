"""Fresh batches of order d never learn a target of information exponent above one, nor equal components apart, in T steps."""

from typing import NamedTuple

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.directions.ranks import RankCase
from giantstep.plot import style

HALF, THIRD, SIXTH = 2**-0.5, 3**-0.5, 6**-0.5
EQUAL = "(x1 + x2 + x3 + (H2(x1) + H2(x2) + H2(x3))/sqrt(2))/sqrt(3)"
SIZES = {"quick": (128, 2048), "full": (1000, 8000, 64_000)}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(20, 110), "full": Seeds(24, 260)}
RULE = {
    "quick": {
        "learned": Tolerances(Tolerance(0.15, 0.5), Tolerance(0.1, 0.3)),
        "rest": Tolerances(Tolerance(0.15, 0.6), Tolerance(0.06, 0.2)),
    },
    "full": {
        "learned": Tolerances(Tolerance(0.08, 0.3), Tolerance(0.05, 0.1)),
        "rest": Tolerances(Tolerance(0.1, 0.3), Tolerance(0.04, 0.1)),
    },
}


class StepsCase(NamedTuple):
    """An experiment, its directions, their names, and whether each is learned in all its steps."""

    rank: RankCase
    directions: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    learned: tuple[bool, ...]


def cases(size: Size) -> tuple[StepsCase, ...]:
    """Exponents two and three in four steps, three equal components in three, and a staircase as a control."""
    rank = lambda name, formula, **more: RankCase(name, formula, SIZES[size], **more)  # noqa: E731
    across = ((THIRD,) * 3, (HALF, -HALF, 0.0), (SIXTH, SIXTH, -2 * SIXTH))
    return (
        StepsCase(rank("H₂, T = 4", "H2(x1)/sqrt(2)", steps=4), ((1.0,),), ("w₁",), (False,)),
        StepsCase(rank("H₃, T = 4", "H3(x1)/sqrt(6)", steps=4, activation="tanh(x+0.8)"), ((1.0,),), ("w₁",), (False,)),
        StepsCase(
            rank("three equal, T = 3", EQUAL, steps=3), across, ("sum", "difference", "second"), (True, False, False)
        ),
        StepsCase(
            rank("x₁ + x₁x₂, T = 3", "x1 + x1*x2", steps=3), ((1.0, 0.0), (0.0, 1.0)), ("w₁", "w₂"), (True, True)
        ),
    )


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for every case, (sizes, steps, seeds, r, r)."""
    return {case.rank.name: ranks.measured(case.rank, seeds) for case in cases(size)}


def predict(size: Size) -> Data:
    """Whether every direction is learned."""
    return {case.rank.name: list(case.learned) for case in cases(size)}


def shares(case: StepsCase, measured: Data) -> np.ndarray:
    """Energies over the null level after the last step, (sizes, directions, seeds)."""
    values = measured[case.rank.name]
    return (ranks.energies(values, np.array(case.directions)) / ranks.chance(case.rank.sizes, values)[:, :, None])[
        :, -1
    ]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of d after the last step: one for a learned direction, zero for the others."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for case in cases(size):
        found = shares(case, measured)
        for k, (name, known) in enumerate(zip(case.names, predicted[case.rank.name], strict=True)):
            grown = ranks.growth(case.rank.sizes, found[:, k], float(bool(known)))
            slopes[bool(known)][f"{case.rank.name}, {name}"] = grown
    return ranks.on_directions(slopes, RULE[size]["learned"], RULE[size]["rest"])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    every, sizes = cases(size), SIZES[size]
    ends = {case.rank.name: shares(case, measured).mean(axis=-1) for case in every}
    stuck = "; ".join(
        f"{case.rank.name}, {name}: {ends[case.rank.name][0, k]:.1f} and {ends[case.rank.name][-1, k]:.1f}"
        for case in every
        for k, (name, known) in enumerate(zip(case.names, case.learned, strict=True))
        if not known
    )
    return Verdict(
        sizes=f"d = {', '.join(map(str, sizes))}; n = 4d a step; p = 16, signs, pairs, s = 1; relu, and tanh(x + 0.8) for H₃",
        figure=_figure(size, measured),
        caption="Share of a neuron along every direction over the null level after the last step, against d. Directions that "
        f"are not learned have, at d = {sizes[0]} and {sizes[-1]}, null levels of: {stuck}. Learned ones grow like d.",
        trend=f"Null levels at d = {sizes[0]} and {sizes[-1]}: {stuck}.",
        settings=tuple(case.rank.setting(d).id for case in every for d in sizes),
    )


def _figure(size: Size, measured: Data) -> str:
    with style.figure(2, 2, width=3.6, height=2.7) as (_, axes):
        for ax, case in zip(axes.flat, cases(size), strict=True):
            ranks.panel(ax, case.rank.sizes, shares(case, measured), case.names)
            ax.set_title(case.rank.name)
            ax.set(ylim=(0.2, 60 * ax.get_ylim()[1]), ylabel="share / null level")  # room for the legend above
            ax.legend(loc="upper left", ncols=2)
        return style.svg(axes[0, 0].figure)
