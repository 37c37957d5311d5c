"""Settings drawn at random at small d and with long steps, predicted and simulated by plain NumPy: what bands are calibrated on.

python -m benchmarks.band SEED SECONDS FILE      adds a line of JSON for every setting
python -m benchmarks.band FILE                   the share of cells inside their bands, as docs/accuracy.md has it
"""

import json
import sys
import time
from math import pi, sqrt
from pathlib import Path
from typing import Any

import numpy as np
from scipy.linalg import solve
from scipy.special import ndtr

import giantstep as gs
from benchmarks.block import put
from giantstep.theory import parameters
from giantstep.theory.one_step._grid import curves

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
MOVES = 0.1, 4.0  # U of a single step; each of two steps moves by at most SHORT
SHORT = 1.5
TESTS = 1500  # test samples a seed
WIDEST = 900
LISTED = 12  # misses


def drawn(rng: np.random.Generator) -> gs.Setting:
    """A setting with two penalties and no step, one or two, whose size moves a typical neuron by U, uniform in the logarithm.

    Half of those with two steps have one batch for both.
    """
    d = int(rng.choice([60, 100, 200, 400], p=[0.25, 0.35, 0.3, 0.1]))
    n = int(rng.uniform(1, 6) * d)
    p = int(min(rng.uniform(0.3, 1.5) * n, WIDEST))
    penalties = np.exp(rng.uniform(np.log(1e-3), 0, 2)).tolist()
    target = gs.target(str(rng.choice(TARGETS)), noise=float(rng.choice([0.1, 0.5])))
    law = str(rng.choice(["gaussian", "rademacher"]))
    network = gs.Network(p, str(rng.choice(list(ACTIVATIONS))), second_layer=law)
    count = int(rng.choice(3, p=[0.1, 0.7, 0.2]))
    move = float(np.exp(rng.uniform(np.log(MOVES[0]), np.log(SHORT if count == 2 else MOVES[1]))))

    more = "reuse" if rng.uniform() < 0.5 else "fresh"

    def with_steps(eta: float, times: int) -> gs.Setting:
        steps = (gs.GiantStep(n, eta), gs.GiantStep(n, eta, batch=more))[:times]
        return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol(steps, gs.Ridge(n, penalties)))

    unit = abs(float(curves(*parameters(with_steps(1.0, 1))).strength[0]))
    return with_steps(move / unit, count)


def measured(setting: gs.Setting, rng: np.random.Generator, seeds: int) -> np.ndarray:
    """Test and training errors (2, seeds, L) of networks trained as the papers write it."""
    d, p, n = setting.d, setting.p, setting.protocol.readout_size
    sigma, slope = ACTIVATIONS[setting.network.activation.name]
    penalties = np.asarray(setting.protocol.readout.penalty)  # type: ignore[union-attr]
    errors = np.zeros((2, seeds, penalties.size))

    def batch(count: int) -> tuple[np.ndarray, np.ndarray]:
        X = rng.standard_normal((count, d))
        return X, np.asarray(setting.target(X[:, :3].T)) + setting.target.noise * rng.standard_normal(count)

    for k in range(seeds):
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        gaussian = setting.network.second_layer == "gaussian"
        a = rng.standard_normal(p) if gaussian else rng.choice([-1.0, 1.0], p)
        X, y = batch(n)
        for index, step in enumerate(setting.protocol.steps):
            X, y = (X, y) if index == 0 or step.batch == "reuse" else batch(n)
            W = W + float(step.eta) * a[:, None] * ((slope(W @ X.T) * y) @ X) / (n * sqrt(p))  # type: ignore[arg-type]
        (X, y), (Z, t) = batch(n), batch(TESTS)
        F, H = sigma(X @ W.T), sigma(Z @ W.T)
        gram = F.T @ F / n if p <= n else F @ F.T / n
        for j, lam in enumerate(penalties):
            held = gram + lam * np.eye(len(gram))
            b = solve(held, F.T @ y / n, assume_a="pos") if p <= n else F.T @ solve(held, y, assume_a="pos") / n
            errors[:, k, j] = np.mean((t - H @ b) ** 2), np.mean((y - F @ b) ** 2)
    return errors


def record(setting: gs.Setting, rng: np.random.Generator) -> dict[str, Any]:
    """Predictions and their bands, means over networks and their standard errors, all (2, L) with the test error first."""
    found = gs.theory(setting)
    seeds = 32 if setting.d <= 100 else 24 if setting.d <= 200 else 16
    errors = measured(setting, rng, seeds)
    fields: dict[str, Any] = {
        "predicted": [found.test_error, found.train_error],
        "band": [found.test_error_band, found.train_error_band],
        "mean": errors.mean(axis=1),
        "se": errors.std(axis=1, ddof=1) / sqrt(seeds),
    }
    return {name: np.asarray(value).tolist() for name, value in fields.items()} | {"setting": setting.to_plain()}


