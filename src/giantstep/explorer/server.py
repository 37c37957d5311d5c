"""Serve the explorer on a loopback address until it is interrupted."""

import os
import signal
import socket
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from typing import Any

from giantstep.errors import InputError

PATIENCE = 20.0  # seconds for the rest of a request that has begun, and for the next on an open connection


@dataclass(frozen=True)
class Address:
    """The address on which the explorer listens."""

    host: str
    port: int
    token: str = ""  # what a browser must give

    @property
    def loopback(self) -> bool:
        """Whether only this machine can reach it."""
        try:
            return self.host == "localhost" or ip_address(self.host).is_loopback
        except ValueError:
            return False

    @property
    def url(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"http://{host}:{self.port}/" + (f"?token={self.token}" if self.token else "")


def serve(
    address: Address,
    *,
    allow_network: bool = False,
    report: Path | None = None,
    ready: Callable[[Address], None] = lambda address: None,
) -> None:
    """Serve until SIGINT or SIGTERM; ``ready`` is called with the address before the first request. Port 0 chooses a free one."""
    if not address.loopback and not allow_network:
        raise InputError(
            f"{address.host} is not a loopback address, so others could reach the explorer. Give --allow-network to allow this."
        )
    listening = _listen(address)
    from werkzeug.serving import WSGIRequestHandler, make_server

    from giantstep.explorer._app import make_app
    from giantstep.explorer._security import guard
    from giantstep.explorer._warm_up import warm_up
    from giantstep.explorer.processes._backend import Backend

    class Quiet(WSGIRequestHandler):
        """Logs nothing, and takes several requests per connection."""

        protocol_version = "HTTP/1.1"
        timeout = PATIENCE

        def handle_one_request(self) -> None:
            """A request begins with a letter. The rest of anything else, such as TLS, is not waited for."""
            first = self.rfile.peek(1)[:1]  # type: ignore[attr-defined]
            if first and not first.isalpha():
                self.close_connection = True
            else:
                super().handle_one_request()

        def log(self, type: str, message: str, *args: Any) -> None:
            pass

    backend = Backend()
    app = make_app(backend, report)
    guard(app, anyone=not address.loopback, token=address.token)
    server = make_server(
        address.host,
        listening.getsockname()[1],
        app.server,
        threaded=True,
        request_handler=Quiet,
        fd=listening.fileno(),
    )  # type: ignore[arg-type]
    server.daemon_threads = True  # type: ignore[attr-defined]

    def leave(number: int, frame: Any) -> None:
        backend.close()
        sys.stdout.flush()
        os._exit(0)  # threads may be inside XLA, which nothing else can end

    if threading.current_thread() is threading.main_thread():
        signal.signal(signal.SIGINT, leave)
        signal.signal(signal.SIGTERM, leave)
    warm_up(backend)
    ready(Address(address.host, server.port, address.token))
    server.serve_forever()


def _listen(address: Address) -> socket.socket:
    """A listening socket, or an InputError that says why there is none."""
    if not 0 <= address.port <= 65535:
        raise InputError(f"--port needs a number from 0 to 65535, not {address.port}.")
    try:
        family, kind, protocol, _, place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_STREAM)[0]
        listening = socket.socket(family, kind, protocol)
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listening.bind(place)
        listening.listen(128)
    except OSError as problem:
        place = f"{address.host}:{address.port}"
        raise InputError(f"{place} cannot be used: {problem.strerror or problem}. Give another --port.") from None
    return listening
