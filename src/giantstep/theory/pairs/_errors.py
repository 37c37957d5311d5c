"""Errors of ridge regression on features in pairs, from the fixed point: the formulas of ``one_step.errors`` with a sum over the
entries (left, right) of a pair's block where they have one over neurons.

Scatter, a pattern times a random sign of each neuron's own, has the signs' covariance C_e inside a pair.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.theory.one_step._fixed_point import TOLERANCE, inner, outer
from giantstep.theory.one_step.errors import Blocks, Errors, Signal, assembled, parted, projected, whole
from giantstep.theory.pairs._fixed_point import PairedFeatures, PairedPoint, derivatives, matrix, modes, response, solve


class PairedProblem(NamedTuple):
    """Features, what the readout can use (``Signal`` with the neurons as groups and V by entries), and the scatter's C_e."""

    features: PairedFeatures
    signal: Signal
    signs: Float[np.ndarray, " E"]


def channels(
    made: PairedProblem, q: Float[np.ndarray, " E"], alpha: Float[np.ndarray, " K"]
) -> tuple[Blocks, Float[np.ndarray, "K C C"], np.ndarray, np.ndarray]:
    """S, Xi - 1 on directions, and the modes S^m, Y^m behind the directions."""
    f, signal = made.features, made.signal
    S_m, Y_m = modes(f, q, alpha, np.asarray(signal.variance))
    X, D, r = signal.weights.shape[-1], signal.patterns.shape[0], S_m.shape[-1]
    C, own = X + D + 1, f.omega * q
    n, joint = np.asarray(inner(f, signal.scatter[0])), matrix(f, own)
    mean, m = parted(np.asarray(inner(f, signal.patterns)), joint.sum(0))
    S = np.zeros((C, r, C, r))
    S[:X, :, :X] = np.einsum("mcd,mkl->ckdl", signal.weights, S_m)
    S[X : X + D, :, X : X + D] = signal.p * np.einsum("cik,ij,djl->ckdl", m, joint, m, optimize=True)
    S[-1, :, -1] = signal.p * n.T @ matrix(f, own * made.signs) @ n
    blocks = Blocks(S, whole(f, signal, mean), 1 / (signal.p * joint.sum()))
    return blocks, np.asarray(signal.second) - np.diag(np.arange(C) < X), S_m, Y_m


def errors(made: PairedProblem, penalty: float, at: PairedPoint) -> Errors:
    """Compute the errors at a fixed point."""
    f, signal = made.features, made.signal
    alpha, q = f.pi / (1 + at.delta), at.q
    first = derivatives(f, penalty, q, alpha)
    S, excess, S_m, Y_m = channels(made, q, alpha)
    X = signal.weights.shape[-1]
    b = (alpha[:, None] * signal.label).T
    y, inside, psi, alike = projected(f, S, excess, alpha, b)
    per_q = np.linalg.solve(response(first, q), first.slope)
    S_y = np.asarray(outer(f, np.einsum("mkl,cl->mck", S_m, inside[:X])))
    explicit = -np.einsum("mcd,mck,mdk->k", signal.weights, S_y, S_y, optimize=True)
    Y_y = np.einsum("mik,ck->mci", Y_m, inside[:X])
    pairs = np.einsum("mcd,mce,mde->me", signal.weights, Y_y[:, :, f.left], Y_y[:, :, f.right], optimize=True)
    on_directions = f.p_over_d * np.sum(signal.variance * pairs, 0)
    felt, own = np.einsum("cik,ck->i", signal.patterns, y[X:-1]), matrix(f, f.omega * q).sum(0)
    felt = felt + (alike - own @ felt / own.sum())
    on_scatter = signal.scatter[0] @ y[-1]
    on_patterns = felt[f.left] * felt[f.right] + made.signs * on_scatter[f.left] * on_scatter[f.right]
    d_form = explicit - (f.omega * (on_directions + signal.p * on_patterns)) @ per_q
    d_trace = first.d_trace - (f.omega[:, None] * first.slope).T @ per_q
    return assembled(signal, f.pi, at.delta, psi, excess, d_form, f.p_over_n * d_trace)


def path(
    made: PairedProblem, penalties: Float[np.ndarray, " L"]
) -> tuple[Float[np.ndarray, "5 L"], Float[np.ndarray, " L"]]:
    """Errors (5, L) and residuals (L,), from the largest penalty down."""
    table, near = np.zeros((6, penalties.size)), None
    for k in np.argsort(-penalties):
        at = solve(made.features, float(penalties[k]), near)
        found = errors(made, float(penalties[k]), at)
        table[:, k] = *found, np.inf if np.isnan(found.test) else at.residual
        near = at if at.residual < TOLERANCE else None
    return table[:5], table[5]
