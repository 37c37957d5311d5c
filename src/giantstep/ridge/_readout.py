"""The readout of a group of seeds: from streamed moments (n > p), features in memory (n <= p), or pieces met repeatedly."""

from dataclasses import dataclass, replace
from functools import partial, reduce
from operator import add

import numpy as np
from jaxtyping import Bool, Float, Int
from scipy.linalg import eigvalsh_tridiagonal

from giantstep._machine.arrays import Array, compiled, in_turn, is_jax, over_seeds
from giantstep._machine.backend import jax, jnp, one_blas_thread
from giantstep._machine.mesh import alone, columns
from giantstep.experiment.protocol import SGD, Ridge
from giantstep.ridge import _conjugate_gradients as krylov
from giantstep.ridge import _resolvent as rg
from giantstep.ridge import ridge
from giantstep.ridge import sgd as descent

PATH_FROM = 4  # penalties from which one tridiagonal reduction beats a Cholesky factorisation each
PATH_ON_DEVICE = 24  # the same on an accelerator, where the eigenvalues take as long as so many of them
DIVERGED = 10.0  # times the mean square of the labels that the training error of SGD has then passed
TRUST = 1e-6  # eps * condition above which the fit is redone by an SVD or flagged


@dataclass(frozen=True)
class Readout:
    """Coefficients (S, L, p), errors (S, L), penalties used (S, L), squared singular values (S, m) or None, sentences; of
    conjugate gradients also the relative residuals and iterations (S, L)."""

    coefficients: Float[np.ndarray, "S L p"]
    train_error: Float[np.ndarray, "S L"]
    train_objective: Float[np.ndarray, "S L"]
    penalty: Float[np.ndarray, "S L"]
    squares: Float[np.ndarray, "S m"] | None
    notes: tuple[str, ...]
    residual: Float[np.ndarray, "S L"] | None = None
    iterations: Int[np.ndarray, "S L"] | None = None


@compiled
def _cholesky(A: Float[Array, "s m m"], B: Float[Array, "s m"], penalties: Float[Array, "s l"]):
    """(A + lam)^{-1} B by one factorisation a penalty, and lower bounds of the condition numbers."""

    def one(A, B, lams):
        x, bound = in_turn(lambda lam: rg.solve_cholesky(A, B[:, None], lam), lams)
        return x[..., 0], bound

    return over_seeds(one)(A, B, penalties)


@compiled
def _reduce(A: Float[Array, "s m m"]) -> rg.Reduction:
    return rg.Reduction(*over_seeds(lambda A: tuple(rg.reduce(A)))(A))


@compiled
def _path(reduction: rg.Reduction, B: Float[Array, "s m"], penalties: Float[Array, "s l"]):
    def one(B, lams, *parts):
        reduction = rg.Reduction(*parts)
        QtB = rg.rotate(reduction, B[:, None], transpose=True)
        return rg.solve_path(reduction, QtB, lams)[..., 0], rg.condition(reduction, lams)

    return over_seeds(one)(B, penalties, *reduction)


@compiled(static_argnames="n")
def _choose(reduction: rg.Reduction, B: Float[Array, "s m"], yy: Float[Array, " s"], n: int | None):
    """The GCV penalty of every seed and whether it ends the range; n is given in the primal, None in the dual."""

    def one(B, yy, *parts):
        reduction = rg.Reduction(*parts)
        QtB = rg.rotate(reduction, B[:, None], transpose=True)
        score = partial(rg.gcv_dual, reduction, QtB) if n is None else partial(rg.gcv_primal, reduction, QtB, yy, n)
        return rg.choose_penalty(reduction, score)

    return over_seeds(one)(B, yy, *reduction)


@compiled
def _primal_errors(
    A: Float[Array, "S p p"], c: Float[Array, "S p"], yy: Float[Array, " S"], b: Float[Array, "S L p"]
) -> Float[Array, "S L"]:
    def one(A, c, yy, b):
        return over_seeds(lambda b: rg.moment_error(A, c[:, None], yy, b[:, None]))(b)

    return over_seeds(one)(A, c, yy, b)


