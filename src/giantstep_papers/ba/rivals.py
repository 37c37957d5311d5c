"""One step of gradient descent and its three rivals: ridge regression on the inputs, random
features, and the kernel.

Each at the penalty with the least predicted test error, predicted and simulated.
"""

from functools import cache

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.experiment.target import Target
from giantstep.simulate import train
from giantstep.theory.limits import random_features
from giantstep.theory.limits.bulk import shape
from giantstep_papers.shared import fit, population

METHODS = ("giant step", "small step", "random features", "ridge on the inputs", "kernel")
WIDTH = 2  # p/d
N_TEST = 1000  # test samples of the kernel
SMALL = 1.0  # a step of order one, in the units of Ba et al.


def target() -> Target:
    return gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5)


def etas(p: int) -> tuple[float, float, float]:
    """Giant, small and no step, in the units of Ba et al., where eta = O(1) leaves the features
    Gaussian."""
    return p**0.5, SMALL, 0.0


def experiment(d: int, ratio: float, penalties: list[float], steps: int = 3) -> gs.Setting:
    """The preset at n = ratio d and p = 2d with the first so many of the step sizes."""
    p = WIDTH * d
    sizes: list[float] = list(etas(p)[:steps])
    n, given = round(ratio * d), {"target": target(), "activation": "relu"}
    return gs.presets.ba(n, d, p, sizes, penalties, **given)


@cache
def least(d: int, ratio: float) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The least predicted test errors and their penalties, one a method."""
    grid = np.geomspace(0.01, 30, 16)
    setting = experiment(d, ratio, grid.tolist(), steps=2)
    of = shape(setting.network.activation, round(ratio * d), d, setting.p)
    rest = population.linear_floor(target())  # c*_1 = 1, the rest is noise
    curves = [
        *gs.theory(setting).test_error,
        random_features.random_features(of, grid, 1.0, rest).test,
        random_features.linear_regression(of.phi, grid, 1.0, rest).test,
        random_features.kernel(of.phi, of.linear, of.rest, grid, 1.0, rest).test,
    ]
    return tuple(float(c.min()) for c in curves), tuple(float(grid[np.argmin(c)]) for c in curves)


def errors(d: int, ratio: float, penalties: tuple[float, ...], seed: int) -> list[float]:
    """Population risks of the methods, each at its penalty, and then the controls; all methods
    see the same samples.

    That of the kernel is the risk of ridge regression on the inputs plus the difference of the
    two on test samples.
    """
    setting = experiment(d, ratio, [1.0])
    X, y, Xt, yt = fit.samples(setting, seed, N_TEST)
    with one_blas_thread(setting.p):
        losses = []
        for W, lam in zip(train(setting, seed).final, penalties[:3], strict=True):
            b = np.asarray(gs.ridge(np.maximum(X @ W.T, 0), y, lam).coefficients)
            losses.append(float(population.moments(setting, W).error(b)) - setting.target.noise**2)
        b = np.asarray(gs.ridge(X, y, penalties[3]).coefficients)
        # E (f* - <b, x>)^2, where E f* x = e1
        losses.append(float(b @ b - 2 * b[0] + target().power))
        # (1/n) ||y - f||^2 + (penalty/d) ||f||^2 with the kernel of infinitely many neurons
        ridge = len(y) * penalties[4] / d * np.eye(len(y))
        weights = np.linalg.solve(population.relu_kernel(X, X) / d + ridge, y)
        fitted = population.relu_kernel(Xt, X) @ weights / d
        apart = np.mean((yt - fitted) ** 2 - (yt - Xt @ b) ** 2)
        losses.append(losses[3] + float(apart))
    return [*(error + setting.target.noise**2 for error in losses), *controls(setting, seed, X, y)]


def controls(
    setting: gs.Setting, seed: int, X: Float[np.ndarray, "n d"], y: Float[np.ndarray, " n"]
) -> tuple[float, ...]:
    """What the draws of the labels do to the errors, each less its known mean.

    The mean of (y - x1)^2 in the readout's batch, and with beta = X^T y/n of the step's batch
    beta_1 and sum_{j > 1} beta_j^2.
    """
    first, labels = draw.rows(setting, seed, draw.step_batches(setting)[0])
    n, square = len(labels), target().power + target().noise ** 2
    beta = first.T @ labels / n
    return (
        float(np.mean((y - X[:, 0]) ** 2)) - population.linear_floor(target()),
        float(beta[0]) - 1,
        float(beta[1:] @ beta[1:]) - (setting.d - 1) / n * square,
    )
