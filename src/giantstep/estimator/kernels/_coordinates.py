"""Coordinates: the linear map u = L^T x in which a kernel is read out, from the gradients of a fit.

A corrected giant step (``corrected_step``) gives one average gradient of the target for the active half-space of each neuron.
Their outer product M = (1/p) sum_i g_i g_i^T says along which directions the target varies, and by how much. The coordinates are

    L = V diag(s),    M = V diag(s^2) V^T             all directions, or
    L = diag(s),      s_j^2 = M_jj                    the columns one by one,

so that the kernel has the metric M (recursive feature machines, Radhakrishnan et al., Science 383, 2024, use the outer product of
plain gradients in this way). What gradients of residuals with random signs reach is subtracted from s^2.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep._machine.device import Arrays
from giantstep.estimator.kernels._kernel import distances
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps.directions import strengths
from giantstep.estimator.steps.network import FittedReadout, Table, TablePiece

MOST_COORDINATES = 128
TOLERATED = 0.25
WEAKEST = 1e-3  # coordinates shorter than this share of the longest are left out


@dataclass(frozen=True)
class GradientMoments:
    """Averages over rows for each output: E[a a^T], E[r a x^T] and the same with random signs, for functions a of a row."""

    own: list
    pull: list
    null: list


def gradient_moments(
    table: Table, rows: Iterable[TablePiece], fitted: FittedReadout, rng: np.random.Generator, where: Arrays
) -> tuple[GradientMoments, float]:
    """The moments for a = grad f in the coordinates of ``rows``, which are those of ``table`` in these coordinates; and the mean
    square of the residuals r."""
    k, begin, n, square = table.Y.shape[1], 0, 0.0, 0.0
    own, pull, null = ([0.0] * k for _ in range(3))
    for piece in rows:
        X = where.put(table.X[begin : begin + len(piece.X)])
        begin += len(piece.X)
        signs, w = where.put(rng.choice([-1.0, 1.0], len(X))), piece.weights[:, None]
        residual = piece.Y - fitted.predict(piece)
        n, square = n + float(piece.weights.sum()), square + float((w * residual**2).sum())
        for o in range(k):
            a = piece.layer.gradient(piece, fitted.coefficients[:, o])
            r = (w * residual[:, o : o + 1]).astype(X.dtype)
            own[o] = own[o] + where.double(a.T @ (w.astype(X.dtype) * a))
            pull[o] = pull[o] + where.double(a.T @ (r * X))
            null[o] = null[o] + where.double((a * signs[:, None].astype(X.dtype)).T @ (r * X))
    return GradientMoments(*([each / n for each in sums] for sums in (own, pull, null))), square / (n * k)


def corrected(
    table: Table,
    rows: Iterable[TablePiece],
    fitted: FittedReadout,
    L: Float[np.ndarray, "d r"],
    covariance: Float[Array, "d d"],
    level: float,
    where: Arrays,
) -> tuple[Float[np.ndarray, "m d"], Float[np.ndarray, "m d"], Float[np.ndarray, " d"]]:
    """Rows g with g^T g close to the outer product of the gradients of the target, from a fit f in the coordinates L;
    the same for residuals of random signs; and the diagonal of the outer product of the gradients of f itself.

    With a = grad f as the functions that gradients are averaged with, E[a grad y^T] = E[a grad f^T] + E[r a x^T] S^{-1} up to
    terms in the span of L, and E[grad y grad y^T] is at least E[a grad y^T]^T E[a a^T]^{-1} E[a grad y^T]. The inverse is
    damped by the noise of the second term, level d / n.
    """
    moments, square = gradient_moments(table, rows, fitted, np.random.default_rng(0), where)
    Q, R = np.linalg.qr(L)
    own = [R @ np.asarray(A) @ R.T for A in moments.own]
    noise = level * table.X.shape[1] * float((table.weights**2).sum()) / float(table.weights.sum()) ** 2
    values, vectors = np.linalg.eigh(sum(own) + 0.0)
    damping = (vectors / np.sqrt(np.maximum(values, 0.0) + max(noise, 1e-300))) @ vectors.T

    def solved(C: Array) -> np.ndarray:
        return R @ np.asarray(where.linalg.cho_solve((covariance, False), C.T).T)

    raised = np.sqrt(level / max(square, 1e-300))
    g = [damping @ (A @ Q.T + solved(C)) for A, C in zip(own, moments.pull, strict=True)]
    null = [raised * damping @ solved(C) for C in moments.null]
    return np.concatenate(g), np.concatenate(null), np.einsum("jk,kl,jl->j", Q, sum(own), Q)


def along_directions(g: Float[np.ndarray, "p d"], null: Float[np.ndarray, "p d"]) -> Float[np.ndarray, "d r"]:
    """L = V diag(s)."""
    values, rows = strengths(g * np.sqrt(len(g)), MOST_COORDINATES)
    s = _above(values**2, TOLERATED * float(strengths(null * np.sqrt(len(null)), 1)[0][0]) ** 2)
    kept = s > WEAKEST * s.max()
    return (rows[kept] * s[kept, None]).T


def along_columns(squares: Float[np.ndarray, " d"], level: float) -> Float[np.ndarray, "d r"]:
    """L = diag(s), without the columns that do not matter."""
    s = _above(squares, level)
    kept = np.flatnonzero(s > WEAKEST * s.max())
    L = np.zeros((len(s), len(kept)))
    L[kept, np.arange(len(kept))] = s[kept]
    return L


def _above(squares: Float[np.ndarray, " m"], level: float) -> Float[np.ndarray, " m"]:
    """The lengths above a level of their squares; the longest alone where none is."""
    above = np.sqrt(np.maximum(squares - level, 0.0))
    return above if above.max() > 0 else (squares == squares.max()).astype(float)


def typical_distance(U: Float[np.ndarray, "m r"]) -> float:
    """The median distance between rows; one where all rows are equal."""
    D = distances(U.astype(np.float64), U.astype(np.float64))
    return float(np.sqrt(np.median(D[np.triu_indices(len(U), 1)]))) or 1.0 if len(U) > 1 else 1.0
