"""The tools that every view of an experiment has: presets to start from, a setting A to hold beside, and Reset."""

from collections.abc import Callable
from dataclasses import fields, replace
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.explorer import _controls as controls
from giantstep.explorer import _state as state
from giantstep.explorer._presets import of_view
from giantstep.explorer._state import SliderRange, ViewState


def presets(view: str) -> html.Details:
    """The presets of a view as buttons, folded so that the controls are near; the claims have those of the other papers."""
    pills = [
        html.Li(html.Button(preset.label, id=_key(view, i), type="button", className="preset"))
        for i, preset in enumerate(of_view(state.VIEWS[view]))
    ]
    more = html.Li(dcc.Link("Other papers", href="/claims", className="preset"))
    said = html.Summary("Start from a paper or a scene of the story")
    return html.Details([said, html.Ul([*pills, more])], className="presets")


def _key(view: str, index: int) -> str:
    return f"{view}-preset-{index}"


def buttons(view: str, s: Any) -> html.Div:
    """Hold the setting as A, drop A, reset; and the setting A itself, which no control shows."""
    return html.Div(
        [
            html.Button("Hold as A", id=f"{view}-hold", type="button"),
            html.Button("Drop A", id=f"{view}-drop", type="button"),
            html.Button("Reset", id=f"{view}-reset", type="button"),
            html.Data(id=controls.identity(view, "beside"), value=s.beside),
            html.Div(id=f"{view}-held", className="held"),
        ],
        className="actions",
    )


def differences(s: Any, values: Callable[[Any], dict[str, str]]) -> list[Any]:
    """What differs between the setting A and the one of the controls, in words."""
    first = state.other(s)
    if first is None:
        return []
    shown = [{f.name: str(getattr(one, f.name)) for f in fields(one)} | values(one) for one in (first, s)]
    rows = [
        html.Li(
            [html.B(f.metadata["label"]), *controls.formulas(f": A has {shown[0][f.name]}, now {shown[1][f.name]}")]
        )
        for f in fields(s)
        if f.name not in ("beside", "shown") and shown[0][f.name] != shown[1][f.name]
    ]
    if not rows:
        return [html.P("A is this setting. Move a control to compare.")]
    return [html.P("A is drawn in grey. What differs:"), html.Ul(rows)]


def register(app: Dash, view: str) -> None:
    """Let the buttons change the controls."""
    kind = state.VIEWS[view]
    makers = _makers(view, kind)

    @app.callback(
        *[Output(controls.identity(view, f.name), "value", allow_duplicate=True) for f in fields(kind)],
        *[Input(button, "n_clicks") for button in makers],
        *controls.inputs(view, State),
        prevent_initial_call=True,
    )
    def change(*given: Any) -> Any:
        """The controls of the setting that a button asks for."""
        clicks, raw = given[: len(makers)], given[len(makers) :]
        if ctx.triggered_id not in makers or not any(clicks):
            raise PreventUpdate
        now: Any = state.read(kind, controls.named(view, raw))[0]
        new = makers[ctx.triggered_id](now)
        return [_given(f, getattr(now, f.name), getattr(new, f.name)) for f in fields(kind)]


def _makers(view: str, kind: Any) -> dict[str, Callable[[Any], ViewState]]:
    """The setting that every button makes of the present one. A preset may bring an A; it leaves with the preset."""
    brought: list[Any] = [preset.state for preset in of_view(kind)]
    theirs = {one.beside for one in brought}
    chosen = {
        _key(view, i): lambda now, one=one: replace(
            one, beside=one.beside or ("" if now.beside in theirs else now.beside)
        )
        for i, one in enumerate(brought)
    }
    return {
        **chosen,
        f"{view}-hold": lambda now: replace(now, beside=state.write(state.alone(now))),
        f"{view}-drop": lambda now: replace(now, beside=""),
        f"{view}-reset": lambda now: kind(),
    }


def _given(of: Any, before: Any, after: Any) -> Any:
    if before == after:
        return no_update
    return state.as_text(after) if isinstance(of.metadata["of"], SliderRange) else after
