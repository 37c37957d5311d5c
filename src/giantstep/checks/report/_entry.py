"""An entry: one result in its place on the page of its paper. A group: those of one paper."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass

from giantstep.checks._outcome import OUTCOMES
from giantstep.checks.report._figure import Figure, figure
from giantstep.checks.verdict import Result
from giantstep.citations import Paper, paper
from giantstep.citations._quoted import authors, short
from giantstep.results.table import duration

MARK = {outcome: words.mark for outcome, words in OUTCOMES.items()}
MEANING = {outcome: words.meaning for outcome, words in OUTCOMES.items()}
KEYS = {outcome: words.key for outcome, words in OUTCOMES.items()}
PAPERS = "papers"  # the folder of their pages


@dataclass(frozen=True)
class Entry:
    """``number`` counts the claims of a page from one; ``anchor`` is the id of the section there."""

    result: Result
    number: int
    anchor: str

    @property
    def outcome(self) -> str:
        return self.result.verdict.outcome

    @property
    def link(self) -> str:
        """Where the claim stands, seen from the first page."""
        return f"{page_of(_author(self.result))}#{self.anchor}"

    @property
    def figure(self) -> Figure | None:
        return figure(self.result.verdict.figure)

    @property
    def picture(self) -> str:
        """The file of the figure inside the folder of a report."""
        return f"{PAPERS}/{_author(self.result)}/{self.anchor.removeprefix('claim-')}.svg"

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
        return f"{claim.cites.short}, {claim.where}" if claim.where else claim.cites.short

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


@dataclass(frozen=True)
class Group:
    """The claims of one paper, or our own, in the order of the results."""

    paper: Paper
    entries: tuple[Entry, ...]

    @property
    def page(self) -> str:
        """The page of the paper inside the folder of a report."""
        return page_of(self.paper.key)

    @property
    def places(self) -> list[str]:
        """The page and the files of its figures inside the folder of a report."""
        return [self.page, *(entry.picture for entry in self.entries if entry.figure)]

    @property
    def outcomes(self) -> list[str]:
        return [entry.outcome for entry in self.entries]

    @property
    def results(self) -> tuple[Result, ...]:
        return tuple(entry.result for entry in self.entries)


def page_of(key: str) -> str:
    """The place of a paper's page inside the folder of a report."""
    return f"{PAPERS}/{key}.html"


def by_paper(results: Sequence[Result]) -> list[Group]:
    """The results under those who make the statements, in the order in which these appear."""
    return [_group(key, results) for key in authors(result.claim for result in results)]


def _group(key: str, results: Sequence[Result]) -> Group:
    taken: list[str] = []
    entries = []
    for result in (each for each in results if _author(each) == key):
        taken.append(_anchor(result.claim.name, taken))
        entries.append(Entry(result, len(taken), taken[-1]))
    source = entries[0].result.claim.source
    return Group(source or paper(key), tuple(entries))


def _author(result: Result) -> str:
    """Whose statement it is: the key of its paper, and ours for our own remarks on a paper."""
    return result.claim.of or result.claim.paper


def css_class(outcome: str) -> str:
    """The class of an outcome in a style sheet: one word."""
    return KEYS.get(outcome, outcome.replace(" ", "-"))  # type: ignore[call-overload]


def _anchor(name: str, taken: Sequence[str]) -> str:
    """Letters, digits and single hyphens; two hyphens keep what is added apart from what was in the name."""
    base = "claim-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    count = 1
    while (anchor := base if count == 1 else f"{base}--{count}") in taken:
        count += 1
    return anchor
