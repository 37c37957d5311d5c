"""Ridge regression: one penalty, a path of penalties, GCV and leave-one-out, from one factorisation.

The problem is to minimise over ``b in R^p``, for each output (column of Y) alone,

    (1/n) ||y - F b||^2 + lam ||b||^2,          F is n x p, lam >= 0, lam = 0 the minimum-norm least-squares fit.

With the smaller of two Gram matrices as A, both fits are a resolvent of A:

    primal, n > p:    A = F^T F / n,    b = (A + lam)^{-1} F^T y / n,
    dual,   n <= p:   A = F F^T / n,    a = (A + lam)^{-1} y,    b = F^T a / n,    y - F b = lam a.

For many penalties ``A = Q T Q^T`` is reduced once to a tridiagonal T; after that a penalty costs O(m), m = min(n, p).
Where eps times the condition number of A + lam is too large, ``ridge`` goes to an SVD of F itself.

Error measures of several outputs are averages over the outputs.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import partial

import numpy as np
from jaxtyping import ArrayLike, Bool, Float, Int

from giantstep._given.callable import callable_module
from giantstep._given.declared import given
from giantstep._given.plain import as_numbers, flag
from giantstep._machine.arrays import Array, compiled, repeat, solve_lower, xp
from giantstep._machine.backend import jax, jnp, one_blas_thread
from giantstep.errors import InputError, quoted
from giantstep.ridge._resolvent import (
    PerPenalty,
    Reduction,
    choose_penalty,
    condition,
    gcv_dual,
    gcv_primal,
    gram,
    inverse_forms,
    inverse_trace,
    reduce,
    rotate,
    solve_path,
)

Numbers = Float[np.ndarray, " L"]  # the same on the host

_ZERO_PENALTY_LIMIT = 1e-8  # eps * condition above which a fit at penalty 0 leaves the Gram matrix for the SVD
_LIMIT = 1e-6  # the same for a positive penalty; a note says so
_LARGEST = 1e150  # squares of larger entries overflow


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Fit:
    """A ridge fit. Given a sequence of penalties, every field but ``notes`` has the penalties as its first axis.

    ``coefficients`` continues with p and, where y had two dimensions, the outputs; errors are means over the outputs.
    ``loo_error`` is the mean squared leave-one-out residual, each refit with the same penalty term ``n lam ||b||^2``.
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
    return xp.mean(x**2, (1, 2))


def _fit(b: Float[Array, "L p k"], penalties: PerPenalty, error: PerPenalty, df, gcv, loo, condition) -> Fit:
    objective = error + penalties * xp.sum(b**2, (1, 2)) / b.shape[2]
    return Fit(b, penalties, error, objective, df, gcv, loo, condition)


def _measure(F, Y, penalties, x, trace, forms, condition) -> Fit:
    """Errors from x = (A + lam)^{-1} B, tr (A + lam)^{-1} and, for leave-one-out, the forms g^T (A + lam)^{-1} g."""
    n, p = F.shape
    loo = None
    if n > p:
        residual = Y - F @ x
        error = _mean_square(residual)
        gcv = error / ((n - p + penalties * trace) / n) ** 2
        if forms is not None:
            # h_ii = f_i^T (A + lam)^{-1} f_i / n, loo residual_i = r_i / (1 - h_ii)
            rest = 1 - forms[:, :, None] / n
            loo = xp.where(xp.min(rest) > _LIMIT, _mean_square(residual / rest), xp.nan)
        return _fit(x, penalties, error, p - penalties * trace, gcv, loo, condition)
    # r = lam a and 1 - h_ii = lam [(A + lam)^{-1}]_ii: lam cancels from GCV and leave-one-out, whatever its size.
    gcv = _mean_square(x / (trace[:, None, None] / n))
    loo = None if forms is None else _mean_square(x / forms[:, :, None])
    b, residual = F.T @ x / n, penalties[:, None, None] * x
    return _fit(b, penalties, _mean_square(residual), n - penalties * trace, gcv, loo, condition)


@compiled
def _normal_equations(F: Float[Array, "n p"], Y: Float[Array, "n k"]) -> tuple[Array, Array]:
    n, p = F.shape
    return (gram(F) / n, F.T @ Y / n) if n > p else (gram(F.T) / n, Y)


@compiled
def _choose(reduction: Reduction, F, Y, B) -> tuple:
    n, p = F.shape
    QtB = rotate(reduction, B, transpose=True)
    primal = partial(gcv_primal, reduction, QtB, xp.mean(Y**2), n)
    return choose_penalty(reduction, primal if n > p else partial(gcv_dual, reduction, QtB))


