"""The fixed point of ridge regression on conditionally Gaussian features that come in pairs (derived here).

Neurons i fall into pairs j. Given kappa_k their features are l_ik <g_i, x> + noise, with the covariances V_ii'(mu)/d of g along
the mode mu and N_ii'k of the noise inside a pair, and none between pairs. The number q_j of ``one_step.fixed_point`` becomes a
2 x 2 block Q_j; with P = p/2 pairs

    G^mu_kl    = (P/d) sum_j omega_j sum_ii' Q_ii' V_ii'(mu) l_ik l_i'l,      S^mu = G^mu (I + A G^mu)^{-1}
    (Q_j^{-1})_ii' = lam 1_ii' + sum_k alpha_k N_ii'k + sum_mu w_mu V_ii'(mu) l_i^T (A^{-1} + G^mu)^{-1} l_i'
    delta_k    = (P/n) t_k,   t_k = sum_j omega_j sum_ii' Q_ii' N_ii'k + (d/P) sum_mu w_mu S^mu_kk

An entry e of the blocks is two neurons (left, right): all of this is sums over entries. Rounds of the map come first, then
Newton's method along geodesics of positive matrices, Q <- Q^{1/2} exp(Q^{-1/2} dQ Q^{-1/2}) Q^{1/2}.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep.theory.one_step._fixed_point import DEAD, LONGEST, MAX_STEPS, SETTLED, Derivatives, gram, inner, outer

ROUNDS = 40  # of the map, from below the solution, before Newton's method


class PairedFeatures(NamedTuple):
    """The features' conditional law: I = 2 J neurons, and E = 4 J entries (left, right) of the blocks of J pairs."""

    omega: Float[np.ndarray, " E"]  # the pair's weight
    left: Int[np.ndarray, " E"]
    right: Int[np.ndarray, " E"]
    pi: Float[np.ndarray, " K"]
    modes: Float[np.ndarray, " M"]
    gain: Float[np.ndarray, "I K"]  # l_ik
    noise: Float[np.ndarray, "E K"]  # N_ek
    variance: Float[np.ndarray, "M E"]  # V_e(mu)
    p_over_d: float  # pairs over d
    p_over_n: float
    basis: Float[np.ndarray, "r K"] | None = None  # as in ``one_step.fixed_point.Features``


class PairedPoint(NamedTuple):
    """Q by entries, delta_k and the largest relative residual."""

    q: Float[np.ndarray, " E"]
    delta: Float[np.ndarray, " K"]
    residual: float


def blocks(entries: Float[np.ndarray, " E"]) -> Float[np.ndarray, "J 2 2"]:
    """The 2 x 2 blocks of entries in their order: (1, 1), (1, 2), (2, 1), (2, 2)."""
    return entries.reshape(-1, 2, 2)


def matrix(f: PairedFeatures, entries: Float[np.ndarray, "... E"]) -> Float[np.ndarray, "... I I"]:
    """Entries in a matrix over the neurons."""
    full = np.zeros((*entries.shape[:-1], len(f.gain), len(f.gain)))
    full[..., f.left, f.right] = entries
    return full


def modes(
    f: PairedFeatures, q: Float[np.ndarray, " E"], alpha: Float[np.ndarray, " K"], variance: Float[np.ndarray, "M E"]
) -> tuple[Float[np.ndarray, "M r r"], Float[np.ndarray, "M I r"]]:
    """S^mu, and Y_i = (I + G^mu A)^{-1} l_i, in the basis."""
    L = np.asarray(inner(f, f.gain))
    r = L.shape[1]
    H = f.p_over_d * L.T @ matrix(f, f.omega * q * variance) @ L
    both = np.concatenate([H, np.broadcast_to(L.T, (len(H), *L.T.shape))], -1)
    solved = np.linalg.solve(np.eye(r) + H @ np.asarray(gram(f, alpha)), both)
    return solved[..., :r], np.swapaxes(solved[..., r:], -1, -2)


