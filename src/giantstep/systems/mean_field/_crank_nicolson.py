"""Crank and Nicolson's step of Langevin dynamics on a space of functions: it has one meaning at every truncation.

The law is ``exp(-U(theta)) N(0, C)(d theta)``. In the coordinates u = C^(-1/2) theta, for the step size h,

    v = [(1 - h/2) u - h grad U(u) + sqrt(2 h) xi] / (1 + h/2),    xi ~ N(0, I),

which keeps N(0, I) exactly when U = 0, at any h and in any dimension. With U its law has an error of order h; accepting v
with probability ``min(1, exp(rho(u, v) - rho(v, u)))``,

    rho(u, v) = U(u) + <v - u, grad U(u)>/2 + (h/4) <u + v, grad U(u)> + (h/4) |grad U(u)|^2,

removes it (pCNL of Cotter, Roberts, Stuart and White 2013).
"""

from collections.abc import Callable
from typing import NamedTuple

from jaxtyping import Float

from giantstep._machine.arrays import Array
from giantstep._machine.backend import jax, jnp
from giantstep.functions._gaussian_averages import Scalar

WANTED, GAIN, LONGEST = 0.7, 0.5, 2.0  # acceptance to reach, how fast; at h = 2 and U = 0 the draws are independent


class Walker(NamedTuple):
    """Particles as rows of u, their potential and its gradient, the step size and the acceptance of the last step."""

    u: Float[Array, "M J"]
    U: Float[Array, " M"]
    slope: Float[Array, "M J"]
    h: Scalar
    accepted: Scalar


def propose(
    u: Float[Array, "M J"], slope: Float[Array, "M J"], xi: Float[Array, "M J"], h: Scalar
) -> Float[Array, "M J"]:
    """The proposed position v."""
    return ((1 - h / 2) * u - h * slope + jnp.sqrt(2 * h) * xi) / (1 + h / 2)


def rho(
    u: Float[Array, "... J"],
    v: Float[Array, "... J"],
    U: Float[Array, "..."] | float,
    slope: Float[Array, "... J"],
    h: Scalar,
) -> Float[Array, "..."] | float:
    """The acceptance term rho(u, v) of every row."""
    product = (v - u) / 2 + h / 4 * (u + v) + h / 4 * slope
    return U + jnp.sum(product * slope, axis=-1)


def walk(
    start: Float[Array, "M J"],
    here: tuple[Float[Array, " M"], Float[Array, "M J"]],
    xi: Float[Array, "steps M J"],
    coins: Float[Array, "steps M"],
    potential: Callable[[Array], tuple[Array, Array]],
    h: Scalar,
    adjusted: bool = True,
) -> Walker:
    """Steps from these particles with normal numbers xi (steps, particles, J) and uniform coins (steps, particles).

    ``potential(u)`` gives U and its gradient, ``here`` are those at the start. Adjusted steps set their h as they
    go, towards an acceptance of 0.7.
    """

    def step(state: Walker, numbers: tuple[Array, Array]) -> tuple[Walker, None]:
        noise, coin = numbers
        v = propose(state.u, state.slope, noise, state.h)
        U, slope = potential(v)
        if not adjusted:
            return Walker(v, U, slope, state.h, jnp.ones(())), None
        log = rho(state.u, v, state.U, state.slope, state.h) - rho(v, state.u, U, slope, state.h)
        yes = jnp.log(coin) < log
        share = jnp.mean(yes.astype(float))
        h = jnp.minimum(state.h * jnp.exp(GAIN * (share - WANTED)), LONGEST)
        rows = (
            jnp.where(yes[:, None], v, state.u),
            jnp.where(yes, U, state.U),
            jnp.where(yes[:, None], slope, state.slope),
        )
        return Walker(*rows, h, share), None

    first = Walker(start, *here, jnp.asarray(h, float), jnp.ones(()))
    return jax.lax.scan(step, first, (xi, coins))[0]
