"""One step: the spectrum of the features and the errors against the step size; theory at once, simulations as they arrive."""

from dataclasses import replace
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.errors import InputError
from giantstep.explorer import _controls as controls
from giantstep.explorer import _polling as polling
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._chart import waiting
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.views._view import View, attempt
from giantstep.explorer.views.one_step._charts import error_chart, error_marks, error_rows
from giantstep.explorer.views.one_step._elsewhere import elsewhere
from giantstep.explorer.views.one_step._numbers import OneStepAnswer, OneStepNumbers
from giantstep.explorer.views.one_step._spectrum import law_chart, law_marks, law_rows
from giantstep.explorer.views.one_step._spectrum_words import law_words
from giantstep.explorer.views.one_step._words import error_words


def _values(s: state.OneStep) -> dict[str, str]:
    """The values of the sliders as the paper would write them."""
    n, p = settings.sizes(s)
    return {
        "alpha": f"η = n^{s.alpha:.2f} = {n**s.alpha:.3g}",
        "n_over_d": f"n/d = {s.n_over_d:.3g}, n = {n}",
        "p_over_n": f"p/n = {s.p_over_n:g}, p = {p}",
        "penalty": f"λ = {10**s.penalty:.3g}",
        "noise": f"σ = {s.noise:g}",
        "d": f"d = {s.d}",
    }


VIEW = View(
    name="one-step",
    title="One step",
    lead="The first layer takes one giant gradient step of size η = n^α, and ridge regression then fits the second layer. "
    "Press Play: as α grows, spikes leave the bulk of the features one by one, and the error falls.",
    papers=("moniri", "ba", "cui", "dandi", "mei_montanari", "giantstep"),
    figures={"test": "Test error", "train": "Training error", "spectrum": "Spectrum"},
    values=_values,
    further=elsewhere,
)
SAID = (  # about the pictures
    *("spectrum--marks", "spectrum--words", "spectrum--numbers"),
    *("errors--marks", "errors--words", "errors--numbers"),
    "status",
)
TEXTS = (*SAID, "progress", "snippet", "downloads")
OUTPUTS = [*VIEW.outputs(("spectrum", "errors"), "figure"), *VIEW.outputs(TEXTS)]
NOTHING = "There is no picture for this setting."
TICK = 700  # milliseconds between two pictures of Play


def page(s: state.OneStep, refused: list[str]) -> list[Any]:
    """The view of a state."""
    target = VIEW.control(s, "target", hint="a function of x1; press Enter to apply it")
    fields = ("alpha", "n_over_d", "p_over_n", "penalty", "noise", "d", "activation", "seeds")
    shown = {
        "Errors": controls.figure("one-step-errors", "Errors against the exponent of the step size"),
        "Spectrum": controls.figure("one-step-spectrum", "Singular values of the features, F/√n"),
    }
    notes = [
        *map(controls.notes, ("one-step-errors", "one-step-spectrum")),
        html.Div(id="one-step-status", className="note"),
    ]
    answer = controls.figures(VIEW.name, shown), html.Div(notes, className="notes")
    panel = [target, polling.play(VIEW.name), *fields, polling.actions(VIEW.name, "Simulate")]
    return [
        *VIEW.page(s, refused, panel, answer),
        dcc.Store(id="one-step-asked"),
        dcc.Store(id="one-step-seen"),
        *polling.store(VIEW.name, 400),
        polling.clock(VIEW.name, TICK),
    ]


