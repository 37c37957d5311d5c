"""Giant steps: the neurons of a narrow network in the plane of the target, step by step, in any dimension."""

from typing import Any

from dash import Dash, Input, Output, State, ctx, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.explorer import _controls as controls
from giantstep.explorer import _polling as polling
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer._chart import waiting
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.views._view import View, attempt
from giantstep.explorer.views.giant_steps._charts import (
    plane_chart,
    plane_marks,
    plane_rows,
    plane_words,
    share_chart,
    share_marks,
    share_rows,
    share_words,
)
from giantstep.explorer.views.giant_steps._numbers import GiantStepsNumbers, KnownPaths


def _values(s: state.GiantSteps) -> dict[str, str]:
    d, n = settings.dimension(s)
    return {
        "kappa": f"n = d^{s.kappa:g} = {_large(n)}",
        "d": f"d = {_large(d)}",
        "eta": f"η = {s.eta:g} p",
        "width": f"p = {s.width}",
        "shown": str(min(s.shown, s.steps)),
    }


def _large(number: int) -> str:
    """A large number as people read it."""
    if number < 10**6:
        return f"{number:,}".replace(",", "\u202f")
    return f"{number:.2g}".replace("e+0", "·10^").replace("e+", "·10^").removeprefix("1·")


VIEW = View(
    name="giant-steps",
    title="Giant steps",
    lead="A narrow network takes a few giant steps in a space of up to a billion dimensions. Only its overlaps with the target "
    "and with itself matter, and they are drawn exactly. Press Play, then move the batch exponent across the transition.",
    papers=("dandi", "dandi_reuse", "saad_solla", "giantstep"),
    figures={"neurons": "Neurons", "shares": "Shares"},
    values=_values,
)
TEXTS = (
    *("plane--marks", "plane--words", "plane--numbers"),
    *("shares--marks", "shares--words", "shares--numbers"),
    *("progress", "snippet", "downloads"),
)
OUTPUTS = [*VIEW.outputs(("plane", "shares"), "figure"), *VIEW.outputs(TEXTS)]


def page(s: state.GiantSteps, refused: list[str]) -> list[Any]:
    """The view of a state."""
    target = VIEW.control(s, "target", hint="a function of up to four directions; press Enter to apply it")
    fields = ("kappa", "d", "eta", "steps", "shown", "batches", "activation", "width", "seed")
    shown = {
        "Neurons": controls.figure("giant-steps-plane", "Neurons in the target's plane", "square"),
        "Shares": controls.figure("giant-steps-shares", "Share of a neuron along each direction"),
    }
    notes = [*map(controls.notes, ("giant-steps-plane", "giant-steps-shares"))]
    answer = controls.figures(VIEW.name, shown), html.Div(notes, className="notes")
    return [
        *VIEW.page(s, refused, [target, polling.play(VIEW.name), *fields, polling.actions(VIEW.name)], answer),
        *polling.store(VIEW.name, 300),
        polling.clock(VIEW.name, 900),
    ]


def register(app: Dash, backend: Backend) -> GiantStepsNumbers:
    """Register the view's callbacks: theory and stored results at once, the simulation when it arrives, and Play."""
    numbers = GiantStepsNumbers(backend)

    def answer(s: state.GiantSteps, page: str) -> tuple[Any, ...]:
        numbers.newest.ask(page, s)
        numbers.start(s, page)
        paths = numbers.paths(s, page)
        return *_pictures(s, paths), polling.new() if paths.busy else no_update

    def otherwise(s: state.GiantSteps) -> tuple[Any, ...]:
        nothing = waiting("There is no picture for this setting.")
        return nothing, nothing, *[""] * 7, *[no_update] * (len(OUTPUTS) - 8)  # no legends, words, numbers and progress

    VIEW.register(app, [*OUTPUTS, Output("giant-steps-run", "data")], answer, otherwise)
    polling.register(app, VIEW.name)

    @app.callback(
        *OUTPUTS,
        Output("giant-steps-done", "data"),
        Input("giant-steps-poll", "n_intervals"),
        Input("giant-steps-stop", "n_clicks"),
        State("giant-steps-run", "data"),
        State("page", "data"),
        *controls.inputs(VIEW.name, State),
        prevent_initial_call=True,
    )
    def update(count: Any, stop: Any, run: Any, token: Any, *raw: Any) -> Any:
        """Show the simulation that has arrived, or stop it."""
        s, _ = VIEW.read(raw)
        if ctx.triggered_id == "giant-steps-stop" and stop:
            numbers.stop()
        elif numbers.busy(s) or not count:
            raise PreventUpdate from None

        def show() -> tuple[Any, ...]:
            paths = numbers.paths(s, controls.token(token))
            return *_pictures(s, paths), no_update if paths.busy else run

        return attempt(show, lambda problem: (*[no_update] * len(OUTPUTS), run))  # after a refusal nothing is awaited

    @app.callback(
        Output("giant-steps-shown", "value"),
        Output("giant-steps-clock", "disabled"),
        Output("giant-steps-play", "children"),
        Input("giant-steps-play", "n_clicks"),
        Input("giant-steps-clock", "n_intervals"),
        State("giant-steps-clock", "disabled"),
        State("giant-steps-shown", "value"),
        State("giant-steps-steps", "value"),
        prevent_initial_call=True,
    )
    def play(start: Any, tick: Any, stands: Any, shown: Any, steps: Any) -> Any:
        """Go from the first step to the last, one step per tick; a second press pauses."""
        s, _ = state.read(state.GiantSteps, {"shown": shown, "steps": steps})
        if ctx.triggered_id == "giant-steps-play":
            return ("0", False, "Pause") if start and stands else (no_update, True, "Play")
        following = min(s.shown + 1, s.steps)
        over = bool(stands) or following >= s.steps
        return no_update if stands else str(following), over, "Play" if over else "Pause"

    return numbers


def _pictures(s: state.GiantSteps, paths: KnownPaths) -> tuple[Any, ...]:
    """Both figures with their words and numbers, the progress, the Python and the downloads."""
    return (
        plane_chart(s, paths),
        share_chart(s, paths),
        controls.legend(plane_marks(paths)),
        controls.formulas(plane_words(s, paths)),
        plane_rows(s, paths),
        controls.legend(share_marks(paths)),
        controls.formulas(share_words(s, paths)),
        share_rows(s, paths),
        paths.message,
        settings.giant_steps_code(s, [one.route for one in paths.known]),
        VIEW.downloads(s),
    )
