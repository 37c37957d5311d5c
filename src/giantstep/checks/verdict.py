"""Verdict: the answer to a claim, made by ``rule``. Result: both, with the time it took."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from giantstep._shown import html
from giantstep._shown.json_data import json_data
from giantstep.checks._outcome import Finding, Outcome, conclude
from giantstep.checks.claim import Claim, Data, Size
from giantstep.checks.statistics._decision import RATES, Decision, Evidence, decide
from giantstep.checks.statistics._table import Compared, compared, table
from giantstep.checks.statistics._words import noticed
from giantstep.checks.statistics.comparison import Mark
from giantstep.citations._quoted import Kind

__all__ = ["Outcome", "Result", "Ruling", "Verdict", "rule", "show"]

Cell = str | int | float
CAPTION = "Differences from the prediction, with their intervals, beside the margin (shaded)."
DECISIONS = ("outcome", "stated", "limit", "corrected")
COLOURS: dict[Outcome, str] = {  # of a terminal
    "holds": "green",
    "holds in the limit": "green",
    "a bound, respected": "green",
    "contradicted, holds with a correction": "magenta",
    "contradicted": "red",
    "undecided at these sizes": "yellow",
    "not run": "cyan",
}


@dataclass(frozen=True, repr=False)
class Verdict:
    """The answer to one claim.

    ``outcome`` is the verdict on the source's own words. ``stated``, ``limit`` and ``corrected`` are the decisions behind it: on
    the statement at the sizes at hand, on its limit and on its correction, None where there is none. "not run" means that data
    were missing, that the size is too small for the claim, or that it failed to run; that says nothing about the statement.
    ``sentence`` describes the measurement with numbers. ``header`` and ``rows`` are the table behind it, and ``marks`` counts the
    comparisons that are within the margin, not distinguishable from it, open and outside, and ``compared`` has the numbers of
    each: what, at, measured, predicted, difference, half of the interval, margin, mark. ``looseness`` is the bound over what
    it bounds. ``seeds`` and ``sizes`` say what was run, ``settings`` are the ids of the settings, ``figure`` is an SVG document
    as text (empty: no figure) and ``caption`` says in words what it shows. ``power`` is one short line: the seeds and
    which difference they would have shown; ``trend`` says how the result changes with the sizes.
    """

    outcome: Outcome = "not run"
    sentence: str = ""
    header: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    seeds: str = ""
    sizes: str = ""
    figure: str = ""
    settings: tuple[str, ...] = ()
    caption: str = ""
    power: str = ""
    trend: str = ""
    stated: Finding | None = None
    limit: Finding | None = None
    corrected: Finding | None = None
    marks: Mapping[str, int] = field(default_factory=dict)
    compared: tuple[Compared, ...] = ()
    looseness: float | None = None

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError(f"Every row of a verdict needs {len(self.header)} cells, one for each header.")

    def __repr__(self) -> str:
        return f"Verdict({self.outcome}: {self.sentence})"

    def _repr_html_(self) -> str:
        rows = [[f"{cell:.4g}" if isinstance(cell, float) else cell for cell in row] for row in self.rows]
        table = html.table(self.header, rows) if rows else ""
        sentences = "".join(html.line(each) for each in (self.caption, self.power, self.trend))
        return html.block(self.outcome, html.line(self.sentence), html.figure(self.figure), table, sentences)


@dataclass(frozen=True)
class Ruling:
    """The decisions on a statement at the sizes at hand, on its correction and on its limit."""

    stated: Decision
    corrected: Decision | None = None
    limit: Decision | None = None

    @staticmethod
    def on(evidence: Evidence) -> "Ruling":
        """Decide by the rule of ``checks.statistics``."""
        made = decide(evidence.stated)
        corrected = decide(evidence.corrected) if evidence.corrected else None
        if evidence.limit is evidence.stated:
            return Ruling(made, corrected, made)
        return Ruling(made, corrected, decide(evidence.limit) if evidence.limit else None)

    @property
    def decisions(self) -> tuple[Decision, ...]:
        """Each of them once."""
        listed = [self.stated, self.limit, self.corrected]
        return tuple({id(each): each for each in listed if each is not None}.values())

    @property
    def sentence(self) -> str:
        """All results in words."""
        if len(self.decisions) == 1:
            return self.stated.sentence
        apart = self.limit is not None and self.limit is not self.stated
        parts = [_opened("At the sizes at hand" if apart else "As worded", self.stated)]
        if self.limit is not None and apart:
            parts.append(_opened("In the limit", self.limit))
        if self.corrected is not None:
            parts.append(_opened("With the correction", self.corrected))
        return " ".join(parts)

    @property
    def power(self) -> str:
        """The seeds and what they would have shown, in one short line."""
        return noticed([judged for decision in self.decisions for judged in decision.judged])

    def outcome(self, kind: Kind) -> Outcome:
        """What follows for a statement of this kind."""
        limit, corrected = self.limit and self.limit.outcome, self.corrected and self.corrected.outcome
        return conclude(kind, self.stated.outcome, limit, corrected)


def rule(claim: Claim, size: Size, measured: Data, predicted: Data, seeds: str = "") -> Verdict:
    """The verdict on a measurement and a prediction."""
    ruling = Ruling.on(claim.compare(size, measured, predicted))
    if bool(claim.correction) != (ruling.corrected is not None):
        raise ValueError(f"The claim {claim.name!r} needs evidence on its correction if and only if it has one.")
    verdict = claim.describe(size, measured, predicted, ruling) if claim.describe else Verdict()
    if not verdict.figure:
        from giantstep.checks._intervals import intervals  # here: it draws

        drawn = intervals(ruling.decisions)
        verdict = replace(verdict, figure=drawn, caption=verdict.caption or (CAPTION if drawn else ""))
    header, rows = (verdict.header, verdict.rows) if verdict.rows else table(ruling.decisions)
    return replace(
        verdict,
        outcome=ruling.outcome(claim.kind),
        stated=ruling.stated.outcome,
        limit=ruling.limit and ruling.limit.outcome,
        corrected=ruling.corrected and ruling.corrected.outcome,
        marks=_together([each.marks for each in ruling.decisions]),
        compared=compared(ruling.decisions),
        sentence=verdict.sentence or ruling.sentence,
        header=header,
        rows=rows,
        power=ruling.power,
        seeds=seeds or verdict.seeds,
    )


@dataclass(frozen=True, repr=False)
class Result:
    """A claim with its verdict and the time it took.

    ``error`` says why the claim could not be run; missing data are not an error. ``stored`` says that the measurements came from
    a store; the time is then that of making them. ``replicated`` holds the verdicts on further sets of seeds.
    """

    claim: Claim
    verdict: Verdict
    seconds: float
    size: Size
    error: str | None = None
    stored: bool = False
    replicated: tuple[Verdict, ...] = ()

    @property
    def passed(self) -> bool:
        """Whether it is neither contradicted nor broken.

        A contradicted statement passes if its correction holds. One that is undecided, or was not run, passes.
        """
        verdicts = (self.verdict, *self.replicated)
        return self.error is None and not any(
            each.outcome == "contradicted" or each.corrected == "fails" for each in verdicts
        )

    def __repr__(self) -> str:
        return f"Result({self.claim.name}: {self.verdict.outcome}. {self.verdict.sentence})"

    def _repr_html_(self) -> str:
        correction = f"Correction: {self.claim.correction}" if self.claim.correction else ""
        lines = (self.claim.said, f"{self.claim.name}: {self.claim.statement}", correction)
        return f"{''.join(map(html.line, lines))}{self.verdict._repr_html_()}"

    @property
    def times(self) -> dict[Outcome, int]:
        """How often each verdict came, over all sets of seeds."""
        return dict(Counter(each.outcome for each in (self.verdict, *self.replicated)))

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON, without the figure; numbers that are not finite become ``None``."""
        return {
            "claim": self.claim.name,
            **_taken(self.claim, "quote", "place", "kind", "of"),
            **_taken(self.claim, "statement", "correction", "paper", "where", "test"),
            "size": self.size,
            **_taken(self.verdict, *DECISIONS, "sentence"),
            "header": list(self.verdict.header),
            "rows": json_data(self.verdict.rows),
            "marks": dict(self.verdict.marks),
            "compared": json_data(self.verdict.compared),
            **_taken(self.verdict, "looseness", "power", "trend", "seeds", "sizes"),
            "settings": list(self.verdict.settings),
            "seconds": round(self.seconds, 3),
            "stored": self.stored,
            "error": self.error,
            "times": self.times,
            "replicated": [_taken(each, *DECISIONS, "seeds", "sentence") for each in self.replicated],
        }


