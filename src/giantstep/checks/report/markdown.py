"""The verdicts as a table in Markdown."""

import re
from collections.abc import Sequence

from giantstep.checks.report._entry import MARK
from giantstep.checks.verdict import Result
from giantstep.results.table import duration

__all__ = ["cell", "summary"]


def summary(results: Sequence[Result]) -> str:
    """One row per result, in the given order: paper, claim, verdict, result, size, seeds, time."""
    head = "| paper | claim | verdict | result | size | seeds | time |\n|---|---|---|---|---|---|---:|\n"
    return head + "".join(_row(result) for result in results)


def _row(result: Result) -> str:
    outcome = result.verdict.outcome
    cells = (
        cell(result.claim.cites.short),
        _code(result.claim.name),
        f"{MARK[outcome]} {outcome}",
        cell(result.verdict.sentence),
        result.size,
        cell(result.verdict.seeds),
        f"{duration(result.seconds)}{', stored' if result.stored else ''}",
    )
    return f"| {' | '.join(cells)} |\n"


def cell(text: str) -> str:
    """Text that Markdown shows as it is: a star or an underscore of a formula is no emphasis, and nothing is HTML."""
    text = re.sub(r"([\\`*_\[\]|])", r"\\\1", " ".join(text.split()))
    return text.replace("&", "&amp;").replace("<", "&lt;")


def _code(name: str) -> str:
    """A name in code, or as escaped text where it has what code cannot hold in a table."""
    return cell(name) if re.search(r"[`|\\\s]", name) else f"`{name}`"
