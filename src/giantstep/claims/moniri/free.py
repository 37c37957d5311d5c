"""Ridge regression on random features with g, g^2, ..., g^l, g = X beta, beside them free of penalty: spikes without bound."""

from math import sqrt
from typing import Any

import numpy as np
from scipy import linalg

import giantstep as gs
from giantstep.checks.cache import one_blas_thread
from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.experiment import draw
from giantstep.experiment.target import Target

ACTIVATION = "sin(x+pi/4)"  # none of its first Hermite coefficients vanishes: every power of g is a spike
N_TEST = 2000


def targets() -> tuple[Target, ...]:
    """One for every number l = 1, 2, 3 of free directions, with a part of degree l for the last of them to learn."""
    return talk.setting_1(), talk.setting_2(), gs.target("x1 + H3(x1)/(2*sqrt(6))")


def gains(n: int, seed: int) -> np.ndarray:
    """What l = 1, 2, 3 free directions gain in training loss and test error, (3, 2); every l has its own target.

    With lambda Q = 1 - F0 (F0^T F0 / n + lambda)^(-1) F0^T / n the free directions U take the coefficients
    (U^T Q U)^(-1) U^T Q y, and lower the objective by lambda y^T Q U (U^T Q U)^(-1) U^T Q y / n.
    """
    settings = [talk.experiment(n, 0.0, target, activation=ACTIVATION) for target in targets()]
    W, sigma = draw.weights(settings[0], seed)[0], settings[0].network.activation
    batches = (draw.step_batches(settings[0])[0], draw.readout_batch(settings[0]), draw.test_batch(N_TEST))
    X = [draw.rows(settings[0], seed, batch)[0] for batch in batches]  # the same for every target
    columns = []
    for order, setting in enumerate(settings, start=1):
        y = [draw.labels_of(setting, seed, batch, inputs) for batch, inputs in zip(batches, X, strict=True)]
        beta = X[0].T @ y[0] / len(y[0])
        g = [inputs @ beta / np.linalg.norm(beta) for inputs in X]
        columns.append([np.column_stack([y, *_powers(h, order)]) for y, h in zip(y[1:], g[1:], strict=True)])
    with one_blas_thread(len(W)):
        F, new = (np.asarray(sigma(inputs @ W.T)) for inputs in X[1:])
        factor = linalg.cho_factor(F.T @ F / n + paired.PENALTY * np.eye(len(W)))
        return np.array([_gain(F, new, factor, fit, test) for fit, test in columns])


def _powers(g: np.ndarray, order: int) -> list[np.ndarray]:
    """g, g^2, ..., g^order."""
    powers = [g]
    for _ in range(order - 1):
        powers.append(powers[-1] * g)
    return powers


def _gain(F: np.ndarray, new: np.ndarray, factor: Any, fit: np.ndarray, test: np.ndarray) -> tuple:
    """From labels and powers of g as columns, on the readout's samples and on new ones."""
    coefficients = linalg.cho_solve(factor, F.T @ fit / len(F))
    gram = fit.T @ (fit - F @ coefficients) / len(F)  # lambda (y, U)^T Q (y, U) / n
    free = np.linalg.solve(gram[1:, 1:], gram[1:, 0])
    rest = test - new @ coefficients
    return gram[0, 1:] @ free, np.mean(rest[:, 0] ** 2) - np.mean((rest[:, 0] - rest[:, 1:] @ free) ** 2)


def extrapolate(sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray) -> tuple[float, float, float]:
    """The line mean = value + slope / n through all sizes: its value at 1/n = 0, the standard error of that, its slope."""
    A = np.column_stack([np.ones(len(sizes)), 1 / np.array(sizes)]) / error[:, None]
    covariance = np.linalg.inv(A.T @ A)
    value, slope = covariance @ A.T @ (mean / error)
    return float(value), sqrt(covariance[0, 0]), float(slope)
