"""The null matrix of two giant steps: what they leave of the first layer where there is no signal, drawn without W0.

A step also shuffles the initial weights: its part linear in w_i and a part like white noise,

    w_i <- A_i w_i + noise,   A_i = (1 + (eta_2 s a_i / n2) X2^T diag(r2 E sigma''(h(t_i, x))) X2) (1 + t_i mu_2 M),

with t_i, M and h of ``signal`` and noise of variance (s a_i)^2 (eta_1^2 E[r1^2 rest_1] / n1 + eta_2^2 E[r2^2 rest_2] / n2 + twice
what a reused batch shares), rest the variance of sigma'(h) beyond its mean and its linear part. A_i is a few matrices with
weights that depend on a_i: E sigma''(h(t, x)) as a function of t and x has a low rank. The shuffle, of relative size eta s, moves
the edge of the bulk. Where that is above about one it has outliers of its own, along E[y (x x^T - 1)] and, on a reused batch with
heavy tails of y, along single samples, whose positions this linear theory knows roughly.
"""

import numpy as np
from jaxtyping import Float

from giantstep._machine.random import Stream, normals
from giantstep.theory.two_steps.signal import Draws, SignalSlopes

RANK_TOLERANCE = 0.01  # of the largest singular value of E sigma''(h(t_i, x)): smaller ones are dropped


def initial(seed: int, p: int, d: int, sphere: bool) -> Float[np.ndarray, "p d"]:
    """A first layer of the right law that is not the seed's own."""
    Z = normals(seed, (Stream.NULL, 0), 0, p, d)
    return Z / (np.linalg.norm(Z, axis=1, keepdims=True) if sphere else np.sqrt(d))


def shuffles(given: Draws, slopes: SignalSlopes) -> tuple[Float[np.ndarray, "p q"], Float[np.ndarray, "q d d"]]:
    """Weights (p, q) and matrices (q, d, d) with sum_q weights_iq matrices_q = X2^T diag(r2 E sigma''(h(t_i, x))) X2 / n2."""
    basis, small = np.linalg.qr(slopes.weights)
    U, s, Vt = np.linalg.svd(small @ slopes.along, full_matrices=False)
    large = s > RANK_TOLERANCE * s[0]
    rows = slopes.r2 * Vt[large] / len(slopes.r2)
    return basis @ (U * s)[:, large], np.stack([given.X2.T @ (row[:, None] * given.X2) for row in rows])


def null(
    given: Draws,
    slopes: SignalSlopes,
    mixing: tuple[Float[np.ndarray, "p q"], Float[np.ndarray, "q d d"]],
    etas: tuple[float, float],
    seed: int,
    sphere: bool,
) -> Float[np.ndarray, "p d"]:
    """The null matrix (p, d) for two step sizes; the first must be that of ``slopes``, and ``mixing`` their ``shuffles``."""
    (p, d), (first, second) = (len(given.a), len(given.beta)), (eta * given.scale for eta in etas)
    Z = initial(seed, p, d, sphere)
    W1 = Z + (first * given.a * given.mu[1])[:, None] * (Z @ given.M)
    weights, matrices = mixing
    W2 = W1 + sum((second * given.a * c)[:, None] * (W1 @ one) for c, one in zip(weights.T, matrices, strict=True))
    _, mu2, variance = given.mu
    own = np.mean(given.r1**2) * (variance - mu2**2) / len(given.r1)
    n2, both = len(slopes.r2), slopes.r2 * given.r1 if given.reused else np.zeros(len(slopes.r2))
    rest = slopes.weights @ np.mean(slopes.r2**2 * slopes.rest, axis=1) / n2
    shared = slopes.weights @ np.mean(both * slopes.shared, axis=1) / n2
    power = given.a**2 * (first**2 * own + second**2 * rest + 2 * first * second * shared)
    return W2 + np.sqrt(np.maximum(power, 0.0))[:, None] * normals(seed, (Stream.NULL, 1), 0, p, d)
