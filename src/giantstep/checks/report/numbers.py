"""The table of numbers behind a verdict."""

import math
from collections.abc import Sequence
from html import escape

from giantstep.checks.claim import Cell

__all__ = ["numbers"]


def numbers(header: tuple[str, ...], rows: tuple[tuple[Cell, ...], ...], caption: str) -> str:
    """A table whose columns and rows have headers; it scrolls by itself on a narrow page. Empty without rows."""
    if not rows:
        return ""
    columns = list(zip(*rows, strict=True))
    kinds = ["t" if any(isinstance(cell, str) for cell in column) else "n" for column in columns]
    head = "".join(f'<th scope="col" class="{k}">{escape(name)}</th>' for name, k in zip(header, kinds, strict=True))
    lines = zip(*(_column(column) for column in columns), strict=True)
    body = "".join(f"<tr>{_row(line, kinds)}</tr>\n" for line in lines)
    return (
        f'<div class="scroll" tabindex="0" role="group" aria-label="{escape(caption)}">'
        f'<table class="numbers"><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead><tbody>\n'
        f"{body}</tbody></table></div>"
    )


def _row(line: Sequence[str], kinds: Sequence[str]) -> str:
    """The first cell names the row."""
    cells = [f'<td class="{kind}">{escape(cell)}</td>' for cell, kind in zip(line, kinds, strict=True)]
    return "".join([f'<th scope="row" class="{kinds[0]}">{escape(line[0])}</th>', *cells[1:]])


def _column(cells: Sequence[Cell]) -> list[str]:
    """Four digits, and the same number of decimals down the column where they differ by at most two."""
    texts = [_cell(cell) for cell in cells]
    known = [i for i, cell in enumerate(cells) if not isinstance(cell, str) and math.isfinite(cell)]
    decimals = {i: len(texts[i].partition(".")[2]) for i in known}
    most = max(decimals.values(), default=0)
    if any("e" in texts[i] for i in known) or most - min(decimals.values(), default=0) > 2:
        return texts
    for i in known:
        texts[i] = _minus(f"{cells[i]:.{most}f}")
    return texts


def _cell(cell: Cell) -> str:
    if isinstance(cell, str):
        return cell
    if not math.isfinite(cell):
        return "–"
    whole = float(cell).is_integer() and abs(cell) < 1e6
    return _minus(str(int(cell)) if whole else f"{cell:.4g}")


def _minus(number: str) -> str:
    return "−" + number[1:] if number.startswith("-") else number
