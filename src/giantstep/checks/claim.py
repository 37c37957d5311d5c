"""Claim: a statement of a paper that can be tested. Verdict: the answer. Result: both, with the time it took."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from giantstep.citations import PAPERS

__all__ = ["Claim", "Data", "Outcome", "Result", "Size", "Verdict", "show"]

Size = Literal["quick", "full"]
Outcome = Literal["holds", "fails", "inconclusive", "not run"]
Cell = str | int | float
Data = dict[str, Any]  # plain: text, numbers, true and false, None, NumPy arrays, lists and tables of these


@dataclass(frozen=True)
class Verdict:
    """The answer to one claim.

    ``outcome`` is "not run" if data were missing or the claim failed to run; that says nothing about the statement.
    ``sentence`` describes the measurement with numbers. ``header`` and ``rows`` are the table behind it, ``seeds`` and
    ``sizes`` say what was run, ``settings`` are the ids of the settings, ``figure`` is an SVG document as text
    (empty: no figure) and ``caption`` says in words what it shows. ``power`` says how often the test calls a true statement
    false and which departure it would detect (``checks.power`` writes it); ``trend`` says how the result changes with the sizes.
    """

    outcome: Outcome
    sentence: str
    header: tuple[str, ...] = ()
    rows: tuple[tuple[Cell, ...], ...] = ()
    seeds: str = ""
    sizes: str = ""
    figure: str = ""
    settings: tuple[str, ...] = ()
    caption: str = ""
    power: str = ""
    trend: str = ""

    def __post_init__(self) -> None:
        if any(len(row) != len(self.header) for row in self.rows):
            raise ValueError(f"Every row of a verdict needs {len(self.header)} cells, one for each header.")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that a computer can contradict.

    Attributes:
        name: ``group/claim``.
        statement: one sentence.
        paper: a key of ``giantstep.citations``.
        where: the theorem, section or figure.
        test: the comparison, its tolerance, and when the statement fails or stays open, in one or two sentences.
        measure: runs the simulations at a size; this is the expensive part, and it is stored.
        judge: makes the verdict from the size, the measurement and the prediction; it is cheap and runs no simulation.
        predict: computes the theory at a size; None for a statement that needs no theory.
    """

    name: str
    statement: str
    paper: str
    where: str
    test: str
    measure: Callable[[Size], Data]
    judge: Callable[[Size, Data, Data], Verdict]
    predict: Callable[[Size], Data] | None = None

    def __post_init__(self) -> None:
        if self.paper not in {each.key for each in PAPERS}:
            raise ValueError(
                f"The claim {self.name!r} names the paper {self.paper!r}, which giantstep.citations lacks."
            )

    def run(self, size: Size) -> Verdict:
        """Measure, predict and judge without storing anything."""
        return self.judge(size, self.measure(size), {} if self.predict is None else self.predict(size))


@dataclass(frozen=True)
class Result:
    """A claim with its verdict and the time it took.

    ``error`` says why the claim could not be run; missing data are not an error. ``stored`` says that the
    measurements came from a store; the time is then that of making them.
    """

    claim: Claim
    verdict: Verdict
    seconds: float
    size: Size
    error: str | None = None
    stored: bool = False

    @property
    def passed(self) -> bool:
        """Whether it is neither contradicted nor broken; an inconclusive claim, or one without its data, passes."""
        return self.error is None and self.verdict.outcome != "fails"

    def to_dict(self) -> dict[str, object]:
        """Plain data for JSON, without the figure; numbers that are not finite become ``None``."""
        return {
            "claim": self.claim.name,
            "statement": self.claim.statement,
            "paper": self.claim.paper,
            "where": self.claim.where,
            "test": self.claim.test,
            "size": self.size,
            "outcome": self.verdict.outcome,
            "sentence": self.verdict.sentence,
            "header": list(self.verdict.header),
            "rows": [[_plain(cell) for cell in row] for row in self.verdict.rows],
            "power": self.verdict.power,
            "trend": self.verdict.trend,
            "seeds": self.verdict.seeds,
            "sizes": self.verdict.sizes,
            "settings": list(self.verdict.settings),
            "seconds": round(self.seconds, 3),
            "stored": self.stored,
            "error": self.error,
        }


def _plain(cell: Cell) -> Cell | None:
    """A cell as plain JSON; NumPy scalars become Python numbers."""
    if isinstance(cell, str):
        return cell
    value = cell.item() if hasattr(cell, "item") else cell  # type: ignore[union-attr]
    return None if isinstance(value, float) and not math.isfinite(value) else value


def show(results: Sequence[Result]) -> None:
    """Print the verdicts as a table on the terminal."""
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from giantstep.results.table import duration

    colour = {"holds": "green", "fails": "red", "inconclusive": "yellow", "not run": "cyan"}
    table = Table("verdict", "claim and result", "time", box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.columns[2].justify = "right"
    for result in results:
        verdict = Text(result.verdict.outcome, colour[result.verdict.outcome])
        summary = Text.assemble((result.claim.name, "bold"), "\n", result.verdict.sentence)
        table.add_row(verdict, summary, duration(result.seconds))
    Console().print(table)
