"""Ridge regression from a Gram matrix of low precision, refined to all digits of float64.

    (F^T F + lam) b = F^T y,   F^T F ~ A,   L L^T = A + lam

A comes from products that round their factors to ten bits, so L L^T differs from the matrix of the problem by a part in a
thousand. As a preconditioner of conjugate gradients that takes a few iterations to a residual of 1e-12, and an iteration takes
two products of F with a vector, in float64: iterative refinement by a Krylov method, as in Carson and Higham (2018, SIAM J. Sci.
Comput. 40(2)).
"""

from typing import Any, NamedTuple

from jaxtyping import Float, Int

from giantstep._machine.arrays import in_turn
from giantstep._machine.backend import jax, jnp
from giantstep.ridge._resolvent import condition_bound

Array = Any  # of JAX
TOLERANCE = 1e-12  # of ||F^T (y - F b) - lam b|| / ||F^T y||
LIMIT = 50  # iterations


class Refined(NamedTuple):
    """Coefficients (L, p), mean squared errors, relative residuals, iterations, bounds of the condition numbers, (L,) each."""

    coefficients: Float[Array, "L p"]
    error: Float[Array, " L"]
    residual: Float[Array, " L"]
    iterations: Int[Array, " L"]
    condition: Float[Array, " L"]


def refined(
    F: Float[Array, "n p"], y: Float[Array, " n"], A: Float[Array, "p p"], penalties: Float[Array, " L"]
) -> Refined:
    """The fits at positive penalties, in the units of F^T F."""
    y, eye = y.astype(float), jnp.eye(A.shape[0])

    def forward(v: Array) -> Array:
        return F.astype(float) @ v

    def back(v: Array) -> Array:
        return v @ F.astype(float)

    c = back(y)
    size = jnp.where(jnp.any(c != 0), jnp.linalg.norm(c), 1.0)

    def one(lam: Array) -> Refined:
        factor = jax.lax.linalg.cholesky(A + lam * eye, symmetrize_input=False)

        def nearly(v: Array) -> Array:
            return jax.scipy.linalg.cho_solve((factor, True), v)

        def unfinished(state: tuple[Array, ...]) -> Array:
            return (jnp.linalg.norm(state[1]) > TOLERANCE * size) & (state[4] < LIMIT)

        def step(state: tuple[Array, ...]) -> tuple[Array, ...]:
            b, r, v, rho, count = state
            Av = back(forward(v)) + lam * v
            # alpha = r.z / v.(F^T F + lam) v,  b += alpha v,  r -= alpha (F^T F + lam) v,  v = z + (r.z new / r.z old) v
            alpha = rho / (v @ Av)
            b, r = b + alpha * v, r - alpha * Av
            z = nearly(r)
            return b, r, z + (r @ z) / rho * v, r @ z, count + 1

        z = nearly(c)
        b, *_, count = jax.lax.while_loop(unfinished, step, (jnp.zeros_like(c), c, z, c @ z, jnp.zeros((), int)))
        rest = y - forward(b)
        residual = jnp.linalg.norm(back(rest) - lam * b) / size
        return Refined(b, jnp.mean(rest**2), residual, count, condition_bound(jnp.diagonal(factor)))

    return in_turn(one, penalties)
