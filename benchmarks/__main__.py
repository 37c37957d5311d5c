"""python -m benchmarks [--small]: the dense route against its floor and against the literal loop."""

import sys
import time

import numpy as np

import giantstep as gs
from benchmarks import floor, literal


def setting(n: int, d: int, p: int, eta, penalty) -> gs.Setting:  # type: ignore[name-defined]
    network = gs.Network(p, "relu", centred=True)
    protocol = gs.Protocol((gs.GiantStep(n, eta),), gs.Ridge(n, penalty))
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5), network, protocol)


def against_floor(n: int, d: int, p: int) -> None:
    stages = floor.floor(n, d, p, n)
    rate = stages.pop("GEMM rate (GFLOP/s)")
    total = sum(stages.values())
    s = setting(n, d, p, gs.power(0.3), 0.01)
    seconds = floor.best(lambda: gs.simulate(s, seed=1, n_test=n, progress=False), 3)
    print(f"one step, one penalty: d = {d}, n = {n}, p = {p}, {n} test samples, float64, {rate:.1f} GFLOP/s")
    for name, value in stages.items():
        print(f"  {name:24s} {value / total:6.1%} of the floor")
    print(f"  giantstep / floor        {seconds / total:6.2f}   (goal: at most 1.4)\n")


def against_the_loop(n: int, d: int, p: int) -> None:
    etas, penalties = np.linspace(0.0, 20.0, 10).tolist(), np.geomspace(1e-4, 1e2, 20).tolist()
    s = setting(n, d, p, etas, penalties)
    ours = gs.simulate(s, seed=1, n_test=n, progress=False)
    seconds = floor.best(lambda: gs.simulate(s, seed=1, n_test=n, progress=False), 2)
    start = time.perf_counter()
    theirs = literal.test_errors(s, 1, etas, penalties, n)
    loop = time.perf_counter() - start
    gap = float(np.max(np.abs(ours.test_error / theirs - 1)))
    print(f"10 step sizes x 20 penalties: d = {d}, n = {n}, p = {p}, {n} test samples, float64")
    print(
        f"  literal loop / giantstep {loop / seconds:6.2f}   (goal: at least 6); largest relative difference {gap:.1e}\n"
    )


def main() -> None:
    small = "--small" in sys.argv[1:]
    against_floor(*((800, 400, 600) if small else (4000, 2000, 3000)))
    against_the_loop(*((400, 200, 300) if small else (2000, 1000, 1500)))


main()
