"""The numbers behind a verdict as the texts of a table."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from giantstep.checks.verdict import Cell, Verdict

PHONE = 48  # letters of a row that a phone shows
DIGITS = {"difference": 3, "interval": 2}  # of a column, by the first word of its head; other numbers have four


@dataclass(frozen=True)
class NumberTable:
    """``header`` pairs the name of a column with its kind, a row's cell with that of its column: "n" numbers, "t" text."""

    header: list[tuple[str, str]]
    rows: list[list[tuple[str, str]]]

    @property
    def wide(self) -> bool:
        """Whether a row is wider than a phone; columns are two letters apart."""
        lines = [self.header, *self.rows]
        widest = (max(len(text) for text, _ in column) + 2 for column in zip(*lines, strict=True))
        return sum(widest) > PHONE


def numbers(verdict: Verdict) -> NumberTable:
    """The table of a verdict; without rows it is empty."""
    columns = list(zip(*verdict.rows, strict=True))
    kinds = ["t" if any(isinstance(cell, str) and cell for cell in column) else "n" for column in columns]
    digits = [DIGITS.get(name.partition(" ")[0], 4) for name in verdict.header]
    lines = zip(*(_column(column, most) for column, most in zip(columns, digits, strict=True)), strict=True)
    rows = [list(zip(line, kinds, strict=True)) for line in lines]
    return NumberTable(list(zip(verdict.header, kinds, strict=True)) if rows else [], rows)


def _column(cells: Sequence[Cell], digits: int = 4) -> list[str]:
    """So many digits, and the same number of decimals down the column where they differ by at most two.

    A small number among larger ones has no more than five decimals.
    """
    texts = [_cell(cell, digits) for cell in cells]
    known = [i for i, cell in enumerate(cells) if not isinstance(cell, str) and math.isfinite(cell)]
    decimals = {i: len(texts[i].partition(".")[2]) for i in known}
    most = max(decimals.values(), default=0)
    if any("e" in texts[i] for i in known) or most - min(decimals.values(), default=0) > 2:
        return texts
    most = min(most, max(5, min(decimals.values(), default=0)))
    for i in known:
        texts[i] = _minus(f"{cells[i]:.{most}f}")
    return texts


def _cell(cell: Cell, digits: int) -> str:
    if isinstance(cell, str):
        return cell
    if not math.isfinite(cell):
        return "–"
    whole = float(cell).is_integer() and abs(cell) < 1e6
    return _minus(str(int(cell)) if whole else f"{cell:.{digits}g}")


def _minus(number: str) -> str:
    return "−" + number[1:] if number.startswith("-") else number
