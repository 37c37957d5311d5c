"""python -m benchmarks.gpu: seconds on an accelerator, and the same numbers as on the CPU."""

import json
import os
import subprocess
import sys
import time

import giantstep as gs
from giantstep._machine.backend import jax

SMALL = "import sys, json, giantstep as gs; from benchmarks.gpu import small; print(json.dumps(small()))"


def small() -> list[float]:
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
        network = gs.Network(width, "gelu")
        setting = gs.Setting(
            gs.Gaussian(40), gs.target("x1 + x1*x2"), network, gs.Protocol(steps, gs.Ridge(n, penalty))
        )
        outcome = gs.simulate(setting, seed=range(2), n_test=300, spectrum=penalty == "gcv")
        results += [float(v) for v in outcome.test_error.ravel()]
    return results


def agreement() -> None:
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", SMALL], env=env, capture_output=True, text=True)
    if done.returncode:
        print(done.stderr)
        return
    here, there = small(), json.loads(done.stdout)
    gap = max(abs(a / b - 1) for a, b in zip(here, there, strict=True))
    print(f"largest relative difference between {jax.devices()[0].platform} and cpu: {gap:.1e}")


def timed(name: str, setting: gs.Setting, seeds, n_test: int, dtype: str = "float64") -> None:  # type: ignore[name-defined]
    gs.simulate(setting, seed=seeds, n_test=n_test, dtype=dtype, progress=False)
    start = time.perf_counter()
    outcome = gs.simulate(setting, seed=seeds, n_test=n_test, dtype=dtype, progress=False)
    mean = outcome.mean()
    print(f"{name:52s} {dtype}  {time.perf_counter() - start:7.2f} s   test error {mean.test_error}", flush=True)


def main() -> None:
    print(jax.devices(), os.cpu_count(), "host cores")
    agreement()
    target = gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5)
    for d in (2000, 8000):
        protocol = gs.Protocol((gs.GiantStep(2 * d, gs.power(0.3)),), gs.Ridge(2 * d, 0.01))
        setting = gs.Setting(gs.Gaussian(d), target, gs.Network(3 * d // 2, "relu", centred=True), protocol)
        for dtype in ("float64", "float32"):
            timed(f"one step, d = {d}, n = {2 * d}, p = {3 * d // 2}", setting, 0, 2 * d, dtype)
    for n in (3326, 29532, 262144):
        setting = gs.presets.dandi(n, 512, 1024, 1024.0, 1e-4, target="x1 + x2 + x1^2 - x2^2")
        timed(f"10 seeds, d = 512, p = 1024, n = {n}, 100000 tests", setting, range(10), 100_000)


if __name__ == "__main__":
    main()
