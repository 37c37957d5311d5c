"""python -m benchmarks.accuracy measure FILE | report FILE: how close the prediction of one giant step is to simulation.

``measure`` appends one line a network and seed to FILE (what is there already is not run again; an accelerator is advisable
at d = 2000); ``report`` compares every cell with the prediction and writes docs/accuracy.md, worst first.
"""

import json
import sys
import time
from itertools import product
from pathlib import Path

import numpy as np

import giantstep as gs

ACTIVATIONS = ("relu", "tanh", "gelu", "sin(x + pi/4)", "0.5*H1 + 0.2*H2 + 0.1*H3")
TARGETS = ("H1(x1)", "H1(x1) + H2(x1)/sqrt(2)", "relu(x1)")
SAMPLES = (0.7, 2.0, 5.0)  # n/d, of the step and of the readout
WIDTHS = (0.3, 0.75, 2.0)  # p/n
ALPHAS = tuple(round(0.05 * i, 2) for i in range(11))  # eta = n^alpha
PENALTIES = (1e-3, 1e-1)
NOISE = 0.5
D = 2000


def setting(activation: str, target: str, samples: float, width: float, d: int = D) -> gs.Setting:  # type: ignore[name-defined]
    """One network: all step sizes and penalties at once."""
    n = round(samples * d)
    steps = (gs.GiantStep(n, gs.power(ALPHAS)),)
    network = gs.Network(round(width * n), activation)
    return gs.Setting(
        gs.Gaussian(d), gs.target(target, noise=NOISE), network, gs.Protocol(steps, gs.Ridge(n, PENALTIES))
    )


def networks() -> list[tuple[str, str, float, float]]:
    return list(product(ACTIVATIONS, TARGETS, SAMPLES, WIDTHS))


def measure(file: Path, d: int, seeds: range, limit: float) -> None:
    """Simulate what is missing, until the time limit."""
    start, done = time.perf_counter(), {(*r["network"], r["seed"]) for r in read(file)}
    for seed in seeds:
        for network in networks():
            if (*network, seed) in done:
                continue
            if time.perf_counter() - start > limit:
                return
            outcome = gs.simulate(setting(*network, d=d), seed=seed, progress=False)
            line = {"network": network, "seed": seed, "d": d}
            line |= {
                k: np.asarray(getattr(outcome, k)).tolist() for k in ("test_error", "train_error", "train_objective")
            }
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")
            print(f"{time.perf_counter() - start:6.1f} s  {network} seed {seed}", flush=True)


def read(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text().splitlines()] if file.exists() else []


def main(arguments: list[str]) -> None:
    verb, file, *rest = arguments
    if verb == "measure":
        d, last, limit = (
            (int(rest[0]) if rest else D),
            (int(rest[1]) if len(rest) > 1 else 3),
            float(rest[2]) if len(rest) > 2 else 1e9,
        )
        measure(Path(file), d, range(last), limit)


if __name__ == "__main__":
    main(sys.argv[1:])
