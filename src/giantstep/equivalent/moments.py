"""Moments of sigma(u + tau z) over z ~ N(0, 1), tabulated for every neuron and looked up for every sample.

    m(u, tau) = E sigma,   l(u, tau) = E sigma' = E[z sigma] / tau,   nu^2(u, tau) = E sigma^2 - m^2 - tau^2 l^2

Quadrature (``_smoothing``, exact at kinks) on a grid of u times Chebyshev nodes in log tau; a neuron's own table is a polynomial
in its log tau, and between two values of u a quintic with the exact first and second derivatives (m' = l, l' = E sigma'', ...).
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from giantstep._backend import jax, jnp
from giantstep._smoothing import slopes
from giantstep.activation import Activation

Array = Any
REACH = 9.0  # standard deviations of u that the grid covers; beyond lies a probability of 2e-19
STEP = 0.3  # wanted distance of the grid in units of the least tau; the quintics' error is STEP^6 / 46080 times a derivative
FEWEST, MOST = 64, 4096  # cells of the grid
WIDTHS = 16  # Chebyshev nodes in log tau
NUMBERS = 7  # m, l, l', l'', nu^2, (nu^2)', (nu^2)'' at every point
USUAL = NUMBERS * 256  # numbers of one neuron's table, for the estimate of memory
WORST = 1e-4  # error of the tables from which the status tells


class Moments(NamedTuple):
    """Tables of a group of seeds: grid values (S, WIDTHS, cells + 1, 7), weights of the nodes (S, p, WIDTHS) and the grid's
    half-width (S,)."""

    values: Array
    weights: Array
    reach: Array


def cells(spread: np.ndarray, tau: np.ndarray) -> int:
    """Cells that every neuron needs, a power of two: u has standard deviation ``spread`` (S, p) and ``tau`` (S, p) beside it."""
    wanted = np.max(2 * REACH * spread.max(axis=1) / (STEP * np.maximum(tau.min(axis=1), 1e-300)), initial=0.0)
    if not np.isfinite(wanted) or wanted > MOST:
        return MOST if np.isfinite(wanted) else FEWEST
    return max(FEWEST, 2 ** int(np.ceil(np.log2(max(wanted, 1.0)))))


def tabulate(sigma: Activation, spread: np.ndarray, tau: np.ndarray, count: int, dtype: Any) -> Moments:
    """Tables of ``count`` cells for neurons of these spreads and widths, both (S, p)."""
    logs = np.log(np.maximum(tau, 1e-300))
    centre, half = (logs.max(axis=1) + logs.min(axis=1)) / 2, np.maximum(np.ptp(logs, axis=1) / 2, 1e-3)
    nodes = np.cos((np.arange(WIDTHS) + 0.5) * np.pi / WIDTHS)
    reach = np.maximum(REACH * spread.max(axis=1), 1e-3 * tau.min(axis=1))
    values = [
        _grid(np.exp(c + h * nodes), r * np.linspace(-1.0, 1.0, count + 1), sigma=sigma)
        for c, h, r in zip(centre, half, reach, strict=True)
    ]
    weights = _interpolation((logs - centre[:, None]) / half[:, None], nodes)
    return Moments(jnp.stack(values).astype(dtype), jnp.asarray(weights, dtype), jnp.asarray(reach, dtype))


def _interpolation(x: np.ndarray, nodes: np.ndarray) -> np.ndarray:
    """Weights (..., WIDTHS) of the values at Chebyshev nodes in the polynomial through them: (2/N) sum'_k T_k(x) T_k(node)."""
    order = len(nodes) - 1
    inverse = np.polynomial.chebyshev.chebvander(nodes, order) * (2 / len(nodes))
    inverse[:, 0] /= 2
    return np.polynomial.chebyshev.chebvander(x, order) @ inverse.T


@partial(jax.jit, static_argnames="sigma")
def _grid(taus, u, *, sigma):
    """(WIDTHS, points, 7), one width after the other: the quadrature has hundreds of nodes a point."""

    def one(tau):
        (m, l0, l1, l2), (q0, q1, q2) = slopes(sigma, u, tau, sigma.kinks, (3, 2))
        q0 = q0 - m**2 - tau**2 * l0**2
        q1 = q1 - 2 * m * l0 - 2 * tau**2 * l0 * l1
        q2 = q2 - 2 * (l0**2 + m * l1) - 2 * tau**2 * (l1**2 + l0 * l2)
        return jnp.stack([m, l0, l1, l2, q0, q1, q2], axis=-1)

    return jax.lax.map(one, taus)


def look_up(moments: Moments, u: Array) -> tuple[Array, Array, Array]:
    """m, l and nu at u (S, rows, p), one column a neuron; traced by JAX."""
    return jax.vmap(_look_up)(*moments, u)


def _look_up(values, weights, reach, u):
    cells, p = values.shape[1] - 1, weights.shape[0]
    width = 2 * reach / cells
    place = jnp.clip((u + reach) / width, 0, cells)
    left = jnp.minimum(place.astype(jnp.int32), cells - 1)
    t = place - left
    table = jnp.einsum("iw,wgc->igc", weights, values).reshape(p * (cells + 1), NUMBERS)
    at = left + jnp.arange(p, dtype=jnp.int32) * (cells + 1)
    low, high = (jnp.take(table, at + side, axis=0, mode="clip") for side in (0, 1))
    # t^3 (10 - 15 t + 6 t^2), t^3 (t - 1) (4 - 3 t) and t^3 (1 - t)^2 / 2 are 0 at 0 with two derivatives; at 1 each has one of
    # (value, slope, second derivative) equal to 1. The same mirrored give the quintic through both ends.
    basis = [
        jnp.stack([x**3 * (10 - 15 * x + 6 * x**2), x**3 * (x - 1) * (4 - 3 * x), x**3 * (1 - x) ** 2 / 2])
        for x in (1 - t, t)
    ]

    def quintic(first: int) -> Array:
        return sum(
            basis[side][k] * ((1 if side else -1) * width) ** k * end[..., first + k]
            for side, end in enumerate((low, high))
            for k in range(3)
        )

    return quintic(0), quintic(1), jnp.sqrt(jnp.maximum(quintic(4), 0.0))


_look_up_now = jax.jit(look_up)


def error(moments: Moments, sigma: Activation, tau: np.ndarray) -> np.ndarray:
    """Largest error of m, of tau l and of nu^2 against the size of sigma, (S,): for a few widths, between the grid's points."""
    found, points = [], moments.values.shape[2]
    for i, widths in enumerate(np.maximum(tau, 1e-300)):
        few = np.argsort(widths)[np.linspace(0, len(widths) - 1, WIDTHS).astype(int)]
        u, b = float(moments.reach[i]) * (np.linspace(-1.0, 1.0, points) + 0.8 / points), widths[few]
        one = Moments(moments.values[i : i + 1], moments.weights[i : i + 1, few], moments.reach[i : i + 1])
        here = _look_up_now(one, np.broadcast_to(u[:, None], (1, points, WIDTHS)).astype(moments.reach.dtype))
        mean, gain, nu = (np.asarray(x[0], dtype=float)[:-1] for x in here)
        exact = np.moveaxis(np.asarray(_grid(b, u, sigma=sigma)), 0, 1)[:-1]
        rest = np.maximum(exact[..., 4], 0.0)
        size = np.sqrt(max(float(np.max(rest + exact[..., 0] ** 2)), 1e-300))
        off = [mean - exact[..., 0], b * (gain - exact[..., 1]), (nu**2 - rest) / size]
        found.append(np.max(np.abs(off)) / size)
    return np.array(found)
