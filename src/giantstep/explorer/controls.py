"""The parts of a view: labelled native inputs, figures with tables of their numbers, and texts to copy."""

from collections.abc import Sequence
from dataclasses import fields
from typing import Any

from dash import Input, Output, dcc, html
from dash import State as Now

from giantstep.citations import paper
from giantstep.explorer.chart import chart
from giantstep.explorer.state import VIEWS, Choice, SliderRange, ViewState, as_text

__all__ = ["control", "figure", "head", "inputs", "numbers", "take_away", "values"]

QUIET: Any = {
    "displayModeBar": False,
    "showTips": False,
    "responsive": True,
    "displaylogo": False,
    "showSendToCloud": False,
}


def identity(view: str, name: str) -> str:
    return f"{view}-{name}".replace("_", "-")


def inputs(view: str) -> list[Input]:
    """The view's fields as inputs of a callback, in the order of the state."""
    return [Input(identity(view, f.name), "value") for f in fields(VIEWS[view])]


def states(view: str) -> list[Now]:
    """The same fields as values that do not trigger the callback."""
    return [Now(identity(view, f.name), "value") for f in fields(VIEWS[view])]


def values(view: str) -> list[Output]:
    """The texts beside the view's sliders as outputs, in the order of the state."""
    ranged = (f for f in fields(VIEWS[view]) if isinstance(f.metadata["of"], SliderRange))
    return [Output(f"{identity(view, f.name)}--value", "children") for f in ranged]


def shown_values(state: ViewState, words: dict[str, str]) -> list[str]:
    """The texts beside the sliders: the given words, or the number itself."""
    ranged = (f.name for f in fields(state) if isinstance(f.metadata["of"], SliderRange))
    return [words.get(name, as_text(getattr(state, name))) for name in ranged]


def control(view: str, state: ViewState, name: str, *, hint: str = "", live: bool = False) -> html.Div:
    """The input of one field with its label: a slider, a group of radio buttons, or a line of text."""
    of = next(f for f in fields(state) if f.name == name)
    law, label, key, value = of.metadata["of"], of.metadata["label"], identity(view, name), getattr(state, name)
    if isinstance(law, Choice):
        options = [{"label": option, "value": option} for option in law.options]
        radios = dcc.RadioItems(options, value, id=key, className="radios", inline=True)
        return html.Div(
            [html.Span(label, className="label", id=f"{key}--label"), _hint(hint), radios],
            className="control",
            role="group",
            **{"aria-labelledby": f"{key}--label"},  # type: ignore[arg-type]
        )
    head: list[Any] = [html.Label(label, htmlFor=key)]
    if isinstance(law, SliderRange):
        head.append(html.Output(as_text(value), id=f"{key}--value", htmlFor=key))
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
    return html.Div([html.H1(title), html.P(lead, className="lead"), *problems], className="head")


def figure(key: str, title: str, marks: dict[str, str], shape: str = "") -> html.Figure:
    """A chart with its title, its legend, a description in words, and its numbers as a table to unfold.

    ``marks`` are the classes of the legend's marks and their meaning.
    """
    legend = [html.Li([html.I(className=mark), meaning]) for mark, meaning in marks.items()]
    return html.Figure(
        [
            html.Figcaption(title, id=f"{key}--title"),
            html.Ul(legend, className="marks"),
            html.Div(
                dcc.Graph(id=key, config=QUIET, className="chart", figure=chart([], {}, {})),
                className=f"plate {shape}".strip(),
                role="img",
                **{"aria-labelledby": f"{key}--title {key}--words"},  # type: ignore[arg-type]
            ),
            html.P(id=f"{key}--words", className="words"),
            html.Details([html.Summary("The numbers"), html.Div(id=f"{key}--numbers", className="scroll", tabIndex=0)]),
        ],
        className="figure",
    )


def numbers(header: Sequence[str], rows: Sequence[Sequence[str]], caption: str = "") -> html.Table:
    """A table whose first cells name their rows."""
    top = html.Thead(html.Tr([html.Th(name, scope="col") for name in header]))
    body = html.Tbody([html.Tr([html.Th(row[0], scope="row"), *(html.Td(cell) for cell in row[1:])]) for row in rows])
    return html.Table([*([html.Caption(caption)] if caption else []), top, body], className="numbers")


def take_away(view: str, papers: Sequence[str]) -> html.Section:
    """The link, the figures as files, the Python that makes them and the BibTeX; the view fills them."""
    return html.Section(
        [
            html.H2("Take it with you", id=f"{view}-away"),
            html.P([html.Button("Copy the link", className="copy", id=f"{view}-link", **_copies("location"))]),
            html.Div(id=f"{view}-downloads", className="downloads"),
            html.Div(
                [copied("Python", f"{view}-snippet"), copied("BibTeX", f"{view}-bibtex", bibtex(papers))],
                className="texts",
            ),
        ],
        className="away",
        **{"aria-labelledby": f"{view}-away"},  # type: ignore[arg-type]
    )


def _copies(what: str) -> dict[str, Any]:
    return {"data-copy": what, "type": "button"}


def copied(title: str, key: str, text: str = "") -> html.Div:
    """A text with a button that copies it."""
    button = html.Button("Copy", className="copy", **_copies(key), **{"aria-label": f"Copy the {title}"})  # type: ignore[arg-type]
    return html.Div(
        [html.Div([html.H3(title), button], className="text-head"), html.Pre(html.Code(text, id=key), tabIndex=0)]
    )


def downloads(view: str, query: str, names: dict[str, str]) -> list[html.P]:
    """Links to the figures as SVG and PNG, by name and title."""
    return [
        html.P(
            [
                html.Span(title),
                *(
                    html.A(
                        kind.upper(),
                        href=f"/figure/{view}/{name}.{kind}?{query}",
                        download=f"giantstep-{view}-{name}.{kind}",
                        **{"aria-label": f"{title} as {kind.upper()}"},  # type: ignore[arg-type]
                    )
                    for kind in ("svg", "png")
                ),
            ]
        )
        for name, title in names.items()
    ]


def named(view: str, raw: Sequence[Any]) -> dict[str, Any]:
    """The raw values of a callback under their fields' names; an empty input keeps its default."""
    return {f.name: value for f, value in zip(fields(VIEWS[view]), raw, strict=True) if value is not None}


def token(given: Any) -> str:
    """The token of an open page."""
    return given if isinstance(given, str) and len(given) == 32 and given.isalnum() else "unknown"


def bibtex(keys: Sequence[str]) -> str:
    return "\n\n".join(paper(key).bibtex for key in keys)


def show_problems(refused: Sequence[str], problem: str = "") -> list[Any]:
    """The values that were refused, in sentences; a sentence about a formula keeps its caret in place."""
    return [
        *(html.P(one, className="refused") for one in refused),
        *([html.Pre(problem, className="mistake")] if problem else []),
    ]
