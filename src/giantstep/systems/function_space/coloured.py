"""The bulk of the first layer after one step where n ~ d: the gradient's noise is coloured, and each row has its own share of it.

With t = eta s a_i, mu_2 = E sigma'', r the residuals of the batch, and g, g' independent N(0, I/d), a row is across u in law

    w_i = (1 + t mu_2 M) g + t sqrt((Var sigma' - mu_2^2) (d/n) C) g',   M = X^T diag(r) X/n,   C = X^T diag(r^2) X/n

so that d times its covariance is S_i = 1 + 2 a_i B + a_i^2 (B^2 + D), B = eta s mu_2 M and D = (eta s)^2 (Var sigma' - mu_2^2)
(d/n) C. A spiked Gaussian law has 1 + rho in the place of S_i: the same mean trace, but neither the spread of a_i^2 nor the
eigenvalues of M and C. Above the edge of d W^T W/p the resolvent Q = (z - d W^T W/p)^{-1} has a real deterministic equivalent,

    Q = (z - mean_i S_i/(1 - q_i))^{-1},   q_i = tr(S_i Q)/p = q_0 + q_1 a_i + q_2 a_i^2

and the edge is where it ends (Wagner, Couillet, Debbah and Slock 2012 for rows of different covariance).
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep import measure
from giantstep._machine.random import Stream, generator
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.theory.one_step.parameters import activation_constants

STEPS, CLOSE = 300, 1e-6  # of the fixed point
EXACT = 1.004  # the factor within which the edge is found


class ColouredRows(NamedTuple):
    """a, B and D of the module's formula, for one batch."""

    a: Float[np.ndarray, " p"]
    B: Float[np.ndarray, "d d"]
    D: Float[np.ndarray, "d d"]


def coloured_rows(setting: Setting, seed: int) -> ColouredRows:
    """The law of the rows given the seed's second layer and batch, at the setting's only step size; r are the labels."""
    X, r = draw.rows(setting, seed, draw.step_batches(setting)[0])
    a, (n, d) = draw.second_layer(setting, seed), X.shape
    coefficients, _, square = activation_constants(setting.network.activation)
    mu2, variance = 2 * float(coefficients[2]), square - float(coefficients[1]) ** 2
    step = float(setting.protocol.etas(setting.d, setting.p).ravel()[0]) * setting.network.factor
    M, C = (X.T @ (weight[:, None] * X) / n for weight in (r, r**2))
    return ColouredRows(a, step * mu2 * M, step**2 * (variance - mu2**2) * (d / n) * C)


def drawn(rows: ColouredRows, u: Float[np.ndarray, " d"], seed: int) -> Float[np.ndarray, " d-1"]:
    """Singular values of sqrt(d/p) W across u for rows of that law, drawn with numbers of their own; the spike has u."""
    p, d = len(rows.a), len(rows.B)
    values, vectors = np.linalg.eigh(rows.D)
    first, second = generator(seed, Stream.NULL).standard_normal((2, p, d)) / p**0.5
    noise = second @ (vectors * np.sqrt(np.maximum(values, 0.0)))
    W = first + rows.a[:, None] * (first @ rows.B + noise @ vectors.T)
    return measure.spectrum(W - np.outer(W @ u, u)).values[:-1]


def edge(rows: ColouredRows) -> float:
    """The end of the bulk of d W^T W/p, by bisection: above it the fixed point exists."""
    moments = np.mean(rows.a), np.mean(rows.a**2)
    square = rows.B @ rows.B + rows.D
    low = float(np.linalg.eigvalsh(np.eye(len(square)) + 2 * moments[0] * rows.B + moments[1] * square)[-1])
    high, q = 2 * low, np.zeros(3)
    while (found := _fixed_point(rows, square, high, q)) is None:
        high *= 1.5
    while high / low > EXACT:
        middle = (high * low) ** 0.5
        found = _fixed_point(rows, square, middle, q)
        low, high, q = (middle, high, q) if found is None else (low, middle, found)
    return high


def _fixed_point(
    rows: ColouredRows, square: Float[np.ndarray, "d d"], z: float, q: Float[np.ndarray, " 3"]
) -> Float[np.ndarray, " 3"] | None:
    """q_0, q_1, q_2 at z, or None below the edge."""
    a, B = rows.a, rows.B
    one = np.eye(len(B))
    for _ in range(STEPS):
        left = 1 - (q[0] + q[1] * a + q[2] * a**2)
        if np.min(left) <= 0:
            return None
        mean, first, second = np.mean(1 / left), np.mean(a / left), np.mean(a**2 / left)
        try:
            root = np.linalg.inv(np.linalg.cholesky(z * one - (mean * one + 2 * first * B + second * square)))
        except np.linalg.LinAlgError:
            return None
        Q, before = root.T @ root, q
        q = np.array([np.trace(Q), 2 * np.sum(B * Q), np.sum(square * Q)]) / len(a)
        if np.max(np.abs(q - before)) < CLOSE:
            return q
    return None
