"""One step: the spectrum of the features and the errors against the step size; theory at once, simulations as they arrive."""

from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.errors import InputError
from giantstep.explorer import controls, polling, settings, state
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.views.one_step.charts import (
    error_chart,
    error_rows,
    error_words,
    law_chart,
    law_rows,
    law_words,
)
from giantstep.explorer.views.one_step.numbers import Found, OneStepNumbers

__all__ = ["page", "register"]

VIEW = "one-step"
LEAD = (
    "One giant gradient step of size η = n^α on the first layer, then ridge regression on the second. Left, the singular values "
    "of the features; right, the errors against α."
)
PAPERS = ("moniri", "ba", "cui", "dandi", "mei_montanari", "giantstep")
OF_SPECTRUM = {
    "line ink": "bulk, theory",
    "dash second": "spike, theory",
    "bar": "simulation",
    "wedge": "outlier, simulation",
}
OF_ERRORS = {
    "line first": "test error, theory",
    "line second": "training error, theory",
    "dots": "simulation",
    "dot ink": "published limit of the test error",
}
FIGURES = {"test": "Test error", "train": "Training error", "spectrum": "Spectrum"}
EMPTY = {"data": [], "layout": {"paper_bgcolor": "rgba(0,0,0,0)", "plot_bgcolor": "rgba(0,0,0,0)"}}
PARTS = [Output(f"one-step-{one}", "children", allow_duplicate=True) for one in (
    "spectrum--words", "spectrum--numbers", "errors--words", "errors--numbers", "status", "progress", "snippet", "downloads",
)]  # fmt: skip
PICTURES = [
    Output("one-step-spectrum", "figure", allow_duplicate=True),
    Output("one-step-errors", "figure", allow_duplicate=True),
    *PARTS,
]


def page(s: state.OneStep, refused: list[str]) -> list[Any]:
    """The view as the state has it."""
    one = lambda name, **words: controls.control(VIEW, s, name, **words)  # noqa: E731
    panel = html.Section(
        [
            one("target", hint="a function of x1; Enter takes it"),
            html.Div(id="one-step-mistake", role="alert"),
            one("activation"),
            *[one(name) for name in ("alpha", "n_over_d", "p_over_n", "penalty", "noise", "d", "seeds")],
            polling.actions(VIEW, "Simulate"),
        ],
        className="panel",
        **{"aria-label": "The experiment"},  # type: ignore[arg-type]
    )
    figures = html.Div(
        [
            controls.figure("one-step-spectrum", "Singular values of the features, F/√n", OF_SPECTRUM),
            controls.figure("one-step-errors", "Errors against the exponent of the step size", OF_ERRORS),
            html.P(id="one-step-status", className="note"),
        ],
        className="figures",
    )
    return [
        controls.head("One step", LEAD, refused),
        html.Div([panel, figures], className="bench"),
        controls.take_away(VIEW, PAPERS),
        dcc.Store(id="one-step-asked"),
        dcc.Store(id="one-step-seen"),
        *polling.store(VIEW, 400),
    ]


