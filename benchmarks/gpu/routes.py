"""The routes that are no whole program, on the device and on all cores of the host: SGD readout, overlap chain, equivalent model,
mean-field particles and the estimator."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import numpy as np

import giantstep as gs
from benchmarks.gpu.job import best, cores, seconds
from giantstep.estimator import GiantStepRegressor

TARGET = "x1 + x1*x2"


def setting(d: int, n: int, p: int, readout: Any = None) -> gs.Setting:
    protocol = gs.Protocol((gs.GiantStep(n, 5.0),), readout or gs.Ridge(n, 0.01))
    return gs.Setting(gs.Gaussian(d), gs.target(TARGET, noise=0.3), gs.Network(p, "relu"), protocol)


def calls(small: bool) -> dict[str, Callable[[], Any]]:
    """What is timed, by name; the same on the device and on the host."""
    d, n, p = (40, 90, 60) if small else (2000, 4000, 3000)
    work: Any = {"n_test": 2 * n, "progress": False}
    sgd = setting(d, n, p, gs.SGD(n, 0.2))
    wide = setting(20 * d, n, p)
    particles = gs.MeanField(
        20 if small else 200, particles=100 if small else 2000, passes=2, pool=256 if small else 8192
    )
    X = np.random.default_rng(0).standard_normal((300 if small else 100_000, 8 if small else 100)).astype(np.float32)
    y = X[:, 0] + X[:, 0] * X[:, 1]
    return {
        "SGD readout": lambda: gs.simulate(sgd, 0, **work),
        "overlap chain": lambda: gs.simulate(wide, 0, method="overlap", **work),
        "equivalent Gaussian": lambda: gs.equivalent(setting(d, n, p), "gaussian", 0, **work),
        "mean-field particles": lambda: gs.simulate(particles, 0),
        "estimator": lambda: GiantStepRegressor(model="network", device="auto", random_state=0).fit(X, y),
    }


def timed(small: bool) -> dict[str, list[float]]:
    """The seconds of the first and of the best later call of each."""
    return {name: [seconds(run), best(run, 3.0)] for name, run in calls(small).items()}


def routes(small: bool) -> dict[str, Any]:
    """Every route here, and then on the host in another process."""
    here = timed(small)
    text = f"import json; from benchmarks.gpu.routes import timed; print(json.dumps(timed({small})))"
    env = {**os.environ, "JAX_PLATFORMS": "cpu"}
    done = subprocess.run([sys.executable, "-c", text], env=env, capture_output=True, text=True)
    there = json.loads(done.stdout.splitlines()[-1]) if done.returncode == 0 else {}
    rows = {
        name: {"seconds": again, "compile": first - again, "host seconds": there.get(name, [None, None])[1]}
        for name, (first, again) in here.items()
    }
    return {"row": "routes", "host cores": cores(), "routes": rows, "errors": done.stderr[-500:]}
