"""Claims: the statements of the papers and the verdicts; each claim with its numbers, its command and its figure."""

import shlex
from pathlib import Path
from typing import Any

from dash import Dash, Input, Output, State, ctx, dcc, html, no_update

from giantstep.checks._standing import headline
from giantstep.checks.report._entry import MARK, MEANING, css_class
from giantstep.checks.statistics import RATES
from giantstep.citations import paper
from giantstep.citations._quoted import authors, short
from giantstep.claims import TEXTS
from giantstep.claims._full import full, seconds
from giantstep.explorer import _controls as controls
from giantstep.explorer import _polling as polling
from giantstep.explorer import _state as state
from giantstep.explorer._presets import of_view
from giantstep.explorer._take_away import bibtex as entries
from giantstep.explorer._take_away import copied
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.views.claims._numbers import ClaimNumbers, Latest
from giantstep.results.table import duration

VIEW = "claims"
NEW = "new"  # a claim without a verdict at full size
OUTPUTS = [
    Output("claims-now", "children"),
    Output("claims-progress", "children"),
    Output("claims-poll", "disabled"),
    Output("claims-stop", "disabled"),
]


def page(s: state.Claims, refused: list[str]) -> list[Any]:
    """The matrix; above it the claim that is open."""
    verdicts = {each["claim"]: each for each in full()["results"]}
    claim = next((one for one in TEXTS if one.name == s.claim), None)
    if s.claim and claim is None:
        refused = [*refused, f"There is no claim {s.claim[:60]!r}: choose one below."]
    return [
        controls.head("What the papers say, checked", _lead(verdicts), refused),
        _scenes(),
        *([] if claim is None else [_open(claim, verdicts.get(claim.name))]),
        _matrix(verdicts, s.claim),
        html.Ul([html.Li([_badge(outcome), f" {words}"]) for outcome, words in _legend(verdicts)], className="legend"),
        html.P(RATES),
        dcc.Store(id="claims-open", data="" if claim is None else claim.name),
    ]


def _lead(verdicts: dict[str, Any]) -> str:
    package, others, quoted = full(), len(TEXTS) - len(verdicts), [claim for claim in TEXTS if claim.quote]
    left = f" {others} others have no verdict at this size." if others > 0 else ""
    return (
        f"{len(quoted)} statements of {len({claim.paper for claim in quoted})} papers, "
        f"and {len(TEXTS) - len(quoted)} of our own. "
        f"At {package['size']} size, on {package['device']} "
        f"({package['date']}): {headline([each['outcome'] for each in verdicts.values()])}.{left} "
        f"You can run {len(seconds())} of them here at quick size."
    )


def _scenes() -> html.Div:
    """Links to the scenes of the story that a claim shows."""
    pills = [
        html.Li(dcc.Link(preset.label, href=f"/claims?{state.write(preset.state)}", className="preset"))
        for preset in of_view(state.Claims)
        if preset.scene is not None
    ]
    return html.Div([html.Span("Start from", className="label"), html.Ul(pills)], className="presets")


def _legend(verdicts: dict[str, Any]) -> list[tuple[str, str]]:
    """What the marks of the matrix mean."""
    missing = [(NEW, "no verdict at full size yet")] if any(claim.name not in verdicts for claim in TEXTS) else []
    return [*MEANING.items(), *missing]


def _badge(outcome: str, text: str = "") -> html.Span:
    mark = html.B(MARK.get(outcome, "·"), **{"aria-hidden": "true"})  # type: ignore[arg-type]
    return html.Span([mark, f" {text or outcome}"], className=f"badge {css_class(outcome)}")


def _matrix(verdicts: dict[str, Any], chosen: str) -> html.Table:
    """Papers as rows, their claims as marked links."""
    rows = []
    for key in authors(TEXTS):
        pills = [_pill(claim, verdicts, chosen) for claim in TEXTS if (claim.of or claim.paper) == key]
        rows.append(html.Tr([html.Th(paper(key).short, scope="row"), html.Td(html.Ul(pills))]))
    caption = html.Caption("Verdicts on the claims of every paper", className="unseen")
    head = html.Thead(html.Tr([html.Th("Paper", scope="col"), html.Th("Claims", scope="col")]), className="unseen")
    return html.Table([caption, head, html.Tbody(rows)], className="matrix")


def _pill(claim: Any, verdicts: dict[str, Any], chosen: str) -> html.Li:
    name = claim.name
    outcome = verdicts[name]["outcome"] if name in verdicts else NEW
    mark = html.B(MARK.get(outcome, "·"), **{"aria-hidden": "true"})  # type: ignore[arg-type]
    words = [mark, f" {short(name, claim.of)}", html.Span(f": {outcome}", className="unseen")]
    here = " chosen" if name == chosen else ""
    link = dcc.Link(
        words, href=f"/claims?{state.write(state.Claims(claim=name))}", className=f"badge {css_class(outcome)}{here}"
    )
    return html.Li(link)


