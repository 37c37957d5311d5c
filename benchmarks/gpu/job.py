"""The rows of the table: what is run by giantstep and by the plain script, with the goals."""

import os
import time
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np

import giantstep as gs
from benchmarks.gpu import script
from giantstep._machine.backend import full_precision, jax, jnp

PENALTIES = (0.01,)


@dataclass(frozen=True)
class Contest:
    """One row of sizes: ``goal`` is the largest ratio of our time to that of the script."""

    name: str
    d: int
    n: int
    p: int
    n_test: int
    dtype: str = "float64"
    seeds: int = 1
    etas: tuple[float, ...] = (10.0,)
    penalties: tuple[float, ...] = PENALTIES
    goal: float = 1.1
    precision: str = "full"

    @cached_property
    def setting(self) -> gs.Setting:
        eta, penalty = (x if len(x) != 1 else x[0] for x in (self.etas, self.penalties))
        protocol = gs.Protocol((gs.GiantStep(self.n, eta),), gs.Ridge(self.n, penalty))
        network = gs.Network(self.p, "relu", centred=True)
        return gs.Setting(gs.Gaussian(self.d), gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5), network, protocol)

    @property
    def operations(self) -> float:
        """The fewest of one seed, step size and penalty: two products of the step, features, half a Gram, Cholesky, the test."""
        return (6.0 * self.n + 2.0 * self.n_test) * self.d * self.p + float(self.n) * self.p**2 + self.p**3 / 3

    @property
    def bytes(self) -> float:
        """The largest arrays needed at once: W, its gradient, the Gram matrix and its factor, and a batch with features."""
        item = np.dtype(self.dtype).itemsize
        return item * (2.0 * self.p * self.d + self.n * (self.d + self.p)) + 2 * 8.0 * self.p**2

    def ours(self) -> Any:
        options: dict[str, Any] = {} if self.precision == "full" else {"precision": self.precision}
        work = {"n_test": self.n_test, "dtype": self.dtype, "progress": False, "random": "device", "method": "dense"}
        return gs.simulate(self.setting, range(self.seeds), **work, **options)

    def theirs(self) -> list[Any]:
        """The script in a loop over seeds and step sizes; the penalties of one share its Gram matrix."""
        sizes = {"d": self.d, "n": self.n, "p": self.p, "n_test": self.n_test, "dtype": self.dtype}
        run, penalties = partial(script.errors, **sizes), self.penalties
        with full_precision():
            keys = [jax.random.key(seed) for seed in range(self.seeds)]
            found = [run(key, jnp.float64(eta), penalties) for key in keys for eta in self.etas]
            return jax.block_until_ready(found)


def tasks(small: bool) -> dict[str, Contest]:
    """The rows by name."""
    many = {"seeds": 8, "etas": tuple(np.linspace(0.0, 20.0, 10).tolist()), "penalties": (1e-3, 1e-2, 0.1, 1.0, 10.0)}
    if small:
        few = {**many, "seeds": 2, "etas": (0.0, 5.0), "penalties": (0.01, 0.1)}
        return {
            "small": Contest("small", 60, 120, 90, 120, goal=2.0),
            "grid": Contest("grid", 40, 90, 60, 90, goal=1 / 3, **few),
        }
    return {
        "small": Contest("small", 2000, 4000, 3000, 4000, goal=2.0),
        "middle": Contest("middle", 8000, 16000, 12000, 16000),
        "large": Contest("large", 16384, 16384, 16384, 16384),
        "float32": Contest("float32", 8000, 16000, 12000, 16000, "float32"),
        "tf32": Contest("tf32", 8000, 16000, 12000, 16000, "float32", precision="tf32"),
        "grid": Contest("grid", 500, 1000, 750, 1000, goal=1 / 3, **many),
    }


def seconds(run: Any) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def best(run: Any, budget: float = 6.0) -> float:
    """The shortest of a few timings, until the time for them is used up."""
    times = [seconds(run)]
    while len(times) < 5 and sum(times) + min(times) < budget:
        times.append(seconds(run))
    return min(times)


def measured(task: Contest) -> dict[str, Any]:
    """One row: ours first, so that the peak of memory is ours."""
    first = seconds(task.ours)
    ours = best(task.ours)
    peak = (jax.local_devices()[0].memory_stats() or {}).get("peak_bytes_in_use")
    outcome = task.ours()
    found: dict[str, Any] = {"row": task.name, "d": task.d, "n": task.n, "p": task.p, "dtype": task.dtype}
    found |= {
        "seeds": task.seeds,
        "etas": len(task.etas),
        "penalties": len(task.penalties),
        "precision": task.precision,
    }
    found |= {"seconds": ours, "first": first, "compile": first - ours, "status": str(outcome.status)}
    found |= {"test error": float(np.mean(np.asarray(outcome.test_error)))}
    if peak is not None and task.seeds * len(task.etas) == 1:
        found |= {"peak GiB": peak / 2**30, "needed GiB": task.bytes / 2**30, "peak / needed": peak / task.bytes}
    rate = product_rate(min(task.p, 8192), task.dtype)
    runs = task.seeds * len(task.etas)
    found |= {"product TFLOP/s": rate / 1e12, "share of the product rate": task.operations * runs / ours / rate}
    first_of_theirs = seconds(task.theirs)
    theirs = best(task.theirs)
    found |= {"script": theirs, "script compile": first_of_theirs - theirs, "ratio": ours / theirs, "goal": task.goal}
    script_error = float(np.mean(np.asarray(task.theirs()))) + 0.5**2
    return found | {"script test error": script_error}


def again(task: Contest) -> dict[str, Any]:
    """The first run of a shape that another process has compiled and cached."""
    first = seconds(task.ours)
    return {"row": "from the cache", "compile": first - best(task.ours), "first": first}


def product_rate(size: int, dtype: str) -> float:
    """Operations a second of a square product."""
    A = jax.random.normal(jax.random.key(0), (size, size), jnp.dtype(dtype))
    with full_precision():
        product = jax.jit(lambda A: A @ A.T)
        jax.block_until_ready(product(A))
        return 2.0 * size**3 / best(lambda: jax.block_until_ready(product(A)), 1.0)


def cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
