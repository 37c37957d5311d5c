"""The spectral measure of a step's turn along directions of the frame: what its matrix does there, on modes of its own.

    M = X^T diag(r h) X/n,     xi_m = (X^T (r phi_m)/n - E[r phi_m x])/sqrt(d/n),     E[r^2 phi_m phi_l] = delta_ml

with h and phi functions of kappa. The frame before the step is new to its samples; the noise directions xi are made of them. Both
cases are in ``one_step.gradient_law``, from the moments E[(r h)^k x x^T], E[(r h)^k r phi_m x] and E[(r h)^k r^2 phi_m phi_l].
"""

import numpy as np
from jaxtyping import Float

from giantstep.theory.one_step import _gradient_law as gradient_law
from giantstep.theory.steps._residual import Coordinates, ResidualPowers


def matrix_moments(
    at: Coordinates,
    powers: ResidualPowers,
    frame: tuple[Float[np.ndarray, "F X"], Float[np.ndarray, "F F"]],
    shape: Float[np.ndarray, " K"],
    noise: Float[np.ndarray, "B K"],
    phi: float,
) -> tuple[Float[np.ndarray, "FB FB k"], Float[np.ndarray, " k"]]:
    """Moments of M on the frame and on the noise, and of its law. Of the frame before the step, that is what is inside (kappa,
    tau) and beyond."""
    (plain, first, second), (inside, beyond) = powers, frame
    m, n = len(at.kappa), len(plain) - 2  # r^k for k = 0..n + 1
    k, power = np.arange(n), shape ** np.arange(n + 1)[:, None]
    both = np.zeros((n + 2, m + len(at.L), m + len(at.L), at.pi.size))
    both[:, :m, :m] = at.kappa[:, None] * at.kappa * plain[:, None, None]
    both[:, :m, m:] = at.kappa[:, None] * first[:, None]
    both[:, m:, :m] = np.swapaxes(both[:, :m, m:], 1, 2)
    both[:, m:, m:] = second
    squares = inside @ np.einsum("nk,nabk->nab", power[1:], both[k + 1]) @ inside.T
    squares = squares + np.sum(power[1:] * plain[k + 1], axis=1)[:, None, None] * beyond
    along = np.concatenate([at.kappa * plain[:, None], first], axis=1)
    signal = inside @ np.einsum("nk,nak,bk->nab", power[:-1], along[k + 1], noise)
    corner = np.einsum("nk,ak,bk->nab", power[:-1] * plain[k + 2], noise, noise)
    h = gradient_law.transform(np.concatenate([[1.0], np.sum(power[1:] * plain[k + 1], axis=1)]), phi, n)
    second, first, low = (np.moveaxis(own, 0, -1) for own in (squares, signal, corner))
    raw = np.asarray(gradient_law.block_series(h, second, first, low, phi))[..., 1:]
    # xi in terms of (x, X^T (r phi)/n)
    back = np.eye(len(raw))
    F = len(inside)
    back[F:, :F], back[F:, F:] = -signal[0].T / phi**0.5, back[F:, F:] / phi**0.5
    return np.einsum("ac,cdk,bd->abk", back, raw, back), np.asarray(h[1, 1:])