@compiled(static_argnames="loo")
def _by_reduction(reduction: Reduction, F, Y, B, penalties, loo: bool) -> Fit:
    n, p = F.shape
    x = solve_path(reduction, rotate(reduction, B, transpose=True), penalties)
    forms = None
    if loo:
        QtG = rotate(reduction, F.T if n > p else xp.eye(n), transpose=True)
        forms = inverse_forms(reduction, QtG, penalties)
    return _measure(F, Y, penalties, x, inverse_trace(reduction, penalties), forms, condition(reduction, penalties))


@compiled
def _by_cholesky(A, F, Y, B, penalties) -> Fit:
    """One penalty. The condition number is a power-iteration estimate, from below, mostly within a factor two."""
    shifted = A + penalties[0] * xp.eye(len(A))
    factor = xp.linalg.cholesky(shifted)
    # (A + lam)^{-1} = root^T root, tr (A + lam)^{-1} = ||root||_F^2
    root = solve_lower(factor, np.eye(len(A)))
    start = np.random.default_rng(0).standard_normal(len(A)) + 0 * A[0]

    def largest(apply):
        return xp.linalg.norm(repeat(16, lambda v: apply(v / xp.linalg.norm(v)), start))

    estimate = largest(lambda v: shifted @ v) * largest(lambda v: root.T @ (root @ v))
    return _measure(F, Y, penalties, (root.T @ (root @ B))[None], xp.sum(root**2)[None], None, estimate[None])


@compiled
def _by_svd(F, Y, penalties) -> tuple[Fit, Int[Array, ""] | np.integer]:
    """All penalties from F = U diag(sigma) V^T, s = sigma^2 / n, cut at the numerical rank; also that rank."""
    n, eps = len(F), np.finfo(F.dtype).eps
    U, sigma, Vt = xp.linalg.svd(F, full_matrices=False)
    keep = sigma > max(F.shape) * eps * sigma[0]
    rank, U = xp.sum(keep), xp.where(keep, U, 0)
    s, lam = sigma**2 / n, penalties[:, None, None]
    inverse = xp.where(keep, 1 / (s + penalties[:, None]), 0)  # 1 / (s + lam)
    UtY = U.T @ Y
    b = Vt.T @ ((sigma / n * inverse)[:, :, None] * UtY)
    # r = (1 - U U^T) y + lam a with a = U (s + lam)^{-1} U^T y, and 1 - h_ii = (1 - U U^T)_ii + lam g_i.
    a = U @ (inverse[:, :, None] * UtY)
    outside = 1 - xp.sum(U**2, 1, keepdims=True)
    inside = (outside < 8 * n * eps) | (rank == n)  # e_i is in the range of F, so (1 - U U^T) e_i = 0
    residual, trace = xp.where(inside, 0, Y - U @ UtY) + lam * a, xp.sum(inverse, 1)
    error = _mean_square(residual)
    # At rank n, and in leave-one-out for a row that is inside, every term has a factor lam, which cancels.
    free = xp.where(rank == n, trace, n - rank + penalties * trace) / n
    gcv = xp.where(rank == n, _mean_square(a / free[:, None, None]), error / free**2)
    g = (inverse @ (U**2).T)[:, :, None]
    left_out = _mean_square(xp.where(inside, a, residual) / xp.where(inside, g, outside + lam * g))
    cond = xp.where(s[-1] + penalties > 0, (s[0] + penalties) / (s[-1] + penalties), xp.inf)
    return _fit(b, penalties, error, xp.sum(s * inverse, 1), gcv, left_out, cond), rank


@given(loo=flag)
def ridge(F: ArrayLike, y: ArrayLike, penalty: float | Sequence[float] | ArrayLike | str, *, loo: bool = False) -> Fit:
    """Fit ``F b = y`` with penalty ``lam >= 0``: a number, a sequence of numbers, or "gcv" to choose the minimiser of GCV.

    Works in float64. The route (primal or dual; Cholesky, reduction or SVD) is picked from shapes and conditioning.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> F = rng.standard_normal((50, 20))
        >>> fit = gs.ridge(F, F @ np.ones(20), [1e-6, 1.0])
        >>> fit.coefficients.shape
        (2, 20)
        >>> bool(np.allclose(fit.coefficients[0], 1.0, atol=1e-4))
        True
    """
    features, targets, one_output = _check_data(F, y)
    penalties, one_penalty = _check_penalty(penalty)
    with one_blas_thread(min(features.shape)), np.errstate(all="ignore"):  # a note says what is not finite
        fit = jax.block_until_ready(_solved(features, targets, penalties, isinstance(penalty, str), loo))
    fit = replace(fit, coefficients=fit.coefficients.reshape(len(fit.penalty), -1)) if one_output else fit
    return jax.tree.map(lambda x: x.reshape(x.shape[1:]) if x.ndim > 1 else float(x[0]), fit) if one_penalty else fit


