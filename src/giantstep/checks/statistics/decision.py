"""The decision on a statement: holds, fails or inconclusive, with the sentence about its size and power."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from giantstep.checks.statistics.comparison import MARKS, MISSED, ComparedNumbers, Judged, Mark
from giantstep.checks.statistics.count import Count, Counted

ALPHA = 2e-4  # the probability that a true statement is called false, for all its comparisons together


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
        """How many comparisons have which mark, in the order of ``MARKS``."""
        given = [mark for each in self.judged for mark in each.marks]
        return {mark: given.count(mark) for mark in MARKS}

    @property
    def sentence(self) -> str:
        """The result in words: how many comparisons have which mark, and which is the furthest."""
        if not all(each.finite for each in self.judged):
            return "Some measured numbers are not finite, so nothing can be decided."
        if self.count == 1:
            return f"{_capital(_number(self.judged[0], 0))}."
        block = max(self.judged, key=lambda each: float(np.max(each.usage)))
        return f"{_tally(self.marks)} The furthest is {_number(block, int(np.argmax(block.usage)))}."

    @property
    def power(self) -> str:
        """What the test can and cannot see, in one sentence for every comparison."""
        parts = [_reach(each) for each in self.judged]
        return (
            f"A true statement is called false with probability {ALPHA:.0e} at most. With probability {1 - MISSED:.0%} "
            f"the test notices {'; '.join(parts)}."
        )


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


def _tally(marks: Mapping[Mark, int]) -> str:
    """The marks in words, those that came only; the words tell agreement from a difference that is too small to see."""
    total, came = sum(marks.values()), [(count, MARKS[mark]) for mark, count in marks.items() if count]
    if len(came) == 1:
        return f"All {total} comparisons are {came[0][1]}."
    (count, first), *others = came
    parts = [f"Of {total} comparisons {count} {_are(count)} {first}", *(f"{more} {words}" for more, words in others)]
    return f"{', '.join(parts)}."


def _are(count: int) -> str:
    return "is" if count == 1 else "are"


def _factor(judged: Judged | Counted) -> float:
    """How many times as many seeds the declared precision needs. It depends on the noise and not on the means."""
    if isinstance(judged, Counted):
        return judged.needed / judged.comparison.trials
    return float(np.max(judged.needed)) / judged.comparison.samples.shape[1] if judged.comparison.noisy else 0.0


def _number(judged: Judged | Counted, index: int) -> str:
    """One comparison in words: its difference, its interval and its margin."""
    if isinstance(judged, Counted):
        count = judged.comparison
        return f"{count.what}: {count.exceptions} of {count.trials}, where a share of {count.allowed:.2g} is allowed"
    made = judged.comparison
    scale, unit = (100, "%") if made.relative else (1, "")
    where = f"{made.what} at {made.at[index]}" if made.at[index] else made.what
    mean, expected = float(np.mean(made.samples[index])), float(made.predicted[index])
    difference, half, margin = (scale * float(x[index]) for x in (judged.difference, judged.half, made.margin))
    relation = {"both": "against", "below": "where the statement allows at most", "above": "where it says at least"}
    error = f" ± {half:.1g}" if half else ""  # without randomness there is none
    return (
        f"{where}: {mean:.3g} {relation[made.side]} {expected:.3g}, a difference of {difference:+.2g}{error}{unit} "
        f"with a margin of {margin:.2g}{unit}"
    )


def _reach(judged: Judged | Counted) -> str:
    if isinstance(judged, Counted):
        count = judged.comparison
        if judged.seen >= 1 - MISSED:
            return f"a share of {count.departure:.2g} where {count.allowed:.2g} is granted ({count.what}, {count.trials} trials)"
        return f"less than a share of {count.departure:.2g} can show ({count.what}, {count.trials} trials)"
    made = judged.comparison
    scale, unit = (100, "%") if made.relative else (1, "")
    span = _span(scale * (made.margin + judged.reach))
    seeds = f", {made.samples.shape[1]} seeds" if made.noisy else ", no randomness"
    allowed = _span(scale * made.margin)
    return f"a difference of {span}{unit} where {allowed}{unit} is granted ({made.what}{seeds})"


def _span(values: np.ndarray) -> str:
    least, most = (f"{float(f(values)):.2g}" for f in (np.min, np.max))
    return least if least == most else f"{least} to {most}"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def seeds_wanted(decisions: Sequence[Decision], seeds: int) -> int:
    """The number of seeds that gives every decision its declared precision."""
    return ceil(seeds * max(each.seeds_factor for each in decisions))
