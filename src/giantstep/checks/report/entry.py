"""An entry: one result in its place on the page, with its number and its anchor; entries stand under their papers."""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from giantstep.checks.claim import Result
from giantstep.citations import Paper, paper

__all__ = ["MARK", "Entry", "by_paper", "css_class", "duration"]

MARK = {"holds": "✓", "fails": "✗", "inconclusive": "?", "not run": "○"}


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
    def css(self) -> str:
        return css_class(self.outcome)

    @property
    def name(self) -> str:
        return self.result.claim.name

    @property
    def short(self) -> str:
        """The claim without its group."""
        return self.name.partition("/")[2] or self.name

    @property
    def command(self) -> str:
        """What runs this claim again, as a shell reads it."""
        return shlex.join(["giantstep", "check", self.name, "--size", self.result.size])

    @property
    def time(self) -> str:
        return duration(self.result.seconds) + (", kept" if self.result.stored else "")

    @property
    def badge(self) -> str:
        """The verdict as a mark and a word; the colour says nothing more."""
        mark = f'<b aria-hidden="true">{MARK[self.outcome]}</b>'
        return f'<strong class="badge {self.css}">{mark} <span>{self.outcome}</span></strong>'

    @property
    def pill(self) -> str:
        """The verdict as a mark and the claim's short name, a link to its section."""
        return (
            f'<a class="badge {self.css}" href="#{self.anchor}"><b aria-hidden="true">{MARK[self.outcome]}</b> '
            f'{escape(self.short)}<span class="unseen">: {self.outcome}</span></a>'
        )


def by_paper(results: Sequence[Result]) -> list[tuple[Paper, list[Entry]]]:
    """The results under their papers, papers in the order in which they first appear, no two with one anchor."""
    keys = dict.fromkeys(result.claim.paper for result in results)
    taken: set[str] = set()
    groups = []
    for key in keys:
        entries = []
        for result in (each for each in results if each.claim.paper == key):
            anchor = _anchor(result.claim.name, taken)
            taken.add(anchor)
            entries.append(Entry(result, len(taken), anchor))
        groups.append((paper(key), entries))
    return groups


def css_class(outcome: str) -> str:
    """The class of an outcome in a style sheet: one word."""
    return outcome.replace(" ", "-")


def _anchor(name: str, taken: set[str]) -> str:
    """Letters, digits and single hyphens; two hyphens keep what is added apart from what was in the name."""
    base = "claim-" + re.sub(r"[^A-Za-z0-9]+", "-", name).strip("-")
    count = 1
    while (anchor := base if count == 1 else f"{base}--{count}") in taken:
        count += 1
    return anchor


def duration(seconds: float) -> str:
    """A time for people: 12.3 s, 4.5 min, 2.1 h."""
    if seconds < 90:
        return f"{seconds:.1f} s"
    return f"{seconds / 60:.1f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
