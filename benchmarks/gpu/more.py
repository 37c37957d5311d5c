"""The other rows: the published figure, ten thousand trials, the parts one by one, and the same numbers as on the CPU."""

import json
import os
import subprocess
import sys
import time
from functools import partial
from typing import Any

import numpy as np

import giantstep as gs
from benchmarks import single_step
from benchmarks.gpu.job import best, cores, product_rate, seconds
from giantstep._machine.backend import jax, jnp
from giantstep._machine.counter import DEVICE
from giantstep.ridge import _many as many
from giantstep.ridge._resolvent import gram, gram_in_blocks
from giantstep.simulate import deflated_errors
from giantstep_papers.dandi.deflated import D, P, experiment
from giantstep_papers.dandi.single_step import EXPONENTS, N_TEST


def figure(small: bool) -> dict[str, Any]:
    """The published figure of the single step: every batch size, every seed."""
    sizes, seeds, n_test = ([2000], 2, 1000) if small else ([int(D**e) for e in EXPONENTS], 10, N_TEST)
    run = partial(deflated_errors, [experiment(n) for n in sizes], n_test=n_test, random="device")
    first = seconds(lambda: run(seed=seeds))
    found = []
    taken = seconds(lambda: found.extend(run(seed=seed) for seed in range(seeds)))
    rate = product_rate(2048 if small else 8192, "float32")
    floor = seeds * sum(single_step.operations(n, n_test) for n in sizes) / rate
    return {
        "row": "figure", "seconds": taken, "goal": 1.0, "first": first, "compile": first - taken / seeds, "floor": floor,
        "seconds / floor": taken / floor, "programs": len(sizes), "errors": np.mean(found, axis=0).tolist(),
        "d": D, "p": P, "seeds": seeds,
    }  # fmt: skip


def trial() -> gs.Setting:
    protocol = gs.Protocol((gs.GiantStep(400, 2.0),), gs.Ridge(400, 0.01))
    return gs.Setting(gs.Gaussian(200), gs.target("x1 + H2(x1)/2", noise=0.5), gs.Network(300, "relu"), protocol)


ROUTE = "simulate(n_test=1000)"
HOST = """
import json, time
import giantstep as gs
from benchmarks.gpu.more import ROUTE, trial
from benchmarks.gpu.job import cores
def run(count):
    start = time.perf_counter()
    gs.sweep(trial(), seeds=range(count), routes=ROUTE, workers=cores(), random="host", progress=False)
    return time.perf_counter() - start
few, more = FEW, MORE
print(json.dumps((run(more) - run(few)) / (more - few)))
"""


def trials(small: bool) -> dict[str, Any]:
    """Ten thousand trials of a sweep, and the time of one on all cores of the host without the time to start them."""
    count, few, more = (40, 4, 12) if small else (10_000, 4 * cores(), 24 * cores())
    run = lambda seeds: gs.sweep(trial(), seeds=seeds, routes=ROUTE, random="device", progress=False)  # noqa: E731
    first = seconds(lambda: run(range(count)))
    taken = seconds(lambda: run(range(count, 2 * count)))
    text = HOST.replace("FEW", str(few)).replace("MORE", str(more))
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True)
    each = json.loads(done.stdout) if done.returncode == 0 else float("nan")
    return {
        "row": "trials", "trials": count, "seconds": taken, "first": first, "compile": first - taken, "host cores": cores(),
        "host seconds": each * count, "host / device": each * count / taken, "goal": 20.0, "errors": done.stderr[-500:],
    }  # fmt: skip


def parts(small: bool) -> dict[str, Any]:
    """Seconds of the parts that have more than one implementation: what is the default, and what it could be."""
    n, p, batch, m = (400, 300, 4, 300) if small else (16000, 12000, 400, 750)
    key = jax.random.key(0)
    found: dict[str, Any] = {"row": "parts"}

    def add(name: str, function: Any, *given: Any) -> None:
        program = jax.jit(function)
        jax.block_until_ready(program(*given))
        found[name] = best(lambda: jax.block_until_ready(program(*given)), 2.0)

    add(f"{n} x {p} numbers, ours", lambda seed: DEVICE.normals(seed, (1,), 0, n, p), np.uint64(1))
    add(f"{n} x {p} numbers, JAX", lambda key: jax.random.normal(key, (n, p)), key)
    F = jax.random.normal(key, (n, p))
    add(f"Gram matrix of {n} x {p}, ours", gram, F)
    add(f"Gram matrix of {n} x {p}, one product", lambda F: F.T @ F, F)
    add(f"Gram matrix of {n} x {p}, in blocks", lambda F: gram_in_blocks(F, 8), F)
    F = jax.random.normal(key, (batch, 2 * m, m))
    A, B = jnp.einsum("snp,snq->spq", F, F) / (2 * m) + 0.01 * jnp.eye(m), F[:, 0]
    add(f"{batch} solves of {m}, in blocks", jax.vmap(many.in_blocks), A, B)
    add(f"{batch} solves of {m}, by the library", jax.vmap(many.by_library), A, B)
    return found


def numbers(random: str) -> list[float]:
    """Numbers that CPU and GPU must share: the path, the single penalty, the dual and the GCV routes, two steps."""
    results = []
    for width, n, penalty in (
        (60, 90, 0.05),
        (60, 90, (1e-4, 1e-3, 1e-2, 0.1, 1.0)),
        (120, 90, 0.05),
        (60, 90, "gcv"),
        (120, 90, 0.0),
    ):
        steps = (gs.GiantStep(80, 2.0, residual="full"), gs.GiantStep(70, 1.0))
        protocol = gs.Protocol(steps, gs.Ridge(n, penalty))
        setting = gs.Setting(gs.Gaussian(40), gs.target("x1 + x1*x2"), gs.Network(width, "gelu"), protocol)
        outcome = gs.simulate(setting, seed=range(2), n_test=300, spectrum=penalty == "gcv", random=random)
        results += [float(v) for v in outcome.test_error.ravel()]
    return results


def agreement(small: bool) -> dict[str, Any]:
    """The largest relative difference between this device and the CPU, for numbers drawn by the host and by the device."""
    text = "import json; from benchmarks.gpu.more import numbers; print(json.dumps([numbers(r) for r in ('host', 'device')]))"
    done = subprocess.run(
        [sys.executable, "-c", text], env={**os.environ, "JAX_PLATFORMS": "cpu"}, capture_output=True, text=True
    )
    if done.returncode:
        return {"row": "agreement", "errors": done.stderr[-500:]}
    start = time.perf_counter()
    pairs = zip(("host", "device"), json.loads(done.stdout), strict=True)
    gaps = {r: float(np.max(np.abs(np.array(numbers(r)) / np.array(there) - 1))) for r, there in pairs}
    return {
        "row": "agreement",
        "seconds": time.perf_counter() - start,
        **{f"random={r}": gap for r, gap in gaps.items()},
    }
