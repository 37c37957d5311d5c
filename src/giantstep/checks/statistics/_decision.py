"""The decision on a statement: holds, fails or inconclusive. ``words`` says it in sentences."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal, get_args

import numpy as np

from giantstep.checks.statistics._count import Count, Counted
from giantstep.checks.statistics._words import noticed, told
from giantstep.checks.statistics.comparison import MISSED, ComparedNumbers, Judged, Mark

ALPHA = 2e-4  # the probability that a true statement is called false, for all its comparisons together
RATES = (  # of every test, told once a page
    f"A true statement is called false in at most one of {1 / ALPHA:.0f} checks. "
    "Every claim says which difference its test would have noticed. "
    f"A difference of that size escapes in at most one of {1 / MISSED:.0f} checks."
)

Compared = tuple[ComparedNumbers | Count, ...]


@dataclass(frozen=True)
class Evidence:
    """What is compared.

    Attributes:
        stated: the statement at the sizes at hand.
        corrected: the corrected statement, if there is one.
        limit: the statement at large sizes, if it is about a limit: a trend over three sizes or more, or our theory at 10⁶ to
            10¹². Only this can contradict a statement about a limit.
    """

    stated: Compared
    corrected: Compared = ()
    limit: Compared = ()


def stated(*comparisons: ComparedNumbers | Count) -> Evidence:
    """The evidence on a statement that has no correction and is judged at the sizes at hand."""
    return Evidence(comparisons)


def trend(*comparisons: ComparedNumbers | Count, corrected: Compared = ()) -> Evidence:
    """The evidence on a statement about a limit whose comparisons are all trends, or theory at large sizes."""
    return Evidence(comparisons, corrected, comparisons)


@dataclass(frozen=True)
class Decision:
    """The outcome with the intervals behind it. ``seeds_factor`` times as many seeds would give the declared precision."""

    outcome: Literal["holds", "fails", "inconclusive"]
    judged: tuple[Judged | Counted, ...]
    seeds_factor: float

    @property
    def missed(self) -> int:
        """The number of comparisons whose interval lies outside the margin."""
        return int(sum(np.sum(each.missed) for each in self.judged))

    @property
    def count(self) -> int:
        return sum(each.comparison.count for each in self.judged)

    def of(self, what: str) -> Judged:
        """The intervals of the comparison with this name."""
        for each in self.judged:
            if isinstance(each, Judged) and each.comparison.what == what:
                return each
        raise KeyError(what)

    @property
    def marks(self) -> dict[Mark, int]:
        """How many comparisons have which mark, in the order of ``Mark``."""
        given = [mark for each in self.judged for mark in each.marks]
        return {mark: given.count(mark) for mark in get_args(Mark)}

    @property
    def sentence(self) -> str:
        """The result in words."""
        return told(self.judged)

    @property
    def power(self) -> str:
        """The seeds and what they would have shown, in one short line."""
        return noticed(self.judged)


def decide(comparisons: Sequence[ComparedNumbers | Count]) -> Decision:
    """Judge a statement by simultaneous intervals: ``ALPHA`` is shared equally between all its comparisons (Bonferroni)."""
    if not comparisons:
        raise ValueError("A statement needs at least one comparison.")
    total = sum(each.count for each in comparisons)
    judged = tuple(each.judge(ALPHA / total) for each in comparisons)
    if not all(each.finite for each in judged):
        return Decision("inconclusive", judged, 1.0)
    failed = any(np.any(each.missed) for each in judged)
    precise = all(np.all(each.precise) for each in judged)
    outcome = "fails" if failed else "holds" if precise else "inconclusive"
    return Decision(outcome, judged, max(_factor(each) for each in judged))


def _factor(judged: Judged | Counted) -> float:
    """How many times as many seeds the declared precision needs. It depends on the noise and not on the means."""
    if isinstance(judged, Counted):
        return judged.needed / judged.comparison.trials
    return float(np.max(judged.needed)) / judged.comparison.samples.shape[1] if judged.comparison.noisy else 0.0


def seeds_wanted(decisions: Sequence[Decision], seeds: int) -> int:
    """The number of seeds that gives every decision its declared precision."""
    return ceil(seeds * max(each.seeds_factor for each in decisions))
