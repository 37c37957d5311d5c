"""Figures as files: ``gs.plot`` draws them as the page's Python does, and they contain that Python and the BibTeX."""

import uuid
from collections.abc import Callable
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from dash import Dash
from flask import Response, abort, request

from giantstep.claims import TEXTS
from giantstep.errors import InputError
from giantstep.explorer import _settings as settings
from giantstep.explorer import _state as state
from giantstep.explorer import _take_away as take_away
from giantstep.explorer.processes._backend import Backend, TimedWorker
from giantstep.explorer.processes._queue import Replaced
from giantstep.explorer.views import _explain as explain
from giantstep.explorer.views._view import View
from giantstep.explorer.views.claims import _view as claims_page
from giantstep.explorer.views.claims._numbers import ClaimNumbers as Claims
from giantstep.explorer.views.giant_steps import _view as giant_steps
from giantstep.explorer.views.giant_steps._numbers import GiantStepsNumbers as GiantSteps
from giantstep.explorer.views.one_step import _view as one_step
from giantstep.explorer.views.one_step._numbers import OneStepNumbers as OneStep

TYPES = {"svg": "image/svg+xml", "png": "image/png"}
LIMIT = 120.0  # seconds


def register(app: Dash, backend: Backend, steps: OneStep, giants: GiantSteps, claims: Claims) -> None:
    """Serve the figures. Names are looked up in tables; no part of an address is a path."""
    server: Any = app.server

    @server.errorhandler(InputError)
    def refused(problem: InputError) -> Response:
        return Response(f"{problem}\n", 400, mimetype="text/plain")

    @server.errorhandler(Replaced)
    def crowded(problem: Replaced) -> Response:
        return Response("The explorer is busy: try again.\n", 503, mimetype="text/plain")

    @server.get("/figure/explain/<name>.<kind>")
    def of_explain(name: str, kind: str) -> Response:
        s = _asked(explain.VIEW, name, kind)
        return _file(backend.explanations, kind, explain.snippet(s), explain.VIEW, _explain, s)

    @server.get("/figure/one-step/<name>.<kind>")
    def of_one_step(name: str, kind: str) -> Response:
        s = _asked(one_step.VIEW, name, kind)
        errors, spectrum = steps.simulated(s)
        code = settings.one_step_code(s, errors=errors is not None, spectrum=spectrum is not None)
        simulated = spectrum if name == "spectrum" else errors
        return _file(backend.theory, kind, code, one_step.VIEW, _one_step, s, name, simulated)

    @server.get("/figure/giant-steps/<name>.<kind>")
    def of_giant_steps(name: str, kind: str) -> Response:
        s = _asked(giant_steps.VIEW, name, kind)
        settings.giant_steps(s)  # refuse bad input before anything is computed
        paths = giants.paths(s, _own())
        if not paths.known:
            return Response(f"There is nothing to draw yet. {paths.message}\n", 404, mimetype="text/plain")
        code = settings.giant_steps_code(s, [one.route for one in paths.known])
        return _file(backend.theory, kind, code, giant_steps.VIEW, _giant_steps, paths.known, name)

    @server.get("/claim/<group>/<name>.svg")
    def of_claim(group: str, name: str) -> Response:
        latest = claims.latest(f"{group}/{name}") if claims.known(f"{group}/{name}") else None
        if latest is None or latest.verdict is None or not latest.verdict.figure:
            abort(404)
        (claim,) = (text for text in TEXTS if text.name == f"{group}/{name}")
        inside = f"{claims_page.snippet(claim.name)}\n{claims_page.bibtex(claim)}"
        return Response(inscribe(latest.verdict.figure, inside), mimetype=TYPES["svg"])


def _asked(view: View, name: str, kind: str) -> Any:
    """The state that a request asks for; an unknown figure or a state outside the bounds is refused."""
    if name not in view.figures or kind not in TYPES:
        abort(404)
    s, refused = state.read_query(state.VIEWS[view.name], request.query_string.decode("ascii", "replace"))
    if refused:
        abort(Response(" ".join(refused) + "\n", 400, mimetype="text/plain"))
    return s


def _file(reader: TimedWorker, kind: str, code: str, view: View, make: Callable[..., Any], *arguments: Any) -> Response:
    body = reader.ask(_own(), draw, kind, code, take_away.bibtex(view.papers), make, arguments, limit=LIMIT)
    return Response(body, mimetype=TYPES[kind])


def _own() -> str:
    """A page of its own, so that one download does not replace another."""
    return f"download {uuid.uuid4().hex}"


def draw(kind: str, code: str, bibtex: str, make: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
    """A figure as the bytes of a file."""
    import matplotlib as mpl

    from giantstep.plot.style import STYLE

    figure, buffer = make(*arguments), BytesIO()
    metadata: dict[str, Any] = {"Software": "giantstep", "Python": code, "BibTeX": bibtex}
    if kind == "svg":
        metadata = {"Date": None, "Creator": "giantstep", "Description": code, "Source": bibtex}
    with mpl.rc_context({key: STYLE[key] for key in ("svg.hashsalt", "svg.fonttype")}):
        figure.savefig(buffer, format=kind, metadata=metadata)
    return buffer.getvalue()


def inscribe(svg: str, text: str) -> str:
    """The SVG with a text as its description."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:start]}\n<desc>{escape(text)}</desc>{svg[start:]}"


def _explain(s: state.Explain) -> Any:
    import giantstep as gs

    return gs.plot(explain.explain(s))


def _one_step(s: state.OneStep, name: str, simulated: Any) -> Any:
    """The prediction, and the simulation if there is one."""
    import giantstep as gs
    from giantstep.lab.compare import Comparison, predict

    spectrum = name == "spectrum"
    setting = settings.one_step(s, s.alpha if spectrum else settings.ALPHAS)
    predicted = predict(setting, spectrum=spectrum)
    result = predicted if simulated is None else Comparison(setting, (), predicted, simulated)
    return gs.plot(result, name if spectrum else f"{name}_error")


def _giant_steps(paths: list[Any], name: str) -> Any:
    import giantstep as gs

    return gs.plot(paths, name)
