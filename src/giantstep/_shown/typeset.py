"""Formulas of running text as HTML.

A letter with a caret or an underscore, n^(−1/2) or c_k, gets a raised or lowered index. Minus signs, alpha, sigma, grad f
and 2e-04 are written as a book writes them; a name in quotes, as "eta", is code.
"""

import re
from functools import lru_cache
from html import escape

_PLAIN = re.compile(r"(<(code|pre|math|script|style|svg)\b.*?</\2>|<[^>]*>)", re.DOTALL)  # what is no running text
_BASE = (
    r"((?<![\w\\/])(?:He|[A-Za-zα-ωΑ-Ωℓ∇])[′'*̃̂̄²]*|[)‖⟩ᵀ]*(?<=[)‖⟩ᵀ])(?=[\^_])|(?:\d+|</sub>)(?=\^)|(?<!\w)[ΣΠ∏∑](?=_))"
)
_WORD = r"[−-]?(?:\d+(?:[./]\d+)?|½|max|min|out|alpha|[A-Za-zα-ωℓ⊥∞±*]{1,2})(?![A-Za-z])"
_INDEX = rf"(?:\{{([^{{}}]{{1,24}})\}}|\(([^()]{{1,24}})\)|({_WORD}))"
_RAISED = re.compile(_BASE + r"\^" + _INDEX)
_LOWERED = re.compile(_BASE + rf"_(?:\{{([^{{}}]{{1,24}})\}}|({_WORD}))")
PLAIN = 5  # powers of ten from which a large number has one
_POWER = re.compile(r"(?<![\w.])(\d+(?:\.\d+)?)e([+-])0*(\d+)(?!\w)")
_MINUS = re.compile(r"(?<![\w.)\]−-])-(?=\d)")
_LETTERS = {"alpha": "α", "eta": "η", "sigma": "σ"}
_PHRASES = {"grad f": "∇f", "sigma^(k)": "σ^{(k)}", "η~": "η̃"}  # the gradient, and a derivative, which is no power
# and of f, in d^2f/dx1^2
_PHRASES |= {f"d^{k}f": f"d{raised}f" for k, raised in zip(range(2, 10), "²³⁴⁵⁶⁷⁸⁹", strict=True)}
_LETTER = re.compile(rf"(?<![\w.\[\"';-])({'|'.join(_LETTERS)})(?![\w\[(]|[.=][\w\[])")


@lru_cache(maxsize=8192)  # a page that grows is written after every claim, most of it again
def typeset(text: str) -> str:
    """Plain text as HTML, its formulas typeset."""
    return indexed(escape(text))


def indexed(content: str) -> str:
    """HTML with the formulas of its running text typeset; code is left alone."""
    found, after = [], 0
    for tag in _PLAIN.finditer(content):
        found += [_formulas(content[after : tag.start()]), tag[0]]
        after = tag.end()
    return "".join([*found, _formulas(content[after:])])


def _formulas(text: str) -> str:
    for phrase, formula in _PHRASES.items():
        text = text.replace(phrase, formula)
    text = _LETTER.sub(lambda m: _LETTERS[m[1]], _POWER.sub(_power, text))
    for pattern, name in ((_LOWERED, "sub"), (_RAISED, "sup")):  # w_i^0 has both
        text = pattern.sub(lambda m, name=name: f"{m[1]}<{name}>{_index(m[m.lastindex or 1])}</{name}>", text)
    return _MINUS.sub("−", text)  # noqa: RUF001


def _power(found: re.Match[str]) -> str:
    if found[2] == "+" and int(found[3]) < PLAIN:
        return f"{float(found[0]):g}"
    factor = "" if found[1] == "1" else f"{found[1]}·"
    return f"{factor}10<sup>{'−' if found[2] == '-' else ''}{found[3]}</sup>"  # noqa: RUF001


def _index(index: str) -> str:
    return _LETTERS.get(index, index.replace("-", "−"))  # noqa: RUF001
