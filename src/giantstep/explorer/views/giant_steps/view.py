"""Giant steps: the neurons of a narrow network in the plane of the target, step by step, in any dimension."""

from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.errors import InputError
from giantstep.explorer import controls, polling, settings, state
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.views.giant_steps.charts import (
    plane_chart,
    plane_rows,
    plane_words,
    share_chart,
    share_rows,
    share_words,
)
from giantstep.explorer.views.giant_steps.numbers import GiantStepsNumbers, KnownPaths

__all__ = ["page", "register"]

VIEW = "giant-steps"
LEAD = (
    "A narrow network takes a few giant steps in a space of up to a billion dimensions. Only its overlaps with the target and "
    "with itself matter, and they are drawn exactly. Move the batch exponent across the transition."
)
PAPERS = ("dandi", "dandi_reuse", "saad_solla", "giantstep")
OF_PLANE = {"disc first": "neuron with a > 0", "disc second": "neuron with a < 0", "line faint": "the way it came"}
OF_SHARES = {
    "disc first": "w1", "disc second": "w2", "disc third": "w3", "disc fourth": "w4", "dots": "simulation", "line ink": "theory",
}  # fmt: skip
FIGURES = {"neurons": "Neurons", "shares": "Shares"}
OUTPUTS = [
    *(Output(f"giant-steps-{one}", "figure", allow_duplicate=True) for one in ("plane", "shares")),
    *(
        Output(f"giant-steps-{one}", "children", allow_duplicate=True)
        for one in (
            "plane--words",
            "plane--numbers",
            "shares--words",
            "shares--numbers",
            "progress",
            "snippet",
            "downloads",
        )
    ),
]


def page(s: state.GiantSteps, refused: list[str]) -> list[Any]:
    """The view as the state has it."""
    one = lambda name, **words: controls.control(VIEW, s, name, **words)  # noqa: E731
    panel = html.Section(
        [
            one("target", hint="a function of up to four directions; Enter takes it"),
            html.Div(id="giant-steps-mistake", role="alert"),
            one("activation"),
            *[one(name) for name in ("kappa", "d", "eta", "steps", "shown")],
            one("batches"),
            *[one(name) for name in ("width", "seed")],
            polling.actions(VIEW, "Play", "play"),
        ],
        className="panel",
        **{"aria-label": "The experiment"},  # type: ignore[arg-type]
    )
    figures = html.Div(
        [
            controls.figure("giant-steps-plane", "Neurons in the target's plane", OF_PLANE, "square"),
            controls.figure("giant-steps-shares", "Share of a neuron along each direction", OF_SHARES),
        ],
        className="figures",
    )
    return [
        controls.head("Giant steps", LEAD, refused),
        html.Div([panel, figures], className="bench"),
        controls.take_away(VIEW, PAPERS),
        *polling.store(VIEW, 300),
        dcc.Interval(id="giant-steps-clock", interval=900, disabled=True),
    ]


def register(app: Dash, lab: Laboratory) -> GiantStepsNumbers:
    """The view's callbacks: theory and what is kept at once, the simulation when it arrives, and Play."""
    numbers = GiantStepsNumbers(lab)

    @app.callback(
        *OUTPUTS,
        Output("giant-steps-mistake", "children"),
        *controls.values(VIEW),
        Output("giant-steps-run", "data"),
        Output("query", "data", allow_duplicate=True),
        *controls.inputs(VIEW),
        State("page", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def answer(*given: Any) -> Any:
        *raw, token = given
        s, refused = state.read(state.GiantSteps, controls.named(VIEW, raw))
        shown, awaited, problem = (no_update,) * len(OUTPUTS), no_update, ""
        try:
            numbers.start(s, controls.token(token))
            seen = numbers.seen(s, controls.token(token))
            shown, awaited = _pictures(s, seen), polling.new() if seen.busy else no_update
        except InputError as wrong:
            problem = str(wrong)
        except Replaced:
            raise PreventUpdate from None
        words = controls.shown_values(s, _values(s))
        return (
            *shown,
            controls.told(refused, problem),
            *words,
            awaited,
            f"/{VIEW}?{state.write(s)}",
        )

    @app.callback(
        *OUTPUTS,
        Output("giant-steps-done", "data"),
        Input("giant-steps-poll", "n_intervals"),
        Input("giant-steps-stop", "n_clicks"),
        State("giant-steps-run", "data"),
        State("page", "data"),
        *controls.states(VIEW),
        prevent_initial_call=True,
    )
    def arrived(count: Any, stop: Any, awaited: Any, token: Any, *raw: Any) -> Any:
        """What has arrived, or that it was stopped."""
        s, _ = state.read(state.GiantSteps, controls.named(VIEW, raw))
        if ctx.triggered_id == "giant-steps-stop" and stop:
            numbers.stop()
        elif numbers.busy(s) or not count:
            raise PreventUpdate from None
        try:
            seen = numbers.seen(s, controls.token(token))
            return *_pictures(s, seen), no_update if seen.busy else awaited
        except InputError:  # the controls say something that is refused: there is nothing to wait for
            return *([no_update] * len(OUTPUTS)), awaited
        except Replaced:
            raise PreventUpdate from None

    polling.register(app, VIEW)

    @app.callback(
        Output("giant-steps-shown", "value"),
        Output("giant-steps-clock", "disabled"),
        Input("giant-steps-play", "n_clicks"),
        Input("giant-steps-clock", "n_intervals"),
        State("giant-steps-shown", "value"),
        State("giant-steps-steps", "value"),
        prevent_initial_call=True,
    )
    def play(start: Any, tick: Any, shown: Any, steps: Any) -> Any:
        """From the first step to the last, a step a tick."""
        s, _ = state.read(state.GiantSteps, {"shown": shown, "steps": steps})
        if ctx.triggered_id == "giant-steps-play":
            return ("0", False) if start else (no_update, no_update)
        following = min(s.shown + 1, s.steps)
        return str(following), following >= s.steps

    return numbers


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
    return (
        f"{number:,}".replace(",", "\u202f")
        if number < 10**7
        else f"{number:.2g}".replace("e+0", "·10^").replace("e+", "·10^")
    )


def _pictures(s: state.GiantSteps, seen: KnownPaths) -> tuple[Any, ...]:
    then = settings.giant_steps_figures(s, [one.route for one in (seen.chain, seen.theory) if one is not None])
    return (
        plane_chart(s, seen),
        share_chart(s, seen),
        plane_words(s, seen),
        plane_rows(s, seen),
        share_words(s, seen),
        share_rows(s, seen),
        seen.said,
        settings.giant_steps_code(s, then),
        controls.downloads(VIEW, state.write(s), FIGURES),
    )
