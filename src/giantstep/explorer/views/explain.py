"""Explain: type a target, and see which directions giant steps find, which terms are fitted, and the error that stays."""

from typing import Any

from dash import Dash, Output, State, dcc, html
from dash.exceptions import PreventUpdate

from giantstep.errors import InputError
from giantstep.explorer import controls, state
from giantstep.explorer.processes.laboratory import Laboratory
from giantstep.explorer.processes.queue import Replaced

__all__ = ["explained", "page", "register", "snippet"]

VIEW = "explain"
LEAD = (
    "Which directions of a target can a network find in one giant step, in two, in any number? "
    "Which terms can its readout then fit, and what error stays?"
)
PAPERS = ("dandi", "abbe", "damian", "dandi_reuse", "giantstep")
EXAMPLES = ("x1 + H2(x1)*x2", "x1 + x1*x2 + x1*x2*x3", "H3(x1)", "x1 + H3(x2)", "tanh(x1) + x2*x3")
WRITTEN = "x1, x2, …, H2(x1), tanh(x1 + x2), 3, sqrt(2), with + − * ^ and / by a number"
MARK = {"fitted": "✓", "partial": "◐", "lost": "✗"}
MOST_TERMS = 40
FIGURES = {"staircase": "Staircase"}
FLOORS = {"network": "this batch and width", "narrow": "width of order one", "random_features": "no step"}


def power(exponent: float) -> str:
    """A power of d as ``gs.explain`` reads it."""
    return {0.0: "1", 1.0: "d"}.get(exponent, f"d^{exponent:g}")


def options(s: state.Explain) -> dict[str, Any]:
    """The arguments of ``gs.explain`` beside the target."""
    given: dict[str, Any] = {"batch": power(s.batch), "width": power(s.width)}
    if s.steps:
        given["steps"] = s.steps
    if s.batches == "reuse":
        given["reuse"] = True
    elif s.activation != "any":
        given["activation"] = s.activation
    return given


def snippet(s: state.Explain) -> str:
    """The Python behind the page."""
    words = "".join(f", {name}={value!r}" for name, value in options(s).items())
    made = f"x = gs.explain({s.target!r}{words})\nprint(x)\n"
    return f'import giantstep as gs\n\n{made}gs.plot(x).savefig("staircase.svg")\n'


def explained(s: state.Explain) -> Any:
    """``gs.explain`` of a state; run in a process of its own."""
    import giantstep as gs

    return gs.explain(s.target, **options(s))


