"""What the claims share: SGD on sine features, wide networks whose first neurons are the narrow ones, and its moments."""

from typing import Any

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks.claim import Data
from giantstep.experiment import draw
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.ridge.sgd import descend
from giantstep.theory.sgd_readout.population import Population, population
from giantstep.theory.sgd_readout.predict import excess

WIDTHS = (0.1, 0.25, 0.5, 1.0, 1.5, 3.0)  # p/n
ACTIVATION = "sin(1.5*x)"
SHARE = 0.9  # rate times E sigma^2
NOISE = 0.8  # of the labels
N_TEST = 2000  # test samples
TOGETHER = 6  # seeds in one call


def rate(activation: str = ACTIVATION) -> float:
    """SHARE / E sigma^2: below 1 / tr Sigma, as the paper asks."""
    return SHARE / gs.activation(activation).mean_square


def experiment(d: int, n: int, width: float, activation: str = ACTIVATION, **sgd: Any) -> Setting:
    """y = x1 + noise and p = width n random features."""
    readout = gs.SGD(n, **{"rate": rate(activation), **sgd})
    network = gs.Network(round(width * n), activation)
    return gs.Setting(gs.Gaussian(d), gs.target("x1", noise=NOISE), network, gs.Protocol((), readout))


def groups(seeds: int) -> list[tuple[int, ...]]:
    """Seeds, a few in each call."""
    return [tuple(range(start, min(start + TOGETHER, seeds))) for start in range(0, seeds, TOGETHER)]


def features(d: int, n: int, seeds: tuple[int, ...], activation: str) -> Data:
    """Features of the widest network (S, n, p), of test inputs, and labels: the target's, the noise, the test's."""
    widest = experiment(d, n, WIDTHS[-1], activation)
    sigma, batches = widest.network.activation, []
    for seed in seeds:
        W, _ = draw.weights(widest, seed)
        (X, y), (Xt, yt) = (draw.rows(widest, seed, b) for b in (draw.readout_batch(widest), draw.test_batch(N_TEST)))
        batches.append((np.asarray(sigma(X @ W.T)), np.asarray(sigma(Xt @ W.T)), X[:, 0], y - X[:, 0], yt))
    return dict(zip(("F", "test", "signal", "noise", "truth"), map(np.stack, zip(*batches, strict=True)), strict=True))


def risks(data: Data, p: int, readout: SGD, labels: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Of the first p neurons fitted to labels (S, n), against the truth (S, n_test) at the test inputs; one a seed.

    Neurons beyond p are zero and the rate is that of p: one program for all widths.
    """
    S, n, widest = data["F"].shape
    F = jnp.asarray(data["F"] * (np.arange(widest) < p))
    rates = np.array([readout.rate]) * widest / p
    errors = descend(
        lambda: [(F, jnp.asarray(labels))], (S, n, widest), rates, readout.decay, readout.passes, readout.average
    )
    b = errors.coefficients[:, 0]
    return np.mean((np.einsum("stp,sp->st", data["test"][..., :p], b[:, :p]) - truth) ** 2, axis=1)


def predicted(of: Population, readout: SGD, n: int) -> tuple[float, float]:
    """Bias and variance after one pass."""
    e = excess(of, readout, n)
    return float(of.floor + e.start[0] + of.floor * e.noise[0]), float(NOISE**2 * e.noise[0])


def moments(d: int, n: int, width: float, seed: int, activation: str = ACTIVATION) -> Population:
    """Population moments of the features, given the first layer of a seed."""
    setting = experiment(d, n, width, activation)
    return population(setting, draw.weights(setting, seed)[0])
