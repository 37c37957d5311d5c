"""Guard: bounds on hosts, requests and what a browser may load, and plain sentences for errors."""

import sys
import traceback
from pathlib import Path
from secrets import compare_digest
from typing import Any

from dash import Dash
from flask import Response, request
from werkzeug.exceptions import HTTPException

LARGEST = 256 * 1024  # bytes of a request
NOT_OURS = "The page makes no such request."
TOKEN = "token"  # its name in an address and of its cookie
LOOPBACK = ("localhost", "127.0.0.1", "[::1]", "::1")


def guard(app: Dash, *, anyone: bool = False, token: str = "") -> None:
    """Answer only requests to a loopback name (unless ``anyone`` may ask) that no other site makes, and refuse the others.

    With a ``token`` only a browser that has opened the address with it is answered; a cookie remembers that.
    """
    server: Any = app.server
    server.config["MAX_CONTENT_LENGTH"] = LARGEST
    policy = _policy(app)

    @server.before_request
    def known() -> Response | None:
        if not anyone and _name(request.host) not in LOOPBACK:
            return _sentence("This explorer answers on localhost only.", 403)
        if _foreign():
            return _sentence("This explorer answers its own page only.", 403)
        if token and not any(compare_digest(each, token) for each in _given()):
            return _sentence("Open the address that 'giantstep explore' has printed, with its token.", 403)
        if request.method == "POST" and not _asked(app):
            return _sentence(NOT_OURS, 400)
        return None

    @server.after_request
    def confined(response: Response) -> Response:
        response.headers["Content-Security-Policy"] = policy
        response.headers["X-Content-Type-Options"] = "nosniff"
        response.headers["Referrer-Policy"] = "no-referrer"
        response.headers["Cross-Origin-Resource-Policy"] = "same-origin"
        if token and compare_digest(request.args.get(TOKEN, "").encode(), token.encode()):
            response.set_cookie(TOKEN, token, httponly=True, samesite="Strict")
        return response

    @server.errorhandler(Exception)
    def refuse(problem: Exception) -> Response:
        if isinstance(problem, HTTPException):
            return _sentence(problem.name + ".", problem.code or 400)
        if not _ours(problem):  # Dash stumbled over the shape of what was sent, or over a name that it does not know
            return _sentence(NOT_OURS, 400) if request.method == "POST" else _sentence("Not Found.", 404)
        print(f"giantstep explore: {type(problem).__name__}: {problem}", file=sys.stderr)
        return _sentence("This could not be answered.", 500)


def _foreign() -> bool:
    """Whether another site makes the request; a link on another site may open a page, and nothing else."""
    opened = request.headers.get("Sec-Fetch-Mode") == "navigate" and request.headers.get("Sec-Fetch-Dest") == "document"
    page = opened and request.method == "GET" and not request.path.startswith(("/figure/", "/claim/", "/_"))
    return request.headers.get("Sec-Fetch-Site", "none") not in ("none", "same-origin") and not page


def _given() -> list[str]:
    """The tokens of a request, in its address and in its cookie; only ASCII can be compared."""
    return [each for each in (request.args.get(TOKEN, ""), request.cookies.get(TOKEN, "")) if each.isascii()]


def _ours(problem: Exception) -> bool:
    """Whether the exception passed through code of the explorer."""
    places = [frame.filename for frame in traceback.extract_tb(problem.__traceback__)]
    return any(Path(__file__).parent in Path(place).parents for place in places)


def _policy(app: Dash) -> str:
    """The page may load only from this server; plotly.js sets inline styles."""
    scripts = " ".join(app.csp_hashes())
    return (
        f"default-src 'none'; script-src 'self' {scripts}; style-src 'self' 'unsafe-inline'; img-src 'self' data: blob:; "
        "connect-src 'self'; font-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    )


def _name(host: str) -> str:
    """The host without its port."""
    return host if host.endswith("]") else host.rsplit(":", 1)[0] if ":" in host else host


def _asked(app: Dash) -> bool:
    """Whether a request names a callback of the page and has its parts."""
    try:
        body = request.get_json(silent=True)
    except RecursionError:
        return False
    if (
        request.path != "/_dash-update-component"
        or not isinstance(body, dict)
        or not isinstance(body.get("output"), str)
    ):
        return False
    parts = [body.get("inputs", []), body.get("state", []), body.get("changedPropIds", [])]
    if body["output"] not in app.callback_map or not all(isinstance(part, list) for part in parts):
        return False
    return all(isinstance(one, dict) and isinstance(one.get("id"), str) for part in parts[:2] for one in part)


def _sentence(text: str, code: int) -> Response:
    return Response(text + "\n", code, mimetype="text/plain")
