"""Someone's folder is data: no process of ours runs the modules that lie in it, and those of the user are found all the same."""

import os
import re
import subprocess
import sys
import sysconfig
from pathlib import Path

import psutil
import pytest

from tests.explorer_server import running

ROOT = Path(__file__).parents[2]
PROGRAM = str(Path(sysconfig.get_path("scripts")) / "giantstep")
NAMES = (
    "scipy",
    "ctypes",
    "pickle",
    "threadpoolctl",
    "numpy",
    "json",
    "jax",
    "psutil",
    "distributed",
    "giantstep/__init__",
)
SWEEP = """
seeds = "0-3"
[setting]
target = "x1"
data = {d = 20}
network = {width = 30, activation = "relu"}
protocol = {steps = [], readout = {n = 40, penalty = 0.1}}
"""


@pytest.fixture
def planted(tmp_path):
    """A folder with a sweep, and modules that leave a trace when they are executed."""
    folder = tmp_path / "planted"
    (folder / "giantstep").mkdir(parents=True)
    for name in NAMES:
        trace = tmp_path / f"executed-{name.partition('/')[0]}"
        (folder / f"{name}.py").write_text(f"open({str(trace)!r}, 'w').close()\nraise ImportError('planted')\n")
    (folder / "a.toml").write_text(SWEEP)
    yield folder
    assert [each.name for each in tmp_path.glob("executed-*")] == []


def succeeds(*command: str, cwd: Path) -> str:
    done = subprocess.run(command, cwd=cwd, capture_output=True, text=True, timeout=1200)
    assert done.returncode == 0, done.stderr[-2000:]
    return done.stdout


@pytest.mark.parametrize(
    "arguments",
    [
        ("sweep", "a.toml", "--workers", "2", "--json"),
        ("check", "wang_ma/partition", "--size", "quick", "--workers", "2", "--out", "report"),
    ],
    ids=["sweep", "check"],
)
def test_workers_of_the_program(planted, arguments):
    succeeds(PROGRAM, *arguments, cwd=planted)


def test_workers_of_a_module(planted):
    (planted / "giantstep/__init__.py").unlink()  # Python itself looks for the module that -m names
    (planted / "giantstep").rmdir()
    succeeds(sys.executable, "-m", "giantstep", "sweep", "a.toml", "--workers", "2", "--json", cwd=planted)


def test_processes_of_the_explorer(planted):
    with running(planted) as (_, server):
        own = psutil.Process(server.pid)
        while len(children := own.children()) < 1 or any(sum(each.cpu_times()[:2]) < 1 for each in children):
            assert server.poll() is None  # what they import takes longer
        assert all("-P" in each.cmdline() for each in children)


OWN = """
import os, sys
import own_module
from giantstep.lab.work._child import Child
os.chdir(sys.argv[1])
child = Child()
child.send(own_module.triple, 7)
print(child.receive())
child.send(eval, "len(__import__('giantstep.lab.work._perform').__name__)")
child.receive()
child.close()
"""


@pytest.mark.parametrize("how", ["script", "text", "module"])
def test_own_modules_are_found_and_those_of_a_folder_are_not(planted, tmp_path, how):
    own = tmp_path / "own"
    own.mkdir()
    (own / "own_module.py").write_text("def triple(x):\n    return 3 * x\n")
    (own / "script.py").write_text(OWN)
    command = {"script": [str(own / "script.py")], "text": ["-c", OWN], "module": ["-m", "script"]}[how]
    assert succeeds(sys.executable, *command, str(own), cwd=own) == "21\n"
    if how == "script":  # the folder of the script is its own, wherever it goes
        assert succeeds(sys.executable, *command, str(planted), cwd=own) == "21\n"


CHANGED = """
import os, sys
from giantstep.lab.work._child import Child
os.chdir(sys.argv[1])
child = Child()
child.send(eval, "len(__import__('giantstep.lab.work._perform').__name__)")
child.receive()
child.send(eval, "__import__('sys').path")
print(*child.receive(), sep="\\n")
child.close()
"""


def test_a_current_folder_without_own_modules_is_not_searched(planted, tmp_path):
    searched = succeeds(sys.executable, "-c", CHANGED, str(planted), cwd=tmp_path).splitlines()
    assert "" not in searched and str(planted) not in searched


def test_what_pythonpath_names_is_searched(tmp_path):
    (tmp_path / "wanted.py").write_text("ANSWER = 42\n")
    code = "from giantstep.lab.work._child import Child; c = Child(); c.send(eval, '__import__(\"wanted\").ANSWER')"
    env = {**os.environ, "PYTHONPATH": str(tmp_path)}
    command = [sys.executable, "-P", "-c", f"{code}; print(c.receive())"]
    assert subprocess.run(command, env=env, capture_output=True, text=True, cwd=tmp_path).stdout == "42\n"


def test_a_current_folder_that_is_deleted(tmp_path):
    gone = tmp_path / "gone"
    gone.mkdir()
    code = "import os; os.rmdir(os.getcwd()); from giantstep.lab.work._child import Child; c = Child(); c.send(abs, -3)"
    assert succeeds(sys.executable, "-P", "-c", f"{code}; print(c.receive())", cwd=gone) == "3\n"


def test_commands_of_the_checkout_search_the_current_folder_for_its_own_modules_alone():
    """``-m`` and ``-c`` put it first, ``-P`` does not."""
    places = [ROOT / "Makefile", *(ROOT / ".ci").iterdir(), *ROOT.glob("scripts/*"), ROOT / "docs/releasing.md"]
    places += [
        each for name in ("src", "tests", "benchmarks", "docs", "examples") for each in (ROOT / name).rglob("*.py")
    ]
    named = r"""(bin/python|"\$python"|\$\(PYTHON\)|"\$0"|sys\.executable)"""
    python = rf"""{named}[ ,]+"?-[mc](?![ ",]+(benchmarks|tests))[ ",]"""
    apart = {Path(__file__), ROOT / "benchmarks/gpu/routes.py", ROOT / "benchmarks/gpu/more.py"}  # import benchmarks
    texts = {each.relative_to(ROOT): each.read_text("utf-8") for each in places if each not in apart and each.is_file()}
    assert {name: found.group() for name, text in texts.items() if (found := re.search(python, text))} == {}
