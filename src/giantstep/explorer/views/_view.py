"""View: what the views of an experiment share: the page, the answer to its controls, and the refusals."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from dash import Dash, Output, State, html, no_update
from dash.exceptions import PreventUpdate

from giantstep.errors import InputError
from giantstep.explorer import _controls as controls
from giantstep.explorer import _state as state
from giantstep.explorer import _take_away as take_away
from giantstep.explorer.processes._queue import Replaced
from giantstep.explorer.views import _tools as tools


def nowhere(s: Any) -> list[Any]:
    """No view takes what this one refuses."""
    return []


@dataclass(frozen=True)
class View:
    """A view of an experiment."""

    name: str  # its path in the address and the prefix of its ids
    title: str  # its heading
    lead: str  # one or two sentences about it
    papers: tuple[str, ...]  # the keys of the papers behind it
    figures: dict[str, str]  # the titles of its figures by the names of their files
    values: Callable[[Any], dict[str, str]]  # the texts beside the sliders of a state, by field
    further: Callable[[Any], list[Any]] = nowhere  # what a refusal of a state adds: links to the view that takes it

    def page(
        self, s: state.ViewState, refused: Sequence[str], panel: Sequence[Any], answer: Sequence[Any]
    ) -> list[Any]:
        """The page of a state; names of fields in the panel become their controls."""
        mistake = html.Div(id=f"{self.name}-mistake", role="alert")
        parts = [self.control(s, part) if isinstance(part, str) else part for part in panel]
        section = html.Section(
            [parts[0], mistake, *parts[1:], tools.buttons(self.name, s)],
            className="panel",
            **{"aria-label": "The experiment"},  # type: ignore[arg-type]
        )
        return [
            controls.head(self.title, self.lead, refused),
            tools.presets(self.name),
            html.Div([section, *answer], className="bench"),
            take_away.take_away(self.name, self.papers),
        ]

    def control(self, s: state.ViewState, name: str, **words: Any) -> html.Div:
        """The control of a field, with the text beside its slider."""
        return controls.control(self.name, s, name, shown=self.values(s).get(name), **words)

    def outputs(self, names: Sequence[str], prop: str = "children") -> list[Output]:
        """Parts of the page that several callbacks fill."""
        return [Output(f"{self.name}-{name}", prop, allow_duplicate=True) for name in names]

    def read(self, raw: Sequence[Any]) -> tuple[Any, list[str]]:
        """The state that the controls have, and a sentence for every value that was refused."""
        return state.read(state.VIEWS[self.name], controls.named(self.name, raw))

    def downloads(self, s: state.ViewState) -> list[html.P]:
        return take_away.downloads(self.name, state.write(state.alone(s)), self.figures)

    def register(
        self,
        app: Dash,
        outputs: Sequence[Output],
        answer: Callable[[Any, str], tuple[Any, ...]],
        otherwise: Callable[[Any], tuple[Any, ...]],
    ) -> None:
        """Fill the outputs with ``answer(state, page)`` when a control moves.

        After a refusal the last pictures stay; where there are none yet, ``otherwise`` fills the outputs.
        """
        tools.register(app, self.name)

        @app.callback(
            *outputs,
            Output(f"{self.name}-mistake", "children"),
            Output(f"{self.name}-held", "children"),
            *controls.values(self.name),
            Output("query", "data", allow_duplicate=True),
            *controls.inputs(self.name),
            State(f"{self.name}-downloads", "children"),
            State("page", "data"),
            prevent_initial_call="initial_duplicate",
        )
        def respond(*given: Any) -> Any:
            *raw, drawn, token = given
            s, refused = self.read(raw)

            def refuse(problem: str) -> tuple[Any, ...]:
                return *((no_update,) * len(outputs) if drawn else otherwise(s)), problem

            *parts, problem = attempt(lambda: (*answer(s, controls.token(token)), ""), refuse)
            texts = controls.shown_values(s, self.values(s))
            held = tools.differences(s, self.values)
            stays = [html.P("The page still shows the last setting that worked.")] if drawn else []
            problems = controls.show_problems(refused, problem, [*self.further(s), *stays] if problem else [])
            return *parts, problems, held, *texts, f"/{self.name}?{state.write(s)}"


def attempt(make: Callable[[], tuple[Any, ...]], refuse: Callable[[str], tuple[Any, ...]]) -> tuple[Any, ...]:
    """``make()``, or ``refuse(sentence)`` for bad input; a request that was replaced updates nothing."""
    try:
        return make()
    except InputError as problem:
        return refuse(str(problem))
    except Replaced:
        raise PreventUpdate from None