def shares(every: list[dict[str, Any]]) -> tuple[list[str], np.ndarray]:
    """For the test and the training error: settings, shares inside and within 2 s.e. of it, median half width and s.e.

    Also by how much a mean lies outside its band and 2 s.e., over the value, as (2, settings, L).
    """
    cells, out = [], []
    for k in range(2):
        predicted, mean, se = (np.array([one[key][k] for one in every]) for key in ("predicted", "mean", "se"))
        low, high = np.moveaxis(np.array([one["band"][k] for one in every]), -1, 0)
        outside = np.maximum(mean - high, low - mean) / predicted
        half, error = 100 * np.median((high - low) / 2 / predicted), 100 * np.median(se / predicted)
        inside, wider = 100 * np.mean(outside < 0), 100 * np.mean(outside < 2 * se / predicted)
        cells.append(f"{inside:.1f}% | {wider:.1f}% | {half:.1f}% | {error:.1f}%")
        out.append(outside - 2 * se / predicted)
    return [f"{len(every)}", *cells], np.array(out)


def section(every: list[dict[str, Any]]) -> str:
    """The block of docs/accuracy.md: what was compared, the shares in all and by size and steps, and the furthest outside."""
    settings = [gs.Setting.from_plain(one["setting"]) for one in every]
    kinds = {"all": [True] * len(every)}
    kinds |= {f"d = {d}": [s.d == d for s in settings] for d in (60, 100, 200, 400)}
    words = ("no step", "one step", "two steps", "two steps on one batch")
    kinds |= {name: [_kind(s) == k for s in settings] for k, name in enumerate(words)}
    rows = [
        f"| {name} | {' | '.join(shares([one for one, own in zip(every, which, strict=True) if own])[0])} |"
        for name, which in kinds.items()
        if any(which)
    ]
    outside = shares(every)[1]
    worst = sorted(((float(outside[at]), at) for at in np.ndindex(outside.shape) if outside[at] > 0), reverse=True)
    misses = [_miss(every[i], settings[i], k, j) for _, (k, i, j) in worst[:LISTED]]
    head = "| | settings" + " | inside | within 2 s.e. of it | half width | s.e." * 2 + " |\n" + "|---" * 10 + "|\n"
    return f"""## Small sizes and long steps: the bands

Fresh settings, drawn at random by `benchmarks/band.py` and simulated by plain NumPy with 32, 24 and 16 networks at d up to
100, 200 and 400: n/d from 1 to 6, p/n from 0.3 to 1.5 (p at most {WIDEST}), penalties from 0.001 to 1 (two a setting), no step,
one (U from 0.1 to 4) or two (each alone U up to {SHORT}; on fresh batches or on one), {len(ACTIVATIONS)} activations,
{len(TARGETS)} targets of one to three directions, noise 0.1 and 0.5, Gaussian and ±1 second layers. *Inside* is the share of
means over networks inside the [band](theory.md#how-far-it-may-be-off); half widths and standard errors are medians. The first
four columns of shares are of the test error, the others of the training error.

{head}{chr(10).join(rows)}

The means that lie furthest outside their band and two standard errors, in percent of the prediction:

| gap | s.e. | band | field | d | n | p | U | penalty | activation | target |
|---|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(misses)}
"""


def _kind(setting: gs.Setting) -> int:
    """The number of steps; 3 for two on one batch."""
    steps = setting.protocol.steps
    return 3 if any(step.batch == "reuse" for step in steps) else len(steps)


def _miss(one: dict[str, Any], s: gs.Setting, k: int, j: int) -> str:
    value, mean, se = (one[key][k][j] for key in ("predicted", "mean", "se"))
    low, high = (100 * (end / value - 1) for end in one["band"][k][j])
    step = s.protocol.steps[:1]
    single = gs.Setting(s.data, s.target, s.network, gs.Protocol(step, s.protocol.readout)) if step else None
    move = "0" if single is None else f"{abs(float(curves(*parameters(single)).strength[0])):.2g}"
    move += ("", "", " twice", " twice, one batch")[_kind(s)]
    name = ("test error", "training error")[k]
    own = f"{100 * (mean / value - 1):+.0f}% | {100 * se / value:.0f}% | {low:+.0f} to {high:+.0f}% | {name}"
    penalty = s.protocol.readout.penalty[j]  # type: ignore[union-attr,index]
    law = f"`{s.network.activation.name}` | `{s.target.formula}`, noise {s.target.noise:g}"
    return f"| {own} | {s.d} | {s.protocol.readout_size} | {s.p} | {move} | {penalty:.2g} | {law} |"


def main(arguments: list[str]) -> None:
    if len(arguments) == 1:
        text = section([json.loads(line) for line in Path(arguments[0]).read_text(encoding="utf-8").splitlines()])
        put("band", text)
        print(text)
        return
    seed, seconds, file = arguments
    rng, end = np.random.default_rng(int(seed)), time.perf_counter() + float(seconds)
    while time.perf_counter() < end:
        with Path(file).open("a", encoding="utf-8") as kept:
            kept.write(json.dumps(record(drawn(rng), rng)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])
