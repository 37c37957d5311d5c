"""Example 3, second case: two steps find span(w2, w3), but not with a second layer of signs and ReLU.

A step moves a neuron along E[f* sigma'(<w, x>) x], which depends on the neuron through a_i alone once the first step has made all
neurons parallel. With a_i = +-1 and ReLU the two values give one direction up to sign; a continuous law gives all of them.
"""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, statistics
from giantstep.claims.dandi.directions import ranks
from giantstep.claims.dandi.directions.ranks import RankCase
from giantstep.plot import style

TARGET = "x1 + x1*x2 + H3(x1)*x3"
SIZES = {"quick": (2**9, 2**11), "full": (2**11, 2**14)}  # with signs half as large
SEEDS: dict[Size, Seeds] = {"quick": Seeds(24, 110), "full": Seeds(40, 240)}
SIGNS, GAUSSIAN = "a = ±1", "a Gaussian"
RULE = {
    "quick": {
        SIGNS: Tolerances(Tolerance(0.15, 0.7), Tolerance(0.08, 0.3)),
        GAUSSIAN: Tolerances(Tolerance(0.15, 0.5), Tolerance(0.08, 0.2)),
    },
    "full": {
        SIGNS: Tolerances(Tolerance(0.08, 0.35), Tolerance(0.04, 0.15)),
        GAUSSIAN: Tolerances(Tolerance(0.08, 0.25), Tolerance(0.04, 0.1)),
    },
}
LEARNED = 2.0  # null levels that the third eigenvalue has at least at the largest d, where chance has less than one
SEEN = Tolerance(0.1, 0.7)  # of the logarithm
CHANCE = 0.6  # null levels of the smallest of three eigenvalues of chance, where nothing is learned


def cases(size: Size) -> tuple[RankCase, ...]:
    return tuple(
        RankCase(
            name,
            TARGET,
            tuple(d // over for d in SIZES[size]),
            ratio=64,
            strength=8.0,
            steps=2,
            second_layer=law,
            width=12,
        )
        for name, law, over in ((SIGNS, "rademacher", 2), (GAUSSIAN, "gaussian", 1))
    )


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for both second layers, (sizes, steps, seeds, 3, 3)."""
    return {case.name: ranks.measured(case, seeds) for case in cases(size)}


def predict(size: Size) -> Data:
    """How many directions are learned: as stated, and as corrected."""
    return {"stated": {SIGNS: 3, GAUSSIAN: 3}, "corrected": {SIGNS: 2, GAUSSIAN: 3}}


def levels(case: RankCase, measured: Data) -> np.ndarray:
    """Eigenvalues after both steps over the null level, (sizes, 3, seeds)."""
    values = measured[case.name]
    return ranks.eigenvalues(values)[:, -1] / ranks.chance(case.sizes, values)[:, -1, None]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of the three eigenvalues: one for every learned direction, zero for the rest; and the third one's size."""
    slopes = {
        case.name: [ranks.growth(case.sizes, levels(case, measured), above) for above in (0.0, CHANCE)]
        for case in cases(size)
    }

    def on(name: str, count: int):
        at = {
            f"{name}, eigenvalue {k + 1}": slopes[name][name == GAUSSIAN and k < count][k] - (k < count)
            for k in range(3)
        }
        return ranks.each_and_mean(f"exponent less the predicted one, {name}", at, 0.0, RULE[size][name])

    stated, corrected = predicted["stated"], predicted["corrected"]
    third = np.log(levels(cases(size)[1], measured)[-1, 2])
    seen = statistics.compare(
        "log of null levels, a Gaussian, eigenvalue 3", third[None], [np.log(LEARNED)], side="above", within=SEEN
    )
    return Evidence(on(SIGNS, stated[SIGNS]), (*on(SIGNS, corrected[SIGNS]), *on(GAUSSIAN, corrected[GAUSSIAN]), seen))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    third = {c.name: levels(c, measured)[:, 2].mean(-1) for c in some}
    words = "; ".join(
        f"{name}: {', '.join(f'{v:.2g}' for v in values)} at d = {', '.join(map(str, sizes))}"
        for (name, values), sizes in zip(third.items(), (c.sizes for c in some), strict=True)
    )
    return Verdict(
        sentence=f"The third direction carries, in null levels, {words}. As stated (a = ±1): {ruling.stated.sentence} As "
        f"corrected: {ruling.corrected.sentence if ruling.corrected else ''}",
        sizes=f"d = {', '.join(map(str, SIZES[size]))} (signs: half); n = {some[0].ratio}d, two steps, "
        f"p = {some[0].width}, relu, pairs, s = {some[0].strength:g}; y = {TARGET}",
        figure=_figure(some, measured),
        caption="Eigenvalues of the mean of π πᵀ over the null level after two steps against d, left with signs, right with a "
        f"Gaussian second layer. The third should rise along the dotted line ∝ d; its null levels are {words}.",
        settings=tuple(c.setting(c.sizes[-1]).id for c in some),
    )


def _figure(some: tuple[RankCase, ...], measured: Data) -> str:
    with style.figure(2, width=3.8, height=3.0) as (fig, axes):
        for ax, case in zip(axes, some, strict=True):
            ranks.panel(ax, case.sizes, levels(case, measured), [f"eigenvalue {k}" for k in (1, 2, 3)])
            ax.set_title(f"{case.name}, two steps")
            ax.set_ylim(0.2, 30 * ax.get_ylim()[1])
            ax.legend(loc="upper left", ncols=2)
        axes[0].set_ylabel("eigenvalue / null level")
        return style.svg(fig)
