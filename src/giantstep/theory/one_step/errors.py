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

The activation's mean may be as large as it likes; the ``constant`` of the first pattern is what of it the tables leave out. The
patterns' block is, with own_j = omega_j q_j and fbar = sum_j own_j f_j/sum_j own_j, exactly

    S = S0 + G G^T/s,    S0 = p sum_j own_j (f_j - fbar)(f_j - fbar)^T,    G = fbar,    1/s = p sum_j own_j

The constant is in G alone. With h = (I + Delta S0)^{-1} Delta G the readout is that of S0 and an intercept t with the penalty s:

    y = (I + Delta S0)^{-1} b - h t,    t = G^T (I + Delta S0)^{-1} b/(s + G^T h),    S y = S0 y + G t,    G^T y = s t

so that nothing large is taken from anything large, and f_j^T y = s t + (f_j - fbar)^T y in the derivative in q_j. Where S0 itself
is too large for double precision, after long steps at 10^10 dimensions, the errors are NaN.

Several problems go side by side, as in ``fixed_point``: a leading axis of every array.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.functions._gaussian_averages import Scalar
from giantstep.theory.one_step._fixed_point import (
    TOLERANCE,
    Features,
    FixedPoint,
    Spanned,
    alphas,
    applied,
    derivatives,
    gram,
    inner,
    modes,
    outer,
    solve,
    start,
    turned,
    wide,
)

DIGITS = 1e-8  # rounding of a solution, from which no prediction is made of it: seen 1e-6 in errors
LEVEL = 1e2  # times as large as the rest of a pattern, its mean is a function of its own in a basis


class Signal(NamedTuple):
    """What the readout can use: channels (directions, patterns, scatter), the coordinates' moments, and the labels'."""

    weights: Float[Array, "... B X X"]  # e_c^T P_m e_c', the directions' spectral measure on the modes m
    variance: Float[Array, "... B J"]  # V_j(mu_m) on those modes
    patterns: Float[Array, "... D J K"]
    scatter: Float[Array, "... R J K"]
    mean: Float[Array, "... K C"]  # E[z | k], C = X + D + R
    second: Float[Array, "... K C C"]  # Xi_k = E[z z^T | k]
    label: Float[Array, "... K C"]  # E[y z | k]
    power: Float[Array, "... K"]  # E[y^2 | k]
    p: Scalar | Float[Array, "..."]
    constant: Scalar | Float[Array, "..."] = (
        0.0  # what the first pattern has besides, the same for all neurons and samples
    )

    @property
    def tables(self) -> list[Float[np.ndarray, "J K"]]:
        """Patterns and scatter over the samples: what a basis must span, besides the gain. The first pattern's mean is a function
        of its own where the rest would be lost to it; a constant that has moved a little goes with its pattern."""
        first, constant = np.asarray(self.patterns[0]), float(np.asarray(self.constant))
        mean = np.mean(first)
        large = constant**2 > np.mean(first**2) or mean**2 > LEVEL**2 * np.mean((first - mean) ** 2)
        whole = [np.ones_like(first), first - mean] if large else [first + constant]
        return [*whole, *map(np.asarray, self.patterns[1:]), *map(np.asarray, self.scatter)]


