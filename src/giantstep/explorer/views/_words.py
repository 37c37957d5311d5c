"""Words: what the terms of the page mean."""

from typing import Any

from dash import dcc, html

from giantstep.explorer import _controls as controls
from giantstep.explorer import _state as state
from giantstep.explorer._glossary import WORDS, Word

LEAD = "Every term of this page in a sentence or two, and the page of the documentation that says more."


def page(s: state.Words, refused: list[str]) -> list[Any]:
    """All words, first the one that is looked up."""
    if s.word and s.word not in WORDS:
        refused = [*refused, f"There is no word {s.word[:60]!r}: choose one below."]
    chosen = [WORDS[s.word]] if s.word in WORDS else []
    rest = sorted((word for word in WORDS.values() if word not in chosen), key=lambda word: word.name.lower())
    entries = [part for word in (*chosen, *rest) for part in _entry(word, word in chosen)]
    return [controls.head("Words", LEAD, refused), html.Dl(entries, className="words-list")]


def _entry(word: Word, chosen: bool) -> list[Any]:
    where = html.Span(["See ", html.Code(f"docs/{word.page}"), "."], className="hint")
    name = dcc.Link(word.name, href=controls.word_address(word.name))
    return [
        html.Dt(name, className="chosen" if chosen else ""),
        html.Dd([*controls.formulas(word.meaning), " ", where]),
    ]
