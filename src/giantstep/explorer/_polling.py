"""Wait for a run: the buttons that start and stop it, the polling until it is done, and the clock of Play.

Answers may overtake each other: each names its run, so that the end of one never ends the wait for another.
"""

import uuid
from typing import Any

from dash import ClientsideFunction, Dash, Input, Output, dcc, html


def actions(view: str, label: str = "") -> html.Div:
    """The buttons that start and stop a run, and its progress; without a label the run starts by itself."""
    start = [html.Button(label, id=f"{view}-start", className="main", type="button")] if label else []
    return html.Div(
        [
            *start,
            html.Button("Stop", id=f"{view}-stop", type="button", disabled=True),
            html.Span(id=f"{view}-progress", className="progress", role="status"),
        ],
        className="actions",
    )


def play(view: str) -> html.Div:
    """The button that plays the pictures one after the other."""
    return html.Div(html.Button("Play", id=f"{view}-play", className="main play", type="button"), className="actions")


def clock(view: str, milliseconds: int) -> dcc.Interval:
    """The clock of Play."""
    return dcc.Interval(id=f"{view}-clock", interval=milliseconds, disabled=True)


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