def derivatives(
    f: PairedFeatures, penalty: float, q: Float[np.ndarray, " E"], alpha: Float[np.ndarray, " K"]
) -> Derivatives:
    """The right-hand sides at (q, alpha) and their partial derivatives; groups are entries."""
    core, Y = modes(f, q, alpha, f.variance)
    S, Y = outer(f, np.swapaxes(np.asarray(outer(f, core)), -1, -2)), np.asarray(outer(f, Y))
    T = (f.gain * alpha) @ np.swapaxes(Y, -1, -2)  # l_i^T (A^{-1} + G)^{-1} l_i'
    weighted = f.modes[:, None] * f.variance
    across = T[:, f.left[:, None], f.left] * T[:, f.right[:, None], f.right]
    return Derivatives(
        right=penalty * (f.left == f.right) + f.noise @ alpha + np.sum(weighted * T[:, f.left, f.right], 0),
        trace=(f.omega * q) @ f.noise + f.modes @ np.diagonal(S, axis1=1, axis2=2) / f.p_over_d + DEAD,
        coupling=f.p_over_d * f.omega * np.sum(weighted[:, :, None] * f.variance[:, None, :] * across, 0),
        slope=f.noise + np.sum(weighted[:, :, None] * Y[:, f.left] * Y[:, f.right], 0),
        d_trace=-np.sum(f.modes[:, None, None] * S**2, 0) / f.p_over_d,
    )


def response(at: Derivatives, q: Float[np.ndarray, " E"]) -> Float[np.ndarray, "E E"]:
    """The matrix of dQ -> Q^{-1} dQ Q^{-1} less the coupling, which maps dQ to -slope dalpha."""
    J = q.size // 4
    own = np.linalg.inv(blocks(q))
    full = np.zeros((J, 4, J, 4))
    full[np.arange(J), :, np.arange(J), :] = np.einsum("jab,jcd->jacbd", own, own).reshape(J, 4, 4)
    return full.reshape(4 * J, 4 * J) - at.coupling


def _moved(q: Float[np.ndarray, " E"], change: Float[np.ndarray, " E"]) -> Float[np.ndarray, " E"]:
    """Q^{1/2} exp(Q^{-1/2} dQ Q^{-1/2}) Q^{1/2}, no further than LONGEST."""
    values, vectors = np.linalg.eigh(blocks(q))
    root = (vectors * np.sqrt(values)[:, None, :]) @ np.swapaxes(vectors, 1, 2)
    back = np.linalg.inv(root)
    x, turned = np.linalg.eigh(back @ blocks(change) @ back)
    grown = (turned * np.exp(np.clip(x, -LONGEST, LONGEST))[:, None, :]) @ np.swapaxes(turned, 1, 2)
    new = root @ grown @ root
    return ((new + np.swapaxes(new, 1, 2)) / 2).ravel()


def solve(f: PairedFeatures, penalty: float, near: PairedPoint | None = None) -> PairedPoint:
    """The fixed point at one penalty; ``near`` is one nearby."""
    if near is None:
        loose = f.noise @ f.pi + (f.modes @ f.variance) * ((f.gain[f.left] * f.gain[f.right]) @ f.pi)
        q = np.linalg.inv(blocks(loose + penalty * (f.left == f.right))).ravel()
        delta = np.zeros(f.pi.size)
        for _ in range(ROUNDS):
            at = derivatives(f, penalty, q, f.pi / (1 + delta))
            q, delta = np.linalg.inv(blocks(np.asarray(at.right))).ravel(), f.p_over_n * np.asarray(at.trace)
    else:
        q, delta = near.q, near.delta
    error = np.inf
    for _ in range(MAX_STEPS):
        alpha = f.pi / (1 + delta)
        at = derivatives(f, penalty, q, alpha)
        first, second = np.linalg.inv(blocks(q)).ravel() - at.right, delta - f.p_over_n * at.trace
        error = float(max(np.max(np.abs(blocks(q) @ blocks(first))), np.max(np.abs(second / delta))))
        if error < SETTLED**1.5:
            break
        by_delta = -alpha / (1 + delta)  # dalpha/ddelta
        top = np.concatenate([response(at, q), at.slope * by_delta], 1)
        bottom = np.concatenate(
            [-f.p_over_n * (f.omega[:, None] * at.slope).T, np.eye(delta.size) - f.p_over_n * at.d_trace * by_delta], 1
        )
        change = np.linalg.solve(np.concatenate([top, bottom]), np.concatenate([first, -second]))
        q = _moved(q, change[: q.size])
        delta = delta * np.exp(np.clip(change[q.size :] / delta, -LONGEST, LONGEST))
    return PairedPoint(q, delta, error)
