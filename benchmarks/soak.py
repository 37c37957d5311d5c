"""Run sweeps, checks, the explorer and the estimator side by side, disturb them at random, and count what goes wrong.

``python -m benchmarks.soak --minutes 60`` kills, interrupts and stops processes, takes their workers, their disk and their clock
away, and sends bad requests. Nothing may be lost, double, different, hung, orphaned or end in a traceback.
"""

import argparse
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import psutil

from benchmarks.faults import SWEEP, command, compare
from giantstep.lab.store import Store
from giantstep.lab.sweep.toml import read

HUNG = 900  # seconds after which a process that should end counts as hung
ORPHANED = 20  # seconds in which children must end after their parent
WRONG = ("lost", "double", "different", "hung", "orphaned", "crashed")
CLAIM = "moniri_hassani/degenerate"  # the quickest
FULL_DISK = (
    "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN); "
    "resource.setrlimit(resource.RLIMIT_FSIZE, (VALUE, VALUE)); "
)
CLOCK = "import time; time.time = lambda: VALUE; "
MAIN = "from giantstep.__main__ import main; main()"
TABLE = """
import sys, warnings, numpy as np
from giantstep.estimator import GiantStepRegressor
warnings.simplefilter("ignore")
draw = np.random.default_rng(int(sys.argv[1]))
n, d = draw.integers(2, 200), draw.integers(1, 60)
X = draw.standard_normal((n, d)) * 10.0 ** draw.uniform(-200, 200, d)
model = GiantStepRegressor(width=32).fit(X, draw.standard_normal(n) * 10.0 ** draw.uniform(-290, 290))
assert np.all(np.isfinite(model.predict(X)))
"""
REQUESTS = (
    ("GET", "/", None), ("GET", "/explain?formula=x1*x2", None), ("GET", "/../../etc/passwd", None),
    ("GET", "/figure/one-step/test.svg?d=-1", None), ("GET", "/figure/explain/x.exe", None), ("GET", "/%00%ff", None),
    ("POST", "/_dash-update-component", b"{"), ("POST", "/_dash-update-component", b'{"output": 3}'),
    ("POST", "/_dash-update-component", b"[" * 5000), ("POST", "/", b"x" * 300_000), ("PUT", "/", b""),
)  # fmt: skip


@dataclass
class Soak:
    """One soak: its folder, its end, and the counts of what was done and of what went wrong."""

    folder: Path
    end: float
    rng: random.Random
    most: int = 4  # disturbances of a sweep
    counts: Counter = field(default_factory=Counter)
    notes: list[str] = field(default_factory=list)
    turn: threading.Lock = field(default_factory=threading.Lock)

    @property
    def over(self) -> bool:
        return time.monotonic() > self.end

    def count(self, what: str, note: str = "", times: int = 1) -> None:
        with self.turn:
            self.counts[what] += times
            if note:
                self.notes.append(f"{what}: {note}")

    def start(self, arguments: list[str], before: str = "") -> subprocess.Popen:
        """The program with these arguments, after some Python that spoils its world."""
        program = [sys.executable, "-P", "-c", before + MAIN, *arguments]
        return subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, cwd=self.folder)

    def finish(self, run: subprocess.Popen, allowed: tuple[int, ...]) -> int | None:
        """Wait for the end; count a hang, an unexpected exit code, a traceback, and children that are left."""
        try:
            children = psutil.Process(run.pid).children(recursive=True)
        except psutil.Error:
            children = []
        try:
            _, said = run.communicate(timeout=HUNG)
        except subprocess.TimeoutExpired:
            self.count("hung", " ".join(map(str, run.args[3:])))  # type: ignore[index]
            run.kill()
            _, said = run.communicate()
        early = run.returncode == -signal.SIGINT  # Python itself was starting
        if run.returncode not in allowed or ("Traceback" in (said or "") and not early):
            self.count("crashed", f"exit code {run.returncode}: {(said or '').strip()[-300:]}")
        for child in psutil.wait_procs(children, timeout=ORPHANED)[1]:
            self.count("orphaned", " ".join(child.cmdline()[:6]))
            child.kill()
        return run.returncode


