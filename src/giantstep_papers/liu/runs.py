"""What the claims share: SGD on sine features and their moments.

The first neurons of wide networks are those of the narrow ones.
"""

from typing import Any

import jax.numpy as jnp
import numpy as np

import giantstep as gs
from giantstep.checks.claim import Data
from giantstep.experiment import draw
from giantstep.functions import hermite
from giantstep.ridge.sgd import descend
from giantstep.theory.sgd_readout.population import Population, population
from giantstep.theory.sgd_readout.population import moments as population_moments
from giantstep.theory.sgd_readout.predict import excess

WIDTHS = (0.1, 0.25, 0.5, 1.0, 1.5, 3.0)  # p/n
ACTIVATION = "sin(1.5*x)"
SHARE = 0.9  # rate times E sigma^2
NOISE = 0.8  # of the labels
TOGETHER = 6  # seeds in one call


def rate(activation: str = ACTIVATION) -> float:
    """SHARE / E sigma^2: below 1 / tr Sigma, as the paper asks."""
    return SHARE / gs.activation(activation).mean_square


def experiment(
    d: int, n: int, width: float, activation: str = ACTIVATION, **sgd: Any
) -> gs.Setting:
    """y = x1 + noise and p = width n random features."""
    readout = gs.SGD(n, **{"rate": rate(activation), **sgd})
    network = gs.Network(round(width * n), activation)
    return gs.Setting(
        gs.Gaussian(d), gs.target("x1", noise=NOISE), network, gs.Protocol((), readout)
    )


def groups(seeds: range) -> list[tuple[int, ...]]:
    """Seeds, a few in each call; the same ones stand together however many follow."""
    return [tuple(seeds[start : start + TOGETHER]) for start in range(0, len(seeds), TOGETHER)]


def features(
    d: int, n: int, seeds: tuple[int, ...], activation: str, widest: float = WIDTHS[-1]
) -> Data:
    """Features of the widest network with labels, noise and moments.

    ``F`` is (S, n, p), and the labels without noise and the noise are (S, n). Second moments of the
    features are (S, p, p), and their products with the target (S, p).
    """
    setting = experiment(d, n, widest, activation)
    sigma, batches = setting.network.activation, []
    for seed in seeds:
        W, _ = draw.weights(setting, seed)
        X, y = draw.rows(setting, seed, draw.readout_batch(setting))
        F = np.asarray(sigma(X @ W.T))
        batches.append((F, X[:, 0], y - X[:, 0], *population_moments(setting, W)))
    names = ("F", "signal", "noise", "second", "cross")
    return dict(zip(names, map(np.stack, zip(*batches, strict=True)), strict=True))


def risks(
    data: Data, p: int, readout: gs.SGD, labels: np.ndarray, signal: bool = True
) -> np.ndarray:
    """Population risks of the first p neurons fitted to labels (S, n), one a seed.

    Without ``signal`` the truth is zero. Neurons beyond p are zero and the rate is that of p: one
    program for all widths.
    """
    S, n, widest = data["F"].shape
    F = jnp.asarray(data["F"] * (np.arange(widest) < p))
    rates = np.array([readout.rate]) * widest / p
    how = readout.decay, readout.passes, readout.average
    fits = descend(lambda: [(F, jnp.asarray(labels))], (S, n, widest), rates, *how)
    return risk_of(data, fits.coefficients[:, 0, :p], signal)


def risk_of(data: Data, b: np.ndarray, signal: bool = True) -> np.ndarray:
    """E (f* - <b, F>)^2 = 1 - 2 <b, E F f*> + b^T E[F F^T] b, where f* has power one.

    The coefficients b (S, p) are those of the first neurons.
    """
    b = np.asarray(b)
    p = b.shape[1]
    square = np.einsum("sp,spq,sq->s", b, data["second"][:, :p, :p], b, optimize=True)
    return 1 - 2 * np.sum(b * data["cross"][:, :p], axis=1) + square if signal else square


def predicted(of: Population, readout: gs.SGD, n: int) -> tuple[float, float]:
    """Bias and variance after one pass."""
    e = excess(of, readout, n)
    return float(of.floor + e.start[0] + of.floor * e.noise[0]), float(NOISE**2 * e.noise[0])


def moments(d: int, n: int, width: float, seed: int, activation: str = ACTIVATION) -> Population:
    """Population moments of the features, given the first layer of a seed."""
    setting = experiment(d, n, width, activation)
    return population(setting, draw.weights(setting, seed)[0])


def proportional(d: int, n: int, width: float, activation: str) -> Population:
    """Moments of phi = (c_1 U x + c_* z) / sqrt(p).

    Features share its errors as d, n, p grow together. U has unit rows and s_j^2 are the
    eigenvalues of U^T U. Then lam_j = (c_1^2 s_j^2 + c_*^2) / p, c_*^2 / p for all others, and x1
    has the mean square c_1^2 s_j^2 / (d p) along the first of them, over its directions.
    """
    sigma, p = gs.activation(activation), round(width * n)
    c, _ = hermite.coefficients(lambda z: np.asarray(sigma(z)), 1, sigma.kinks)
    rest = sigma.mean_square - float(c[0] ** 2 + c[1] ** 2)
    U = np.random.default_rng(0).standard_normal((p, d))
    U /= np.linalg.norm(U, axis=1, keepdims=True)
    squares = np.zeros(p)
    squares[: min(p, d)] = np.linalg.eigvalsh(U.T @ U if p > d else U @ U.T)
    linear = float(c[1] ** 2) * squares
    values, along = (linear + rest) / p, linear / (d * p)
    floor = float(1 - np.sum(along / values))
    return Population(values, np.sqrt(along) / values, np.zeros(p), floor, 0.0)
