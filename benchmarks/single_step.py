"""python -m benchmarks.single_step [--small | --figure]: the published figure of the single step, as lines of JSON.

One seed against its floor and against the literal loop; with --figure, or on an accelerator, the whole figure as well: three
batch sizes, ten seeds. The floor is the operations of the matrix products over the rate of one of them, measured beside it.
"""

import json
import os
import sys
import time

import numpy as np

from benchmarks import floor, literal
from giantstep._machine.backend import jax
from giantstep.simulate import deflated_errors as errors
from giantstep_papers.dandi.deflated import D, P, experiment
from giantstep_papers.dandi.single_step import EXPONENTS, N_TEST

ROUNDS = 3  # ours and theirs in turn, so that other programs slow both; the best of each counts


def operations(n: int, n_test: int, d: int = D, p: int = P) -> float:
    """Two products of the step, one of the features, half of the symmetric Gram, Cholesky, and the test's product."""
    return 6.0 * n * d * p + float(n) * p * p + p**3 / 3 + 2.0 * n_test * d * p


def seconds(run) -> float:
    start = time.perf_counter()
    run()
    return time.perf_counter() - start


def one_seed(n: int, n_test: int, dtype: str, loop: bool) -> dict:
    """One seed at one batch size."""
    setting = experiment(n)
    errors([setting], 0, n_test, dtype)  # compiled
    rates, ours, theirs = [], [], []
    for _ in range(ROUNDS):
        rates.append(floor.gemm_rate(16_384, D, P, dtype))
        ours.append(seconds(lambda: errors([setting], 1, n_test, dtype)))
        if loop:
            theirs.append(seconds(lambda: literal.deflated_errors(setting, 1, n_test)))
    least = operations(n, n_test) / max(rates)
    found = {"what": "one seed", "n": n, "n_test": n_test, "dtype": dtype, "GFLOP/s": max(rates) / 1e9}
    found |= {"seconds": min(ours), "floor": least, "ratio": min(ours) / least, "goal": 1.4}
    return found | ({"literal loop / ours": min(theirs) / min(ours), "loop goal": 1.0} if loop else {})


def figure(dtype: str, seeds: int = 10) -> dict:
    """The whole figure: every batch size, every seed."""
    settings = [experiment(int(D**e)) for e in EXPONENTS]
    errors(settings, seeds, N_TEST, dtype)  # compiled
    rate = floor.gemm_rate(131_072, D, P, dtype)
    start = time.perf_counter()
    found = np.mean([errors(settings, seed, N_TEST, dtype) for seed in range(seeds)], axis=0)
    taken = time.perf_counter() - start
    least = seeds * sum(operations(int(D**e), N_TEST) for e in EXPONENTS) / rate
    return {
        "what": f"{len(settings)} batch sizes x {seeds} seeds", "dtype": dtype, "seconds": taken, "goal on one H200": 5.0,
        "floor": least, "ratio": taken / least, "GFLOP/s": rate / 1e9, "errors": found.tolist(),
    }  # fmt: skip


def main() -> None:
    small, on_cpu = "--small" in sys.argv[1:], jax.default_backend() == "cpu"
    print(json.dumps({"device": str(jax.devices()[0]), "host cores": os.cpu_count()}), flush=True)
    n, n_test = (int(D**1.3), 10_000) if small else (int(D**1.65), N_TEST)
    for dtype in ("float64", "float32"):
        print(json.dumps(one_seed(n, n_test, dtype, loop=dtype == "float64")), flush=True)
    if "--figure" in sys.argv[1:] or not (on_cpu or small):
        print(json.dumps(figure("float32")), flush=True)


if __name__ == "__main__":
    main()
