"""Figures as files, drawn by ``gs.plot`` as the page's Python draws them, with that Python and the BibTeX inside."""

import uuid
from collections.abc import Callable
from io import BytesIO
from typing import Any
from xml.sax.saxutils import escape

from dash import Dash
from flask import Response, abort, request

from giantstep.claims import select
from giantstep.errors import InputError
from giantstep.explorer import controls, settings, state
from giantstep.explorer.processes.laboratory import Laboratory, Reader
from giantstep.explorer.processes.queue import Replaced
from giantstep.explorer.views import explain
from giantstep.explorer.views.claims import view as claims_page
from giantstep.explorer.views.claims.numbers import ClaimNumbers as Claims
from giantstep.explorer.views.giant_steps import view as giant_steps
from giantstep.explorer.views.giant_steps.numbers import GiantStepsNumbers as GiantSteps
from giantstep.explorer.views.one_step import view as one_step
from giantstep.explorer.views.one_step.numbers import OneStepNumbers as OneStep

__all__ = ["drawn", "register"]

TYPES = {"svg": "image/svg+xml", "png": "image/png"}
LIMIT = 120.0  # seconds


def register(app: Dash, lab: Laboratory, steps: OneStep, giants: GiantSteps, claims: Claims) -> None:
    """The addresses of the figures. Names are looked up in tables; nothing of an address is a path."""
    server: Any = app.server

    @server.errorhandler(InputError)
    def refused(problem: InputError) -> Response:
        return Response(f"{problem}\n", 400, mimetype="text/plain")

    @server.errorhandler(Replaced)
    def crowded(problem: Replaced) -> Response:
        return Response("Too much is being asked for at once: try again.\n", 503, mimetype="text/plain")

    @server.get("/figure/explain/<name>.<kind>")
    def of_explain(name: str, kind: str) -> Response:
        s = _asked(state.Explain, name in explain.FIGURES and kind in TYPES)
        return _file(lab.words, kind, explain.snippet(s), explain.PAPERS, _explain, s)

    @server.get("/figure/one-step/<name>.<kind>")
    def of_one_step(name: str, kind: str) -> Response:
        s = _asked(state.OneStep, name in one_step.FIGURES and kind in TYPES)
        errors, spectrum = steps.simulated(s)
        code = settings.one_step_code(
            s, settings.one_step_figures(s, errors=errors is not None, spectrum=spectrum is not None)
        )
        return _file(
            lab.theory, kind, code, one_step.PAPERS, _one_step, s, name, spectrum if name == "spectrum" else errors
        )

    @server.get("/figure/giant-steps/<name>.<kind>")
    def of_giant_steps(name: str, kind: str) -> Response:
        s = _asked(state.GiantSteps, name in giant_steps.FIGURES and kind in TYPES)
        settings.giant_steps(s)  # what is refused is refused before anything is computed
        seen = giants.seen(s, _own())
        paths = [one for one in (seen.chain, seen.theory) if one is not None]
        if not paths:
            return Response(f"There is nothing to draw yet. {seen.said}\n", 404, mimetype="text/plain")
        code = settings.giant_steps_code(s, settings.giant_steps_figures(s, [one.route for one in paths]))
        return _file(lab.theory, kind, code, giant_steps.PAPERS, _giant_steps, paths, name)

    @server.get("/claim/<group>/<name>.svg")
    def of_claim(group: str, name: str) -> Response:
        shown = claims.shown(f"{group}/{name}") if claims.known(f"{group}/{name}") else None
        if shown is None or shown.verdict is None or not shown.verdict.figure:
            abort(404)
        (claim,) = select([f"{group}/{name}"])
        inside = f"{claims_page.snippet(claim.name)}\n{claims_page.bibtex(claim)}"
        return Response(inscribed(shown.verdict.figure, inside), mimetype=TYPES["svg"])


def _asked(kind: type[Any], known: bool) -> Any:
    """The state that a request asks for; one that is not known or not inside the bounds is refused."""
    if not known:
        abort(404)
    s, refused = state.read_query(kind, request.query_string.decode("ascii", "replace"))
    if refused:
        abort(Response(" ".join(refused) + "\n", 400, mimetype="text/plain"))
    return s


def _file(reader: Reader, kind: str, code: str, papers: Any, make: Callable[..., Any], *arguments: Any) -> Response:
    body = reader.ask(_own(), drawn, kind, code, controls.bibtex(papers), make, arguments, limit=LIMIT)
    return Response(body, mimetype=TYPES[kind])


def _own() -> str:
    """A place in line of its own: two downloads at once both come."""
    return f"download {uuid.uuid4().hex}"


def drawn(kind: str, code: str, bibtex: str, make: Callable[..., Any], arguments: tuple[Any, ...]) -> bytes:
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


def inscribed(svg: str, text: str) -> str:
    """The SVG with a text as its description."""
    start = svg.index(">", svg.index("<svg")) + 1
    return f"{svg[:start]}\n<desc>{escape(text)}</desc>{svg[start:]}"


def _explain(s: state.Explain) -> Any:
    import giantstep as gs

    return gs.plot(explain.explained(s))


def _one_step(s: state.OneStep, name: str, simulated: Any) -> Any:
    """The prediction, beside what was simulated if it is there."""
    import giantstep as gs
    from giantstep.lab.compare import Comparison, predict

    spectrum = name == "spectrum"
    setting = settings.one_step(s, s.alpha if spectrum else settings.ALPHAS)
    predicted = predict(setting, spectrum=spectrum)
    found = predicted if simulated is None else Comparison(setting, (), predicted, simulated)
    return gs.plot(found, name if spectrum else f"{name}_error")


def _giant_steps(paths: list[Any], name: str) -> Any:
    import giantstep as gs

    return gs.plot(paths, name)
