"""Resolvents of a symmetric matrix: the pieces of ridge regression that can be jitted, vmapped and fed by streamed moments.

A is the smaller of the two Gram matrices of F (n x p): F^T F / n (primal) or F F^T / n (dual). Many penalties share one
Householder tridiagonalisation A = Q T Q^T; after it a penalty costs O(m), m = min(n, p). The functions need A + lam to be
numerically positive definite, which ``condition`` tells.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.linalg import eigvalsh_tridiagonal, get_lapack_funcs

from giantstep._machine.arrays import Array, fold, is_jax, over_seeds, repeat, solve_factored, xp
from giantstep.functions._gaussian_averages import Scalar

PerPenalty = Float[Array, " L"]  # one number for each of the L penalties

_SPLIT_FROM, _BLOCKS = 512, 8  # below this many columns one plain product is as fast as the blocks
_SPLIT_ON_DEVICE = 2048  # the same on an accelerator, where small products leave it idle


def gram(F: Float[Array, "n p"]) -> Float[Array, "p p"]:
    """F^T F, symmetric; half of it is computed: by BLAS, by the syrk of a GPU, or in blocks (XLA has no syrk for a CPU)."""
    if not is_jax(F):
        return F.T @ F
    p = F.shape[1]
    if _on_cpu():
        return gram_in_blocks(F, _BLOCKS if p >= _SPLIT_FROM else 1)
    if p < _SPLIT_ON_DEVICE or F.dtype != np.float64:  # the products of float32 may be rounded ones, which syrk has not
        return gram_in_blocks(F, _BLOCKS if p >= _SPLIT_ON_DEVICE else 1)
    from giantstep._machine.backend import jax

    return jax.lax.linalg.symmetric_product(F.T, xp.zeros((p, p)), symmetrize_output=True)


def gram_in_blocks(F: Float[Array, "n p"], blocks: int) -> Float[Array, "p p"]:
    """F^T F by products for the blocks of columns, each with those before it."""
    p = F.shape[1]
    edges = [i * p // blocks for i in range(blocks + 1)]
    rows = [xp.pad(F[:, i:j].T @ F[:, :j], ((0, 0), (0, p - j))) for i, j in zip(edges[:-1], edges[1:], strict=True)]
    lower = xp.concatenate(rows)
    return xp.tril(lower) + xp.tril(lower, -1).T


def _on_cpu() -> bool:
    from giantstep._machine.backend import jax

    return jax.default_backend() == "cpu"


BLOCK = 64  # LAPACK's largest block of Householder vectors, which sets the room that it works in


class Reduction(NamedTuple):
    """A = Q T Q^T with T tridiagonal and Q = diag(1, H_1 H_2 ...), kept as its Householder vectors.

    On an accelerator T is diagonal and Q itself is kept: what goes along a tridiagonal matrix, one row after the other, leaves
    it idle.
    """

    # k = m - 1: column j holds the vector of H_{j+1} below its unit diagonal entry; or Q, k = m
    householder: Float[Array, "k k"]
    taus: Float[Array, " _"]  # m - 1 of them, or none with Q
    diagonal: Float[Array, " m"]
    off_diagonal: Float[Array, " m"]  # entry i is T[i, i-1]; entry 0 is zero


def reduce(A: Float[Array, "m m"]) -> Reduction:
    """Householder tridiagonalisation of a symmetric matrix: (4/3) m^3 operations, the one cubic step of a path."""
    if not is_jax(A):
        tridiagonal, room = _lapack("sytrd"), _lapack("sytrd_lwork")
        size = int(room(len(A), lower=1)[0])
        packed, diagonal, off_diagonal, taus, _ = tridiagonal(A.T, lower=1, lwork=size)  # A itself, in LAPACK's order
        return Reduction(np.asfortranarray(packed[1:, :-1]), taus, diagonal, np.pad(off_diagonal, (1, 0)))
    from giantstep._machine.backend import jax

    if not _on_cpu():
        values, Q = xp.linalg.eigh(A)
        return Reduction(Q, values[:0], values, xp.zeros_like(values))
    packed, diagonal, off_diagonal, taus = jax.lax.linalg.tridiagonal(A, lower=True)
    return Reduction(packed[1:, :-1], taus, diagonal, xp.pad(off_diagonal, (1, 0)))


def _diagonal(reduction: Reduction) -> bool:
    """Whether T is diagonal."""
    return reduction.householder.shape[-1] == reduction.diagonal.shape[-1]


def rotate(reduction: Reduction, X: Float[Array, "m k"], *, transpose: bool) -> Float[Array, "m k"]:
    """Q X, or Q^T X with ``transpose``, by the Householder vectors in O(m^2 k); Q is never formed."""
    if X.shape[0] == 1:
        return X  # Q = 1
    if _diagonal(reduction):
        return (reduction.householder.T if transpose else reduction.householder) @ X
    if not is_jax((reduction.householder, X)):
        turned = _rotated(reduction, np.asarray(X[1:]), "T" if transpose else "N")
        return np.concatenate([X[:1], turned])
    from giantstep._machine.backend import jax

    turned = jax.lax.linalg.ormqr(reduction.householder, reduction.taus, X[1:], left=True, transpose=transpose)
    return xp.concatenate([X[:1], turned])


def resolvent(reduction: Reduction, QtB: Float[Array, "m k"], penalties: PerPenalty) -> Float[Array, "L m k"]:
    """(T + lam)^{-1} Q^T B for every penalty, in the coordinates of T: O(m k) each."""
    if _diagonal(reduction):
        return QtB / (reduction.diagonal + penalties[:, None])[:, :, None]
    below = reduction.off_diagonal
    return over_seeds(lambda lam: _tridiagonal(below, reduction.diagonal + lam, QtB))(penalties)


def _tridiagonal(
    below: Float[Array, " m"], diagonal: Float[Array, " m"], B: Float[Array, "m k"]
) -> Float[Array, "m k"]:
    """T^{-1} B for the symmetric T of that diagonal and of that one below it, which begins with a zero."""
    if is_jax((below, diagonal, B)):
        from giantstep._machine.backend import jax, jnp

        return jax.lax.linalg.tridiagonal_solve(*map(jnp.asarray, (below, diagonal, jnp.roll(below, -1), B)))
    if diagonal.size == 1:
        return B / diagonal[:, None]
    *_, solved, failed = _lapack("gtsv")(below[1:], diagonal, below[1:], B)
    return np.full(B.shape, np.nan) if failed else solved


def _rotated(reduction: Reduction, X: np.ndarray, how: str) -> np.ndarray:
    """Q X without its first row, or with how="T" Q^T X, by LAPACK."""
    return _lapack("ormqr")("L", how, reduction.householder, reduction.taus, X, BLOCK * (X.shape[1] + BLOCK + 1))[0]


@cache
def _lapack(name: str) -> Callable[..., Any]:
    """A double-precision LAPACK function by name."""
    return get_lapack_funcs((name,), dtype=np.float64)[0]


def solve_path(reduction: Reduction, QtB: Float[Array, "m k"], penalties: PerPenalty) -> Float[Array, "L m k"]:
    """(A + lam)^{-1} B = Q (T + lam)^{-1} Q^T B for every penalty; Q meets all of them as one m x (L k) block."""
    x = resolvent(reduction, QtB, penalties)
    L, m, k = x.shape
    block = xp.moveaxis(x, 0, 1).reshape(m, L * k)
    return xp.moveaxis(rotate(reduction, block, transpose=False).reshape(m, L, k), 1, 0)


def solve_cholesky(
    A: Float[Array, "m m"], B: Float[Array, "m k"], penalty: Scalar
) -> tuple[Float[Array, "m k"], Scalar]:
    """(A + lam)^{-1} B for one positive penalty, and a lower bound of the condition number of A + lam.

    All NaN where A + lam is not numerically positive definite. The bound is (max / min diagonal of the factor)^2.
    """
    factor = xp.linalg.cholesky(A + penalty * xp.eye(A.shape[0], dtype=A.dtype))
    return solve_factored(factor, B), condition_bound(xp.diagonal(factor))


def condition_bound(diagonal: Float[Array, " m"]) -> Scalar:
    """A lower bound of the condition number of L L^T from the diagonal of L."""
    return (diagonal.max() / diagonal.min()) ** 2


def inverse_trace(reduction: Reduction, penalties: PerPenalty) -> PerPenalty:
    """tr (A + lam)^{-1}, as d/dlam log det (T + lam) = sum_i D_i' / D_i over the pivots D_i of T + lam = L D L^T.

    D_i = d_i + lam - e_i^2 / D_{i-1} and D_i' = 1 + (e_i / D_{i-1})^2 D_{i-1}': a sum of positive terms.
    """
    if _diagonal(reduction):
        return xp.sum(1 / (reduction.diagonal + penalties[:, None]), axis=1)

    def step(carry, row):
        pivot, slope, total = carry
        ratio = row[1] / pivot
        pivot = row[0] + penalties - row[1] * ratio
        slope = 1 + ratio**2 * slope
        return xp.stack([pivot, slope, total + slope / pivot])

    start = xp.stack([xp.ones_like(penalties), 0 * penalties, 0 * penalties])
    return fold(step, start, xp.stack([reduction.diagonal, reduction.off_diagonal], 1))[2]


def inverse_forms(reduction: Reduction, QtG: Float[Array, "m r"], penalties: PerPenalty) -> Float[Array, "L r"]:
    """g^T (A + lam)^{-1} g = sum_i w_i^2 / D_i for every column g of G; L w = Q^T g and T + lam = L D L^T."""
    if _diagonal(reduction):
        return (1 / (reduction.diagonal + penalties[:, None])) @ QtG**2
    r = QtG.shape[1]

    def step(carry, row):  # of the pivot, w and the total, side by side
        pivot, w, total = carry[:, :1], carry[:, 1 : r + 1], carry[:, r + 1 :]
        ratio = row[1] / pivot
        pivot = row[0] + penalties[:, None] - row[1] * ratio
        w = row[2:] - ratio * w
        return xp.concatenate([pivot, w, total + w**2 / pivot], 1)

    start = xp.concatenate([xp.ones_like(penalties)[:, None], xp.zeros((penalties.shape[0], 2 * r))], 1)
    return fold(step, start, xp.concatenate([xp.stack([reduction.diagonal, reduction.off_diagonal], 1), QtG], 1))[
        :, r + 1 :
    ]


def condition(reduction: Reduction, penalties: PerPenalty) -> PerPenalty:
    """(s_max + lam) / (s_min + lam), s the eigenvalues of A; inf where A + lam is singular."""
    s_min, s_max = xp.maximum(_ends(reduction), 0)
    return xp.where(s_min + penalties > 0, (s_max + penalties) / (s_min + penalties), np.inf)


def _ends(reduction: Reduction) -> Float[Array, " 2"]:
    """The least and the largest eigenvalue of T: by LAPACK, or bisected, as many lie below x as T - x has negative pivots."""
    if not is_jax(tuple(reduction)):
        return _ends_now(np.asarray(reduction.diagonal), np.asarray(reduction.off_diagonal)[1:])
    from giantstep._machine.backend import jax, jnp

    d, e = reduction.diagonal, reduction.off_diagonal
    if _diagonal(reduction):
        return jnp.stack([d[0], d[-1]])
    tiny, index = np.finfo(d.dtype).tiny, jnp.array([0, d.shape[0] - 1])

    def halve(_, bounds):
        low, high = bounds
        middle = (low + high) / 2

        def step(carry, row):
            pivot = row[0] - middle - row[1] ** 2 / carry[0]
            pivot = jnp.where(jnp.abs(pivot) < tiny, -tiny, pivot)
            return (pivot, carry[1] + (pivot < 0)), None

        (_, below), _ = jax.lax.scan(step, (jnp.ones(2, d.dtype), jnp.zeros(2, int)), (d, e))
        return jnp.where(below > index, low, middle), jnp.where(below > index, middle, high)

    norm = jnp.full(2, _norm_bound(reduction))
    low, high = jax.lax.fori_loop(0, 64, halve, (-norm, norm))
    return (low + high) / 2


def _ends_now(diagonal: np.ndarray, off_diagonal: np.ndarray) -> np.ndarray:
    m = diagonal.size
    if not (np.all(np.isfinite(diagonal)) and np.all(np.isfinite(off_diagonal))):
        return np.full(2, np.nan)
    if m == 1:
        return np.repeat(diagonal, 2)
    unit = float(np.abs(diagonal).max()) or 1.0  # LAPACK squares the entries, and gives up where they overflow
    rows = diagonal / unit, off_diagonal / unit
    return unit * np.array([eigvalsh_tridiagonal(*rows, select="i", select_range=(k, k))[0] for k in (0, m - 1)])


def _norm_bound(reduction: Reduction) -> Scalar:
    """The largest absolute row sum of T, at least ||T||."""
    e = xp.abs(reduction.off_diagonal)
    return xp.max(xp.abs(reduction.diagonal) + e + xp.roll(e, -1))


def moment_error(A: Float[Array, "p p"], c: Float[Array, "p k"], yy: Scalar, b: Float[Array, "p k"]) -> Scalar:
    """Mean squared error of b on the sample with moments A = F^T F / n, c = F^T Y / n, yy = ||Y||^2 / (n k).

    MSE = yy + (b . A b - 2 b . c) / k, a difference of large numbers: its error is of order eps * yy.
    """
    return xp.maximum(yy + xp.sum(b * (A @ b - 2 * c)) / c.shape[1], 0)


def gcv_primal(reduction: Reduction, Qtc: Float[Array, "p k"], yy: Scalar, n: int, penalties: PerPenalty) -> PerPenalty:
    """GCV(lam) = MSE / (1 - df / n)^2 from moments, df = sum_j s_j / (s_j + lam) = p - lam tr (A + lam)^{-1}."""
    (p, k), x = Qtc.shape, resolvent(reduction, Qtc, penalties)
    # With x = Q^T b and T x = Q^T c - lam x:  MSE = yy - (x . Q^T c + lam x . x) / k, floored at its rounding error.
    explained = xp.sum(x * (Qtc + penalties[:, None, None] * x), (1, 2)) / k
    error = xp.maximum(yy - explained, np.finfo(x.dtype).eps * yy)
    return error / ((n - p + penalties * inverse_trace(reduction, penalties)) / n) ** 2


def gcv_dual(reduction: Reduction, QtY: Float[Array, "n k"], penalties: PerPenalty) -> PerPenalty:
    """GCV(lam) in the dual: MSE = lam^2 mean(a^2) and 1 - df / n = lam tr (A + lam)^{-1} / n, so that lam cancels."""
    a = resolvent(reduction, QtY, penalties)
    return xp.mean((a / (inverse_trace(reduction, penalties)[:, None, None] / QtY.shape[0])) ** 2, (1, 2))


def choose_penalty(
    reduction: Reduction, score: Callable[[PerPenalty], PerPenalty]
) -> tuple[Scalar, Int[Array, ""] | np.integer]:
    """The penalty minimising ``score``, a GCV curve of this reduction, and -1 or 1 if it is the lower or upper end.

    A log grid over 1e-10 .. 1e4 times the mean eigenvalue, then finer grids between the neighbours of the best point.
    The range is cut below at m eps ||T||, since A has no digits under that. Inside the range the second value is 0.
    """
    m, eps = reduction.diagonal.shape[0], np.finfo(reduction.diagonal.dtype).eps
    mean = xp.where(xp.any(reduction.diagonal > 0), xp.mean(reduction.diagonal), 1)
    low, high = xp.log(xp.maximum(1e-10 * mean, m * eps * _norm_bound(reduction))), xp.log(1e4 * mean)

    def zoom(bracket):
        grid = xp.linspace(bracket[0], bracket[2], 113)
        values = score(xp.exp(grid))
        best = xp.argmin(xp.where(xp.isfinite(values), values, xp.inf))
        return grid[xp.clip(xp.stack([best - 1, best, best + 1]), 0, 112)]

    # Eight points a decade at first, each round 56 times finer; GCV is flat at its minimum, so four rounds will do.
    _, log_penalty, _ = repeat(4, zoom, xp.stack([low, low, high]))
    return xp.exp(log_penalty), (log_penalty > high - 1e-3).astype(int) - (log_penalty < low + 1e-3)