def _solve(
    A: Float[Array, "S m m"],
    B: Float[Array, "S m"],
    yy: Float[Array, " S"],
    n: int | None,
    readout: Ridge,
    spectrum: bool,
):
    """x = (A + lam)^{-1} B for every penalty, the penalties, conditions, squared singular values and sentences.

    Small matrices are solved with one BLAS thread.
    """
    seeds, notes, squares = A.shape[0], [], None
    chosen = readout.penalty == "gcv"
    wanted = np.ravel(np.asarray(0.0 if chosen else readout.penalty, float))
    penalties = np.broadcast_to(wanted, (seeds, _count(readout)))
    path_from = PATH_FROM if jax.default_backend() == "cpu" else PATH_ON_DEVICE
    with one_blas_thread(A.shape[-1]):
        if not (chosen or spectrum or _count(readout) >= path_from):
            x, condition = jax.block_until_ready(_cholesky(A, B, penalties))
            return x, np.asarray(penalties), np.asarray(condition), None, notes
        reduction = _reduce(A)
        if chosen:
            penalty, end = _choose(reduction, B, yy, n)
            penalties = penalty[:, None]
            if bool(np.any(np.asarray(end) != 0)):
                notes.append("The penalty that GCV chose is at an end of the range searched.")
        x, condition = jax.block_until_ready(_path(reduction, B, penalties))
        if spectrum:
            diagonal, off = np.asarray(reduction.diagonal), np.asarray(reduction.off_diagonal)[:, 1:]
            squares = np.stack([_eigenvalues(d, e) for d, e in zip(diagonal, off, strict=True)])
    return x, np.asarray(penalties), np.asarray(condition), squares, notes


def _eigenvalues(diagonal: Float[np.ndarray, " m"], off_diagonal: Float[np.ndarray, " _"]) -> Float[np.ndarray, " m"]:
    """Eigenvalues of a tridiagonal matrix in decreasing order; NaN where its entries overflowed."""
    if not (np.all(np.isfinite(diagonal)) and np.all(np.isfinite(off_diagonal))):
        return np.full(diagonal.shape, np.nan)
    return np.asarray(eigvalsh_tridiagonal(diagonal, off_diagonal))[::-1]


def _count(readout: Ridge) -> int:
    return len(readout.penalty) if isinstance(readout.penalty, tuple) else 1


def from_moments(
    A: Float[Array, "S p p"], c: Float[Array, "S p"], yy: Float[Array, " S"], n: int, readout: Ridge, spectrum: bool
) -> Readout:
    """The fit from A = F^T F / n, c = F^T y / n and yy = ||y||^2 / n, n > p."""
    b, penalty, condition, squares, notes = _solve(A, c, yy, n, readout, spectrum)
    b, bad = np.array(b), ~np.all(np.isfinite(b), axis=-1) | _ill(condition)
    for s in np.flatnonzero(bad.any(axis=1)):  # a pseudo-inverse that drops eigenvalues without digits
        if not np.all(np.isfinite(A[s])):
            b[s] = np.nan  # the features overflowed; the outcome's status says so
            continue
        values, vectors = np.linalg.eigh(np.asarray(A[s]))
        keep = values > values.size * np.finfo(float).eps * max(values[-1], 0.0)
        V, along = vectors[:, keep], vectors[:, keep].T @ np.asarray(c[s])
        for i in np.flatnonzero(bad[s]):
            b[s, i] = V @ (along / (values[keep] + penalty[s, i]))
        notes.append(_sentence(condition[s][bad[s]], int(keep.sum()), values.size))
    error = np.asarray(_primal_errors(A, c, yy, b))
    return _finish(b, error, penalty, squares, notes)


def from_features(F: list[Float[Array, "s _ p"]], y: Float[Array, "s n"], readout: Ridge, spectrum: bool) -> Readout:
    """The fit from features in memory, in one piece or several, n <= p: the dual, with y - F b = lam a exactly."""
    n = y.shape[1]
    K = alone(_kernel(F))
    a, penalty, condition, squares, notes = _solve(K, y, np.mean(y**2, axis=1), None, readout, spectrum)
    b = np.array(_coefficients(F, a, n))
    error = np.array(penalty**2 * np.mean(np.asarray(a) ** 2, axis=-1))
    bad = ~np.all(np.isfinite(b), axis=-1) | _ill(condition) | (penalty == 0)
    for s in np.flatnonzero(bad.any(axis=1)):
        features = np.concatenate([np.asarray(f[s]) for f in F])
        if not float(np.max(np.abs(features))) < 1e150:
            b[s], error[s] = np.nan, np.nan  # the features overflowed; the outcome's status says so
            continue
        fit = ridge(features, y[s], tuple(penalty[s][bad[s]].tolist()))
        b[s][bad[s]], error[s][bad[s]] = fit.coefficients, fit.train_error
        notes.extend(fit.notes)
    return _finish(b, error, penalty, squares, notes)


