"""The staircase needs an activation that has the orders of its terms: tanh, which is odd,
does not climb example 1."""

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
from giantstep.plot.formula import formula
from giantstep_papers.dandi import ranks, staircase
from giantstep_papers.dandi.ranks import RankCase
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=15,
    of="giantstep",
    statement="An odd activation, such as tanh or erf, does not climb example 1: it has no even "
    "Hermite coefficient, and w1 − w2 stays at chance after two steps.",
    where="a condition that the slide of Conjecture 1 of the second talk does not name "
    "(dandi/staircase)",
    how="We fit the energy of both directions over the null level, after every step, freely by a "
    "power of d over three d. The exponent must be one for the sum and zero for the "
    "difference.",
    judges=(
        Judge(
            "exponent of d",
            margin=EXPONENT,
            departure=(0.65, 0.25),
            mean=(EXPONENT, (0.25, 0.15)),
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(30, 240), "full": Seeds(60, 320)},
)

ACTIVATIONS = ("tanh", "erf")  # odd ones: no even Hermite coefficient
SIZES = {"quick": (2**7, 2**9, 2**11), "full": (2**8, 2**11, 2**14)}


def cases(size: Size) -> tuple[RankCase, ...]:
    target = staircase.CASES["example 1"]
    return tuple(
        RankCase(name, target, SIZES[size], steps=staircase.STEPS, activation=name, width=24)
        for name in ACTIVATIONS
    )


def measure(size: Size, seeds: range) -> Data:
    """For every activation the mean of pi pi^T, (sizes, steps, seeds, r, r)."""
    return {case.name: ranks.measured(case, seeds) for case in cases(size)}


def predict(size: Size) -> Data:
    """For every activation the directions, which the conjecture has and which of them the
    activation sees."""
    return {case.name: staircase.said(case) for case in cases(size)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d after both steps: one for w1 + w2, zero for w1 - w2."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for case in cases(size):
        found = staircase.levels(case, measured, predicted)
        fitted = staircase.slopes_of(case, found, predicted[case.name], "seen")
        for known, labelled in fitted.items():
            slopes[known] |= labelled
    judge = judging(CLAIM, size)
    return Evidence(ranks.fitted(slopes, judge))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some, one = cases(size), cases(size)[0]
    known = {case.name: staircase.levels(case, measured, predicted) for case in some}
    ends = {name: each[:, -1, 1].mean(-1) for name, each in known.items()}
    words = (
        "The direction w₁ − w₂ stays near chance with both odd activations, up to d = "
        f"{SIZES[size][-1]}. "
    )
    levels = " and ".join(
        f"from {each[0]:.2g} to {each[-1]:.2g} null levels with {name}"
        for name, each in ends.items()
    )
    d = ", ".join(map(str, SIZES[size]))
    return Verdict(
        sentence=f"{where_it_holds(ruling, words)}The slide of the conjecture names no condition "
        f"on the activation. {ruling.sentence}",
        trend=f"From the smallest d to the largest w₁ − w₂ goes {levels}.",
        sizes=f"d = {d}; n = {one.ratio}d a step, {one.steps} steps; p = {one.width}, signs, "
        f"pairs; s = {one.strength:g}",
        figure=_figure(some, measured, predicted),
        caption="With odd activations the sum of the two directions is learned (dotted: ∝ d), "
        "and their difference is not (dashed).",
        settings=tuple(case.setting(case.sizes[-1]).id for case in some),
    )


def _figure(some: tuple[RankCase, ...], measured: Data, predicted: Data) -> str:
    with style.figure(len(some), width=3.8, height=3.0) as (fig, axes):
        for ax, case in zip(axes, some, strict=True):
            names = list(map(formula, predicted[case.name]["names"]))
            ranks.panel(ax, case.sizes, staircase.levels(case, measured, predicted)[:, -1], names)
            ax.set(title=case.name, ylim=(0.2, 2 * ax.get_ylim()[1]))
        axes[0].set_ylabel("energy / null level")
        return style.svg(fig, below=4)
