"""The parts of a view: labelled native inputs with the meaning of their words, charts, and tables of their numbers."""

import re
from collections.abc import Sequence
from dataclasses import fields
from html import unescape
from typing import Any

from dash import Input, Output, dcc, html
from dash import State as Now

from giantstep._shown.typeset import typeset
from giantstep.explorer._chart import waiting
from giantstep.explorer._glossary import WORDS
from giantstep.explorer._state import VIEWS, Choice, SliderRange, ViewState, Words, as_text, write

QUIET: Any = {
    "responsive": True,
    **dict.fromkeys(("displayModeBar", "showTips", "displaylogo", "showSendToCloud"), False),
}


def identity(view: str, name: str) -> str:
    return f"{view}-{name}".replace("_", "-")


def inputs(view: str, kind: type[Input] | type[Now] = Input) -> list[Any]:
    """The view's fields as inputs of a callback, in the order of the state; as ``State`` they do not trigger it."""
    return [kind(identity(view, f.name), "value") for f in fields(VIEWS[view])]


def values(view: str) -> list[Output]:
    """The texts beside the view's sliders as outputs, in the order of the state."""
    ranged = (f for f in fields(VIEWS[view]) if isinstance(f.metadata["of"], SliderRange))
    return [Output(f"{identity(view, f.name)}--value", "children") for f in ranged]


def formulas(text: str) -> list[Any]:
    """A text whose indices are raised and lowered, as children of an element."""
    plain, *rest = re.split(r"<(su[bp])>(.*?)</\1>", typeset(text))
    parts: list[Any] = [unescape(plain)]
    for tag, index, after in zip(rest[::3], rest[1::3], rest[2::3], strict=True):
        parts += [(html.Sup if tag == "sup" else html.Sub)(unescape(index)), unescape(after)]
    return parts


def shown_values(state: ViewState, words: dict[str, str]) -> list[list[Any]]:
    """The texts beside the sliders: the given words, or the number itself."""
    ranged = (f.name for f in fields(state) if isinstance(f.metadata["of"], SliderRange))
    return [formulas(words.get(name, as_text(getattr(state, name)))) for name in ranged]


def term(name: str, text: str = "") -> html.Span:
    """A word that shows its meaning when it is pointed at or has the focus, with a link to the view Words.

    Without a text it is a question mark beside a label.
    """
    word = WORDS[name]
    said = html.Span(
        [*formulas(word.meaning), " ", dcc.Link("More", href=word_address(name))],
        className="definition",
        role="tooltip",
    )
    named: Any = {} if text else {"aria-label": f"What is {name}?"}
    return html.Span([text or "?", said], className="term" if text else "term ask", tabIndex=0, role="note", **named)


def word_address(name: str) -> str:
    """The address of a word."""
    return f"/words?{write(Words(word=name))}"


def control(
    view: str, state: ViewState, name: str, *, hint: str = "", live: bool = False, shown: str | None = None
) -> html.Div:
    """The input of one field with its label: a slider, a group of radio buttons, or a line of text.

    ``shown`` is the text beside a slider, the number itself if it is None.
    """
    of = next(f for f in fields(state) if f.name == name)
    law, label, key, value = of.metadata["of"], of.metadata["label"], identity(view, name), getattr(state, name)
    if isinstance(law, Choice):
        options = [{"label": option, "value": option} for option in law.options]
        radios = dcc.RadioItems(options, value, id=key, className="radios", inline=True)
        named = html.Div(
            [html.Span(label, className="label", id=f"{key}--label"), term(label.lower())], className="control-head"
        )
        return html.Div(
            [named, _hint(hint), radios],
            className="control",
            role="group",
            **{"aria-labelledby": f"{key}--label"},  # type: ignore[arg-type]
        )
    head: list[Any] = [html.Label(label, htmlFor=key), term(label.lower())]
    if isinstance(law, SliderRange):
        head.append(html.Output(formulas(as_text(value) if shown is None else shown), id=f"{key}--value", htmlFor=key))
        entry = dcc.Input(
            type="range", id=key, min=law.least, max=law.most, step=law.step, value=as_text(value), className="slider"
        )
    else:
        entry = dcc.Input(
            type="text", id=key, value=value, maxLength=law.longest, debounce=0.35 if live else True, spellCheck=False,
            autoComplete="off", className="formula",
        )  # fmt: skip
    return html.Div([html.Div(head, className="control-head"), _hint(hint), entry], className="control")


