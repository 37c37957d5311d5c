"""Example 3, second case: two steps find span(w2, w3), but not with a second layer of signs.

A step moves a neuron along E[f* sigma'(<w, x>) x], which depends on the neuron through a_i alone
once the first step has made all neurons parallel. Two values of a_i give two directions,
whatever sigma is; a continuous law gives all of them.
"""

from typing import Any

import numpy as np

from giantstep.checks import (
    EXPONENT,
    Claim,
    ComparedNumbers,
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
from giantstep_papers.dandi import ranks
from giantstep_papers.dandi.ranks import RankCase

CLAIM = Claim(
    order=6,
    quote="Second case: (H₁, H₃) are linearly independent ⇒ we learn span(w*₂, w*₃) !",
    place="Stephan's talk, slide “Example (3)”",
    kind="remark",
    statement="In the second case (H₁, H₃) are linearly independent, and we learn span(w*₂, w*₃).",
    where="example 3, second case, after two steps on batches of order d with a_i = ±1, which the "
    "slide “Initialization” prescribes, and two activations",
    correction="With a_i = ±1 and batches of order d the rows take two values along the target, "
    "so that two directions are learned in all, with any activation. With a Gaussian second layer "
    "all three are learned.",
    how="We fit every eigenvalue of the mean of π πᵀ over the null level freely by a power of d. "
    "The exponent must be one if the direction is learned, and zero if not. The limit is the "
    "trend over three d: learned exponents must be above one half. With a Gaussian layer the "
    "third eigenvalue must have at least two null levels at the largest d, because chance has"
    " about one.",
    judges=(
        Judge(
            "exponent less the predicted one",
            margin=EXPONENT,
            departure=(0.7, 0.35),
            mean=(EXPONENT, (0.3, 0.15)),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "log of the null levels of eigenvalue 3",
            side="above",
            margin=0.1,
            departure=0.7,
            because="what chance adds at finite d",
        ),
        Judge(
            "trend with d",
            side="above",
            margin=EXPONENT,
            departure=0.5,
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(24, 220), "full": Seeds(40, 480)},
)

TARGET = "x1 + x1*x2 + H3(x1)*x3"
SIZES = {"quick": (2**9, 2**10, 2**11), "full": (2**10, 2**12, 2**14)}  # with signs half as large
SHIFTED = "tanh(x+0.8)"  # it has Hermite coefficients of all orders and no symmetry
SIGNS = ("a = ±1, relu", "a = ±1, tanh(x + 0.8)")
GAUSSIAN = "a Gaussian, tanh(x + 0.8)"
LAWS = {
    SIGNS[0]: ("rademacher", "relu"),
    SIGNS[1]: ("rademacher", SHIFTED),
    GAUSSIAN: ("gaussian", SHIFTED),
}
# null levels that the third eigenvalue has at least at the largest d, where chance has below one
LEARNED = 2.0
CHANCE = 1.0  # null levels that chance adds to a learned eigenvalue


def cases(size: Size) -> dict[str, RankCase]:
    steps: dict[str, Any] = {"ratio": 64, "strength": 8.0, "steps": 2, "width": 12}

    def case(name: str, law: str, sigma: str) -> RankCase:
        signs = law == "rademacher"
        sizes = tuple(d // 2 for d in SIZES[size]) if signs else SIZES[size]
        return RankCase(name, TARGET, sizes, activation=sigma, second_layer=law, **steps)

    return {name: case(name, law, sigma) for name, (law, sigma) in LAWS.items()}


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for every second layer and activation, (sizes, steps, seeds, 3, 3)."""
    return {name: ranks.measured(case, seeds) for name, case in cases(size).items()}


def predict(size: Size) -> Data:
    """How many directions are learned: as stated, and as corrected."""
    return {
        "stated": dict.fromkeys(SIGNS, 3),
        "corrected": {**dict.fromkeys(SIGNS, 2), GAUSSIAN: 3},
    }


def levels(case: RankCase, measured: Data) -> np.ndarray:
    """Eigenvalues after both steps over the null level, (sizes, 3, seeds)."""
    values = measured[case.name]
    return ranks.eigenvalues(values)[:, -1] / ranks.chance(case.sizes, values)[:, -1, None]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of the three eigenvalues, and the size of the third.

    Exponents are one for every learned direction, and zero for the rest.
    """
    some, judge = cases(size), judging(CLAIM, size)

    def slopes(which: str) -> dict[bool, dict[str, np.ndarray]]:
        found: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
        for name, count in predicted[which].items():
            values = levels(some[name], measured)
            for k in range(3):
                above = CHANCE if name == GAUSSIAN and k < count else 0.0
                grown = ranks.growth(some[name].sizes, values[:, k], above)
                found[k < count][f"{name}, eigenvalue {k + 1}"] = grown
        return found

    def fitted(which: str) -> tuple[ComparedNumbers, ...]:
        each = slopes(which)
        found = {
            at: value - float(known) for known in (True, False) for at, value in each[known].items()
        }
        what = "exponent less the predicted one"
        return judge.each_and_mean(what, list(found.values()), 0.0, at=found)

    third = np.log(levels(some[GAUSSIAN], measured)[-1, 2])
    seen = judge(
        f"log of null levels, {GAUSSIAN}, eigenvalue 3",
        third[None],
        [np.log(LEARNED)],
        by="log of the null levels of eigenvalue 3",
    )
    trends = ranks.trends(slopes("stated"), judge)
    return Evidence(fitted("stated"), (*fitted("corrected"), seen), trends)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    third = {name: levels(case, measured)[:, 2].mean(-1) for name, case in some.items()}
    signs, (first, *_, last) = max(third[name].max() for name in SIGNS), third[GAUSSIAN]
    one = some[GAUSSIAN]
    return Verdict(
        sentence="With a_i = ±1 the rows take two values, so that they have rank two with any "
        f"activation. The third direction then has at most {signs:.1f} times the strength of "
        f"chance. With a Gaussian second layer it goes from {first:.1f} to {last:.1f} times "
        "chance as d grows.",
        sizes=f"d = {', '.join(map(str, SIZES[size]))} (signs: half); n = {one.ratio}d, two steps, "
        f"p = {one.width}, pairs, s = {one.strength:g}; y = {TARGET}",
        figure=_figure(tuple(some.values()), measured),
        caption="With signs the third eigenvalue stays at chance, and with a Gaussian second "
        "layer it grows with d.",
        settings=tuple(c.setting(c.sizes[-1]).id for c in some.values()),
    )


def _figure(some: tuple[RankCase, ...], measured: Data) -> str:
    with style.figure(len(some), width=3.4, height=3.0) as (fig, axes):
        for ax, case in zip(axes, some, strict=True):
            names = [f"eigenvalue {k}" for k in (1, 2, 3)]
            ranks.panel(ax, case.sizes, levels(case, measured), names)
            ax.set_title(case.name)
            ax.set_ylim(0.2, 30 * ax.get_ylim()[1])
            ax.legend(loc="upper left", ncols=2)
        axes[0].set_ylabel("eigenvalue / null level")
        return style.svg(fig)