def _open(claim: Any, verdict: dict[str, Any] | None) -> html.Article:
    """One claim with its verdict, its test and the code that runs it."""
    source, outcome = claim.cites, NEW if verdict is None else verdict["outcome"]
    command = shlex.join(["giantstep", "check", claim.name])
    return html.Article(
        [
            html.Div([html.H2(claim.name), _badge(outcome)], className="title"),
            *([html.P(controls.formulas(claim.said), className="quote")] if claim.said else []),
            *_statements(claim),
            html.P(f"{source.short}, {claim.where}", className="source"),
            _facts({"Test": claim.test, **({} if verdict is None else _of_verdict(verdict))}),
            polling.actions(VIEW, "Run now at quick size"),
            html.Div(id="claims-now", **{"aria-live": "polite"}),  # type: ignore[arg-type]
            html.Div(
                [
                    copied("Command", "claims-command", command),
                    copied("Python", "claims-snippet", snippet(claim.name)),
                    copied("BibTeX", "claims-bibtex", bibtex(claim)),
                ],
                className="texts",
            ),
            html.P(dcc.Link("Close this claim", href="/claims")),
            dcc.Interval(id="claims-poll", interval=500, disabled=True),
        ],
        className=f"claim {css_class(outcome)}",
    )


def _statements(claim: Any) -> list[html.P]:
    """The statement and its correction, if there is one."""
    if not claim.correction:
        return [html.P(controls.formulas(claim.statement), className="statement")]
    texts = {"As worded": claim.statement, "Corrected": claim.correction}
    return [
        html.P([html.Span(f"{name}.", className="which"), " ", *controls.formulas(text)], className="statement")
        for name, text in texts.items()
    ]


def _of_verdict(verdict: dict[str, Any]) -> dict[str, str]:
    loose = verdict["looseness"]
    return {
        "Verdict": MEANING[verdict["outcome"]],
        "Result": verdict["sentence"],
        "Looseness": "" if loose is None else f"The bound is {loose:.3g} times what it bounds.",
        "Comparisons": ", ".join(f"{count} {mark}" for mark, count in verdict["marks"].items() if count),
        "Power": verdict["power"],
        "Finite-size trend": verdict["trend"],
        "Sizes": f"{verdict['sizes']}; seeds {verdict['seeds']}; {duration(verdict['seconds'])}",
    }


def _facts(facts: dict[str, str]) -> html.Dl:
    return html.Dl(
        [html.Div([html.Dt(name), html.Dd(controls.formulas(text))]) for name, text in facts.items() if text],
        className="facts",
    )


def bibtex(claim: Any) -> str:
    """The BibTeX to cite with a claim's figure."""
    return entries((claim.paper, "giantstep"))


def snippet(name: str) -> str:
    """The Python that checks a claim and writes its figure."""
    return (
        "from pathlib import Path\nimport giantstep as gs\n\n"
        f"(result,) = gs.check({name!r})\nprint(result.verdict.sentence)\n"
        'Path("figure.svg").write_text(result.verdict.figure)\n'
    )


def register(app: Dash, backend: Backend, report: Path | None) -> ClaimNumbers:
    """Register the view's callbacks, and return its verdicts, whose figures are served by name."""
    numbers = ClaimNumbers(backend, report)

    @app.callback(
        *OUTPUTS,
        Input("claims-start", "n_clicks"),
        Input("claims-stop", "n_clicks"),
        Input("claims-poll", "n_intervals"),
        State("claims-open", "data"),
        State("page", "data"),
    )
    def run(start: Any, stop: Any, count: Any, name: Any, token: Any) -> Any:
        """Run the open claim, stop it, or show its verdict."""
        if not numbers.known(name):
            return no_update, no_update, True, True
        if ctx.triggered_id == "claims-stop" and stop:
            numbers.stop()
            return no_update, "Stopped.", True, True
        if ctx.triggered_id == "claims-start" and start:
            numbers.start(name, controls.token(token))
        if numbers.busy(name):
            return no_update, "Running …", False, False
        latest = numbers.latest(name)
        return _render(name, latest), "" if latest is None else latest.refused, True, True

    @app.callback(
        Output("query", "data", allow_duplicate=True),
        Input("claims-open", "data"),
        prevent_initial_call="initial_duplicate",
    )
    def address(name: Any) -> Any:
        return f"/claims?{state.write(state.Claims(claim=name))}" if numbers.known(name) else no_update

    return numbers


def _render(name: str, latest: Latest | None) -> Any:
    """The latest verdict with its figure and its numbers."""
    if latest is None or latest.verdict is None:
        return []
    verdict, cells = latest.verdict, lambda row: [f"{c:.4g}" if isinstance(c, float) else str(c) for c in row]
    picture = f"/claim/{name}.svg"
    figure = html.Figure(
        [
            html.Div(
                html.Img(src=f"{picture}?{latest.digest}", alt=verdict.caption or verdict.sentence), className="print"
            ),
            html.Figcaption(verdict.caption or verdict.sentence, className="caption"),
            html.P(
                [
                    html.A("SVG", href=picture, download=f"{name.replace('/', '-')}.svg"),
                    html.A("PNG", href=picture, className="as-png", download=f"{name.replace('/', '-')}.png"),
                ],
                className="downloads",
            ),
        ]
    )
    table = html.Div(
        controls.numbers(verdict.header, [cells(row) for row in verdict.rows]), className="scroll", tabIndex=0
    )
    return [
        html.P([_badge(verdict.outcome), f" {latest.origin}: {verdict.sentence}"], className="seen"),
        *([figure] if verdict.figure else []),
        *([html.Details([html.Summary("The numbers"), table])] if verdict.rows else []),
    ]