def sweeps(soak: Soak, workers: int) -> None:
    """One sweep again and again, disturbed in a random way each time, then run to its end and compared."""
    sweep, quiet = soak.folder / f"sweep-{workers}.toml", soak.folder / f"quiet-{workers}.sqlite"
    sweep.write_text(SWEEP.replace("POINTS", "4"))
    soak.finish(soak.start(command(sweep, quiet, 1)[4:]), (0,))
    turn = 0
    while not soak.over or not turn:
        turn += 1
        store = soak.folder / f"disturbed-{workers}-{turn}.sqlite"
        for _ in range(soak.rng.randint(1, soak.most)):
            _disturbed(soak, command(sweep, store, workers)[4:], store)
        soak.finish(soak.start(command(sweep, store, workers)[4:]), (0,))
        rows, same = compare(sweep, store, quiet) if workers == 1 else (_rows(store), True)
        expected = len(read(sweep))
        soak.count("sweeps")
        soak.count("lost", times=max(expected - rows, 0))
        soak.count("double", times=max(rows - expected, 0))
        soak.count("different", times=0 if same else 1)
        for left in soak.folder.glob(f"{store.stem}*"):
            left.unlink()


def _disturbed(soak: Soak, arguments: list[str], store: Path) -> None:
    how = soak.rng.choice(
        ["kill", "interrupt", "interrupt twice", "stop", "lose a worker", "full disk", "clock", "kill"]
    )
    soak.count(how)
    if how in ("full disk", "clock"):
        number = soak.rng.choice([60_000, 400_000] if how == "full disk" else [-1e9, 0.0, 2e11])
        run = soak.start(arguments, (FULL_DISK if how == "full disk" else CLOCK).replace("VALUE", repr(number)))
        soak.finish(run, (0, 2) if how == "full disk" else (0,))
        return
    run = soak.start(arguments)
    _until_it_writes(store, run, soak.rng.uniform(0.0, 1.5))
    if how == "kill":
        _orphans(soak, run)
        soak.finish(run, (0, -signal.SIGKILL))
    elif how == "stop":
        _send(run, signal.SIGSTOP)
        time.sleep(soak.rng.uniform(0.1, 2.0))
        _send(run, signal.SIGCONT)
        soak.finish(run, (0,))
    elif how == "lose a worker":
        for child in _children(run)[:1]:
            child.kill()
        soak.finish(run, (0,))
    else:
        _send(run, signal.SIGINT)
        if how == "interrupt twice":
            time.sleep(soak.rng.uniform(0.0, 0.5))
            _send(run, signal.SIGINT)
        soak.finish(run, (0, 130, -signal.SIGINT))


def _orphans(soak: Soak, run: subprocess.Popen) -> None:
    """Kill a process, and count those of its children that stay."""
    children = _children(run)
    _send(run, signal.SIGKILL)
    for child in psutil.wait_procs(children, timeout=ORPHANED)[1]:
        soak.count("orphaned", " ".join(child.cmdline()[:6]))
        child.kill()


def _children(run: subprocess.Popen) -> list[psutil.Process]:
    try:
        return psutil.Process(run.pid).children(recursive=True)
    except psutil.Error:
        return []


def _send(run: subprocess.Popen, number: int) -> None:
    if run.poll() is None:
        os.kill(run.pid, number)


def _rows(store: Path) -> int:
    with Store.open(store, "read") as opened:
        return len(opened)


def _until_it_writes(store: Path, run: subprocess.Popen, moment: float) -> None:
    end = time.monotonic() + 120
    while run.poll() is None and not store.exists() and time.monotonic() < end:
        time.sleep(0.05)
    time.sleep(moment)


