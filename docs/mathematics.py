"""Typesets the mathematics of the pages while they are built, so that a page needs no script and no network to show it.

LaTeX between dollars becomes MathML. In running text a letter with a caret or an underscore, n^(−1/2) or c_k, gets a raised or
lowered index; code is left alone.
"""

import html
import re
from typing import Any

LATEX = re.compile(r'<(span|div) class="arithmatex">\\[(\[](.*?)\\[)\]]</\1>', re.DOTALL)
PLAIN = re.compile(r"(<(code|pre|math|script|style|svg)\b.*?</\2>|<[^>]*>)", re.DOTALL)  # what is no running text
BASE = r"((?<![\w\\/])(?:He|[A-Za-zα-ωΑ-Ωℓ∇])[′'*̃̂̄]?|(?:[\d)‖⟩]+|</sub>)(?=\^))"
WORD = r"[−-]?(?:\d+(?:[./]\d+)?|½|max|min|alpha|[A-Za-zα-ωℓ⊥∞±*]{1,2})(?![A-Za-z])"
INDEX = rf"(?:\{{([^{{}}]{{1,24}})\}}|\(([^()]{{1,24}})\)|({WORD}))"
RAISED = re.compile(BASE + r"\^" + INDEX)
LOWERED = re.compile(BASE + rf"_(?:\{{([^{{}}]{{1,24}})\}}|({WORD}))")


def on_page_content(content: str, **_: Any) -> str:
    """The page with its formulas typeset."""
    return indexed(LATEX.sub(_typeset, content))


def _typeset(found: re.Match[str]) -> str:
    display = "block" if found[1] == "div" else "inline"
    formula = mathml(html.unescape(found[2]).strip(), display)
    return f'<div class="formula">{formula}</div>' if display == "block" else formula


def mathml(latex: str, display: str) -> str:
    """A formula as MathML; the converter knows ``aligned`` as ``align*``."""
    from latex2mathml.converter import convert  # pyright: ignore[reportMissingImports]  # comes with the extra docs

    return convert(latex.replace("{aligned}", "{align*}"), display=display)


def indexed(content: str) -> str:
    """The indices of running text, raised and lowered."""
    found, after = [], 0
    for tag in PLAIN.finditer(content):
        found += [_indices(content[after : tag.start()]), tag[0]]
        after = tag.end()
    return "".join([*found, _indices(content[after:])])


def _indices(text: str) -> str:
    for pattern, name in ((LOWERED, "sub"), (RAISED, "sup")):  # w_i^0 has both
        text = pattern.sub(lambda m, name=name: f"{m[1]}<{name}>{_letter(m[m.lastindex or 1])}</{name}>", text)
    return text


def _letter(index: str) -> str:
    return "α" if index == "alpha" else index