def page(s: state.Explain, refused: list[str]) -> list[Any]:
    """The view as the state has it."""
    examples = [dcc.Link(e, href=f"/explain?{state.write(state.Explain(target=e))}") for e in EXAMPLES]
    return [
        controls.head("Explain a target", LEAD, refused),
        html.Div(
            [
                html.Section(
                    [
                        controls.control(VIEW, s, "target", live=True, hint=WRITTEN),
                        html.Div(id="explain-mistake", role="alert"),
                        html.P(["For example ", *[part for e in examples for part in (e, " ")]], className="examples"),
                        controls.control(VIEW, s, "batch", hint="samples of a step, as a power of d"),
                        controls.control(VIEW, s, "width", hint="neurons, as a power of d"),
                        controls.control(VIEW, s, "steps"),
                        controls.control(VIEW, s, "batches"),
                        controls.control(VIEW, s, "activation"),
                    ],
                    className="panel",
                    **{"aria-label": "The target and the network"},  # type: ignore[arg-type]
                ),
                html.Div(id="explain-answer", className="answer", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            ],
            className="bench",
        ),
        controls.take_away(VIEW, PAPERS),
    ]  # fmt: skip


def register(app: Dash, lab: Laboratory) -> None:
    """The view's callback."""

    @app.callback(
        Output("explain-answer", "children"),
        Output("explain-mistake", "children"),
        *controls.values(VIEW),
        Output("explain-snippet", "children"),
        Output("explain-downloads", "children"),
        Output("query", "data", allow_duplicate=True),
        *controls.inputs(VIEW),
        State("page", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def answer(*given: Any) -> Any:
        *raw, token = given
        s, refused = state.read(state.Explain, controls.named(VIEW, raw))
        try:
            found, problem = lab.words.ask(controls.token(token), explained, s), ""
        except InputError as wrong:
            found, problem = None, str(wrong)
        except Replaced:
            raise PreventUpdate from None
        words = {
            "batch": f"n = {power(s.batch)}",
            "width": f"p = {power(s.width)}",
            "steps": str(s.steps or "until it stops"),
        }
        return (
            [] if found is None else answered(found),
            controls.told(refused, problem),
            *controls.shown_values(s, words),
            snippet(s),
            [] if found is None else controls.downloads(VIEW, state.write(s), FIGURES),
            f"/explain?{state.write(s)}",
        )


def answered(x: Any) -> list[Any]:
    """The explanation as the page shows it."""
    exponents = {
        "information exponent": x.information_exponent,
        "leap": x.leap,
        "generative exponent": x.generative_exponent,
    }
    return [
        html.Dl(
            [html.Div([html.Dt(name), html.Dd("none" if value is None else str(value))]) for name, value in exponents.items()],
            className="exponents",
        ),
        html.H2("The staircase"),
        _staircase(x),
        html.Div([html.P(sentence) for sentence in _reasons(x)], className="reasons"),
        html.H2("What is fitted"),
        _terms(x),
        html.H2("The error that stays"),
        _floors(x),
        *[html.P(["Note: ", note], className="note") for note in x.warnings],
    ]  # fmt: skip


def _climbs(x: Any) -> list[tuple[str, Any]]:
    return [(name if climb is x else f"with {name}", climb) for name, climb in x.climbs]


def _reasons(x: Any) -> list[str]:
    return [*x.reasons, *([] if x.realised is None else x.realised.reasons)]


def _staircase(x: Any) -> html.Div:
    """A step of the stairs a step of the network, with the directions that are new on it."""
    from giantstep.explain.words import combination

    found = []
    for name, climb in _climbs(x):
        steps, before = [], 0
        for t, basis in enumerate(climb.staircase):
            new = [combination(v) for v in basis[before:]]
            before = len(basis)
            words = ", ".join(new) or ("nothing yet" if t == 0 else "nothing new")
            label = [html.B(["U", html.Sub(str(t))]), html.Span(f"+ {words}" if new and t > 1 else words)]
            steps.append(html.Li(label, style={"--height": str(t)}))
        found.append(html.Div([html.H3(name), html.Ol(steps, className="stairs")]))
    return html.Div(found, className="staircases")


def _terms(x: Any) -> html.Div:
    climbs = _climbs(x)
    mass = lambda i: x.terms[i]["mass"]  # noqa: E731
    order = x.largest(MOST_TERMS)
    most = max((mass(i) for i in order), default=1.0) or 1.0
    rows = [
        html.Tr(
            [
                html.Th(html.Code(x.terms[i]["term"]), scope="row"),
                html.Td([f"{mass(i):.5g}", html.I(style={"width": f"{60 * mass(i) / most:.1f}%"})], className="mass"),
                *[html.Td(_fate(climb.terms[i])) for _, climb in climbs],
            ]
        )
        for i in order
    ]  # fmt: skip
    names = ["fate"] if len(climbs) == 1 else [f"fate, {name}" for name, _ in climbs]
    top = html.Thead(html.Tr([html.Th(name, scope="col") for name in ("term", "mass", *names)]))
    hidden = len(x.terms) - len(order)
    more = [html.P(f"… and {hidden} terms of smaller mass.")] if hidden else []
    return html.Div([html.Table([top, html.Tbody(rows)], className="numbers terms"), *more], className="scroll")


def _fate(term: dict[str, Any]) -> html.Span:
    fate, share = term["fate"], term["share"]
    text = f"partial, {100 * share:.3g} %" if fate == "partial" and share is not None else str(fate)
    return html.Span([html.B(MARK[fate], **{"aria-hidden": "true"}), f" {text}"], className=f"fate {fate}")  # type: ignore[arg-type]


def _floors(x: Any) -> html.Div:
    climbs = _climbs(x)
    rows = [[words, *(f"{climb.floor[name]:.5g}" for _, climb in climbs)] for name, words in FLOORS.items()]
    header = ["least mean square error, label noise apart", *(name for name, _ in climbs)]
    return html.Div(controls.numbers(header, rows), className="scroll")