def register(app: Dash, backend: Backend) -> OneStepNumbers:
    """Register the view's callbacks: the line at once, the rest after it, and the simulations as they arrive."""
    numbers = OneStepNumbers(backend)

    def answer(s: state.OneStep, page: str) -> tuple[Any, ...]:
        """All pictures and words together, if they are there; otherwise the line of the theory, and the request for the rest."""
        numbers.newest.ask(page, s)
        numbers.drop_other_jobs(s, page)
        if numbers.complete(s) and not numbers.busy(s):
            return no_update, *_pictures(s, numbers.known(s, page), False)
        return state.write(s), no_update, error_chart(s, numbers.line(s, page)), *[no_update] * len(TEXTS)

    def otherwise(s: state.OneStep) -> tuple[Any, ...]:
        kept = [no_update] * (len(TEXTS) - len(SAID))
        return no_update, waiting(NOTHING), waiting(NOTHING), *[""] * len(SAID), *kept

    VIEW.register(app, [Output("one-step-asked", "data"), *OUTPUTS], answer, otherwise)
    polling.register(app, VIEW.name)

    @app.callback(
        *OUTPUTS,
        Output("one-step-run", "data", allow_duplicate=True),
        Input("one-step-asked", "data"),
        State("page", "data"),
        prevent_initial_call=True,
    )
    def complete(asked: Any, token: Any) -> Any:
        """Show the line at all step sizes, the spectrum and the stored simulations; wait for a simulation that still runs."""
        s, _ = state.read_query(state.OneStep, asked)

        def show() -> tuple[Any, ...]:
            before = numbers.count(s)
            known, busy = numbers.known(s, controls.token(token)), numbers.busy(s)
            pictures = _pictures(s, known, busy)
            more = busy or numbers.count(s) > before  # an update that shows more may have been quicker
            return *pictures, polling.new() if more else no_update

        empty = waiting(NOTHING), no_update, *[""] * 6
        return attempt(show, lambda problem: (*empty, problem, "", "", [], no_update))

    @app.callback(
        Output("one-step-run", "data"),
        Output("one-step-progress", "children"),
        Input("one-step-start", "n_clicks"),
        Input("one-step-stop", "n_clicks"),
        State("page", "data"),
        *controls.inputs(VIEW.name, State),
        prevent_initial_call=True,
    )
    def simulate(start: Any, stop: Any, token: Any, *raw: Any) -> Any:
        """Start a simulation of the current state, or stop it."""
        if not (start or stop):
            raise PreventUpdate
        s, _ = VIEW.read(raw)
        if ctx.triggered_id == "one-step-stop":
            numbers.stop()
            return no_update, "Stopped."
        try:
            numbers.start(s, controls.token(token))
        except InputError as problem:
            return no_update, str(problem)
        return polling.new(), "Starting …"

    @app.callback(
        *OUTPUTS,
        Output("one-step-seen", "data"),
        Output("one-step-done", "data"),
        Input("one-step-poll", "n_intervals"),
        State("one-step-seen", "data"),
        State("one-step-run", "data"),
        State("page", "data"),
        *controls.inputs(VIEW.name, State),
        prevent_initial_call=True,
    )
    def update(count: Any, before: Any, run: Any, token: Any, *raw: Any) -> Any:
        """Show the simulations that have arrived since the last update."""
        s, _ = VIEW.read(raw)
        busy, now = numbers.busy(s), f"{state.write(s)} {numbers.count(s)}"
        if busy and before == now:
            raise PreventUpdate from None

        def show() -> tuple[Any, ...]:
            known = numbers.known(s, controls.token(token))
            return *_pictures(s, known, busy), now, no_update if busy else run

        # after a refusal nothing is awaited
        return attempt(show, lambda problem: (*[no_update] * (len(OUTPUTS) + 1), run))

    @app.callback(
        Output("one-step-alpha", "value"),
        Output("one-step-clock", "disabled"),
        Output("one-step-play", "children"),
        Input("one-step-play", "n_clicks"),
        Input("one-step-clock", "n_intervals"),
        State("one-step-clock", "disabled"),
        State("page", "data"),
        *controls.inputs(VIEW.name, State),
        prevent_initial_call=True,
    )
    def play(start: Any, tick: Any, stands: Any, token: Any, *raw: Any) -> Any:
        """Go through the step sizes from the smallest, one per tick; a second press pauses.

        The numbers of a picture are computed before the slider moves, so that picture, words and slider change together.
        """
        s, _ = VIEW.read(raw)
        pressed = ctx.triggered_id == "one-step-play"
        following = settings.ALPHAS[:1] if pressed else [alpha for alpha in settings.ALPHAS if alpha > s.alpha]
        if (pressed and not (start and stands)) or (not pressed and stands) or not following:
            return no_update, True, "Play"
        if not numbers.prepare(replace(s, alpha=following[0]), controls.token(token)):
            raise PreventUpdate
        # a tick must not undo a pause that came meanwhile
        begins = (False, "Pause") if pressed else (no_update, no_update)
        return state.as_text(following[0]), *begins

    return numbers


def _pictures(s: state.OneStep, known: OneStepAnswer, busy: bool) -> tuple[Any, ...]:
    """Both figures with their words and numbers, the status, the progress, the Python and the downloads."""
    return (
        law_chart(known),
        error_chart(s, known),
        controls.legend(law_marks(known)),
        law_words(s, known),
        law_rows(known),
        controls.legend(error_marks(known)),
        error_words(s, known),
        error_rows(known),
        _told(known.theory.status),
        _progress(s, known, busy),
        settings.one_step_code(s, errors=known.seeds >= s.seeds, spectrum=bool(known.spectra)),
        VIEW.downloads(s),
    )


def _told(status: Any) -> list[Any]:
    """What theory says of itself, as it stands, folded."""
    if not status.notes:
        return []
    notes = html.Ul([html.Li(controls.formulas(note)) for note in status.notes])
    doubt = [] if status.ok else [html.P("Theory does not vouch for this prediction.")]
    return [*doubt, html.Details([html.Summary("What theory says of itself"), notes])]


def _progress(s: state.OneStep, known: OneStepAnswer, busy: bool) -> str:
    if known.refused:
        return known.refused
    done = f"{known.seeds} of {s.seeds} seeds"
    return f"{done} …" if busy else "" if not known.seeds else f"{done}."