def _solved(features: Array, targets: Array, penalties: Numbers, choose: bool, loo: bool) -> Fit:
    """The fit by the best route, penalties and outputs as axes, with its notes."""
    A, B = _normal_equations(features, targets)
    # Small decisions are made in NumPy: outside jit, JAX compiles every operation anew for every shape.
    reduction, fit, notes = None, None, []
    if choose:
        reduction = reduce(A)
        chosen, end = _choose(reduction, features, targets, B)
        penalties = np.asarray(chosen).reshape(1)
        if end != 0:
            side = "lower" if end < 0 else "upper"
            notes.append(f"GCV is smallest at the {side} end of the range searched, at the penalty {penalties[0]:.3g}.")
    elif len(penalties) == 1 and penalties[0] > 0 and not loo:
        # One penalty only: tr (A + lam)^{-1} for df makes a second Cholesky dearer than the reduction.
        fit = _by_cholesky(A, features, targets, B, penalties)
        if not np.all(np.isfinite(fit.coefficients)):
            fit = None
            notes.append(f"Cholesky failed at the penalty {penalties[0]:.3g}. The tridiagonal reduction took over.")
    if fit is None:
        fit = _by_reduction(reduction or reduce(A), features, targets, B, penalties, loo)
    error = np.finfo(float).eps * np.asarray(fit.condition)
    too_large = ~(error <= np.where(penalties > 0, _LIMIT, _ZERO_PENALTY_LIMIT))  # NaN is too large
    if np.any(too_large) or (fit.loo_error is not None and np.any(np.isnan(fit.loo_error))):
        fit, rank = _by_svd(features, targets, penalties)
        notes.append(
            _why_svd(penalties, error, too_large) + f" has the numerical rank {rank} of {min(features.shape)}."
        )
    if not all(np.all(np.isfinite(x)) for x in jax.tree.leaves(replace(fit, condition=1.0))):
        notes.append("Some results are not finite: the numbers left the range of float64. Rescale F or y.")
    return replace(fit, loo_error=fit.loo_error if loo else None, notes=tuple(notes))


def _why_svd(penalties: Numbers, error: Numbers, too_large: Bool[np.ndarray, " L"]) -> str:
    worst = np.argmax(np.where(too_large, error, 0))
    if not too_large[worst]:
        return f"A leverage is within {_LIMIT:.0e} of 1. The fit by an SVD of F"
    kind = "minimum-norm fit" if penalties[worst] == 0 else "fit"
    where = f"eps * condition = {error[worst]:.1e} at the penalty {penalties[worst]:.3g}"
    return f"The ridge problem is ill-conditioned: {where}. The {kind} by an SVD of F"


def _check_data(F: ArrayLike, y: ArrayLike) -> tuple[Float[Array, "n p"], Float[Array, "n k"], bool]:
    def check(name: str, value: ArrayLike, dims: tuple[int, ...], wanted: str) -> Array:
        try:
            array = np.asarray(value)
        except Exception:  # whatever the object raises
            raise InputError(f"ridge: {name} has rows of different lengths, or is no array; give a {wanted}.") from None
        if as_numbers(value) is None or array.ndim not in dims or array.size == 0:
            raise InputError(f"ridge: {name} has shape {array.shape} and type {array.dtype}; give a real {wanted}.")
        if not float(np.max(np.abs(array))) <= _LARGEST:
            raise InputError(f"ridge: {name} has NaN, inf or entries over {_LARGEST:.0e}; clean or rescale it.")
        return np.asarray(array, dtype=float) if jax.default_backend() == "cpu" else jnp.asarray(array, dtype=float)

    features = check("F", F, (2,), "non-empty n x p matrix")
    targets = check("y", y, (1, 2), "non-empty vector of length n or n x k matrix")
    if len(features) != len(targets):
        raise InputError(f"ridge: F has {len(features)} rows and y has {len(targets)}; give one y for each row of F.")
    return features, targets.reshape(len(targets), -1), targets.ndim == 1


def _check_penalty(penalty: float | Sequence[float] | ArrayLike | str) -> tuple[Numbers, bool]:
    """The penalties as a vector, and whether there was just a number; "gcv" counts as the number 0 for now."""
    values = as_numbers(0.0 if isinstance(penalty, str) and penalty == "gcv" else penalty)
    if values is None or values.dtype.kind == "b" or values.ndim > 1 or values.size == 0:
        given = quoted(penalty)
        raise InputError(f'ridge: penalty {given} is not a number, a non-empty sequence of numbers, or "gcv".')
    if not np.all((values >= 0) & (values < np.inf)):
        given = quoted(penalty)
        raise InputError(f"ridge: penalty {given} has a negative, infinite or NaN entry; give finite numbers >= 0.")
    return values.astype(float).reshape(-1), values.ndim == 0


callable_module(__name__, ridge)
