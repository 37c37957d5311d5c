"""Settings drawn at random at small d and with long steps, predicted and simulated by plain NumPy: what bands are calibrated on.

python -m benchmarks.band SEED SECONDS FILE      adds a line of JSON for every setting
python -m benchmarks.band FILE                   the share of cells inside their bands
"""

import json
import sys
import time
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.special import ndtr

import giantstep as gs
from giantstep.theory import parameters
from giantstep.theory.band import half_width
from giantstep.theory.one_step.grid import curves

ACTIVATIONS: dict[str, Any] = {
    "relu": (lambda x: np.maximum(x, 0.0), lambda x: (x > 0) * 1.0),
    "gelu": (lambda x: x * ndtr(x), lambda x: ndtr(x) + x * np.exp(-(x**2) / 2) / sqrt(2 * pi)),
    "tanh(x + 0.8)": (lambda x: np.tanh(x + 0.8), lambda x: 1 - np.tanh(x + 0.8) ** 2),
    "tanh": (np.tanh, lambda x: 1 - np.tanh(x) ** 2),
    "sin(x + pi/4)": (lambda x: np.sin(x + pi / 4), lambda x: np.cos(x + pi / 4)),
}
TARGETS = (
    "x1 + H2(x1)/sqrt(2)", "x1 + x1*x2", "x1 + H2(x2)/sqrt(2)", "tanh(x1) + x2*x3", "x1", "relu(x1)",
)  # fmt: skip
MOVES = (0.1, 0.4, 1.0, 2.0, 4.0)  # U
TESTS = 1500  # test samples a seed
WIDEST = 900


def drawn(rng: np.random.Generator) -> gs.Setting:
    """A setting whose five step sizes move a typical neuron by MOVES."""
    d = int(rng.choice([60, 100, 200, 400], p=[0.25, 0.35, 0.3, 0.1]))
    n = int(rng.uniform(1, 6) * d)
    p = int(min(rng.uniform(0.3, 1.5) * n, WIDEST))
    penalties = np.exp(rng.uniform(np.log(1e-3), 0, 2)).tolist()
    target = gs.target(str(rng.choice(TARGETS)), noise=float(rng.choice([0.1, 0.5])))
    law = str(rng.choice(["gaussian", "rademacher"]))
    network = gs.Network(p, str(rng.choice(list(ACTIVATIONS))), second_layer=law)

    def with_step(eta: Any) -> gs.Setting:
        return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol((gs.GiantStep(n, eta),), gs.Ridge(n, penalties)))

    unit = abs(float(curves(*parameters(with_step(1.0))).strength[0]))
    return with_step([move / unit for move in MOVES])


def measured(setting: gs.Setting, rng: np.random.Generator, seeds: int) -> np.ndarray:
    """Test and training errors (2, seeds, E, L) of networks trained as the papers write it."""
    d, p, n = setting.d, setting.p, setting.protocol.readout_size
    sigma, slope = ACTIVATIONS[setting.network.activation.name]
    step, readout = setting.protocol.steps[0], setting.protocol.readout
    etas, penalties = np.asarray(step.eta), np.asarray(readout.penalty)  # type: ignore[union-attr]
    errors = np.zeros((2, seeds, etas.size, penalties.size))

    def batch(count: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((count, d))
        return X, np.asarray(setting.target(X[:, :3].T)) + setting.target.noise * rng.standard_normal(count)

    for k in range(seeds):
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        gaussian = setting.network.second_layer == "gaussian"
        a = rng.standard_normal(p) if gaussian else rng.choice([-1.0, 1.0], p)
        X, y = batch(n)
        G = a[:, None] * ((slope(W @ X.T) * y) @ X) / (n * sqrt(p))
        (X, y), (Z, t) = batch(n), batch(TESTS)
        for i, eta in enumerate(etas):
            F, H = sigma(X @ (W + eta * G).T), sigma(Z @ (W + eta * G).T)
            U, s, Vt = np.linalg.svd(F, full_matrices=False)
            c, HV = s * (U.T @ y) / n, H @ Vt.T
            for j, lam in enumerate(penalties):
                b = c / (s**2 / n + lam)
                errors[:, k, i, j] = np.mean((t - HV @ b) ** 2), np.mean((y - U @ (s * b)) ** 2)
    return errors


def record(setting: gs.Setting, rng: np.random.Generator) -> dict[str, Any]:
    """Predictions, means over networks and their standard errors."""
    found = curves(*parameters(setting))
    seeds = 16 if setting.d <= 100 else 8 if setting.d <= 200 else 4
    errors = measured(setting, rng, seeds)
    mean, error = errors.mean(axis=1), errors.std(axis=1, ddof=1) / sqrt(seeds)
    size = min(setting.d, setting.p, setting.protocol.readout_size)
    predicted = np.stack([found.errors.test, found.errors.train])
    return {
        "size": size, "U": found.strength.tolist(), "predicted": predicted.tolist(), "mean": mean.tolist(),
        "se": error.tolist(), "setting": setting.to_plain(),
    }  # fmt: skip


def shares(lines: list[str]) -> str:
    """How many cells are inside their bands, and inside those widened by two standard errors."""
    text = [f"{len(lines)} settings"]
    for k, name in enumerate(("test_error", "train_error")):
        inside, wider = [], []
        for one in map(json.loads, lines):
            predicted, mean, se = (np.array(one[key][k]) for key in ("predicted", "mean", "se"))
            half = predicted * half_width(name, one["size"], np.abs(one["U"]))[:, None]
            inside.append(np.abs(predicted - mean) < half)
            wider.append(np.abs(predicted - mean) < half + 2 * se)
        text.append(f"{name}: {100 * np.mean(inside):.1f}% inside, {100 * np.mean(wider):.1f}% within 2 s.e. of it")
    return "\n".join(text)


def main(arguments: list[str]) -> None:
    if len(arguments) == 1:
        print(shares(Path(arguments[0]).read_text(encoding="utf-8").splitlines()))
        return
    seed, seconds, file = arguments
    rng, end = np.random.default_rng(int(seed)), time.perf_counter() + float(seconds)
    while time.perf_counter() < end:
        with Path(file).open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(record(drawn(rng), rng)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
