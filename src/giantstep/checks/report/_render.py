"""The pages of a report as text, for screens of all widths and for paper."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from importlib.resources import files
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup

from giantstep._shown.typeset import typeset
from giantstep.checks._standing import Standing, headline
from giantstep.checks.report._entry import MARK, MEANING, Entry, Group, css_class
from giantstep.checks.report._numbers import numbers
from giantstep.checks.report._own import in_page
from giantstep.checks.statistics import RATES
from giantstep.lab.store.provenance import Provenance
from giantstep.results.table import duration

RELOAD_AFTER = 10  # seconds between two loads of a first page that grows
FINDINGS = (  # what the first page tells first
    "contradicted",
    "contradicted, holds with a correction",
    "undecided at these sizes",
    "not run",
)
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; img-src 'self' file:; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True)
class Pages:
    """What all pages of a report say.

    ``standing`` is that of a check which runs or was stopped. ``took`` is the time in seconds of
    one that has ended, if it is known.
    """

    groups: Sequence[Group]
    provenance: Provenance
    now: datetime
    standing: Standing | None = None
    took: float | None = None

    def first(self) -> str:
        """The first page, without figures and tables of numbers."""
        entries = [entry for group in self.groups for entry in group.entries]
        found = Counter(entry.outcome for entry in entries)
        told = {each: [entry for entry in entries if entry.outcome == each] for each in FINDINGS}
        return self._text(
            "first.html.jinja",
            "index.html",
            groups=self.groups,
            findings=[(each, those) for each, those in told.items() if those],
            counts={outcome: found[outcome] for outcome in MARK if found[outcome]},
            broken=_broken(entries),
            standing=self.standing,
            lead=self._lead(entries),
            tally=tally(entries),
            written=f"{self.now:%Y-%m-%d %H:%M:%S} UTC",
        )

    def of(self, group: Group) -> str:
        """The page of a paper, with everything about its claims."""
        later = list(self.groups)[self.groups.index(group) + 1 :]
        return self._text(
            "paper.html.jinja",
            group.page,
            group=group,
            after=later[0] if later else None,
            waiting=self._waiting(group),
            tally=tally(group.entries),
        )

    def _waiting(self, group: Group) -> list[str]:
        """The claims of a paper that have not ended."""
        todo = () if self.standing is None else self.standing.running + self.standing.left
        return sorted(claim.name for claim in todo if (claim.of or claim.paper) == group.paper.key)

    def _lead(self, entries: Sequence[Entry]) -> str:
        """How much was checked, and how long it took."""
        if not entries:
            return "No claim was run." if self.standing is None else "No claim has ended yet."
        summed = duration(sum(entry.result.seconds for entry in entries))
        wait = "" if self.took is None else f" The check took {duration(self.took)}."
        so_far = "" if self.standing is None else "So far, "
        spent = "One after another, the claims take" if len(entries) > 1 else "The claim takes"
        return f"{so_far}{_checked(entries)}.{wait} {spent} {summed}."

    def _text(self, template: str, place: str, **values: Any) -> str:
        here = self.provenance
        versions = {"giantstep": here.version, "Python": here.python, "JAX": here.jax, "NumPy": here.numpy}
        made_with = [f"{name} {version}" for name, version in versions.items()]
        made_with += [f"{here.device} ({here.machine})", self.now.date().isoformat()]
        shared = {"said": in_page(place), "provenance": here, "made_with": made_with}
        return _environment().get_template(template).render(shared, **values)


def tally(entries: Sequence[Entry]) -> str:
    """The number of claims by outcome, in one sentence."""
    if not entries:
        return "No claim has ended."
    broken, listed = _broken(entries), headline([entry.outcome for entry in entries])
    if broken:  # such a claim was not run, and that outcome is the last
        listed += f" ({broken} because of an error)"
    return f"{_checked(entries)}: {listed}."


def _checked(entries: Sequence[Entry]) -> str:
    claims = "1 claim" if len(entries) == 1 else f"{len(entries)} claims"
    sizes = " and ".join(dict.fromkeys(entry.result.size for entry in entries))
    return f"{claims} at {sizes} size"


def _broken(entries: Sequence[Entry]) -> int:
    return sum(entry.result.error is not None for entry in entries)


@cache
def _environment() -> Environment:
    """The templates, which escape every text except the style sheet, and typeset formulas."""
    made = Environment(
        loader=PackageLoader("giantstep.checks", "report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"css_class": css_class, "duration": duration, "numbers": numbers}
    made.filters["typeset"] = lambda text: Markup(typeset(str(text)))
    style = files("giantstep.checks.report").joinpath("report.css").read_text(encoding="utf-8")
    made.globals |= {"mark": MARK, "meaning": MEANING, "policy": _POLICY, "style": style}
    made.globals |= {"reload_after": RELOAD_AFTER, "rates": RATES}
    return made