def register(app: Dash, lab: Laboratory) -> OneStepNumbers:
    """The view's callbacks: the line at once, the rest after it, and what simulations add."""
    numbers = OneStepNumbers(lab)

    @app.callback(
        Output("one-step-errors", "figure"),
        Output("one-step-mistake", "children"),
        *controls.values(VIEW),
        Output("one-step-asked", "data"),
        Output("query", "data", allow_duplicate=True),
        *controls.inputs(VIEW),
        State("page", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def line(*given: Any) -> Any:
        """The line of the theory at a few step sizes."""
        *raw, token = given
        s, refused = state.read(state.OneStep, controls.named(VIEW, raw))
        figure, problem = no_update, ""
        try:
            numbers.leave(s, controls.token(token))
            figure = error_chart(s, numbers.line(s, controls.token(token)))
        except InputError as wrong:
            problem = str(wrong)
        except Replaced:
            raise PreventUpdate from None
        asked = no_update if figure is no_update else state.write(s)
        words = controls.shown_values(s, _values(s))
        return (
            figure,
            controls.told(refused, problem),
            *words,
            asked,
            f"/{VIEW}?{state.write(s)}",
        )

    @app.callback(
        *PICTURES,
        Output("one-step-run", "data", allow_duplicate=True),
        Input("one-step-asked", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def rest(asked: Any, token: Any) -> Any:
        """The line at all step sizes, the spectrum, and what is kept of simulations; one that still runs is waited for."""
        s, _ = state.read_query(state.OneStep, asked)
        try:
            found, busy = numbers.found(s, controls.token(token)), numbers.busy(s)
            return *_pictures(s, found, busy), polling.new() if busy else no_update
        except InputError as problem:
            return EMPTY, no_update, "", "", "", "", str(problem), "", "", [], no_update
        except Replaced:
            raise PreventUpdate from None

    @app.callback(
        Output("one-step-run", "data"),
        Output("one-step-progress", "children"),
        Input("one-step-start", "n_clicks"),
        Input("one-step-stop", "n_clicks"),
        State("page", "data"),
        *controls.states(VIEW),
        prevent_initial_call=True,
    )
    def simulate(start: Any, stop: Any, token: Any, *raw: Any) -> Any:
        """Start with what the controls say now, or stop."""
        if not (start or stop):
            raise PreventUpdate
        s, _ = state.read(state.OneStep, controls.named(VIEW, raw))
        if ctx.triggered_id == "one-step-stop":
            numbers.stop()
            return no_update, "Stopped."
        try:
            numbers.start(s, controls.token(token))
        except InputError as problem:
            return no_update, str(problem)
        return polling.new(), "Starting …"

    @app.callback(
        *PICTURES,
        Output("one-step-seen", "data"),
        Output("one-step-done", "data"),
        Input("one-step-poll", "n_intervals"),
        State("one-step-seen", "data"),
        State("one-step-run", "data"),
        State("page", "data"),
        *controls.states(VIEW),
        prevent_initial_call=True,
    )
    def arrived(count: Any, seen: Any, awaited: Any, token: Any, *raw: Any) -> Any:
        """What has arrived since it was last seen."""
        s, _ = state.read(state.OneStep, controls.named(VIEW, raw))
        busy, now = numbers.busy(s), f"{state.write(s)} {numbers.count(s)}"
        if busy and seen == now:
            raise PreventUpdate from None
        try:
            return *_pictures(s, numbers.found(s, controls.token(token)), busy), now, no_update if busy else awaited
        except InputError:  # the controls say something that is refused: there is nothing to wait for
            return *([no_update] * (len(PICTURES) + 1)), awaited
        except Replaced:
            raise PreventUpdate from None

    polling.register(app, VIEW)
    return numbers


def _values(s: state.OneStep) -> dict[str, str]:
    """The values of the sliders as the paper would write them."""
    n, p = settings.sizes(s)
    return {
        "alpha": f"η = n^{s.alpha:.2f} = {n**s.alpha:.3g}",
        "n_over_d": f"n/d = {s.n_over_d:g}, n = {n}",
        "p_over_n": f"p/n = {s.p_over_n:g}, p = {p}",
        "penalty": f"λ = {10**s.penalty:.3g}",
        "noise": f"σ = {s.noise:g}",
        "d": f"d = {s.d}",
    }


def _pictures(s: state.OneStep, found: Found, busy: bool) -> tuple[Any, ...]:
    """Both figures with their words and numbers, and what can be taken away."""
    return (
        law_chart(s, found),
        error_chart(s, found),
        law_words(found),
        law_rows(found),
        error_words(s, found),
        error_rows(found),
        f"Theory, over all step sizes shown: {found.theory.status}.",
        _progress(s, found, busy),
        _snippet(s, found),
        controls.downloads(VIEW, state.write(s), FIGURES),
    )


def _progress(s: state.OneStep, found: Found, busy: bool) -> str:
    if found.refused:
        return found.refused
    done = f"{found.seeds} of {s.seeds} seeds"
    return f"{done} …" if busy else "" if not found.seeds else f"{done}."


def _snippet(s: state.OneStep, found: Found) -> str:
    """The Python that draws what the page shows: with the simulations that are complete."""
    there = {"errors": found.seeds >= s.seeds, "spectrum": found.values is not None}
    return settings.one_step_code(s, settings.one_step_figures(s, **there))
