"""An explorer that runs as a program, for the tests that talk to it, and what they do in its page."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.browser import PATIENCE, PAUSE


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """Its address and its process, which is interrupted at the end as Ctrl-C does it."""
    command = [
        sys.executable,
        "-P",
        "-m",
        "giantstep.cli",
        "explore",
        "--port",
        "0",
        "--no-browser",
        "--json",
        *arguments,
    ]
    with (folder / "explorer.log").open("w") as log:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=log, text=True, cwd=folder)
        assert process.stdout is not None
        try:
            said = process.stdout.readline()
            assert said, (folder / "explorer.log").read_text()
            yield json.loads(said)["url"], process
        finally:
            children = psutil.Process(process.pid).children(recursive=True) if process.poll() is None else []
            os.kill(process.pid, signal.SIGINT)
            process.wait(120)
            process.stdout.close()
            _, alive = psutil.wait_procs(children, timeout=60)
            for child in alive:
                child.kill()
            assert not alive, "a child was left behind"


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    folder = tmp_path_factory.mktemp("explorer")
    with running(folder) as (url, _):
        yield url.rstrip("/")
    said = (folder / "explorer.log").read_text().splitlines()
    assert [line for line in said if "longer than expected" not in line] == []  # on a busy machine, nothing but that


@pytest.fixture
def page(browser, address):
    """Opens an address; afterwards the console is empty, and nothing was asked of another host."""

    def opened(path: str):
        browser.get(f"{address}{path}")
        return browser

    yield opened
    said = [entry["message"] for entry in browser.get_log("browser") if entry["level"] == "SEVERE"]
    assert said == []
    for entry in browser.get_log("performance"):
        message = json.loads(entry["message"])["message"]
        if message["method"] == "Network.requestWillBeSent":
            asked = message["params"]["request"]["url"]
            assert asked.startswith((address, "data:", "blob:", "chrome:", "about:")), asked


def text(browser, key: str, holds: str) -> str:
    """The text of an element once it holds these words."""
    end = time.monotonic() + PATIENCE
    script = "const e = document.getElementById(arguments[0]); return e ? e.textContent : null;"
    while time.monotonic() < end:
        found = browser.execute_script(script, key)
        if found and holds in found:
            return found
        time.sleep(PAUSE)
    raise AssertionError(f"{key} never said {holds!r}")


def put(browser, key: str, value: str) -> None:
    """Move a slider or fill a line as a hand does: by an input event, and Enter for a line."""
    browser.execute_script(
        "const e = document.getElementById(arguments[0]);"
        "Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, 'value').set.call(e, arguments[1]);"
        "e.dispatchEvent(new Event('input', {bubbles: true}));",
        key, value,
    )  # fmt: skip


def trace(browser, key: str, name: str, holds: Callable[[dict], object] = bool) -> dict:
    """The data of a chart's trace once it is drawn as it should be: a chart may come after the words beside it."""
    script = "const g = document.querySelector(`#${arguments[0]} .js-plotly-plot`); return g ? JSON.stringify(g.data) : '[]';"
    end, found = time.monotonic() + PATIENCE, {}
    while time.monotonic() < end:
        found = next((one for one in json.loads(browser.execute_script(script, key)) if one["name"] == name), {})
        if found and holds(found):
            return found
        time.sleep(PAUSE)
    raise AssertionError(f"{name} was never drawn as it should be: {found}")
