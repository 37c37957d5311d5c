"""Activations with tails of all weights at sizes from d = 8 to 900, predicted and simulated by plain NumPy.

python -m benchmarks.tails SEED SECONDS FILE      adds a line of JSON for every setting
python -m benchmarks.tails FILE                   what of it the status tells
"""

import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import solve

import giantstep as gs

ACTIVATIONS = (
    "relu", "tanh", "x^2", "H2", "H3", "H4", "H5", "H6/10", "H8/100", "x^3", "x^5", "x + H3/2", "x + H4/4",
    "relu(x)^2", "relu(x)^3", "sin(3*x)", "abs(x)^3", "relu(x - 1)", "relu(x - 2)",
)  # fmt: skip
TARGETS = ("x1", "x1 + H2(x1)/2", "H2(x1)", "x1 + H3(x1)/2")
DIMENSIONS = (8, 12, 16, 20, 30, 60, 120, 300, 600, 900)
RATIOS = ((1, 0.5), (2, 1.3), (2, 0.6), (4, 3), (2, 4), (2, 2), (1, 1.5))  # n/d and p/d
PENALTIES = (1e-3, 1e-2, 0.1, 1.0)
STEPS = {"none": 0, "one": 1, "two": 2, "pairs": 1, "own": 1}
TESTS = 4000
WRONG, CLOSE = 0.1, 0.05


def drawn(rng: np.random.Generator) -> gs.Setting:
    """A setting with four penalties: no step, one or two, pairs of neurons, or a readout on the batch of the step."""
    d = int(rng.choice(DIMENSIONS))
    samples, neurons = RATIOS[rng.integers(len(RATIOS))]
    n, p = int(samples * d), 2 * max(int(neurons * d) // 2, 1)
    family = str(rng.choice(list(STEPS)))
    steps = (gs.GiantStep(n, float(np.exp(rng.uniform(np.log(0.2), np.log(3))))),) * STEPS[family]
    batch = "reuse" if family == "own" else "fresh"
    target = gs.target(str(rng.choice(TARGETS)), noise=float(rng.choice([0.1, 0.5, 1.0])))
    network = gs.Network(p, str(rng.choice(ACTIVATIONS)), symmetric=family == "pairs")
    readout = gs.Ridge(n, PENALTIES, batch=batch)
    return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol(steps, readout))


def measured(setting: gs.Setting, rng: np.random.Generator, seeds: int) -> np.ndarray:
    """Test errors (seeds, L) of networks trained as the papers write it."""
    d, p, n = setting.d, setting.p, setting.protocol.readout_size
    sigma, drawn_neurons = setting.network.activation, setting.network.drawn
    pairs = p // drawn_neurons
    errors = np.zeros((seeds, len(PENALTIES)))

    def batch(count: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((count, d))
        noise = setting.target.noise * rng.standard_normal(count)
        return X, np.asarray(setting.target(X[:, : setting.target.rank].T)) + noise

    for k in range(seeds):
        W = rng.standard_normal((drawn_neurons, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        a = rng.standard_normal(drawn_neurons)
        if pairs == 2:
            W, a = np.concatenate([W, W]), np.concatenate([a, -a])
        X, y = batch(n)
        for t, step in enumerate(setting.protocol.steps):
            X, y = batch(n) if t else (X, y)
            slope = np.asarray(sigma.slope(X @ W.T))
            W = W + float(step.eta) * p**-0.5 * a[:, None] * ((slope * y[:, None]).T @ X) / n  # type: ignore[arg-type]
        if setting.protocol.readout.batch == "fresh":  # type: ignore[union-attr]
            X, y = batch(n)
        test, labels = batch(TESTS)
        F, T = np.asarray(sigma(X @ W.T)), np.asarray(sigma(test @ W.T))
        for j, penalty in enumerate(PENALTIES):
            b = solve(F.T @ F / n + penalty * np.eye(p), F.T @ y / n, assume_a="sym")
            errors[k, j] = np.mean((labels - T @ b) ** 2)
    return errors


def one(rng: np.random.Generator) -> dict[str, Any]:
    """A setting, its prediction and what networks measure."""
    setting = drawn(rng)
    predicted = gs.theory(setting)
    seeds = int(np.clip(36000 // max(setting.protocol.readout_size, setting.p), 12, 300))
    errors = measured(setting, rng, seeds)
    return {
        "setting": setting.to_plain(),
        "predicted": np.asarray(predicted.test_error).tolist(),
        "ok": predicted.status.ok,
        "measured": errors.mean(axis=0).tolist(),
        "se": (errors.std(axis=0, ddof=1) / seeds**0.5).tolist(),
    }


def told(lines: list[dict[str, Any]]) -> str:
    """How many predictions were wrong, and how many of them the status marks."""
    predicted, seen, se = (np.array([line[k] for line in lines]) for k in ("predicted", "measured", "se"))
    marked = np.array([not line["ok"] for line in lines])
    gap = np.abs(predicted / seen - 1)
    wrong = np.any((gap > WRONG) & (gap > 3 * se / seen), axis=1)
    close = np.all(gap < CLOSE + 2 * se / seen, axis=1)
    return (
        f"{len(lines)} settings; {wrong.sum()} are off by more than {100 * WRONG:.0f}% and three standard errors, and the status "
        f"marks {(wrong & marked).sum()} of these; it marks {marked.sum()} in all, of which {(close & marked).sum()} are close"
    )


def main(arguments: list[str]) -> None:
    if len(arguments) == 1:
        lines = Path(arguments[0]).read_text().splitlines()
        print(told([json.loads(line) for line in lines]))
        return
    seed, seconds, file = int(arguments[0]), float(arguments[1]), Path(arguments[2])
    rng, end = np.random.default_rng(seed), time.monotonic() + seconds
    while time.monotonic() < end:
        line = one(rng)
        if np.all(np.isfinite(line["measured"])):
            with file.open("a") as out:
                out.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
