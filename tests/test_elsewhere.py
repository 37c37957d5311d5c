"""What only Linux or POSIX has is missing, as on other systems: every main path does without."""

import os
import subprocess
import sys

import psutil
import pytest

from tests.explorer_server import running
from tests.lab.test_planted import SWEEP

# Python runs it at the start of every process. Modules are taken from giantstep alone: the standard library of Linux needs them.
WITHOUT = """
import builtins, os, pathlib, signal

MODULES = {"ctypes", "fcntl", "grp", "posix", "pty", "pwd", "resource", "syslog", "termios", "tty"}
NAMES = {
    os: "fork forkpty getegid geteuid getgid getloadavg getpgid getpgrp getuid killpg nice posix_spawn pread pwrite "
    "register_at_fork sched_getaffinity sched_setaffinity sendfile setpgid setsid",
    signal: "SIGALRM SIGCHLD SIGCONT SIGHUP SIGPIPE SIGQUIT SIGSTOP SIGUSR1 SIGUSR2 SIGXFSZ alarm setitimer",
}
for module, names in NAMES.items():
    for name in names.split():
        if hasattr(module, name):
            delattr(module, name)
plain = builtins.__import__

def without(name, globals=None, *rest, **more):
    home = (globals or {}).get("__file__") or ""
    if name.partition(".")[0] in MODULES and "giantstep" in home and "site-packages" not in home:
        raise ImportError(f"no {name} here")
    return plain(name, globals, *rest, **more)

builtins.__import__ = without
for name in ("read_bytes", "read_text", "open"):
    def closed(self, *given, _plain=getattr(pathlib.Path, name), **more):
        if str(self).startswith("/proc"):
            raise PermissionError(13, "Permission denied", str(self))
        return _plain(self, *given, **more)

    setattr(pathlib.Path, name, closed)
"""


@pytest.fixture
def elsewhere(tmp_path, monkeypatch):
    """A folder with a sweep, from which processes start as on another system."""
    (tmp_path / "python").mkdir()
    (tmp_path / "python/sitecustomize.py").write_text(WITHOUT)
    (tmp_path / "a.toml").write_text(SWEEP)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path / "python"))
    return tmp_path


def succeeds(folder, *arguments: str, **environment: str) -> str:
    command = [sys.executable, "-P", *arguments]
    env = {**os.environ, **environment}
    done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True, errors="replace", timeout=1200)
    assert done.returncode == 0 and "Traceback" not in done.stderr, done.stderr[-2000:]
    return done.stdout


PATHS = """
import os, signal
assert not hasattr(os, "fork") and not hasattr(signal, "SIGSTOP")
import giantstep as gs
step, readout = gs.GiantStep(40, 1.0), gs.Ridge(40, 0.1)
setting = gs.Setting(gs.Gaussian(20), gs.target("x1"), gs.Network(30, "relu"), gs.Protocol((step,), readout))
for verb in (gs.simulate, gs.theory, gs.equivalent):
    print(verb(setting).test_error > 0)
print(len(gs.sweep(setting, {"readout.penalty": [0.1, 0.2]}, seeds=[0, 1], store="s.sqlite", progress=False).sizes) > 0)
from giantstep._machine import memory, threads
print(memory.available() > 0, len(threads.cores()) == os.cpu_count())
"""


def test_the_main_paths_in_one_process(elsewhere):
    assert succeeds(elsewhere, "-c", PATHS).split() == ["True"] * 6


def test_a_worker(elsewhere):
    code = (
        "from giantstep.lab.work._child import Child; c = Child([0], 5); c.send(abs, -3); print(c.receive(), c.close())"
    )
    assert succeeds(elsewhere, "-c", code) == "3 0\n"


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "a.toml", "--store", "s.sqlite", "--workers", "2", "--json"),
        ("check", "wang_ma/partition", "--size", "quick", "--out", "report", "--workers", "2"),
    ],
    ids=["sweep", "check"],
)
def test_the_program(elsewhere, arguments):
    succeeds(elsewhere, "-m", "giantstep", *arguments)


def test_the_explorer_starts_with_its_processes(elsewhere):
    with running(elsewhere) as (_, server):
        own = psutil.Process(server.pid)
        while len(children := own.children()) < 1 or any(sum(each.cpu_times()[:2]) < 1 for each in children):
            assert server.poll() is None


@pytest.mark.parametrize("encoding", ["cp1252", "ascii"])
def test_a_console_that_lacks_letters(encoding):
    """Files and pipes have the old encoding of the country on Windows."""
    code = "from giantstep import cli; cli.run = lambda: print('\\u03bb\\u2113\\u221a') or 0; cli.main()"
    done = subprocess.run(
        [sys.executable, "-P", "-c", code],
        env={**os.environ, "PYTHONIOENCODING": encoding},
        capture_output=True,
    )
    assert done.returncode == 0 and done.stdout.split() == [b"???"], done.stderr