def _opened(opening: str, decision: Decision) -> str:
    """The sentence of a decision after a few words that say what is decided."""
    return f"{opening}, {decision.sentence[:1].lower()}{decision.sentence[1:]}"


def _together(counts: Sequence[Mapping[Mark, int]]) -> dict[str, int]:
    """The marks of all decisions, in their order."""
    return {mark: sum(each[mark] for each in counts) for mark in counts[0]}


def _taken(noun: object, *names: str) -> dict[str, object]:
    return {name: getattr(noun, name) for name in names}


def show(results: Sequence[Result]) -> None:
    """Print the verdicts as a table on the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from giantstep.results.table import duration

    table = Table("verdict", "claim and result", "time", box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.columns[2].justify = "right"
    for result in results:
        counts: dict[Outcome, int] = result.times if result.replicated else {result.verdict.outcome: 0}
        lines = [
            Text(f"{outcome} {count}×" if count else outcome, COLOURS[outcome]) for outcome, count in counts.items()
        ]
        verdict = Text("\n").join(lines)
        summary = Text.assemble((result.claim.name, "bold"), "\n", result.verdict.sentence)
        if result.verdict.power:
            summary.append(f"\n{result.verdict.power}", "dim")
        table.add_row(verdict, summary, duration(result.seconds))
    console = Console()
    console.print(table)
    console.print(RATES, style="dim")
