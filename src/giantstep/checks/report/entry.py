"""An entry: one result in its place on the page, with its number and its anchor; entries stand under their papers."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from giantstep.checks.claim import Result
from giantstep.checks.outcome import OUTCOMES
from giantstep.citations import Paper, paper
from giantstep.citations.quoted import authors, short
from giantstep.results.table import duration

MARK = {outcome: words.mark for outcome, words in OUTCOMES.items()}
MEANING = {outcome: words.meaning for outcome, words in OUTCOMES.items()}
KEYS = {outcome: words.key for outcome, words in OUTCOMES.items()}


@dataclass(frozen=True)
class Entry:
    """``number`` counts the claims of a page from one; ``anchor`` is the id of the claim's section."""

    result: Result
    number: int
    anchor: str

    @property
    def outcome(self) -> str:
        return self.result.verdict.outcome

    @property
    def author(self) -> str:
        return _author(self.result)

    @property
    def name(self) -> str:
        return self.result.claim.name

    @property
    def short(self) -> str:
        """The claim without its group."""
        return short(self.name, self.result.claim.of)

    @property
    def source(self) -> str:
        """The paper, and the theorem, section or figure."""
        claim = self.result.claim
        return f"{paper(claim.paper).short}, {claim.where}" if claim.where else paper(claim.paper).short

    @property
    def command(self) -> str:
        """What runs this claim again, as a shell reads it."""
        return shlex.join(["giantstep", "check", self.name, "--size", self.result.size, *self._seeds])

    @property
    def _seeds(self) -> list[str]:
        first = self.result.verdict.seeds.partition("-")[0]
        return ["--first-seed", first] if first not in ("", "0") else []

    @property
    def statements(self) -> list[tuple[str, str]]:
        """The statement and its correction, if there is one: a name and the text."""
        claim = self.result.claim
        if not claim.correction:
            return [("", claim.statement)]
        return [("As worded", claim.statement), ("Corrected", claim.correction)]

    @property
    def marks(self) -> str:
        """How many comparisons lie where, in words."""
        return ", ".join(f"{count} {mark}" for mark, count in self.result.verdict.marks.items() if count)

    @property
    def looseness(self) -> str:
        """How loose a bound is, in words."""
        loose = self.result.verdict.looseness
        return "" if loose is None else f"The bound is {loose:.3g} times what it bounds."

    @property
    def times(self) -> str:
        """How often each verdict came, if there were several sets of seeds."""
        if not self.result.replicated:
            return ""
        sets = 1 + len(self.result.replicated)
        return f"{', '.join(f'{outcome} {count} times' for outcome, count in self.result.times.items())} in {sets} sets of seeds"

    @property
    def time(self) -> str:
        return duration(self.result.seconds) + (", stored" if self.result.stored else "")


def by_paper(results: Sequence[Result]) -> list[tuple[Paper, list[Entry]]]:
    """The results under those who make the statements, papers in the order in which they first appear, no two with one anchor."""
    keys = authors(result.claim for result in results)
    taken: set[str] = set()
    groups = []
    for key in keys:
        entries = []
        for result in (each for each in results if _author(each) == key):
            anchor = _anchor(result.claim.name, taken)
            taken.add(anchor)
            entries.append(Entry(result, len(taken), anchor))
        groups.append((paper(key), entries))
    return groups


def _author(result: Result) -> str:
    """Whose statement it is: the key of its paper, and ours for our own remarks on a paper."""
    return result.claim.of or result.claim.paper


def css_class(outcome: str) -> str:
    """The class of an outcome in a style sheet: one word."""
    return KEYS.get(outcome, outcome.replace(" ", "-"))  # type: ignore[call-overload]


def _anchor(name: str, taken: set[str]) -> str:
    """Letters, digits and single hyphens; two hyphens keep what is added apart from what was in the name."""
    base = "claim-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    count = 1
    while (anchor := base if count == 1 else f"{base}--{count}") in taken:
        count += 1
    return anchor
