"""Forecast: the trials, operations, memory and time of a sweep, estimated before it runs."""

import math
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from giantstep._machine import memory as _memory
from giantstep._training.form import covers, formed
from giantstep._training.plan import MAX_SEEDS, TOGETHER_BYTES, Plan, make_plan
from giantstep.equivalent import extra_numbers
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.lab.store.trial import DEFAULTS, Route
from giantstep.lab.work.block import Block
from giantstep.results.table import duration
from giantstep.simulate import _cost as cost
from giantstep.simulate import _solver as solver

__all__ = ["Forecast", "forecast", "planned", "together"]

MOST = 2048  # seeds of one call on the device
WORK = 2e10  # operations of a block, about a second: the work that a crash loses, and the time between progress updates
SHARE = 0.5  # of the speed of a matrix product that whole runs reach
START = 1.5  # seconds to compile the first block of a shape
CALL = 0.02  # seconds of a call in addition to its operations
THEORY = 0.1  # seconds of a prediction once it is compiled


@dataclass(frozen=True)
class Forecast:
    """The cost of a sweep on this machine.

    Attributes:
        trials: the number of all trials.
        missing: the number of trials to run.
        blocks: the number of calls that run them.
        work: their floating-point operations.
        bytes: the memory of the largest call.
        seconds: the time with that many workers.
        rate: operations per second of a matrix product on this machine.
        workers: the number of worker processes.
    """

    trials: int
    missing: int
    blocks: int
    work: float
    bytes: float
    seconds: float
    rate: float
    workers: int

    def __str__(self) -> str:
        left = "all" if self.missing == self.trials else f"{self.missing}"
        workers = "" if self.workers == 1 else f" with {self.workers} workers"
        if not self.missing:
            return f"{self.trials} trials, all of them stored: nothing is left to run."
        return (
            f"{self.trials} trials, {left} to run in {self.blocks} calls: {_scaled(self.work)}FLOP, "
            f"{_memory_text(self.bytes * self.workers)} of memory, {duration(self.seconds, rough=True)}{workers} "
            f"({_scaled(self.rate)}FLOP/s measured here)."
        )


def planned(setting: Setting, route: Route, memory: float | None = None, seeds: int = 1) -> Plan:
    """Plan a random route: its method, memory and work. A route that does not fit in memory is refused."""
    options = _options(route)
    item = 8 if options["dtype"] == "float64" else 4
    if route.verb == "equivalent":
        noise, table = extra_numbers(setting, options["model"], options["base"])
        return make_plan(setting, seeds, options["n_test"], item, memory, noise=noise, table=table)
    method = {"auto": cost.best, "dense": make_plan, "overlap": cost.plan}[options["method"]]
    planner = solver.planner(method, "auto", setting, options["spectrum"])
    return planner(setting, seeds, options["n_test"], item, memory)


def _options(route: Route) -> dict[str, Any]:
    return {**DEFAULTS[route.verb], **dict(route.options)}


@cache
def together(setting: Setting, route: Route) -> int:
    """The number of seeds in one call: as many as take about a second, and fit in little memory or on the device."""
    plan, options = planned(setting, route), _options(route)
    if options["random"] == "device" and plan.method == "dense" and route.verb == "simulate":
        if plan.solver == "direct" and covers(setting, bool(options["spectrum"])):
            with suppress(InputError):  # one seed does not fit there
                return formed(setting, MOST, options["n_test"], options["dtype"], None, plan.work)[1].seeds
    return max(1, min(MAX_SEEDS, int(TOGETHER_BYTES // (plan.bytes / plan.seeds)), int(WORK // plan.work)))


def forecast(
    every: Iterable[Block], missing: Iterable[Block], *, workers: int = 1, memory: float | None = None
) -> Forecast:
    """Estimate the cost of the missing blocks."""
    left = list(missing)
    share = None if memory is None else memory / workers
    plans = [planned(b.setting, b.route, share) if b.route.random else None for b in left]
    work = sum(p.work * len(b.seeds) for p, b in zip(plans, left, strict=True) if p is not None)
    largest = max(
        (p.bytes / p.seeds * len(b.seeds) for p, b in zip(plans, left, strict=True) if p is not None), default=0.0
    )
    rate = _rate() if left else 0.0
    shapes = len({_shape(block) for block in left})
    predicted = sum(len(b.trials) for b, p in zip(left, plans, strict=True) if p is None)
    busy = work / (SHARE * rate) + CALL * len(left) + THEORY * predicted if left else 0.0
    seconds = START * shapes + busy / max(1, min(workers, len(left)))
    trials, ahead = (sum(len(block.trials) for block in some) for some in (every, left))
    return Forecast(trials, ahead, len(left), work, largest, seconds, rate, workers)


def _shape(block: Block) -> tuple:
    """The sizes that need a new compilation when they change, approximately."""
    setting = block.setting
    sizes = (setting.d, setting.p, setting.protocol.sizes(), len(block.seeds), len(block.members))
    return (*sizes, block.route.verb, setting.network.activation.name)


@cache
def _rate() -> float:
    """Operations per second of a matrix product, the best of three."""
    n = 1024
    A = np.random.default_rng(0).standard_normal((n, n))
    took = []
    for _ in range(3):
        start = time.perf_counter()
        np.matmul(A, A)
        took.append(time.perf_counter() - start)
    return 2.0 * n**3 / min(took)


def _scaled(number: float) -> str:
    """A number with a prefix such as k, M or G."""
    power = min(5, max(0, int(math.log10(number) // 3))) if number >= 1 else 0
    return f"{number / 1000**power:.3g} {' kMGTP'[power].strip()}"


def _memory_text(number: float) -> str:
    return f"{number / _memory.GIB:.2g} GiB" if number >= 0.1 * _memory.GIB else f"{number / 2**20:.3g} MiB"
