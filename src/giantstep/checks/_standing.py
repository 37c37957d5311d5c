"""Standing: the progress of a check, for the page that grows and for the terminal."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from giantstep.checks._expected import weight
from giantstep.checks._outcome import OUTCOMES
from giantstep.checks.claim import Claim
from giantstep.checks.verdict import Result


@dataclass(frozen=True)
class Standing:
    """The claims of a check, sorted into those that have ended, those that run now and those that are left.

    ``results`` are in the order of the list, ``running`` and ``left`` in the order in which they are begun. ``latest`` is the
    result that came last, None at the start. ``workers`` is the number of claims that run at the same time, and ``expected``
    holds the expected seconds by the names of claims, as far as they are known. ``set_number`` counts the sets of seeds from
    zero.
    """

    results: tuple[Result, ...] = ()
    running: tuple[Claim, ...] = ()
    left: tuple[Claim, ...] = ()
    latest: Result | None = None
    workers: int = 1
    expected: Mapping[str, float] = field(default_factory=dict)
    set_number: int = 0
    sets: int = 1

    @property
    def total(self) -> int:
        return len(self.results) + len(self.running) + len(self.left)

    @property
    def complete(self) -> bool:
        return not self.running and not self.left

    @property
    def seconds_left(self) -> float | None:
        """An estimate from the claims that ran and the expected seconds of the others; None before the first has ended.

        A claim without an expectation costs the mean of the others.
        """
        ran = [each for each in self.results if not each.stored and each.verdict.outcome != "not run"]
        todo = self.running + self.left
        if not ran or not todo:
            return None
        pace = sum(each.seconds for each in ran) / sum(weight(each.claim, self.expected) for each in ran)
        return pace * sum(weight(claim, self.expected) for claim in todo) / min(self.workers, len(todo))

    def stopped(self) -> "Standing":
        """The same standing after the check was stopped: nothing runs."""
        return replace(self, running=(), left=self.running + self.left)


def count_verdicts(results: Sequence[Result]) -> str:
    """The verdicts that came, in words: 32 hold, 4 hold in the limit, 1 is contradicted, 2 were not run."""
    return ", ".join(_counted([result.verdict.outcome for result in results]))


def headline(outcomes: Sequence[str]) -> str:
    """The same with an "and" before the last."""
    words = _counted(outcomes)
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)


def _counted(outcomes: Sequence[str]) -> list[str]:
    counts = [(list(outcomes).count(outcome), words.counted) for outcome, words in OUTCOMES.items()]
    return [f"{count} {words[count != 1]}" for count, words in counts if count]