def from_pieces(pieces: krylov.Pieces, n: int, p: int, seeds: int, readout: Ridge, put: krylov.Put) -> Readout:
    """The fit by conjugate gradients, from rows of features that are met as often as needed: any n and p, positive penalties."""
    penalties = np.ravel(np.asarray(readout.penalty, float))
    solution = krylov.solve(pieces, (seeds, n, p), penalties, put)
    fit = _finish(solution.coefficients, solution.error, np.broadcast_to(penalties, solution.error.shape), None, [])
    return replace(fit, residual=solution.residual, iterations=solution.iterations)


def from_descent(pieces: krylov.Pieces, n: int, p: int, seeds: int, readout: SGD) -> Readout:
    """The fit by SGD, through the rows in their order; it has no penalty."""
    rates = np.ravel(np.asarray(readout.rate, float))
    run = descent.descend(pieces, (seeds, n, p), rates, readout.decay, readout.passes, readout.average)
    notes, lost = [], ~(run.error < DIVERGED * run.label[:, None])
    if lost.any():
        least, bound = rates[lost.any(axis=0)].min(), 1 / np.max(run.feature[lost.any(axis=1)])
        notes = [
            f"SGD diverges at the rate {least:.3g}. Keep it below {bound:.2g}, one over the mean square of a feature."
        ]
    return _finish(run.coefficients, run.error, np.zeros_like(run.error), None, notes)


@compiled
def _one_kernel(F: Float[Array, "S n p"]) -> Float[Array, "S n n"]:
    return over_seeds(lambda F: rg.gram(F.T.astype(np.float64)) / F.shape[0])(F)


@partial(jax.jit, static_argnames="columns")
def _shared_kernel(pieces, columns):
    """The same with rows on several devices: they exchange rows for columns, so that F F^T is a sum over devices."""
    F = jnp.concatenate([jax.lax.with_sharding_constraint(f, columns) for f in pieces], axis=1)
    return jax.vmap(lambda F: F @ F.T / F.shape[0])(F)


def _kernel(pieces: list[Float[Array, "S _ p"]]) -> Float[Array, "S n n"]:
    """The kernel of the samples, F F^T / n."""
    if len(pieces) == 1 and (not is_jax(pieces) or len(pieces[0].devices()) == 1):  # type: ignore[union-attr]
        return _one_kernel(pieces[0])
    return _shared_kernel(pieces, columns(pieces[0]))


def _coefficients(pieces: list[Float[Array, "S _ p"]], a: Float[Array, "S L n"], n: int) -> Float[Array, "S L p"]:
    """The coefficients from the dual ones, F^T a / n."""
    ends = np.cumsum([f.shape[1] for f in pieces])
    dual = np.asarray(a)  # it is on one device, and F may be on several
    parts = [_against(f, dual[:, :, end - f.shape[1] : end]) for f, end in zip(pieces, ends, strict=True)]
    return reduce(add, parts) / n


@compiled
def _against(F: Float[Array, "S n p"], a: Float[Array, "S L n"]) -> Float[Array, "S L p"]:
    return a @ F


def _ill(condition: Float[np.ndarray, "..."]) -> Bool[np.ndarray, "..."]:
    return ~(condition * np.finfo(float).eps < TRUST)


def _sentence(condition: Float[np.ndarray, " _"], rank: int, size: int) -> str:
    worst = np.nanmax(np.where(np.isfinite(condition), condition, np.inf))
    return (
        f"The ridge problem is ill-conditioned, with the condition {worst:.1e}. It was solved on the {rank} of {size} directions "
        "that have digits."
    )


def _finish(
    b: Float[np.ndarray, "S L p"],
    error: Float[np.ndarray, "S L"],
    penalty: Float[np.ndarray, "S L"],
    squares: Float[np.ndarray, "S m"] | None,
    notes: list[str],
) -> Readout:
    objective = error + penalty * np.sum(b**2, axis=-1)
    return Readout(b, error, objective, penalty, squares, tuple(notes))
