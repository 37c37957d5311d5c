"""python -m benchmarks.verdicts [--repetitions 3000]: how often the rule of ``checks.statistics`` errs, on noise made up for it.

Every row draws numbers around zero with a margin of 1 and a departure of 2, on as many seeds as the rule asks for. The noise of
the K numbers is unequal, from half to twice its unit.
"""

import argparse
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.random import Generator

from giantstep.checks._check import gather
from giantstep.checks.claim import Claim, Data, Seeds, Size
from giantstep.checks.statistics import Evidence, Tolerance, compare, decide

MARGIN, DEPARTURE = 1.0, 2.0
_SPREAD = 0.5  # of the logarithms of log-normal numbers
_MEAN, _DEVIATION = np.exp(_SPREAD**2 / 2), np.exp(_SPREAD**2 / 2) * np.sqrt(np.expm1(_SPREAD**2))
# numbers of mean 0 and variance 1
NOISES: dict[str, Callable[[Generator, tuple[int, int]], np.ndarray]] = {
    "normal": lambda rng, shape: rng.standard_normal(shape),
    "Student's t, 4": lambda rng, shape: rng.standard_t(4, shape) / np.sqrt(2),
    "log-normal": lambda rng, shape: (rng.lognormal(0.0, _SPREAD, shape) - _MEAN) / _DEVIATION,
}


@dataclass(frozen=True)
class Case:
    """K numbers with this noise, its unit in units of the room between margin and departure."""

    noise: str
    count: int
    unit: float
    seeds: Seeds = Seeds(8, 2000)

    def draw(self, rng: Generator) -> np.ndarray:
        """(K, most): noise around zero."""
        scales = self.unit * (np.geomspace(0.5, 2.0, self.count) if self.count > 1 else np.ones(1))
        return scales[:, None] * NOISES[self.noise](rng, (self.count, self.seeds.most))


@dataclass(frozen=True)
class Rates:
    """How often the statement fails at a true difference of zero, of the margin and of the departure; and the rest at zero."""

    true: float
    borderline: float
    seen: float
    inconclusive: float
    seeds: float


def seeds_of(samples: np.ndarray, seeds: Seeds) -> int:
    """The number of seeds that a claim about these samples (K, most) asks for."""

    def measure(size: Size, chosen: range) -> Data:
        return {"samples": samples[:, chosen.start : chosen.stop]}

    def evidence(size: Size, measured: Data, predicted: Data) -> Evidence:
        return Evidence((compare("number", measured["samples"], within=Tolerance(MARGIN, DEPARTURE)),))

    claim = Claim(
        name="benchmark/noise",
        statement="It is zero.",
        where="",
        how="",
        measure=measure,
        compare=evidence,
        seeds={"quick": seeds},
    )
    return len(gather(claim, "quick", 0)[2])


def outcome(samples: np.ndarray) -> str:
    """The verdict on the statement that the means are zero."""
    return decide([compare("number", samples, within=Tolerance(MARGIN, DEPARTURE))]).outcome


def rates(case: Case, repetitions: int, rng: Generator) -> Rates:
    """Shares of the outcomes. At the margin are all numbers, on alternate sides; at the departure is the noisiest alone."""
    at_zero, borderline, seen, seeds = [], [], [], []
    sides = np.where(np.arange(case.count) % 2, -1.0, 1.0)[:, None]
    for _ in range(repetitions):
        drawn = case.draw(rng)
        used = drawn[:, : seeds_of(drawn, case.seeds)]
        at_zero.append(outcome(used))
        borderline.append(outcome(used + MARGIN * sides))
        off = used.copy()
        off[-1] += DEPARTURE * rng.choice([-1.0, 1.0])
        seen.append(outcome(off))
        seeds.append(used.shape[1])

    def share(outcomes: list[str], wanted: str = "fails") -> float:
        return outcomes.count(wanted) / repetitions

    unsure = share(at_zero, "inconclusive")
    return Rates(share(at_zero), share(borderline), share(seen), unsure, float(np.mean(seeds)))


CASES = tuple(
    Case(noise, count, unit)
    for noise, counts in (("normal", (1, 4, 24)), ("Student's t, 4", (1, 24)), ("log-normal", (1, 24)))
    for count in counts
    for unit in (0.25, 1.0)
) + (Case("normal", 4, 1.0, Seeds(8, 30)),)


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--repetitions", type=int, default=3000)
    repetitions = options.parse_args().repetitions
    print(f"{repetitions} repetitions a row; a pilot of 8 seeds; most: the budget\n")
    print(
        "| noise | K | unit | most | fails at 0 | fails at the margin | fails at the departure | inconclusive | seeds |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for index, case in enumerate(CASES):
        found = rates(case, repetitions, np.random.default_rng(index))
        shares = " | ".join(f"{x:.2%}" for x in (found.true, found.borderline, found.seen, found.inconclusive))
        print(
            f"| {case.noise} | {case.count} | {case.unit} | {case.seeds.most} | {shares} | {found.seeds:.0f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
