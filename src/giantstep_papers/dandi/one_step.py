"""What one giant step learns: a single direction if the information exponent is one.

If it is two, the step learns the span of the tensor.
"""

from typing import Any

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
from giantstep_papers.dandi import ranks
from giantstep_papers.dandi.ranks import RankCase

CLAIM = Claim(
    order=2,
    quote="However, it only learns a linear subspace: P_{V*} w_i ∈ span(v*) […] but still only a "
    "relevant subspace: P_{V*} w_i ∈ U*_ℓ, U*_ℓ = span({w*_k : μ*_{k,ℓ} ≠ 0}).",
    place="Stephan's talk, slide “Results: one gradient step”",
    kind="theorem",
    statement="What it learns is a linear subspace only: P_{V*} w_i lies in span(v*), and at "
    "higher ℓ in U*_ℓ, the span of the w*_k with μ*_{k,ℓ} ≠ 0.",
    where="the theorem on one step, second and third case, with the exact chain of overlaps; one "
    "target for ℓ = 1, at n of the order of d and of d², also with its linear part removed, "
    "and one for ℓ = 2",
    how="We fit the share of a neuron along every direction, times d, freely by a power of d. The"
    " exponent must be one if the direction is learned, and zero if not. The limit is the "
    "trend: learned exponents must be above one half, the others below.",
    judges=(
        Judge(
            "exponent of d",
            margin=EXPONENT,
            departure=(0.6, 0.25),
            mean=(EXPONENT, (0.2, 0.12)),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "trend with d",
            margin=EXPONENT,
            departure=0.5,
            because="the bend at finite sizes that every exponent is granted",
        ),
    ),
    seeds={"quick": Seeds(30, 110), "full": Seeds(80, 560)},
)

ONE, TWO = "x1 + x2 + x1^2 - x2^2", "x1*x2 + 0.3*H4(x3)/sqrt(24)"
# dimensions for n of the order of d, and of d^2: as is, deflated, and l = 2
SIZES = {
    "quick": ((2**7, 2**9, 2**11), (32, 64, 128), (16, 32, 64), (24, 64, 160)),
    "full": ((1000, 6000, 36_000), (64, 128, 256), (40, 80, 160), (64, 180, 512)),
}
WIDTH, NARROW = 32, 16  # p, and with the linear part removed
LONGER: dict[str, Any] = {"power": 2, "ratio": 2, "strength": 2.0, "longer": 0.5}
CHANCE = 0.5  # of a share times d: chance is one, and a neuron that is half learned has half of it
HALF = 0.5**0.5
SUM_AND_DIFFERENCE = ((HALF, HALF), (HALF, -HALF))
NAMES = {1: ("(w₁ + w₂)/√2", "(w₁ − w₂)/√2"), 2: ("w₁", "w₂", "w₃")}


def cases(size: Size) -> tuple[RankCase, ...]:
    linear, square, deflated, wide = SIZES[size]
    return (
        RankCase("ℓ = 1, n = 4d", ONE, linear, width=WIDTH),
        RankCase("ℓ = 1, n = 2d²", ONE, square, power=2, ratio=2, width=WIDTH),
        RankCase("ℓ = 1, deflated, n = 2d²", ONE, deflated, deflate=2, width=NARROW, **LONGER),
        RankCase("ℓ = 2, n = 2d²", TWO, wide, width=WIDTH, **LONGER),
    )


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for every case, (sizes, steps, seeds, r, r)."""
    return {case.name: ranks.measured(case, seeds) for case in cases(size)}


def predict(size: Size) -> Data:
    """For every case the directions, their names and whether they are learned."""
    plain, first = [list(v) for v in SUM_AND_DIFFERENCE], [True, False]
    basis = (
        (plain, NAMES[1], first),
        (plain, NAMES[1], first),
        (plain, NAMES[1], [True] * 2),
        (np.eye(3).tolist(), NAMES[2], [True, True, False]),
    )
    return {
        case.name: {"directions": directions, "names": list(names), "learned": learned}
        for case, (directions, names, learned) in zip(cases(size), basis, strict=True)
    }


def shares(case: RankCase, measured: Data, predicted: Data) -> np.ndarray:
    """Shares of a neuron times d, (sizes, directions, seeds)."""
    found = ranks.energies(measured[case.name], np.array(predicted[case.name]["directions"]))[:, 0]
    return found * np.array(case.sizes)[:, None, None]


def label(case: RankCase, direction: str) -> str:
    """How a comparison names a direction of a case."""
    return f"{case.name}, {direction}"


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in d of the shares times d: one for what is learned, zero for the rest."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for case in cases(size):
        said = predicted[case.name]
        found = [
            ranks.growth(case.sizes, shares(case, measured, predicted), above)
            for above in (0.0, CHANCE)
        ]
        for k, (name, known) in enumerate(zip(said["names"], said["learned"], strict=True)):
            slopes[known][label(case, name)] = found[known][k]
    return ranks.on_directions(slopes, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    some = cases(size)
    blocks = {
        case.name: [(name, label(case, name)) for name in predicted[case.name]["names"]]
        for case in some
    }
    return Verdict(
        sizes="; ".join(f"{c.name}: d = {', '.join(map(str, c.sizes))}" for c in some)
        + f"; p = {WIDTH} (deflated {NARROW}), relu, signs, pairs; y = {ONE} and {TWO}",
        figure=ranks.ladder(ruling.stated, blocks),
        caption="What one step learns of a direction grows like d over chance, and what it does "
        "not learn stays at chance.",
        settings=tuple(c.setting(c.sizes[-1]).id for c in some),
    )
