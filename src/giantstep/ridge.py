"""Ridge regression: one penalty, a path of penalties, GCV and leave-one-out, from one factorisation.

The problem is to minimise over b in R^p, for each output (column of Y) alone,

    (1/n) ||y - F b||^2 + lam ||b||^2,          F is n x p, lam >= 0, lam = 0 the minimum-norm least-squares fit.

With the smaller of two Gram matrices as A, both fits are a resolvent of A:

    primal, n > p:    A = F^T F / n,    b = (A + lam)^{-1} F^T y / n,
    dual,   n <= p:   A = F F^T / n,    a = (A + lam)^{-1} y,    b = F^T a / n,    y - F b = lam a.

For many penalties A = Q T Q^T is reduced once to a tridiagonal T; after that a penalty costs O(m), m = min(n, p).
Where eps times the condition number of A + lam is too large, ``ridge`` goes to an SVD of F itself.

The functions above ``ridge`` are pure and can be jitted and vmapped; A and F^T y / n may come from streamed moments.
They need A + lam to be numerically positive definite, which ``condition`` tells; ``ridge`` sees to that itself.
Error measures of several outputs are averages over the outputs.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import NamedTuple

import numpy as np
from jaxtyping import Array, ArrayLike, Bool, Float, Int

from giantstep._backend import jax, jnp
from giantstep._errors import InputError

Scalar = Float[Array, ""]
PerPenalty = Float[Array, " L"]  # one number for each of the L penalties
Numbers = Float[np.ndarray, " L"]  # the same on the host

_SPLIT_FROM, _BLOCKS = 512, 8  # below this many columns one plain product is as fast as the blocks
_ZERO_PENALTY_LIMIT = 1e-8  # eps * condition above which a fit at penalty 0 leaves the Gram matrix for the SVD
_LIMIT = 1e-6  # the same for a positive penalty; a note says so
_LARGEST = 1e150  # squares of larger entries overflow


def gram(F: Float[Array, "n p"]) -> Float[Array, "p p"]:
    """F^T F, exactly symmetric; only the lower block triangle is computed (XLA has no syrk on the CPU)."""
    p = F.shape[1]
    blocks = _BLOCKS if p >= _SPLIT_FROM else 1
    edges = [i * p // blocks for i in range(blocks + 1)]
    rows = [jnp.pad(F[:, i:j].T @ F[:, :j], ((0, 0), (0, p - j))) for i, j in zip(edges[:-1], edges[1:], strict=True)]
    lower = jnp.concatenate(rows)
    return jnp.tril(lower) + jnp.tril(lower, -1).T


class Reduction(NamedTuple):
    """A = Q T Q^T with T tridiagonal and Q = diag(1, H_1 H_2 ...), kept as its Householder vectors."""

    householder: Float[Array, "m-1 m-1"]  # column j holds the vector of H_{j+1} below its unit diagonal entry
    taus: Float[Array, " m-1"]
    diagonal: Float[Array, " m"]
    off_diagonal: Float[Array, " m"]  # entry i is T[i, i-1]; entry 0 is zero


@jax.jit
def reduce(A: Float[Array, "m m"]) -> Reduction:
    """Householder tridiagonalisation of a symmetric matrix: (4/3) m^3 operations, the one cubic step of a path."""
    packed, diagonal, off_diagonal, taus = jax.lax.linalg.tridiagonal(A, lower=True)
    return Reduction(packed[1:, :-1], taus, diagonal, jnp.pad(off_diagonal, (1, 0)))


def rotate(reduction: Reduction, X: Float[Array, "m k"], *, transpose: bool) -> Float[Array, "m k"]:
    """Q X, or Q^T X with ``transpose``, by the Householder vectors in O(m^2 k); Q is never formed."""
    if X.shape[0] == 1:
        return X  # Q = 1
    turned = jax.lax.linalg.ormqr(reduction.householder, reduction.taus, X[1:], left=True, transpose=transpose)
    return jnp.concatenate([X[:1], turned])


def resolvent(reduction: Reduction, QtB: Float[Array, "m k"], penalties: PerPenalty) -> Float[Array, "L m k"]:
    """(T + lam)^{-1} Q^T B for every penalty, in the coordinates of T: O(m k) each."""
    below, solve = reduction.off_diagonal, jax.lax.linalg.tridiagonal_solve
    return jax.vmap(lambda lam: solve(below, reduction.diagonal + lam, jnp.roll(below, -1), QtB))(penalties)


def solve_path(reduction: Reduction, QtB: Float[Array, "m k"], penalties: PerPenalty) -> Float[Array, "L m k"]:
    """(A + lam)^{-1} B = Q (T + lam)^{-1} Q^T B for every penalty; Q meets all of them as one m x (L k) block."""
    x = resolvent(reduction, QtB, penalties)
    L, m, k = x.shape
    block = jnp.moveaxis(x, 0, 1).reshape(m, L * k)
    return jnp.moveaxis(rotate(reduction, block, transpose=False).reshape(m, L, k), 1, 0)


def solve_cholesky(A: Float[Array, "m m"], B: Float[Array, "m k"], penalty: Scalar) -> Float[Array, "m k"]:
    """(A + lam)^{-1} B for one positive penalty; all NaN where A + lam is not numerically positive definite."""
    factor = jnp.linalg.cholesky(A + penalty * jnp.eye(A.shape[0], dtype=A.dtype))
    return jax.scipy.linalg.cho_solve((factor, True), B)


def inverse_trace(reduction: Reduction, penalties: PerPenalty) -> PerPenalty:
    """tr (A + lam)^{-1}, as d/dlam log det (T + lam) = sum_i D_i' / D_i over the pivots D_i of T + lam = L D L^T.

    D_i = d_i + lam - e_i^2 / D_{i-1} and D_i' = 1 + (e_i / D_{i-1})^2 D_{i-1}': a sum of positive terms.
    """

    def step(carry, row):
        pivot, slope, total = carry
        d, e = row
        ratio = e / pivot
        pivot = d + penalties - e * ratio
        slope = 1 + ratio**2 * slope
        return (pivot, slope, total + slope / pivot), None

    start = (jnp.ones_like(penalties), jnp.zeros_like(penalties), jnp.zeros_like(penalties))
    (_, _, total), _ = jax.lax.scan(step, start, (reduction.diagonal, reduction.off_diagonal))
    return total


def inverse_forms(reduction: Reduction, QtG: Float[Array, "m r"], penalties: PerPenalty) -> Float[Array, "L r"]:
    """g^T (A + lam)^{-1} g = sum_i w_i^2 / D_i for every column g of G; L w = Q^T g and T + lam = L D L^T."""

    def step(carry, row):
        pivot, w, total = carry
        d, e, g = row
        ratio = e / pivot
        pivot = d + penalties - e * ratio
        w = g - ratio[:, None] * w
        return (pivot, w, total + w**2 / pivot[:, None]), None

    zeros = jnp.zeros((penalties.shape[0], QtG.shape[1]), QtG.dtype)
    rows = (reduction.diagonal, reduction.off_diagonal, QtG)
    (_, _, total), _ = jax.lax.scan(step, (jnp.ones_like(penalties), zeros, zeros), rows)
    return total


def condition(reduction: Reduction, penalties: PerPenalty) -> PerPenalty:
    """(s_max + lam) / (s_min + lam), s the eigenvalues of A; inf where A + lam is singular.

    The eigenvalues of T are bisected: as many lie below x as T - x has negative pivots.
    """
    d, e = reduction.diagonal, reduction.off_diagonal
    tiny, index = jnp.finfo(d.dtype).tiny, jnp.array([0, d.shape[0] - 1])

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
    s_min, s_max = jnp.maximum((low + high) / 2, 0)
    return jnp.where(s_min + penalties > 0, (s_max + penalties) / (s_min + penalties), jnp.inf)


def _norm_bound(reduction: Reduction) -> Scalar:
    """The largest absolute row sum of T, at least ||T||."""
    e = jnp.abs(reduction.off_diagonal)
    return jnp.max(jnp.abs(reduction.diagonal) + e + jnp.roll(e, -1))


def moment_error(A: Float[Array, "p p"], c: Float[Array, "p k"], yy: Scalar, b: Float[Array, "p k"]) -> Scalar:
    """Mean squared error of b on the sample with moments A = F^T F / n, c = F^T Y / n, yy = ||Y||^2 / (n k).

    MSE = yy + (b . A b - 2 b . c) / k, a difference of large numbers: its error is of order eps * yy.
    """
    return jnp.maximum(yy + jnp.sum(b * (A @ b - 2 * c)) / c.shape[1], 0)


def gcv_primal(reduction: Reduction, Qtc: Float[Array, "p k"], yy: Scalar, n: int, penalties: PerPenalty) -> PerPenalty:
    """GCV(lam) = MSE / (1 - df / n)^2 from moments, df = sum_j s_j / (s_j + lam) = p - lam tr (A + lam)^{-1}."""
    (p, k), x = Qtc.shape, resolvent(reduction, Qtc, penalties)
    # With x = Q^T b and T x = Q^T c - lam x:  MSE = yy - (x . Q^T c + lam x . x) / k, floored at its rounding error.
    explained = jnp.sum(x * (Qtc + penalties[:, None, None] * x), (1, 2)) / k
    error = jnp.maximum(yy - explained, jnp.finfo(x.dtype).eps * yy)
    return error / ((n - p + penalties * inverse_trace(reduction, penalties)) / n) ** 2


def gcv_dual(reduction: Reduction, QtY: Float[Array, "n k"], penalties: PerPenalty) -> PerPenalty:
    """GCV(lam) in the dual: MSE = lam^2 mean(a^2) and 1 - df / n = lam tr (A + lam)^{-1} / n, so that lam cancels."""
    a = resolvent(reduction, QtY, penalties)
    return jnp.mean((a / (inverse_trace(reduction, penalties)[:, None, None] / QtY.shape[0])) ** 2, (1, 2))


def choose_penalty(reduction: Reduction, score: Callable[[PerPenalty], PerPenalty]) -> tuple[Scalar, Int[Array, ""]]:
    """The penalty minimising ``score``, a GCV curve of this reduction, and -1 or 1 if it is the lower or upper end.

    A log grid over 1e-10 .. 1e4 times the mean eigenvalue, then finer grids between the neighbours of the best point.
    The range is cut below at m eps ||T||, since A has no digits under that. Inside the range the second value is 0.
    """
    m, eps = reduction.diagonal.shape[0], jnp.finfo(reduction.diagonal.dtype).eps
    mean = jnp.where(jnp.any(reduction.diagonal > 0), jnp.mean(reduction.diagonal), 1)
    low, high = jnp.log(jnp.maximum(1e-10 * mean, m * eps * _norm_bound(reduction))), jnp.log(1e4 * mean)

    def zoom(_, bracket):
        grid = jnp.linspace(bracket[0], bracket[2], 113, dtype=mean.dtype)
        values = score(jnp.exp(grid))
        best = jnp.argmin(jnp.where(jnp.isfinite(values), values, jnp.inf))
        return grid[jnp.clip(jnp.array([best - 1, best, best + 1]), 0, 112)]

    # Eight points a decade at first, each round 56 times finer; GCV is flat at its minimum, so four rounds will do.
    _, log_penalty, _ = jax.lax.fori_loop(0, 4, zoom, jnp.stack([low, low, high]))
    return jnp.exp(log_penalty), (log_penalty > high - 1e-3).astype(int) - (log_penalty < low + 1e-3)


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Fit:
    """A ridge fit. Given a sequence of penalties, every field but ``notes`` has the penalties as its first axis.

    ``coefficients`` continues with p and, where y had two dimensions, the outputs; errors are means over the outputs.
    ``loo_error`` is the mean squared leave-one-out residual, each refit with the same penalty term n lam ||b||^2.
    ``condition`` is that of A + lam (an estimate for a single penalty without leave-one-out). ``notes`` are sentences
    on numerical trouble and what was done about it.
    """

    coefficients: Float[Array, "..."]
    penalty: float | PerPenalty
    train_error: float | PerPenalty
    train_objective: float | PerPenalty
    degrees_of_freedom: float | PerPenalty
    gcv: float | PerPenalty
    loo_error: float | PerPenalty | None
    condition: float | PerPenalty
    notes: tuple[str, ...] = field(default=(), metadata={"static": True})


def _mean_square(x: Float[Array, "L n k"]) -> PerPenalty:
    return jnp.mean(x**2, (1, 2))


def _fit(b: Float[Array, "L p k"], penalties: PerPenalty, error: PerPenalty, df, gcv, loo, condition) -> Fit:
    objective = error + penalties * jnp.sum(b**2, (1, 2)) / b.shape[2]
    return Fit(b, penalties, error, objective, df, gcv, loo, condition)


def _measure(F, Y, penalties, x, trace, forms, condition) -> Fit:
    """Errors from x = (A + lam)^{-1} B, tr (A + lam)^{-1} and, for leave-one-out, the forms g^T (A + lam)^{-1} g."""
    n, p = F.shape
    loo = None
    if n > p:
        residual = Y - jnp.einsum("np,lpk->lnk", F, x)
        error = _mean_square(residual)
        gcv = error / ((n - p + penalties * trace) / n) ** 2
        if forms is not None:
            # h_ii = f_i^T (A + lam)^{-1} f_i / n, loo residual_i = r_i / (1 - h_ii)
            rest = 1 - forms[:, :, None] / n
            loo = jnp.where(jnp.min(rest) > _LIMIT, _mean_square(residual / rest), jnp.nan)
        return _fit(x, penalties, error, p - penalties * trace, gcv, loo, condition)
    # r = lam a and 1 - h_ii = lam [(A + lam)^{-1}]_ii: lam cancels from GCV and leave-one-out, whatever its size.
    gcv = _mean_square(x / (trace[:, None, None] / n))
    loo = None if forms is None else _mean_square(x / forms[:, :, None])
    b, residual = jnp.einsum("np,lnk->lpk", F, x) / n, penalties[:, None, None] * x
    return _fit(b, penalties, _mean_square(residual), n - penalties * trace, gcv, loo, condition)


@jax.jit
def _normal_equations(F: Float[Array, "n p"], Y: Float[Array, "n k"]) -> tuple[Array, Array]:
    n, p = F.shape
    return (gram(F) / n, F.T @ Y / n) if n > p else (gram(F.T) / n, Y)


@jax.jit
def _choose(reduction: Reduction, F, Y, B) -> tuple[Array, Array]:
    n, p = F.shape
    QtB = rotate(reduction, B, transpose=True)
    primal = partial(gcv_primal, reduction, QtB, jnp.mean(Y**2), n)
    return choose_penalty(reduction, primal if n > p else partial(gcv_dual, reduction, QtB))


@partial(jax.jit, static_argnames="loo")
def _by_reduction(reduction: Reduction, F, Y, B, penalties, loo: bool) -> Fit:
    n, p = F.shape
    x = solve_path(reduction, rotate(reduction, B, transpose=True), penalties)
    forms = None
    if loo:
        QtG = rotate(reduction, F.T if n > p else jnp.eye(n), transpose=True)
        forms = inverse_forms(reduction, QtG, penalties)
    return _measure(F, Y, penalties, x, inverse_trace(reduction, penalties), forms, condition(reduction, penalties))


@jax.jit
def _by_cholesky(A, F, Y, B, penalties) -> Fit:
    """One penalty. The condition number is a power-iteration estimate, from below, mostly within a factor two."""
    shifted = A + penalties[0] * jnp.eye(len(A))
    factor = jnp.linalg.cholesky(shifted)
    # (A + lam)^{-1} = root^T root, tr (A + lam)^{-1} = ||root||_F^2
    root = jax.lax.linalg.triangular_solve(factor, jnp.eye(len(A)), left_side=True, lower=True)
    start = jax.random.normal(jax.random.key(0), (len(A),))

    def largest(apply):
        return jnp.linalg.norm(jax.lax.fori_loop(0, 16, lambda _, v: apply(v / jnp.linalg.norm(v)), start))

    estimate = largest(lambda v: shifted @ v) * largest(lambda v: root.T @ (root @ v))
    return _measure(F, Y, penalties, (root.T @ (root @ B))[None], jnp.sum(root**2)[None], None, estimate[None])


@jax.jit
def _by_svd(F, Y, penalties) -> tuple[Fit, Int[Array, ""]]:
    """All penalties from F = U diag(sigma) V^T, s = sigma^2 / n, cut at the numerical rank; also that rank."""
    n, eps = len(F), jnp.finfo(F.dtype).eps
    U, sigma, Vt = jnp.linalg.svd(F, full_matrices=False)
    keep = sigma > max(F.shape) * eps * sigma[0]
    rank, U = jnp.sum(keep), jnp.where(keep, U, 0)
    s, lam = sigma**2 / n, penalties[:, None, None]
    inverse = jnp.where(keep, 1 / (s + penalties[:, None]), 0)  # 1 / (s + lam)
    UtY = U.T @ Y
    b = jnp.einsum("jp,lj,jk->lpk", Vt, sigma / n * inverse, UtY)
    # r = (1 - U U^T) y + lam a with a = U (s + lam)^{-1} U^T y, and 1 - h_ii = (1 - U U^T)_ii + lam g_i.
    a = jnp.einsum("nj,lj,jk->lnk", U, inverse, UtY)
    outside = 1 - jnp.sum(U**2, 1, keepdims=True)
    inside = (outside < 8 * n * eps) | (rank == n)  # e_i is in the range of F, so (1 - U U^T) e_i = 0
    residual, trace = jnp.where(inside, 0, Y - U @ UtY) + lam * a, jnp.sum(inverse, 1)
    error = _mean_square(residual)
    # At rank n, and in leave-one-out for a row that is inside, every term has a factor lam, which cancels.
    free = jnp.where(rank == n, trace, n - rank + penalties * trace) / n
    gcv = jnp.where(rank == n, _mean_square(a / free[:, None, None]), error / free**2)
    g = jnp.einsum("nj,lj->ln", U**2, inverse)[:, :, None]
    left_out = _mean_square(jnp.where(inside, a, residual) / jnp.where(inside, g, outside + lam * g))
    cond = jnp.where(s[-1] + penalties > 0, (s[0] + penalties) / (s[-1] + penalties), jnp.inf)
    return _fit(b, penalties, error, jnp.sum(s * inverse, 1), gcv, left_out, cond), rank


def ridge(F: ArrayLike, y: ArrayLike, penalty: float | Sequence[float] | ArrayLike | str, *, loo: bool = False) -> Fit:
    """Fit F b = y with penalty lam >= 0: a number, a sequence of numbers, or "gcv" to choose the minimiser of GCV.

    Works in float64. The route (primal or dual; Cholesky, reduction or SVD) is picked from shapes and conditioning.
    """
    features, targets, one_output = _check_data(F, y)
    penalties, one_penalty = _check_penalty(penalty)
    A, B = _normal_equations(features, targets)
    # Small decisions are made in NumPy: outside jit, JAX compiles every operation anew for every shape.
    reduction, fit, notes = None, None, []
    if isinstance(penalty, str):
        reduction = reduce(A)
        chosen, end = _choose(reduction, features, targets, B)
        penalties = np.asarray(chosen).reshape(1)
        if end != 0:
            side = "lower" if end < 0 else "upper"
            notes.append(f"GCV is smallest at the {side} end of the range searched, penalty {penalties[0]:.3g}.")
    elif len(penalties) == 1 and penalties[0] > 0 and not loo:
        # One penalty only: tr (A + lam)^{-1} for df makes a second Cholesky dearer than the reduction.
        fit = _by_cholesky(A, features, targets, B, penalties)
        if not np.all(np.isfinite(fit.coefficients)):
            fit = None
            notes.append(f"Cholesky failed at penalty {penalties[0]:.3g}; the tridiagonal reduction took over.")
    if fit is None:
        fit = _by_reduction(reduction or reduce(A), features, targets, B, penalties, loo)
    error = np.finfo(float).eps * np.asarray(fit.condition)
    too_large = ~(error <= np.where(penalties > 0, _LIMIT, _ZERO_PENALTY_LIMIT))  # NaN is too large
    if np.any(too_large) or (fit.loo_error is not None and np.any(np.isnan(fit.loo_error))):
        fit, rank = _by_svd(features, targets, penalties)
        notes.append(_why_svd(penalties, error, too_large) + f", numerical rank {rank} of {min(features.shape)}.")
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(replace(fit, condition=1.0))):
        notes.append("Some results are not finite: the numbers left the range of float64; rescale F or y.")
    fit = replace(fit, loo_error=fit.loo_error if loo else None, notes=tuple(notes))
    fit = replace(fit, coefficients=fit.coefficients.reshape(len(penalties), -1)) if one_output else fit
    return jax.tree.map(lambda x: x.reshape(x.shape[1:]) if x.ndim > 1 else float(x[0]), fit) if one_penalty else fit


def _why_svd(penalties: Numbers, error: Numbers, too_large: Bool[np.ndarray, " L"]) -> str:
    worst = np.argmax(np.where(too_large, error, 0))
    if not too_large[worst]:
        return f"A leverage is within {_LIMIT:.0e} of 1: fit by an SVD of F"
    kind = "minimum-norm fit" if penalties[worst] == 0 else "fit"
    where = f"eps * condition = {error[worst]:.1e} at penalty {penalties[worst]:.3g}"
    return f"Ill-conditioned, {where}: {kind} by an SVD of F"


def _check_data(F: ArrayLike, y: ArrayLike) -> tuple[Float[Array, "n p"], Float[Array, "n k"], bool]:
    def check(name: str, value: ArrayLike, dims: tuple[int, ...], wanted: str) -> Array:
        try:
            array = np.asarray(value)
        except ValueError:
            raise InputError(f"ridge: {name} has rows of different lengths; give a {wanted}.") from None
        if array.ndim not in dims or array.size == 0 or array.dtype.kind not in "fiub":
            raise InputError(f"ridge: {name} has shape {array.shape} and type {array.dtype}; give a real {wanted}.")
        if not float(np.max(np.abs(array))) <= _LARGEST:
            raise InputError(f"ridge: {name} has NaN, inf or entries over {_LARGEST:.0e}; clean or rescale it.")
        return jnp.asarray(array, dtype=float)

    features = check("F", F, (2,), "non-empty n x p matrix")
    targets = check("y", y, (1, 2), "non-empty vector of length n or n x k matrix")
    if len(features) != len(targets):
        raise InputError(f"ridge: F has {len(features)} rows and y has {len(targets)}; give one y for each row of F.")
    return features, targets.reshape(len(targets), -1), targets.ndim == 1


def _check_penalty(penalty: float | Sequence[float] | ArrayLike | str) -> tuple[Numbers, bool]:
    """The penalties as a vector, and whether there was just a number; "gcv" counts as the number 0 for now."""
    try:
        values = np.asarray(0.0 if isinstance(penalty, str) and penalty == "gcv" else penalty)
    except ValueError:
        values = np.empty(0)
    if values.dtype.kind not in "fiu" or values.ndim > 1 or values.size == 0:
        raise InputError(f'ridge: penalty {penalty!r} is not a number, a non-empty sequence of numbers, or "gcv".')
    if not np.all((values >= 0) & (values < np.inf)):
        raise InputError(f"ridge: penalty {penalty} has a negative, infinite or NaN entry; give finite numbers >= 0.")
    return values.astype(float).reshape(-1), values.ndim == 0
