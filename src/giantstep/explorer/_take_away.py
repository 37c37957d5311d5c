"""What a reader takes along: the link, the figures as files, the Python that makes them, and the BibTeX."""

from collections.abc import Sequence
from typing import Any

from dash import html

from giantstep.citations import paper


def take_away(view: str, papers: Sequence[str]) -> html.Section:
    """The link, the figures as files, the Python that makes them and the BibTeX; the view fills them."""
    return html.Section(
        [
            html.H2("Take it with you", id=f"{view}-away"),
            html.P([html.Button("Copy the link", className="copy", id=f"{view}-link", **_copies("location"))]),
            html.Div(id=f"{view}-downloads", className="downloads"),
            html.Div(
                [
                    copied("Python", f"{view}-snippet"),
                    html.Details([html.Summary("BibTeX"), copied("BibTeX", f"{view}-bibtex", bibtex(papers))]),
                ],
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


def bibtex(keys: Sequence[str]) -> str:
    return "\n\n".join(paper(key).bibtex for key in keys)
