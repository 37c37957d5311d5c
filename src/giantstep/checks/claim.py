"""What a claim is and what it answers."""

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
    """The answer of one claim.

    ``outcome`` is "not run" where data were missing or the claim broke: it says nothing about the statement.
    ``sentence`` says what was seen, with numbers. ``header`` and ``rows`` are the table behind it, ``seeds`` and
    ``sizes`` say what was run, ``settings`` are the ids of the settings, ``figure`` is an SVG document as text
    (empty: no figure) and ``caption`` says in words what it shows. ``power`` says how often the test calls a true statement
    false, and which departure it would see (``lab.power`` writes it); ``trend`` how what was seen moves with the sizes.
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
            raise ValueError(f"Every row of a verdict needs {len(self.header)} cells, one a header.")


@dataclass(frozen=True)
class Claim:
    """A statement of a paper that a computer can contradict.

    Attributes:
        name: ``group/claim``.
        statement: one sentence.
        paper: a key of ``giantstep.citations``.
        where: the theorem, section or figure.
        test: what is compared, what is granted, and when the statement fails or stays open: one or two sentences.
        measure: what simulations find, given a size; the dear part, kept in a store.
        judge: the verdict from the size, what was measured and what is predicted; cheap, and free of simulations.
        predict: what theory says, given a size; None for a statement that needs no theory to be judged.
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
        """Measure, predict and judge, with nothing kept."""
        return self.judge(size, self.measure(size), {} if self.predict is None else self.predict(size))


@dataclass(frozen=True)
class Result:
    """A claim with its verdict and the time it took.

    ``error`` says what broke it where it could not be run; data that are missing are no error. ``stored`` says that the
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
        """Neither contradicted nor broken; a claim that is inconclusive or lacks its data passes."""
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
    """A cell as JSON knows it; NumPy scalars become Python's."""
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
    table = Table("verdict", "claim, and what was seen", "time", box=box.SIMPLE_HEAD, pad_edge=False, show_lines=True)
    table.columns[2].justify = "right"
    for result in results:
        verdict = Text(result.verdict.outcome, colour[result.verdict.outcome])
        summary = Text.assemble((result.claim.name, "bold"), "\n", result.verdict.sentence)
        table.add_row(verdict, summary, duration(result.seconds))
    Console().print(table)