def _hint(text: str) -> html.P | None:
    return html.P(text, className="hint") if text else None


def head(title: str, lead: str, refused: Sequence[str] = ()) -> html.Div:
    """The view's title, its lead, and the values of its link that were refused."""
    problems = [html.P(sentence, className="refused", role="alert") for sentence in refused]
    return html.Div([html.H1(title), html.P(formulas(lead), className="lead"), *problems], className="head")


def figure(key: str, title: str, shape: str = "") -> html.Figure:
    """A chart with its title and its legend, which the view fills; ``notes`` has its words and numbers."""
    return html.Figure(
        [
            html.Figcaption(title, id=f"{key}--title"),
            html.Ul(id=f"{key}--marks", className="marks"),
            html.Div(
                dcc.Graph(id=key, config=QUIET, className="chart", figure=waiting()),
                className=f"plate {shape}".strip(),
                role="img",
                **{"aria-labelledby": f"{key}--title {key}--words"},  # type: ignore[arg-type]
            ),
        ],
        className="figure",
    )


def figures(view: str, shown: dict[str, html.Figure]) -> html.Div:
    """The charts of a view, the main one first. A phone shows one at a time, chosen by its short name."""
    names = list(shown)
    choice = dcc.RadioItems(names, names[0], id=f"{view}-chart", className="radios", inline=True)
    named: Any = {"aria-label": "The picture"}
    return html.Div([html.Div(choice, className="turn", role="group", **named), *shown.values()], className="figures")


def legend(marks: dict[str, Any]) -> list[html.Li]:
    """The entries of a legend: the classes of the marks and their meaning, a text or several parts."""
    parts = {mark: meaning if isinstance(meaning, list) else [meaning] for mark, meaning in marks.items()}
    return [html.Li([html.I(className=mark), html.Span(meaning)]) for mark, meaning in parts.items()]


def notes(key: str) -> html.Div:
    """The words that describe a chart, and its numbers as a table to unfold; the view fills them."""
    table = html.Div(id=f"{key}--numbers", className="scroll", tabIndex=0)
    return html.Div(
        [html.P(id=f"{key}--words", className="words"), html.Details([html.Summary("The numbers"), table])],
        className="note-of",
    )


def numbers(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> html.Table:
    """A table whose first cells name their rows."""
    top = html.Thead(html.Tr([html.Th(name, scope="col") for name in header]))
    body = html.Tbody([html.Tr([html.Th(row[0], scope="row"), *(html.Td(cell) for cell in row[1:])]) for row in rows])
    return html.Table([*([html.Caption(caption)] if caption else []), top, body], className="numbers")


def named(view: str, raw: Sequence[Any]) -> dict[str, Any]:
    """The raw values of a callback under their fields' names; an empty input keeps its default."""
    return {f.name: value for f, value in zip(fields(VIEWS[view]), raw, strict=True) if value is not None}


def token(given: Any) -> str:
    """The token of an open page."""
    return given if isinstance(given, str) and len(given) == 32 and given.isalnum() else "unknown"


def show_problems(refused: Sequence[str], problem: str = "", further: Sequence[Any] = ()) -> list[Any]:
    """The values that were refused, in sentences; a sentence about a formula keeps its caret in place."""
    said = [_mistake(problem, further)] if problem else []
    return [*(html.P(one, className="refused") for one in refused), *said]


def _mistake(problem: str, further: Sequence[Any]) -> html.Div:
    """A sentence that wraps; below it the formula with its caret, which does not; then what leads further."""
    sentence, _, formula = problem.partition("\n")
    return html.Div([html.P(sentence), *([html.Pre(formula)] if formula else []), *further], className="mistake")
