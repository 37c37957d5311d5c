"""Kill a running sweep at random moments, start it again each time, and compare with a run that nobody disturbed.

``python -m benchmarks.faults`` kills 50 times (about five minutes), ``--kills N`` as often as you say, ``--workers 2`` with
worker processes. No trial may be lost or doubled, and all numbers must be the same to the last digit.
"""

import argparse
import random
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from giantstep.lab.store import Store
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.sweep.toml import read

SWEEP = """
seeds = "0-39"
routes = ["simulate(n_test=200)"]
measure = ["test_error", "captured"]

[setting]
target = "x1 + H2(x1)/sqrt(2)"
data = {d = 40}
network = {width = 60, activation = "relu"}
protocol = {steps = [{n = 80, eta = 1.0}], readout = {n = 80, penalty = 0.1}}

[axes]
noise = {linspace = [0.0, 1.0, POINTS]}
penalty = [0.01, 0.1]
"""


@dataclass(frozen=True)
class KillReport:
    """What the kills left: runs that were killed while they worked, rows, and whether all numbers are the undisturbed ones."""

    killed: int
    rows: int
    expected: int
    same: bool
    seconds: float


def command(sweep: Path, store: Path, workers: int) -> list[str]:
    more = [] if workers == 1 else ["--workers", str(workers)]
    return [sys.executable, "-P", "-m", "giantstep.cli", "sweep", str(sweep), "--store", str(store), "--json", *more]


def faults(folder: Path, kills: int, *, workers: int = 1, points: int = 60, seed: int = 0) -> KillReport:
    """Kill that often, run to the end, compare."""
    sweep, disturbed, quiet = folder / "sweep.toml", folder / "disturbed.sqlite", folder / "quiet.sqlite"
    sweep.write_text(SWEEP.replace("POINTS", str(points)))
    start = time.perf_counter()
    subprocess.run(command(sweep, quiet, 1), check=True, capture_output=True)
    whole = time.perf_counter() - start
    rng, killed = random.Random(seed), 0
    for k in range(kills):
        run = subprocess.Popen(command(sweep, disturbed, workers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        _wait(disturbed, k, run, rng.uniform(0.0, 0.02 * whole))
        killed += run.poll() is None
        run.kill()
        run.wait()
    subprocess.run(command(sweep, disturbed, workers), check=True, capture_output=True)
    rows, same = compare(sweep, disturbed, quiet)
    return KillReport(killed, rows, len(read(sweep)), same, time.perf_counter() - start)


def _wait(store: Path, k: int, run: subprocess.Popen, moment: float) -> None:
    """Until the run writes (every third time: until it has begun at all), and a moment more."""
    before, end = _size(store), time.monotonic() + 60
    while k % 3 and run.poll() is None and _size(store) == before and time.monotonic() < end:
        time.sleep(0.01)
    time.sleep(moment)


def _size(store: Path) -> int:
    return sum(path.stat().st_size for path in store.parent.glob(f"{store.name}*"))


def compare(sweep: Path, one: Path, other: Path) -> tuple[int, bool]:
    """Rows of the first store, and whether every trial is in both with the same numbers."""
    trials = list(read(sweep).trials())
    with Store.open(one, "read") as first, Store.open(other, "read") as second:
        pairs = zip(first.find(trials, ARRAYS), second.find(trials, ARRAYS), strict=True)
        same = all(
            a.key == b.key and all(np.array_equal(getattr(x, name), getattr(y, name)) for name in (*NUMBERS, *ARRAYS))
            for (a, x), (b, y) in pairs
            if x.test_error is not None
        )
        return len(first), same


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--points", type=int, default=60)
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        seen = faults(Path(folder), given.kills, workers=given.workers, points=given.points)
    said = "the same" if seen.same else "OTHER"
    print(
        f"{seen.killed} of {given.kills} kills met a running sweep; {seen.rows} rows of {seen.expected}, {said} numbers."
    )
    sys.exit(0 if seen.same and seen.rows == seen.expected else 1)


if __name__ == "__main__":
    main()
