"""Ridge regression beyond a single factorisation: preconditioned conjugate gradients on streamed or shared rows of F.

    (A + lam) b = c,   A = F^T F / n,   c = F^T y / n,   for all penalties lam at once: one product F V an iteration

A is never formed, and F need not be in memory: it is met in pieces of rows, one after the other. Preconditioned by a randomised
Nystrom approximation U diag(s) U^T of A of rank l (Frangella, Tropp and Udell 2023, SIAM J. Matrix Anal. Appl. 44(2),
arXiv:2110.02820, algorithms 2.1 and 5.1), which takes the spikes off the spectrum. Residuals of the recurrence drift from the
true ones; those are computed anew from y - F b when the recurrence ends, and the rest is solved again from there.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int

from giantstep._machine.arrays import Array, over_seeds
from giantstep._machine.backend import jax, jnp
from giantstep._machine.random import Stream, normals

Pieces = Callable[[], Iterable[tuple[Array, Array]]]  # rows of F (S, rows, p) and of y (S, rows), as often as asked for
Put = Callable[[np.ndarray], Array]  # an array from the host to where F is

RANK = 128  # of the preconditioner: its columns meet F together, and cost less than as many iterations
TOLERANCE = 1e-12  # of ||F^T (y - F b) / n - lam b|| / ||c||
AHEAD = 0.3  # of the tolerance, to which the recurrence goes
LIMIT = 5000  # iterations
RESTARTS = 8


@dataclass(frozen=True)
class RidgeSolution:
    """Coefficients b (S, L, p); mean squared errors on the rows, true relative residuals and iterations, (S, L) each."""

    coefficients: Float[np.ndarray, "S L p"]
    error: Float[np.ndarray, "S L"]
    residual: Float[np.ndarray, "S L"]
    iterations: Int[np.ndarray, "S L"]


@jax.jit
def _square(F: Float[Array, "S n p"], V: Float[Array, "S p k"]) -> Float[Array, "S p k"]:
    """The product F^T F V."""

    def one(F, V):
        F = F.astype(V.dtype)
        return F.T @ (F @ V)

    return over_seeds(one)(F, V)


@jax.jit
def _rest(
    F: Float[Array, "S n p"], y: Float[Array, "S n"], b: Float[Array, "S p L"]
) -> tuple[Float[Array, "S p L"], Float[Array, "S L"]]:
    """F^T (y - F b) and the sums of squares of y - F b: small residuals come from small numbers."""

    def one(F, y, b):
        F = F.astype(b.dtype)
        rest = y.astype(b.dtype)[:, None] - F @ b
        return F.T @ rest, jnp.sum(rest**2, axis=0)

    return over_seeds(one)(F, y, b)


def _sum(each: Callable[..., Any], pieces: Pieces, *given: Array) -> Any:
    """Sum ``each`` over the pieces of rows; the next piece is made while one is at work."""

    def added(total, part):
        return jax.block_until_ready(part if total is None else jax.tree.map(jnp.add, total, part))

    return reduce(added, (each(*piece, *given) for piece in pieces()), None)


def _product(pieces: Pieces, V: Float[Array, "S p k"]) -> Float[Array, "S p k"]:
    return _sum(lambda F, _, V: _square(F, V), pieces, V)


def nystrom(
    pieces: Pieces, shape: tuple[int, int, int], rank: int, put: Put
) -> tuple[Float[np.ndarray, "S p l"], Float[np.ndarray, "S l"]]:
    """U (S, p, l) and s (S, l), decreasing, with A ~ U diag(s) U^T; nothing (zeros) for a seed whose features overflow."""
    seeds, n, p = shape
    test = np.linalg.qr(normals(0, (Stream.SKETCH,), 0, p, rank))[0]
    sketch = np.asarray(_product(pieces, put(np.broadcast_to(test, (seeds, p, rank)).copy()))) / n
    U, s = np.zeros(sketch.shape), np.zeros((seeds, rank))
    for i, Y in enumerate(sketch):
        size = np.linalg.norm(Y)
        if not (np.isfinite(size) and size > 0):
            continue
        # Y = A Omega + nu Omega,  B = Y chol(Omega^T Y)^{-1},  A + nu ~ B B^T: the shift nu keeps the root real
        shift = np.sqrt(p) * np.finfo(float).eps * size
        Y = Y + shift * test
        values, vectors = np.linalg.eigh(test.T @ Y)  # a root by eigenvalues: A may have rank below l
        keep = values > shift / 2
        left, singular, _ = np.linalg.svd(Y @ (vectors[:, keep] / np.sqrt(values[keep])), full_matrices=False)
        U[i, :, : keep.sum()], s[i, : keep.sum()] = left, np.maximum(singular**2 - shift, 0.0)
    return U, s


@jax.jit
def _preconditioned(
    r: Float[Array, "S p L"], U: Float[Array, "S p l"], s: Float[Array, "S l"], lams: Float[Array, "1 1 L"]
) -> Float[Array, "S p L"]:
    """(I + U ((s_l + lam) / (s + lam) - 1) U^T) r: one on what U does not reach, where A is taken to be s_l."""
    factor = (s[:, -1:, None] + lams) / (s[:, :, None] + lams) - 1
    return r + U @ (factor * (jnp.swapaxes(U, 1, 2) @ r))


@jax.jit
def _start(
    r: Float[Array, "S p L"], U: Float[Array, "S p l"], s: Float[Array, "S l"], lams: Float[Array, "1 1 L"]
) -> tuple[Float[Array, "S p L"], Float[Array, "S p L"], Float[Array, "S p L"], Float[Array, "S 1 L"]]:
    z = _preconditioned(r, U, s, lams)
    return jnp.zeros_like(r), r, z, jnp.sum(r * z, axis=1, keepdims=True)


@jax.jit
def _advance(
    state: tuple[Array, ...],
    AV: Float[Array, "S p L"],
    U: Float[Array, "S p l"],
    s: Float[Array, "S l"],
    lams: Float[Array, "1 1 L"],
    aim: Float[Array, "S 1 L"],
) -> tuple[tuple[Array, ...], Bool[Array, "S L"]]:
    """One iteration of every column that is not there yet; and which are not there after it, (S, L)."""
    e, r, V, rho = state
    active = jnp.linalg.norm(r, axis=1, keepdims=True) > aim
    AV = AV + lams * V
    # alpha = r.z / V.(A + lam) V,  e += alpha V,  r -= alpha (A + lam) V,  V = z + (r.z new / r.z old) V
    alpha = jnp.where(active, rho / jnp.sum(V * AV, axis=1, keepdims=True), 0.0)
    e, r = e + jnp.where(active, alpha * V, 0.0), r - jnp.where(active, alpha * AV, 0.0)
    z = _preconditioned(r, U, s, lams)
    new = jnp.sum(r * z, axis=1, keepdims=True)
    V = jnp.where(active, z + new / rho * V, 0.0)
    return (e, r, V, jnp.where(active, new, rho)), (jnp.linalg.norm(r, axis=1) > aim[:, 0])


def solve(
    pieces: Pieces,
    shape: tuple[int, int, int],
    penalties: Float[np.ndarray, " L"],
    put: Put = jnp.asarray,
    rank: int | None = None,
) -> RidgeSolution:
    """b for every seed and penalty of F (S, n, p); ``rank`` is that of the preconditioner, 0 for none."""
    seeds, n, p = shape
    rank = min(p, RANK) if rank is None else rank
    lams = put(penalties[None, None, :])
    none = np.zeros((seeds, p, 1)), np.zeros((seeds, 1))  # A by zero
    U, s = (put(x) for x in (nystrom(pieces, shape, rank, put) if rank else none))
    b = np.zeros((seeds, p, penalties.size))
    right, squares = (np.asarray(x) for x in _sum(_rest, pieces, put(b)))
    r, size = right / n, np.linalg.norm(right / n, axis=1)
    size = np.where(size > 0, size, 1.0)
    count, aim = np.zeros(size.shape, int), put(AHEAD * TOLERANCE * size[:, None, :])
    for _ in range(RESTARTS):
        state, going = _start(put(r), U, s, lams), np.linalg.norm(r, axis=1) > TOLERANCE * size
        if not going.any():
            break
        while going.any() and count.max() < LIMIT:
            state, more = _advance(state, _product(pieces, state[2]) / n, U, s, lams, aim)
            count, going = count + going, np.asarray(more)
        b = b + np.asarray(state[0])
        rest, squares = (np.asarray(x) for x in _sum(_rest, pieces, put(b)))
        r = rest / n - penalties * b
        if count.max() >= LIMIT:
            break
    residual = np.linalg.norm(r, axis=1) / size
    b = np.where(np.isfinite(residual)[:, None, :], b, np.nan)
    return RidgeSolution(np.swapaxes(b, 1, 2), squares / n, residual, count)