class Blocks(NamedTuple):
    """S = around + mean mean^T/share, in the basis."""

    around: Float[Array, "... C r C r"]
    mean: Float[Array, "... C r"]
    share: Float[Array, "..."]  # 1/(p sum_j omega_j q_j)


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
    f: Features, signal: Signal, q: Float[Array, "... J"], alpha: Float[Array, "... K"]
) -> tuple[Blocks, Float[Array, "... K C C"], Float[Array, "... B r r"], Float[Array, "... B J r"]]:
    """S, Xi - 1 on directions (K, C, C), and the modes S^m, Y^m behind the directions."""
    S_m, Y_m = modes(f, q, alpha, signal.variance)
    X, D, R = signal.weights.shape[-1], signal.patterns.shape[-3], signal.scatter.shape[-3]
    C, r, lead = X + D + R, S_m.shape[-1], S_m.shape[:-3]
    own, n = f.omega * q, inner(f, signal.scatter)
    mean, m = parted(inner(f, signal.patterns), own)
    flat = turned(m).reshape(*lead, D * r, q.shape[-1])
    on_weights, on_modes = (x.reshape(*x.shape[:-2], -1) for x in (signal.weights, S_m))
    directions = xp.swapaxes((turned(on_weights) @ on_modes).reshape(*lead, X, X, r, r), -3, -2)
    patterns = wide(signal.p, 4) * ((flat * own[..., None, :]) @ turned(flat)).reshape(*lead, D, r, D, r)
    alike = turned(n) * own[..., None, None, :] @ n
    scatter = wide(signal.p, 4) * alike[..., None, :] * np.eye(R)[:, None, :, None]
    S, outside = xp.zeros((*lead, C, r, C, r), q.dtype), ((0, 0),) * len(lead)
    for block, first in ((directions, 0), (patterns, X), (scatter, X + D)):
        around = (first, C - first - block.shape[-2])
        S = S + xp.pad(block, (*outside, around, (0, 0), around, (0, 0)))
    blocks = Blocks(S, whole(f, signal, mean), 1 / (signal.p * xp.sum(own, -1)))
    return blocks, signal.second - np.diag(np.arange(C) < X), S_m, Y_m


def parted(
    tables: Float[Array, "... D J r"], own: Float[Array, "... J"]
) -> tuple[Float[Array, "... D r"], Float[Array, "... D J r"]]:
    """The tables' mean over the neurons with these weights, and what they have around it."""
    mean = (own[..., None, None, :] @ tables)[..., 0, :] / wide(xp.sum(own, -1), 2)
    return mean, tables - mean[..., None, :]


def whole(f: Spanned, signal: Signal, mean: Float[Array, "... D r"]) -> Float[Array, "... C r"]:
    """G: the patterns' mean with the constant, among all channels."""
    one = inner(f, np.ones(signal.patterns.shape[-1]))
    constant = wide(signal.constant, 2) * one * (np.arange(mean.shape[-2]) == 0)[:, None]
    around = signal.weights.shape[-1], signal.scatter.shape[-3]
    return xp.pad(mean + constant, (*((0, 0),) * (mean.ndim - 2), around, (0, 0)))


def without(S: Blocks, channel: int, known: Float[Array, "K K"]) -> Blocks:
    """(S^{-1} - known)^{-1}, ``known`` acting on one channel: what the bulk has along it, which its coordinate stands for.

    With W = (S0^{-1} - known)^{-1} it is W + G' G'^T/s',   G' = (1 + W known) G,   s' = s - G^T known G'.
    """
    C, K = S.mean.shape
    column = S.around[:, :, channel].reshape(C * K, K)
    left = xp.linalg.solve(xp.eye(K) - S.around[channel, :, channel] @ known, column.T)
    around = S.around + (column @ known @ left).reshape(S.around.shape)
    held = known @ S.mean[channel]
    mean = S.mean + around[:, :, channel] @ held
    return Blocks(around, mean, S.share - held @ mean[channel])


def lean_part(A: Float[Array, "r r"], R: Float[Array, "r r"]) -> Float[Array, "r r"]:
    """A - A R A, R = sum_mu w_mu S^mu: what W has in the bulk along a, which omega = W^T a/sqrt(p) stands for."""
    return A - A @ R @ A


