"""Typesets the mathematics of the pages while they are built, so that a page needs no script and no network to show it.

LaTeX between dollars becomes MathML, and formulas of running text get raised and lowered indices.
"""

import html
import re
from typing import Any

from giantstep._shown.typeset import indexed

LATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)


CELL = re.compile(r"<td\b[^>]*>(?!<code).*?</td>", re.DOTALL)


def on_page_content(content: str, **_: Any) -> str:
    """The page with its formulas typeset. In a narrow cell of a table ± stays with the number after it."""
    page = indexed(LATEX.sub(_typeset, content))
    return CELL.sub(lambda cell: cell[0].replace("± ", "±\N{NO-BREAK SPACE}"), page)


def _typeset(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    formula = mathml(html.unescape(found[2]).strip(), display)
    return f'<div class="formula">{formula}</div>' if display == "block" else formula


def mathml(latex: str, display: str) -> str:
    """A formula as MathML; the converter knows ``aligned`` as ``align*``."""
    from latex2mathml.converter import convert  # pyright: ignore[reportMissingImports]  # comes with the extra docs

    return convert(latex.replace("{aligned}", "{align*}"), display=display)
