"""python -m benchmarks.workers [N]: throughput of N pinned worker processes (all cores by default) over that of one, in one run.

Two kinds of work: many small trials, and large ones that a process with all cores spreads over them by itself.
"""

import json
import os
import sys
import time
from contextlib import closing

import giantstep as gs
from giantstep.lab.sweep.run import planned
from giantstep.lab.sweep.sweep import make
from giantstep.lab.work.block import Block
from giantstep.lab.work.executor import Executor, Here
from giantstep.lab.work.pool import Pool

KINDS = {"small": (60, 24, 24), "large": (800, 12, 1)}  # d, settings, seeds


def blocks(kind: str) -> list[Block]:
    d, settings, seeds = KINDS[kind]
    protocol = gs.Protocol((gs.GiantStep(2 * d, 1.0),), gs.Ridge(2 * d, 0.1))
    base = gs.Setting(gs.Gaussian(d), gs.target("x1 + H2(x1)/2", noise=0.1), gs.Network(d, "relu"), protocol)
    noise = {"linspace": [0.1, 1.0, settings]}
    return planned(make(base, {"noise": noise}, seeds=range(seeds), routes=["simulate(n_test=1000)"]))


def seconds(where: Executor, every: list[Block], workers: int) -> float:
    """After every worker has run one block, so that importing and compiling does not count."""
    with closing(where):
        list(where.run(every[:workers] * 2))
        start = time.perf_counter()
        done = list(where.run(every))
        took = time.perf_counter() - start
    assert all(each.refused is None for each in done)
    return took


def main() -> None:
    count = int(sys.argv[1]) if len(sys.argv) > 1 else os.cpu_count() or 1
    share = max(1, (os.cpu_count() or 1) // count)
    for kind in KINDS:
        every = blocks(kind)
        one, several = seconds(Pool(1, cores=share), every, 1), seconds(Pool(count, cores=share), every, count)
        here = seconds(Here(), every, 1)
        row = {"kind": kind, "workers": count, "blocks": len(every), "over one": round(one / several, 2)}
        print(json.dumps({**row, "over one process with all cores": round(here / several, 2)}))


if __name__ == "__main__":
    main()
