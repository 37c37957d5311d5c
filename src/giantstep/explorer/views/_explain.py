"""Explain: type a target, and see which directions giant steps find, which terms are fitted, and which error remains."""

from typing import Any

from dash import Dash, Output, html

from giantstep.explorer import _controls as controls
from giantstep.explorer import _state as state
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.views._view import View

SYNTAX = "x1, x2, …, H2(x1), tanh(x1 + x2), 3, sqrt(2), with + − * ^ and / by a number"
MARK = {"fitted": "✓", "partial": "◐", "lost": "✗"}
MOST_TERMS = 40
FLOORS = {
    "network": "with this batch and width",
    "narrow": "with a width of order one",
    "random_features": "without a step",
}


def power(exponent: float) -> str:
    """A power of d as ``gs.explain`` reads it."""
    return {0.0: "1", 1.0: "d"}.get(exponent, f"d^{exponent:g}")


def _values(s: state.Explain) -> dict[str, str]:
    steps = str(s.steps or "until no more is found")
    return {"batch": f"n = {power(s.batch)}", "width": f"p = {power(s.width)}", "steps": steps}


VIEW = View(
    name="explain",
    title="Explain a target",
    lead="Which directions of a target can a network find in one giant step, in two, or in any number? "
    "Which terms can its readout then fit, and what error remains?",
    papers=("dandi", "abbe", "damian", "dandi_reuse", "giantstep"),
    figures={"staircase": "Staircase"},
    values=_values,
)


def options(s: state.Explain) -> dict[str, Any]:
    """The arguments of ``gs.explain`` after the target."""
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
    call = f"x = gs.explain({s.target!r}{words})\nprint(x)\n"
    return f'import giantstep as gs\n\n{call}gs.plot(x).savefig("staircase.svg")\n'


def explain(s: state.Explain) -> Any:
    """``gs.explain`` of a state; it runs in a worker process."""
    import giantstep as gs

    return gs.explain(s.target, **options(s))


def page(s: state.Explain, refused: list[str]) -> list[Any]:
    """The view of a state."""
    one = lambda name, **words: VIEW.control(s, name, **words)  # noqa: E731
    panel = [
        one("target", live=True, hint=SYNTAX),
        one("batch", hint="samples per step, as a power of d"),
        one("width", hint="neurons, as a power of d"),
        *("steps", "batches", "activation"),
    ]
    empty = html.P("Computing …", className="note")
    answer = html.Div(empty, id="explain-answer", className="answer", **{"aria-live": "polite"})  # type: ignore[arg-type]
    return VIEW.page(s, refused, panel, [answer])


def register(app: Dash, backend: Backend) -> None:
    """Register the view's callback."""

    def answer(s: state.Explain, page: str) -> tuple[Any, ...]:
        now, first = render(backend.explanations.ask(page, explain, s)), state.other(s)
        if first is not None:
            before = render(backend.explanations.ask(f"{page} A", explain, first))
            sides = {f"A: {first.target}": before, f"Now: {s.target}": now}
            now = [html.Div([html.Div([html.H2(name), *part]) for name, part in sides.items()], className="sides")]
        return now, snippet(s), VIEW.downloads(s)

    outputs = [Output(f"explain-{part}", "children") for part in ("answer", "snippet", "downloads")]
    VIEW.register(app, outputs, answer, lambda s: ([], snippet(s), []))


def render(x: Any) -> list[Any]:
    """The explanation as components of the page."""
    exponents = {
        "information exponent": x.information_exponent,
        "leap": x.leap,
        "generative exponent": x.generative_exponent,
    }
    return [
        html.Dl(
            [
                html.Div([html.Dt(controls.term(name, name)), html.Dd("none" if value is None else str(value))])
                for name, value in exponents.items()
            ],
            className="exponents",
        ),
        html.H2(["The ", controls.term("staircase", "staircase")]),
        _staircase(x),
        html.Div([html.P(controls.formulas(sentence)) for sentence in x.sentences if sentence], className="reasons"),
        html.H2(["What is fitted: ", controls.term("mass", "mass"), " and ", controls.term("fate", "fate"), " of a term"]),
        _terms(x),
        html.H2(["The ", controls.term("remaining error", "remaining error")]),
        _floors(x),
        *[html.P(["Note: ", *controls.formulas(note)], className="note") for note in x.warnings],
    ]  # fmt: skip


def _climbs(x: Any) -> list[tuple[str, Any]]:
    return [(name if climb is x else f"with {name}", climb) for name, climb in x.climbs]


def _staircase(x: Any) -> html.Div:
    """One stair for each step of the network, with its new directions."""
    from giantstep.explain.words import combination

    staircases = []
    for name, climb in _climbs(x):
        steps, before = [], 0
        for t, basis in enumerate(climb.staircase):
            new = [combination(v) for v in basis[before:]]
            before = len(basis)
            words = ", ".join(new) or ("nothing yet" if t == 0 else "nothing new")
            label = [html.B(["U", html.Sub(str(t))]), html.Span(f"+ {words}" if new and t > 1 else words)]
            steps.append(html.Li(label, style={"--height": str(t)}))
        staircases.append(html.Div([html.H3(name), html.Ol(steps, className="stairs")]))
    return html.Div(staircases, className="staircases")


def _terms(x: Any) -> html.Div:
    climbs = _climbs(x)
    mass = lambda i: x.terms[i]["mass"]  # noqa: E731
    order = x.largest(MOST_TERMS)
    most = max((mass(i) for i in order), default=1.0) or 1.0
    rows = [
        html.Tr(
            [
                html.Th(html.Code(x.terms[i]["term"]), scope="row"),
                html.Td(
                    [*controls.formulas(f"{mass(i):.4g}"), html.I(style={"--share": f"{mass(i) / most:.3f}"})],
                    className="mass",
                ),
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
    rows = [[words, *(f"{climb.floor[name]:.4g}" for _, climb in climbs)] for name, words in FLOORS.items()]
    header = ["least mean square error without label noise", *(name for name, _ in climbs)]
    return html.Div(controls.numbers(header, rows), className="scroll")
