"""The decision on a statement: holds, fails or inconclusive, with the sentence about its size and power."""

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil
from typing import Literal

import numpy as np

from giantstep.checks.statistics.comparison import MISSED, ComparedNumbers, Judged
from giantstep.checks.statistics.count import Count, Counted

ALPHA = 2e-4  # the probability that a true statement is called false, for all its comparisons together


@dataclass(frozen=True)
class Evidence:
    """What is compared: for the statement as the paper words it and, if there is a correction, for the corrected statement."""

    stated: tuple[ComparedNumbers | Count, ...]
    corrected: tuple[ComparedNumbers | Count, ...] = ()


def stated(*comparisons: ComparedNumbers | Count) -> Evidence:
    """The evidence on a statement that has no correction."""
    return Evidence(comparisons)


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
    def sentence(self) -> str:
        """The result in one sentence: how many comparisons agree, and which is the furthest."""
        if not all(each.finite for each in self.judged):
            return "Some measured numbers are not finite, so nothing can be decided."
        if self.count == 1:
            return f"{_capital(_number(self.judged[0], 0))}."
        block = max(self.judged, key=lambda each: float(np.max(each.usage)))
        agree = f"{self.count - self.missed} of {self.count} comparisons agree"
        return f"{agree}; the furthest is {_number(block, int(np.argmax(block.usage)))}."

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
            return f"a share of {count.departure:.2g} ({count.what}, {count.trials} trials)"
        return f"less than a share of {count.departure:.2g} can show ({count.what}, {count.trials} trials)"
    made = judged.comparison
    scale, unit = (100, "%") if made.relative else (1, "")
    least, most = (f"{scale * float(f(made.margin + judged.reach)):.2g}" for f in (np.min, np.max))
    span = least if least == most else f"{least} to {most}"
    seeds = f", {made.samples.shape[1]} seeds" if made.noisy else ", no randomness"
    return f"a difference of {span}{unit} ({made.what}{seeds})"


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]


def seeds_wanted(decisions: Sequence[Decision], seeds: int) -> int:
    """The number of seeds that gives every decision its declared precision."""
    return ceil(seeds * max(each.seeds_factor for each in decisions))
