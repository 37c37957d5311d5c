"""Small pieces of HTML for notebooks: a heading, a table, sentences. They take their colours from the page around them."""

from collections.abc import Iterable, Sequence
from html import escape

from giantstep._shown.typeset import typeset

__all__ = ["block", "line", "table"]

CELL = "text-align:{};padding:.15em .7em;white-space:pre-line"


def block(title: str, *parts: str) -> str:
    """A heading and what comes below it; empty parts are left out."""
    return f"<div><p><b>{escape(title)}</b></p>{''.join(part for part in parts if part)}</div>"


def line(text: str) -> str:
    """A sentence, its formulas typeset."""
    return f"<p>{typeset(text)}</p>" if text else ""


def table(header: Sequence[str], rows: Iterable[Sequence[object]], align: str = "right") -> str:
    """A table with typeset formulas, which scrolls if it is wide; without a header the first column has the names of the rows."""
    head = "".join(f'<th style="{CELL.format(align)}">{escape(str(cell))}</th>' for cell in header)
    body = "".join(f"<tr>{''.join(_cell(cell, align) for cell in row)}</tr>" for row in rows)
    inside = f"{f'<thead><tr>{head}</tr></thead>' if header else ''}<tbody>{body}</tbody>"
    return f'<div style="overflow-x:auto"><table>{inside}</table></div>'


def _cell(value: object, align: str) -> str:
    return f'<td style="{CELL.format(align)}">{typeset(str(value))}</td>'
