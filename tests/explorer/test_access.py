"""Who may ask the explorer: its own page, with a token where there is one, and not for ever."""

import queue
import socket
import threading
from contextlib import suppress

import pytest

from giantstep.explorer._app import make_app
from giantstep.explorer._security import guard
from giantstep.explorer.processes._backend import Backend
from giantstep.explorer.server import Address, serve

CROSS = {"Sec-Fetch-Site": "cross-site"}
OPENED = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}


@pytest.fixture(scope="module")
def backend():
    made = Backend()
    yield made
    made.close()


def client(backend, **options):
    app = make_app(backend)
    guard(app, **options)
    return app.server.test_client()  # type: ignore[union-attr]


@pytest.mark.parametrize("site", ["cross-site", "same-site", "rubbish"])
def test_other_sites_can_open_the_page_and_nothing_else(backend, site):
    ours, other = client(backend), {"Sec-Fetch-Site": site}
    assert ours.get("/figure/explain/staircase.svg", headers={**other, "Sec-Fetch-Dest": "image"}).status_code == 403
    assert ours.get("/figure/explain/staircase.svg", headers={**other, **OPENED}).status_code == 403
    assert ours.get("/_dash-layout", headers={**other, **OPENED}).status_code == 403
    assert ours.post("/_dash-update-component", json={}, headers={**other, **OPENED}).status_code == 403
    assert ours.get("/explain", headers={**other, **OPENED}).status_code == 200
    assert ours.get("/_dash-layout", headers={"Sec-Fetch-Site": "same-origin"}).status_code == 200
    assert ours.get("/_dash-layout").status_code == 200  # a program on this machine sends no such header


def test_a_token_is_asked_for_once(backend):
    ours = client(backend, token="secret")
    for path in ("/", "/_dash-layout", "/?token=wrong", "/?token=%C3%A9"):
        assert ours.get(path).status_code == 403
    assert ours.get("/?token=secret").status_code == 200
    assert ours.get("/_dash-layout").status_code == 200  # by the cookie
    assert "HttpOnly" in str(ours.get("/?token=secret").headers["Set-Cookie"])


def test_an_address_has_its_token():
    assert Address("127.0.0.1", 8050, "abc").url == "http://127.0.0.1:8050/?token=abc"


def serving(monkeypatch, patience: float) -> Address:
    """The server runs in a thread, compiles nothing, and waits so many seconds in place of twenty."""
    monkeypatch.setattr("giantstep.explorer._warm_up.warm_up", lambda backend: None)
    monkeypatch.setattr("giantstep.explorer.server.PATIENCE", patience)
    ready: queue.Queue[Address] = queue.Queue()
    options = {"ready": ready.put}
    threading.Thread(target=serve, args=(Address("127.0.0.1", 0),), kwargs=options, daemon=True).start()
    return ready.get(timeout=600)


def test_what_is_no_request_is_not_waited_for(monkeypatch):
    place = serving(monkeypatch, 1e6)
    hello = b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(32))  # of TLS, without an end of line
    for first in (hello, b"\x00", b" GET / HTTP/1.1\r\n", b"\xff"):
        with socket.create_connection((place.host, place.port), timeout=600) as other, suppress(ConnectionResetError):
            other.sendall(first)
            assert other.recv(100) == b""
    with socket.create_connection((place.host, place.port), timeout=600) as ours:
        ours.sendall(b"GET /_dash-layout HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n")
        assert ours.recv(100).startswith(b"HTTP/1.1 ")


def test_a_request_that_never_ends_is_ended(monkeypatch):
    place = serving(monkeypatch, 1.0)
    with socket.create_connection((place.host, place.port), timeout=600) as slow:
        slow.sendall(b"GET / HTTP/1.1\r\nHost: 127")
        assert slow.recv(100) == b""  # the server closes it
