"""Small pieces of HTML for notebooks: heading, table, sentence, figure. Their colours are those of the page around them."""

import re
from collections.abc import Iterable, Sequence
from html import escape

from giantstep._shown.typeset import typeset

CELL = "text-align:{};padding:.15em .7em;white-space:{}"
SHORT = 32  # characters of a cell that stays on one line
LEAST = 0.65  # of its width, to which a figure shrinks on a small screen; then it scrolls


def block(title: str, *parts: str) -> str:
    """A heading and what comes below it; empty parts are left out."""
    return f"<div><p><b>{escape(title)}</b></p>{''.join(part for part in parts if part)}</div>"


def line(text: str) -> str:
    """A sentence, its formulas typeset."""
    return f"<p>{typeset(text)}</p>" if text else ""


def table(header: Sequence[str], rows: Iterable[Sequence[object]], align: str = "right") -> str:
    """A table with typeset formulas, which scrolls if it is wide; without a header the first column has the names of the rows."""
    head = "".join(f'<th style="{_style(cell, align)}">{escape(str(cell))}</th>' for cell in header)
    cells = ((f'<td style="{_style(cell, align)}">{typeset(str(cell))}</td>' for cell in row) for row in rows)
    body = "".join(f"<tr>{''.join(row)}</tr>" for row in cells)
    inside = f"{f'<thead><tr>{head}</tr></thead>' if header else ''}<tbody>{body}</tbody>"
    return f'<div style="overflow-x:auto"><table>{inside}</table></div>'


def _style(value: object, align: str) -> str:
    """Numbers and names stay whole; sentences are broken."""
    short = max(map(len, str(value).splitlines()), default=0) <= SHORT
    return CELL.format(align, "pre" if short else "pre-line;min-width:14em")


def figure(svg: str) -> str:
    """The ``<svg>`` element of a document, as wide as the page at most; below a readable size it scrolls."""
    element = re.search(r"<svg\b.*</svg>", svg, flags=re.DOTALL)
    if element is None:
        return ""
    width = re.search(r'^<svg\b[^>]*?\bwidth="([\d.]+(?:pt|px)?)"', element[0])
    least = f"max(100%, {LEAST} * {width[1] if width[1][-1].isalpha() else width[1] + 'px'})" if width else "100%"
    style = f'style="display:block;max-width:{least};height:auto"'
    return f'<div style="overflow-x:auto">{element[0].replace("<svg", f"<svg {style}", 1)}</div>'
