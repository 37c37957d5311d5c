"""Ridge regression on random features with g, g^2, ..., g^l beside them free of penalty.

g = X beta: these are spikes without bound.
"""

import numpy as np
from scipy import linalg

from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep_papers.moniri import talk
from giantstep_papers.shared import paired, population

# none of its first Hermite coefficients vanishes: every power of g is a spike
ACTIVATION = "sin(x+pi/4)"
# g, g^2, g^3 in orthonormal Hermite polynomials
POWERS = np.array([[0, 1, 0, 0], [1, 0, np.sqrt(2), 0], [0, 3, 0, np.sqrt(6)]])


def targets() -> tuple[Target, ...]:
    """One for every number l = 1, 2, 3 of free directions.

    It has a part of degree l for the last of them to learn.
    """
    return tuple(talk.TARGETS.values())


def gains(n: int, seed: int) -> dict[str, np.ndarray]:
    """What l = 1, 2, 3 free directions gain, (3, 2), and controls, (3, 8).

    The gains are in training objective and test error. With
    lambda Q = 1 - F0 (F0^T F0 / n + lambda)^(-1) F0^T / n the free directions U take the
    coefficients (U^T Q U)^(-1) U^T Q y, and lower the objective by
    lambda y^T Q U (U^T Q U)^(-1) U^T Q y / n. Test errors are exact.
    """
    settings = [talk.experiment(n, 0.0, target, activation=ACTIVATION) for target in targets()]
    W = draw.weights(settings[0], seed)[0]
    # the same for every target
    X, _ = draw.rows(settings[0], seed, draw.readout_batch(settings[0]))
    found = []
    with one_blas_thread(len(W)):
        F = np.asarray(settings[0].network.activation(X @ W.T))
        square = population.moments(settings[0], W).square
        factor = linalg.cho_factor(F.T @ F / n + paired.PENALTY * np.eye(len(W)))
        for order, setting in enumerate(settings, start=1):
            y = draw.labels_of(setting, seed, draw.readout_batch(setting), X)
            beta = talk.direction(setting, seed)
            unit = beta / np.linalg.norm(beta)
            fit = np.column_stack([y, *((X @ unit) ** k for k in range(1, order + 1))])
            b = linalg.cho_solve(factor, F.T @ fit / n)
            gram = fit.T @ (fit - F @ b) / n  # lambda (y, U)^T Q (y, U) / n
            free = np.linalg.solve(gram[1:, 1:], gram[1:, 0])
            rest = _rests(setting, W, unit, b, square)
            after = np.array([1.0, *-free])
            found.append((gram[0, 1:] @ free, rest[0, 0] - after @ rest @ after))
    controls = [paired.draws(setting, seed) for setting in settings]
    return {"gains": np.array(found), "controls": np.array(controls)}


def _rests(
    setting: Setting, W: np.ndarray, unit: np.ndarray, b: np.ndarray, square: np.ndarray
) -> np.ndarray:
    """E r r^T for r = (y, g, .., g^l) - b^T F over all inputs.

    A column sum_k c_k h_k(<u, x>) has the product sum_k c_k c'_k <u, u'>^k with another, and
    sum_k c_k s_k <u, w>^k with a feature, s_k = E h_k sigma.
    """
    k = np.arange(population.ORDER + 1)
    target, count = setting.target, b.shape[1]
    plain = np.array([float(target.hermite.get((j,), 0.0)) for j in range(len(k))])
    own = plain * population.ROOTS
    c = np.vstack([own, POWERS[: count - 1]])
    u = np.vstack([np.eye(len(unit))[0], *[unit] * (count - 1)])
    s = np.asarray(setting.network.activation.hermite(population.ORDER)) * population.ROOTS
    products = np.einsum("ik,jk,ijk->ij", c, c, (u @ u.T)[..., None] ** k)
    products[0, 0] += target.noise**2
    cross = np.einsum("ik,k,ipk->ip", c, s, (u @ W.T)[..., None] ** k)
    mixed = cross @ b
    return products - mixed - mixed.T + b.T @ square @ b