def projected(
    f: Spanned,
    S: Blocks,
    excess: Float[Array, "... K C C"],
    alpha: Float[Array, "... K"],
    b: Float[Array, "... C K"],
) -> tuple[Float[Array, "... C K"], Float[Array, "... C r"], Float[Array, "... C K"], Float[Array, "..."]]:
    """y (C, K) with y + Delta S y = b, R y (C, r), psi = S y (C, K) and G^T y: (I + R Delta R^T S) R y = R b, S in the basis."""
    *lead, C, r = S.mean.shape
    core, mean = S.around.reshape(*lead, C * r, C * r), S.mean.reshape(*lead, C * r, 1)
    held = b if f.basis is None else b @ f.basis.T  # R b
    both = xp.concatenate([core, mean], -1)
    if f.basis is None:  # Delta is diagonal in the samples
        by_sample = xp.swapaxes(both.reshape(*lead, C, r, C * r + 1), -3, -2)
        moved = xp.swapaxes((alpha[..., None, None] * excess) @ by_sample, -3, -2).reshape(both.shape)
    else:
        moved = xp.moveaxis(gram(f, alpha * xp.moveaxis(excess, 0, -1)), 2, 1).reshape(C * r, C * r) @ both
    right = xp.concatenate([held.reshape(*lead, C * r, 1), moved[..., -1:]], -1)
    solved = xp.linalg.solve(np.eye(C * r) + moved[..., :-1], right)
    found, along = solved[..., :1], solved[..., 1:]
    onto = turned(mean) @ solved
    level = onto[..., :1] / (wide(S.share, 2) + onto[..., 1:])  # t
    inside = found - along * level
    psi = outer(f, (core @ inside + mean * level).reshape(*lead, C, r))
    y = b - alpha[..., None, :] * turned(applied(excess, turned(psi)))
    again = y if f.basis is None else y @ f.basis.T  # R y, which rounding has moved by eps Delta S y
    gap = xp.max(xp.abs(again - inside.reshape(*lead, C, r)), (-2, -1)) / xp.max(xp.abs(held), (-2, -1))
    psi = xp.where(wide(gap, 2) < DIGITS, psi, xp.nan)
    return y, inside.reshape(*lead, C, r), psi, S.share * level[..., 0, 0]


def errors(f: Features, signal: Signal, penalty: Scalar | Float[Array, "..."], at: FixedPoint) -> Errors:
    """Compute the errors at a fixed point."""
    alpha, q = alphas(f, at.delta), at.q
    first = derivatives(f, penalty, q, alpha)
    S, excess, S_m, Y_m = channels(f, signal, q, alpha)
    b = turned(alpha[..., None] * signal.label)  # (C, K)
    y, inside, psi, alike = projected(f, S, excess, alpha, b)

    # y^T (dS/dalpha_l) y = explicit + sum_j (d(y^T S y)/dq_j) dq_j/dalpha_l,  dq/dalpha = -(diag(1/q^2) - coupling)^{-1} slope
    per_q = xp.linalg.solve((1 / q**2)[..., None] * np.eye(q.shape[-1]) - first.coupling, first.slope)
    explicit, by_q = form_slopes(f, signal, q, (S_m, Y_m), (y, inside, alike))
    d_form = explicit - applied(turned(per_q), by_q)

    d_trace = first.d_trace - turned(f.omega[..., None] * first.slope) @ per_q  # total dt_k/dalpha_l
    return assembled(signal, f.pi, at.delta, psi, excess, d_form, wide(f.p_over_n, 1) * d_trace)


def form_slopes(
    f: Features,
    signal: Signal,
    q: Float[Array, "... J"],
    on_modes: tuple[Float[Array, "... B r r"], Float[Array, "... B J r"]],
    of: tuple[Float[Array, "... C K"], Float[Array, "... C r"], Float[Array, "..."]],
) -> tuple[Float[Array, "... K"], Float[Array, "... J"]]:
    """y^T (dS/dalpha_l) y at fixed q, and d(y^T S y)/dq_j, of y, R y and G^T y: patterns add p omega_j (f_j^T y)^2."""
    (S_m, Y_m), (y, inside, alike) = on_modes, of
    X = signal.weights.shape[-1]
    explicit, on_directions = mode_slopes(f, signal.weights, signal.variance, (S_m, Y_m), inside[..., :X, :])
    D = X + signal.patterns.shape[-3]
    own, felt = f.omega * q, xp.sum(applied(signal.patterns, y[..., X:D, :]), -2)
    felt = felt + wide(alike - xp.sum(own * felt, -1) / xp.sum(own, -1), 1)  # f_j^T y
    on_scatter = xp.sum(applied(signal.scatter, y[..., D:, :]) ** 2, -2)
    return explicit, f.omega * (on_directions + wide(signal.p, 1) * (felt**2 + on_scatter))


