"""Many ridge problems side by side, as an accelerator solves them: one Cholesky factorisation for each matrix and penalty.

    (A + lam) x = B,   A + lam = L L^T

A library factorises one large matrix at full speed. For hundreds of matrices of a few hundred rows its time is that of their
columns, one after the other; so those are factorised here in blocks, by products that all matrices share:

    L_jj L_jj^T = A_jj,   L_ij = A_ij L_jj^-T,   A_ik <- A_ik - L_ij L_kj^T   for i, k > j

The right-hand side is carried along, so that the factor need not be put together.
"""

from typing import Any

from jaxtyping import Float

from giantstep._machine.arrays import in_turn, solve_lower
from giantstep._machine.backend import jax, jnp
from giantstep.ridge._resolvent import condition_bound

Array = Any  # of JAX
BLOCK = 128
BLOCKED = range(2 * BLOCK, 2049)  # rows of the matrices that are factorised in blocks if several are at work at once


def solve(
    A: Float[Array, "m m"],
    B: Float[Array, " m"],
    penalties: Float[Array, " L"],
    at_once: int = 1,
    *,
    blocked: bool = False,
) -> tuple[Float[Array, "L m"], Float[Array, " L"]]:
    """(A + lam)^{-1} B for positive penalties, and lower bounds of the condition numbers; NaN where A + lam is not positive.

    ``blocked`` says that many such problems are at work at once.
    """
    eye = jnp.eye(A.shape[0], dtype=A.dtype)
    one = in_blocks if blocked and A.shape[0] in BLOCKED else by_library

    def at(lam: Any) -> tuple[Array, Array]:
        return one(A + lam * eye, B)

    return in_turn(at, penalties, at_once=at_once)


def by_library(A: Float[Array, "m m"], B: Float[Array, " m"]) -> tuple[Float[Array, " m"], Float[Array, ""]]:
    """A^{-1} B and a lower bound of the condition number."""
    factor = jax.lax.linalg.cholesky(A, symmetrize_input=False)
    return jax.scipy.linalg.cho_solve((factor, True), B), condition_bound(jnp.diagonal(factor))


def in_blocks(A: Float[Array, "m m"], B: Float[Array, " m"]) -> tuple[Float[Array, " m"], Float[Array, ""]]:
    """The same by the formula above; made for ``jax.vmap``."""
    inverses, below, solved, diagonals, rest = [], [], [], [], B
    while A.shape[0]:
        size = min(BLOCK, A.shape[0])
        corner = jax.lax.linalg.cholesky(A[:size, :size], symmetrize_input=False)
        inverse = solve_lower(corner, jnp.eye(size, dtype=A.dtype))
        under = A[size:, :size] @ inverse.T
        z = inverse @ rest[:size]
        A, rest = A[size:, size:] - under @ under.T, rest[size:] - under @ z
        for kept, part in ((inverses, inverse), (below, under), (solved, z), (diagonals, jnp.diagonal(corner))):
            kept.append(part)
    x = jnp.zeros(0, B.dtype)
    for inverse, under, z in zip(inverses[::-1], below[::-1], solved[::-1], strict=True):
        x = jnp.concatenate([inverse.T @ (z - under.T @ x), x])
    return x, condition_bound(jnp.concatenate(diagonals))
