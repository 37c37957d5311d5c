"""Errors of ridge regression on conditionally Gaussian features, from the fixed point.

A sample of group k has the signal ``sum_c z_c f_ck`` with coordinates z_c and, for every channel c, a vector f_ck over the
neurons. Channels are of three kinds: directions e_c of input space, f_ck = l_k o (g e_c); patterns, functions of the second layer
alone; and scatter, a pattern times a random sign of each neuron's own. The directions' coordinates have unit second moment in
the bulk, so with E[z z^T | k] = Xi_k

    S   = blocks: sum_m (e_c^T P_m e_c') S^m for directions, p sum_j omega_j q_j f_cjk f_c'jl for patterns (c' = c for scatter)
    Delta_k = alpha_k (Xi_k - 1 on directions),   b_k = alpha_k E[y z | k]
    y   = (I + Delta S)^{-1} b,   psi = S y                      (psi_ck: the readout's inner product with f_ck)
    E0_l = E[y^2|l] - 2 E[y z|l].psi_l + psi_l^T (Xi_l - 1) psi_l - y^T (dS/dalpha_l) y
    Gamma_kl = (p/n) pi_l/(1 + delta_l)^2 (-dt_k/dalpha_l),      E = (I - Gamma)^{-1} E0
    test = sum_l pi_l E_l,   train = sum_l pi_l E_l/(1 + delta_l)^2,   objective = sum_l alpha_l E[y^2|l] - b.psi

where d/dalpha is total, through q(alpha) too. GCV divides the training error by (sum_l pi_l/(1 + delta_l))^2.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.functions.gaussian_averages import Scalar
from giantstep.theory.one_step.fixed_point import (
    TOLERANCE,
    Features,
    FixedPoint,
    Spanned,
    alphas,
    derivatives,
    gram,
    inner,
    modes,
    outer,
    solve,
)


class Signal(NamedTuple):
    """What the readout can use: channels (directions, patterns, scatter), the coordinates' moments, and the labels'."""

    weights: Float[Array, "B X X"]  # e_c^T P_m e_c', the directions' spectral measure on the modes m
    variance: Float[Array, "B J"]  # V_j(mu_m) on those modes
    patterns: Float[Array, "D J K"]
    scatter: Float[Array, "R J K"]
    mean: Float[Array, "K C"]  # E[z | k], C = X + D + R
    second: Float[Array, "K C C"]  # Xi_k = E[z z^T | k]
    label: Float[Array, "K C"]  # E[y z | k]
    power: Float[Array, " K"]  # E[y^2 | k]
    p: Scalar


class Errors(NamedTuple):
    """Predicted errors: test (label noise included), train (mean square), objective (penalty included), and GCV score.

    ``noise`` is the test error if the labels were noise of unit variance: 1 without fitting, large close to interpolation.
    """

    test: Float[Array, "..."]
    train: Float[Array, "..."]
    objective: Float[Array, "..."]
    gcv: Float[Array, "..."]
    noise: Float[Array, "..."]


def channels(
    f: Features, signal: Signal, q: Float[Array, " J"], alpha: Float[Array, " K"]
) -> tuple[Float[Array, "C r C r"], Float[Array, "K C C"], Float[Array, "B r r"], Float[Array, "B J r"]]:
    """S in the basis as an array (C, r, C, r), Xi - 1 on directions (K, C, C), and the modes S^m, Y^m behind the directions."""
    S_m, Y_m = modes(f, q, alpha, signal.variance)
    X, D, R, r = signal.weights.shape[-1], signal.patterns.shape[0], signal.scatter.shape[0], S_m.shape[-1]
    C, m, n = X + D + R, inner(f, signal.patterns), inner(f, signal.scatter)
    directions = xp.einsum("mcd,mkl->ckdl", signal.weights, S_m)
    flat = xp.swapaxes(m, 1, 2).reshape(D * r, q.size)
    patterns = signal.p * ((flat * (f.omega * q)) @ flat.T).reshape(D, r, D, r)
    scatter = signal.p * xp.einsum("j,cjk,cjl,cd->ckdl", f.omega * q, n, n, xp.eye(R))
    S = xp.zeros((C, r, C, r), q.dtype)
    for block, start in ((directions, 0), (patterns, X), (scatter, X + D)):
        around = (start, C - start - block.shape[0])
        S = S + xp.pad(block, (around, (0, 0), around, (0, 0)))
    return S, signal.second - xp.diag(xp.arange(C) < X), S_m, Y_m


def without(S: Float[Array, "C K C K"], channel: int, known: Float[Array, "K K"]) -> Float[Array, "C K C K"]:
    """(S^{-1} - known)^{-1}, ``known`` acting on one channel: what the bulk has along it, which its coordinate stands for."""
    C, K = S.shape[:2]
    column = S[:, :, channel].reshape(C * K, K)
    left = xp.linalg.solve(xp.eye(K) - S[channel, :, channel] @ known, column.T)
    return S + (column @ known @ left).reshape(S.shape)


def lean_part(alpha: Float[Array, " K"], R: Float[Array, "K K"]) -> Float[Array, "K K"]:
    """A - A R A, R = sum_mu w_mu S^mu: what W has in the bulk along a, which omega = W^T a/sqrt(p) stands for."""
    return xp.diag(alpha) - alpha[:, None] * R * alpha


def projected(
    f: Spanned,
    S: Float[Array, "C r C r"],
    excess: Float[Array, "K C C"],
    alpha: Float[Array, " K"],
    b: Float[Array, "C K"],
) -> tuple[Float[Array, "C K"], Float[Array, "C r"], Float[Array, "C K"]]:
    """y (C, K) with y + Delta S y = b, R y (C, r) and psi = S y (C, K): (I + R Delta R^T S) R y = R b, S in the basis."""
    C, r = S.shape[:2]
    core = S.reshape(C * r, C * r)
    held = b if f.basis is None else b @ f.basis.T  # R b
    if f.basis is None:  # Delta is diagonal in the samples
        moved = xp.einsum("kcd,dkx->ckx", alpha[:, None, None] * excess, S.reshape(C, r, C * r)).reshape(C * r, C * r)
    else:
        moved = xp.moveaxis(gram(f, alpha * xp.moveaxis(excess, 0, -1)), 2, 1).reshape(C * r, C * r) @ core
    inside = xp.linalg.solve(xp.eye(C * r) + moved, held.ravel())
    psi = outer(f, (core @ inside).reshape(C, r))
    return b - alpha * xp.einsum("kcd,dk->ck", excess, psi), inside.reshape(C, r), psi


def errors(f: Features, signal: Signal, penalty: Scalar, at: FixedPoint) -> Errors:
    """Compute the errors at a fixed point."""
    alpha, q = alphas(f, at.delta), at.q
    first = derivatives(f, penalty, q, alpha)
    S, excess, S_m, Y_m = channels(f, signal, q, alpha)
    X = signal.weights.shape[-1]
    b = (alpha[:, None] * signal.label).T  # (C, K)
    y, inside, psi = projected(f, S, excess, alpha, b)

    # y^T (dS/dalpha_l) y = explicit + sum_j (d(y^T S y)/dq_j) dq_j/dalpha_l,  dq/dalpha = -(diag(1/q^2) - coupling)^{-1} slope
    per_q = xp.linalg.solve(xp.diag(1 / q**2) - first.coupling, first.slope)
    S_y = outer(f, xp.einsum("mkl,cl->mck", S_m, inside[:X]))
    explicit = -xp.einsum("mcd,mck,mdk->k", signal.weights, S_y, S_y)
    Y_y = xp.einsum("mjk,ck->mcj", Y_m, inside[:X])
    on_directions = f.p_over_d * xp.einsum("mj,mcd,mcj,mdj->j", signal.variance, signal.weights, Y_y, Y_y)
    D = X + signal.patterns.shape[0]
    on_patterns = xp.einsum("cjk,ck->j", signal.patterns, y[X:D]) ** 2
    on_scatter = xp.sum(xp.einsum("cjk,ck->cj", signal.scatter, y[D:]) ** 2, 0)
    d_form = explicit - (f.omega * (on_directions + signal.p * (on_patterns + on_scatter))) @ per_q

    d_trace = first.d_trace - (f.omega[:, None] * first.slope).T @ per_q  # total dt_k/dalpha_l
    return assembled(signal, f.pi, at.delta, psi, excess, d_form, f.p_over_n * d_trace)


def assembled(
    signal: Signal,
    pi: Float[Array, " K"],
    delta: Float[Array, " K"],
    psi: Float[Array, "C K"],
    excess: Float[Array, "K C C"],
    d_form: Float[Array, " K"],
    d_delta: Float[Array, "K K"],
) -> Errors:
    """The errors from y^T (dS/dalpha) y and ddelta/dalpha, both total."""
    shrink = 1 / (1 + delta)
    bias = xp.einsum("ck,kcd,dk->k", psi, excess, psi) - 2 * xp.einsum("kc,ck->k", signal.label, psi)
    own = signal.power + bias - d_form  # E0
    both = xp.stack([own, xp.ones_like(own)], -1)
    given, alone = xp.linalg.solve(xp.eye(delta.size) + d_delta * pi * shrink**2, both).T
    train = xp.sum(pi * given * shrink**2)
    return Errors(
        test=xp.sum(pi * given),
        train=train,
        objective=xp.sum(pi * shrink * (signal.power - xp.sum(signal.label.T * psi, 0))),
        gcv=train / xp.sum(pi * shrink) ** 2,
        noise=xp.sum(pi * alone),
    )


def path(
    f: Features, signal: Signal, penalties: Float[np.ndarray, " L"]
) -> tuple[Float[np.ndarray, "5 L"], Float[np.ndarray, " L"]]:
    """Errors (5, L) and residuals (L,) by NumPy; from the largest penalty down, each fixed point starts from the one before."""
    table, near = np.zeros((6, penalties.size)), None
    for k in np.argsort(-penalties):
        at = solve(f, penalties[k], near)
        table[:, k] = *errors(f, signal, penalties[k], at), at.residual
        near = np.log(np.concatenate([at.q, at.delta])) if at.residual < TOLERANCE else None
    return table[:5], table[5]