def mode_slopes(
    f: Features,
    weights: Float[Array, "... B X X"],
    variance: Float[Array, "... B J"],
    on_modes: tuple[Float[Array, "... B r r"], Float[Array, "... B J r"]],
    inside: Float[Array, "... X r"],
) -> tuple[Float[Array, "... K"], Float[Array, "... J"]]:
    """The same of sum_m e_c^T P_m e_c' S^m alone, the second over omega_j, of R y on directions:

    dS^m/dalpha_l = -S^m_l S^m_l^T,    dS^m/dq_j = (p/d) omega_j V_j Y^m_j Y^m_j^T
    """
    S_m, Y_m = on_modes
    learned = inside[..., None, :, :]
    S_y, Y_y = outer(f, learned @ turned(S_m)), learned @ turned(Y_m)  # (B, X, K) and (B, X, J)
    squares = xp.sum(Y_y * (weights @ Y_y), -2)
    return -xp.sum(S_y * (weights @ S_y), (-3, -2)), wide(f.p_over_d, 1) * xp.sum(variance * squares, -2)


def assembled(
    signal: Signal,
    pi: Float[Array, "... K"],
    delta: Float[Array, "... K"],
    psi: Float[Array, "... C K"],
    excess: Float[Array, "... K C C"],
    d_form: Float[Array, "... K"],
    d_delta: Float[Array, "... K K"],
) -> Errors:
    """The errors from y^T (dS/dalpha) y and ddelta/dalpha, both total."""
    shrink, used = 1 / (1 + delta), turned(psi)
    explained = xp.sum(signal.label * used, -1)
    own = signal.power + xp.sum(applied(excess, used) * used, -1) - 2 * explained - d_form  # E0
    both = xp.stack([own, xp.ones_like(own)], -1)
    solved = xp.linalg.solve(np.eye(delta.shape[-1]) + d_delta * (pi * shrink**2)[..., None, :], both)
    given, alone = solved[..., 0], solved[..., 1]
    train = xp.sum(pi * given * shrink**2, -1)
    return Errors(
        test=xp.sum(pi * given, -1),
        train=train,
        objective=xp.sum(pi * shrink * (signal.power - explained), -1),
        gcv=train / xp.sum(pi * shrink, -1) ** 2,
        noise=xp.sum(pi * alone, -1),
    )


def path(
    f: Features, signal: Signal, penalties: Float[np.ndarray, "... L"]
) -> tuple[Float[np.ndarray, "5 ... L"], Float[np.ndarray, "... L"]]:
    """Errors and residuals by NumPy: from the largest penalty down, each fixed point starts on the line through the last two."""
    order, table = np.argsort(-penalties, -1), np.zeros((6, *penalties.shape))
    down, known = np.take_along_axis(penalties, order, -1), []
    with np.errstate(divide="ignore", invalid="ignore"):  # equal penalties, and a penalty of zero
        share = np.log(down[..., 1:-1] / down[..., 2:]) / np.log(down[..., :-2] / down[..., 1:-1])
    share = np.nan_to_num(np.clip(share, 0, 1))  # of the step before, in log lam
    for k in range(penalties.shape[-1]):
        lam, near = down[..., k], known[-1] if known else None
        if k > 1:
            near = near + share[..., k - 2, None] * (near - known[-2])
        at = solve(f, lam, near)
        made = errors(f, signal, lam, at)
        found = np.stack([*made, np.where(np.isnan(made.test), np.inf, at.residual)])
        np.put_along_axis(table, order[None, ..., k, None], found[..., None], -1)
        there = np.log(np.concatenate([at.q, at.delta], -1))
        known = [*known[-1:], np.where((at.residual < TOLERANCE)[..., None], there, start(f, lam))]
    return table[:5], table[5]