def checks(soak: Soak) -> None:
    """A claim that is killed now and then and then checked to its end."""
    while not soak.over:
        out = Path(tempfile.mkdtemp(dir=soak.folder))
        arguments = ["check", CLAIM, "--out", str(out)]
        run = soak.start(arguments)
        time.sleep(soak.rng.uniform(1.0, 15.0))
        _orphans(soak, run)
        soak.finish(run, (0, -signal.SIGKILL))
        soak.finish(soak.start(arguments), (0,))
        soak.count("checks")


def explorers(soak: Soak) -> None:
    """A server that gets good and bad requests, and is killed and started again."""
    while not soak.over:
        program = [sys.executable, "-P", "-m", "giantstep.cli", "explore", "--port", "0", "--no-browser", "--json"]
        log = (soak.folder / "explorer.log").open("w+")
        run = subprocess.Popen(program, stdout=subprocess.PIPE, stderr=log, text=True, cwd=soak.folder)
        assert run.stdout is not None
        address = json.loads(run.stdout.readline())["url"]
        stop = min(soak.end, time.monotonic() + soak.rng.uniform(20, 60))
        while time.monotonic() < stop:
            _asked(soak, address, *soak.rng.choice(REQUESTS))
        _orphans(soak, run)
        run.wait(HUNG)
        run.stdout.close()
        log.seek(0)
        if "Traceback" in (said := log.read()):
            soak.count("crashed", said[-300:])
        log.close()
        soak.count("explorers")


def _asked(soak: Soak, address: str, method: str, path: str, body: bytes | None) -> None:
    kind = {"Content-Type": "application/json"}
    request = urllib.request.Request(address.rstrip("/") + path, body, kind, method=method)
    soak.count("requests")
    try:
        urllib.request.urlopen(request, timeout=HUNG).read()
    except urllib.error.HTTPError as problem:
        if problem.code >= 500 and problem.code != 503:
            soak.count("crashed", f"{method} {path}: {problem.code}")
    except TimeoutError:
        soak.count("hung", f"{method} {path}")
    except OSError:  # the server closes the connection of a request that is too large
        pass


def estimators(soak: Soak) -> None:
    """Random tables of extreme scales."""
    while not soak.over:
        seed = soak.rng.randrange(10**6)
        program = [sys.executable, "-P", "-c", TABLE, str(seed)]
        run = subprocess.Popen(program, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        soak.finish(run, (0,))
        soak.count("tables")


def soak(folder: Path, minutes: float, *, seed: int = 0, parts: str = "all", most: int = 4) -> Soak:
    """Run it all for so many minutes; ``parts`` may name some of sweeps, workers, checks, explorers and estimators, and every
    sweep is disturbed at most ``most`` times before it runs to its end."""
    every: dict[str, Callable[[Soak], None]] = {
        "sweeps": lambda one: sweeps(one, 1), "workers": lambda one: sweeps(one, 2),
        "checks": checks, "explorers": explorers, "estimators": estimators,
    }  # fmt: skip
    one = Soak(folder, time.monotonic() + 60 * minutes, random.Random(seed), most)
    problems: list[BaseException] = []

    def run(part: Callable[[Soak], None]) -> None:
        try:
            part(one)
        except BaseException as problem:
            problems.append(problem)

    chosen = [work for name, work in every.items() if parts == "all" or name in parts.split(",")]
    threads = [threading.Thread(target=run, args=(part,)) for part in chosen]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    if problems:
        raise problems[0]
    return one


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--minutes", type=float, default=60.0)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--parts", default="all")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        done = soak(Path(folder), given.minutes, seed=given.seed, parts=given.parts)
    for what, times in sorted(done.counts.items()):
        if what not in WRONG:
            print(f"{times:7} {what}")
    for what in WRONG:
        print(f"{done.counts[what]:7} {what}")
    print(*done.notes, sep="\n")
    sys.exit(1 if any(done.counts[what] for what in WRONG) else 0)


if __name__ == "__main__":
    main()
