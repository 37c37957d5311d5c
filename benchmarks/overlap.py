"""python -m benchmarks.overlap [--small]: the overlap route over d, and against the dense route."""

import sys
import threading
import time

import numpy as np
import psutil

import giantstep as gs
from benchmarks.floor import best
from giantstep._machine.random import Stream, normals


def setting(n: int, d: int, p: int, steps: int, penalty: float | None) -> gs.Setting:  # type: ignore[name-defined]
    protocol = gs.Protocol((gs.GiantStep(n, float(p)),) * steps, None if penalty is None else gs.Ridge(n, penalty))
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5), gs.Network(p, "relu"), protocol)


def over_dimensions(n: int, p: int, steps: int, dimensions: tuple[int, int]) -> None:
    made = [setting(n, d, p, steps, None) for d in dimensions]
    for s in made:
        gs.simulate(s, method="overlap", progress=False)
    times = np.array(
        [[best(lambda s=s: gs.simulate(s, method="overlap", progress=False), 1) for s in made] for _ in range(7)]
    )
    low, high = times.min(axis=0)
    print(f"overlap route, {steps} steps, n = {n}, p = {p}, 10000 test samples: {high:.2f} s at d = {dimensions[1]}")
    print(f"  d = {dimensions[1]} / d = {dimensions[0]}   {high / low:6.2f}   (goal: at most 1.1)\n")


def peak(run) -> float:
    """MiB above what was in use before, sampled every millisecond."""
    process, seen, done = psutil.Process(), [], threading.Event()

    def watch() -> None:
        while not done.is_set():
            seen.append(process.memory_info().rss)
            time.sleep(1e-3)

    watcher, before = threading.Thread(target=watch), process.memory_info().rss
    watcher.start()
    run()
    done.set()
    watcher.join()
    return (max(seen) - before) / 2**20


def against_dense(n: int, d: int, p: int) -> None:
    s = setting(n, d, p, 1, 0.01)
    small = setting(1000, d, p, 1, 0.01)
    gs.simulate(small, method="overlap", progress=False)
    memory = peak(lambda: gs.simulate(s, method="overlap", progress=False))
    seconds = {"overlap": float("inf"), "dense": float("inf")}
    for _ in range(3):  # in turn, so that other programs slow both
        for method, repeats in (("overlap", 4), ("dense", 1)):
            again = best(lambda method=method: gs.simulate(s, seed=1, method=method, progress=False), repeats)
            seconds[method] = min(seconds[method], again)
    print(f"one step and a ridge fit: d = {d}, n = {n}, p = {p}, 10000 test samples, float64")
    print(f"  dense / overlap          {seconds['dense'] / seconds['overlap']:6.2f}   (goal: at least 10)")
    print(f"  peak of overlap          {memory:6.0f}   MiB above what was in use before (goal: below 200)\n")


def random_numbers(rows: int, columns: int) -> None:
    plain = np.random.default_rng(0)
    theirs = best(lambda: plain.standard_normal((rows, columns)), 4)
    ours = best(lambda: normals(1, (Stream.STEP, 0), 0, rows, columns), 4)
    print(f"random numbers: {rows} x {columns} N(0, 1), keyed by seed, stream and block")
    print(f"  NumPy's rate / ours      {ours / theirs:6.2f}   (goal: at most 3)\n")


def main() -> None:
    small = "--small" in sys.argv[1:]
    over_dimensions(10**5 if small else 10**6, 6, 2, (10**3, 10**6))
    against_dense(*((32_768, 256, 16) if small else (262_144, 512, 32)))
    random_numbers(10**5 if small else 10**6, 8)


if __name__ == "__main__":
    main()
