"""What fresh batches of order d never learn, in T steps.

They learn no target of information exponent above one, and no equal components apart.
"""

from typing import NamedTuple

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
    order=12,
    quote="If n = O(d^{ℓ−ε}), whatever the choices of step-sizes η₁, …, η_T, the first layer never "
    "learns even after T gradient steps. […] Second step: no new learning […] Always happens "
    "if σ*₁ = … = σ*_r",
    place="Stephan's talk, slides “Results: several gradient steps” and “Example (2)”",
    kind="conjecture",
    statement="If n = O(d^(ℓ−ε)), the first layer never learns even after T gradient steps, "
    "whatever the step sizes. If σ*₁ = … = σ*_r, there is always no new learning in the second "
    "step.",
    where="the conjecture on several steps with small batches, and targets with equal components, "
    "with the exact chain of overlaps; H₂ and H₃ at n = 4d, step sizes a hundred apart, up to"
    " six steps, and x1 + x1 x2 as a control",
    how="We fit the share of a neuron along every direction over the null level, after T steps, "
    "freely by a power of d. The exponent must be zero if the direction is not learned, and "
    "one if it is. The limit is the trend, with one half between them. A step multiplies what"
    " little a neuron has of a direction, so d must be larger than that factor to the T. Six "
    "steps therefore run at full size only.",
    judges=(
        Judge(
            "exponent of a learned direction",
            margin=EXPONENT,
            departure=(0.5, 0.3),
            mean=(EXPONENT, (0.3, 0.12)),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of another direction",
            margin=EXPONENT,
            departure=(0.6, 0.3),
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
    seeds={"quick": Seeds(20, 180), "full": Seeds(24, 260)},
)

HALF, THIRD, SIXTH = 2**-0.5, 3**-0.5, 6**-0.5
EQUAL = "(x1 + x2 + x3 + (H2(x1) + H2(x2) + H2(x3))/sqrt(2))/sqrt(3)"
SIZES = {"quick": (128, 512, 2048), "full": (1000, 8000, 64_000)}
# T: a step multiplies what little a neuron has of a direction
# d must be larger than that factor to the T
STEPS = {"quick": (2, 3), "full": (2, 3, 4, 6)}
STRENGTHS = (0.1, 1.0, 10.0)  # s = eta/p in every step


class StepsCase(NamedTuple):
    """An experiment and its directions.

    A direction has a name, and is learned or not; ``after`` are the numbers of steps to judge.
    """

    rank: RankCase
    directions: tuple[tuple[float, ...], ...]
    names: tuple[str, ...]
    learned: tuple[bool, ...]
    after: tuple[int, ...]


def cases(size: Size) -> tuple[StepsCase, ...]:
    """Exponents two and three, three equal components, and a staircase as a control."""
    after = STEPS[size]

    def rank(name: str, formula: str, strength: float = 1.0, sigma: str = "relu") -> RankCase:
        steps = after[-1]
        sizes = SIZES[size]
        return RankCase(name, formula, sizes, strength=strength, steps=steps, activation=sigma)

    hermite = (("H₂", "H2(x1)/sqrt(2)", "relu"), ("H₃", "H3(x1)/sqrt(6)", "tanh(x+0.8)"))
    alone = [
        rank(f"{name}, s = {s:g}", formula, s, sigma)
        for name, formula, sigma in hermite
        for s in STRENGTHS
    ]
    across = ((THIRD,) * 3, (HALF, -HALF, 0.0), (SIXTH, SIXTH, -2 * SIXTH))
    equal, control = rank("three equal", EQUAL), rank("x₁ + x₁x₂", "x1 + x1*x2")
    names, both = ("sum", "difference", "second"), ((1.0, 0.0), (0.0, 1.0))
    return (
        *(StepsCase(each, ((1.0,),), ("w₁",), (False,), after) for each in alone),
        StepsCase(equal, across, names, (True, False, False), after),
        StepsCase(control, both, ("w₁", "w₂"), (True, True), after),
    )


def measure(size: Size, seeds: range) -> Data:
    """The mean of π πᵀ for every case, (sizes, steps, seeds, r, r)."""
    return {case.rank.name: ranks.measured(case.rank, seeds) for case in cases(size)}


def predict(size: Size) -> Data:
    """Whether every direction is learned."""
    return {case.rank.name: list(case.learned) for case in cases(size)}


def shares(case: StepsCase, measured: Data) -> np.ndarray:
    """Energies over the null level after T steps, (sizes, T, directions, seeds)."""
    values = measured[case.rank.name]
    chance = ranks.chance(case.rank.sizes, values)[:, :, None]
    over = ranks.energies(values, np.array(case.directions)) / chance
    return over[:, [steps - 1 for steps in case.after]]


def label(case: StepsCase, steps: int, direction: str) -> str:
    """How a comparison names a direction of a case after so many steps."""
    return f"{case.rank.name}, T = {steps}, {direction}"


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of d after every number of steps: one for a learned direction, zero for the
    others."""
    slopes: dict[bool, dict[str, np.ndarray]] = {True: {}, False: {}}
    for case in cases(size):
        found = shares(case, measured)
        for t, steps in enumerate(case.after):
            known_names = zip(case.names, predicted[case.rank.name], strict=True)
            for k, (name, known) in enumerate(known_names):
                grown = ranks.growth(case.rank.sizes, found[:, t, k], float(bool(known)))
                slopes[bool(known)][label(case, steps, name)] = grown
    return ranks.on_directions(slopes, judging(CLAIM, size), ranks.EXPONENTS)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    every, sizes = cases(size), SIZES[size]
    ends = {case.rank.name: shares(case, measured)[:, -1].mean(axis=-1) for case in every}
    most = max(
        float(ends[case.rank.name][-1, k] / ends[case.rank.name][0, k])
        for case in every
        for k, known in enumerate(case.learned)
        if not known
    )
    hard, control = every[len(STRENGTHS) - 1], every[-1].rank  # H2 at the longest steps
    values = shares(hard, measured)[:, -1, 0].mean(axis=-1)
    first, *_, last = (f"{v / (v + d):.2g}" for v, d in zip(values, sizes, strict=True))
    return Verdict(
        sentence="Nothing is learned that the conjecture leaves out, but long steps hide it at "
        "small d. After the longest steps the share of a neuron along the target H₂ goes from "
        f"{first} to {last} as d grows."
        if ruling.limit is not None and ruling.limit.outcome == "holds"
        else "",
        sizes=f"d = {', '.join(map(str, sizes))}; n = {control.ratio}d a step; T = "
        f"{', '.join(map(str, STEPS[size]))}; p = {control.width}, signs, pairs; "
        f"{control.activation}, and tanh(x + 0.8) for H₃; s = {control.strength:g} where it is "
        "not named",
        figure=ranks.ladder(ruling.stated, _blocks(every)),
        caption="Long steps multiply the little that a neuron has of a direction, but only "
        "learned directions grow like d.",
        trend=f"Between d = {sizes[0]} and {sizes[-1]} a direction that the conjecture leaves out "
        f"grows over chance by a factor of {most:.1f} at most, and a learned one would grow by "
        f"{sizes[-1] / sizes[0]:.0f}.",
        settings=tuple(case.rank.setting(d).id for case in every for d in sizes),
    )


def _blocks(every: tuple[StepsCase, ...]) -> dict[str, list[tuple[str, str]]]:
    """The directions after the last step, those of targets with one direction together."""
    alone = [case for case in every if len(case.names) == 1]
    others = {
        c.rank.name: [(name, label(c, c.after[-1], name)) for name in c.names]
        for c in every
        if c not in alone
    }
    return {
        "one direction": [(c.rank.name, label(c, c.after[-1], *c.names)) for c in alone],
        **others,
    }
