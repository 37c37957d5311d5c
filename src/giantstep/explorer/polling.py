"""Wait for a run: the buttons that start and stop it, and the polling until it is done.

Answers may overtake each other: each names its run, so that the end of one never ends the wait for another.
"""

import uuid
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html

__all__ = ["actions", "new", "register", "store"]


def actions(view: str, label: str, key: str = "start") -> html.Div:
    """The buttons that start and stop a run, and its progress."""
    return html.Div(
        [
            html.Button(label, id=f"{view}-{key}", className="main", type="button"),
            html.Button("Stop", id=f"{view}-stop", type="button", disabled=True),
            html.Span(id=f"{view}-progress", className="progress", role="status"),
        ],
        className="actions",
    )


def store(view: str, milliseconds: int) -> list[Any]:
    """The run that a view waits for, the run that is done, and the clock of the polling."""
    return [
        dcc.Store(id=f"{view}-run"),
        dcc.Store(id=f"{view}-done"),
        dcc.Interval(id=f"{view}-poll", interval=milliseconds, disabled=True),
    ]


def register(app: Dash, view: str) -> None:
    """Poll, and let Stop be pressed, while a run is not done."""
    app.clientside_callback(
        ClientsideFunction("explorer", "waits"),
        Output(f"{view}-poll", "disabled"),
        Output(f"{view}-stop", "disabled"),
        Input(f"{view}-run", "data"),
        Input(f"{view}-done", "data"),
    )


def new() -> str:
    """A new name for a run."""
    return uuid.uuid4().hex
