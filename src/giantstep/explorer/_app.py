"""The page: one layout, and a view chosen by the address. It loads nothing from the network."""

import uuid
from pathlib import Path
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html

from giantstep import __version__
from giantstep.explorer import _download as download
from giantstep.explorer import _state as state
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.views import _explain as explain
from giantstep.explorer.views import _words as words
from giantstep.explorer.views.claims import _view as claims
from giantstep.explorer.views.giant_steps import _view as giant_steps
from giantstep.explorer.views.one_step import _view as one_step

PAGES: dict[str, tuple[str, Any]] = {
    "one-step": ("One step", one_step),
    "giant-steps": ("Giant steps", giant_steps),
    "explain": ("Explain", explain),
    "claims": ("Claims", claims),
    "words": ("Words", words),
}
LANDING = "one-step"  # the picture that moves
FOOT = "Your own machine serves this page, and the page loads nothing from the network."
INDEX = """<!DOCTYPE html>
<html lang="en">
<head>
{%metas%}
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>{%title%}</title>
{%favicon%}
{%css%}
</head>
<body>
<a class="skip" href="#main">Skip to the content</a>
{%app_entry%}
{%config%}
{%scripts%}
{%renderer%}
</body>
</html>
"""


def make_app(backend: Backend, report: Path | None = None) -> Dash:
    """The Dash application, with debugging and all other extras of Dash switched off."""
    app = Dash(
        "giantstep.explorer",
        title="giantstep explorer",
        update_title="",
        assets_folder=str(Path(__file__).parent / "assets"),
        index_string=INDEX,
        serve_locally=True,
        suppress_callback_exceptions=True,
        add_log_handler=False,
        use_pages=False,
        enable_mcp=False,
        websocket_callbacks=False,
    )
    app.layout = _layout
    explain.register(app, backend)
    steps, giants = one_step.register(app, backend), giant_steps.register(app, backend)
    download.register(app, backend, steps, giants, claims.register(app, backend, report))

    @app.callback(
        Output("main", "children"), Output("views", "children"), Input("url", "pathname"), Input("url", "search")
    )
    def show(path: Any, query: Any) -> Any:
        """The view of an address."""
        name = path.strip("/") if isinstance(path, str) else ""
        name = name if name in PAGES else LANDING
        s, refused = state.read_query(state.VIEWS[name], query if isinstance(query, str) else "")
        return PAGES[name][1].page(s, refused), _links(name)

    app.clientside_callback(
        ClientsideFunction("explorer", "address"),
        Output("kept", "data"),
        Input("query", "data"),
        prevent_initial_call=True,
    )
    return app


def _layout() -> html.Div:
    """The layout with a token for the open page, so that its newest request replaces only its own older ones."""
    return html.Div(
        [
            dcc.Location(id="url", refresh=False),
            dcc.Store(id="page", data=uuid.uuid4().hex),
            dcc.Store(id="query"),
            dcc.Store(id="kept"),
            html.Header(
                [
                    html.P(["giantstep ", html.Span("explorer")], className="brand"),
                    html.P("Computing …", id="computing", className="computing", role="status"),
                    html.Nav(id="views", **{"aria-label": "Views"}),  # type: ignore[arg-type]
                    html.Button(
                        [html.Span("◐", **{"aria-hidden": "true"}), " Light or dark"],  # type: ignore[arg-type]
                        id="theme",
                        type="button",
                        className="theme",
                    ),
                ]
            ),
            html.Main(id="main", tabIndex=-1),
            html.Footer(html.P([f"giantstep {__version__}. ", FOOT])),
        ]
    )


def _links(current: str) -> html.Ul:
    """The views, the current one marked."""
    items = []
    for name, (title, _) in PAGES.items():
        here: dict[str, Any] = {"aria-current": "page"} if name == current else {}
        items.append(html.Li(dcc.Link(title, href=f"/{name}", className="here" if here else ""), **here))
    return html.Ul(items)
