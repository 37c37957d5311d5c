"""An explorer that runs as a program, for the tests that talk to it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil


@contextmanager
def running(folder: Path, *arguments: str) -> Iterator[tuple[str, subprocess.Popen]]:
    """Its address and its process, which is interrupted at the end as Ctrl-C does it."""
    command = [sys.executable, "-m", "giantstep.cli", "explore", "--port", "0", "--no-browser", "--json", *arguments]
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
