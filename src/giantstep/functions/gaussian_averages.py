"""Averages of a function over a Gaussian of any mean and width, exact at its kinks and differentiable in both.

    mean(t, b) = E f(b z + t),      gain(t, b) = E z f(b z + t) / b = E f'(b z + t),
    square(t, b) = E f(b z + t)^2,  curve(t, b) = E (z^2 - 1) f(b z + t) = b^2 E f''(b z + t)

Gauss-Legendre panels in z, split where ``b z + t`` meets a kink, so that ReLU costs no accuracy.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, is_jax, xp

REACH = 8.5  # the Gaussian beyond holds 2e-17
PANELS = 34  # of width 1/2
POINTS = 8  # on each panel
OUTER, INNER = 12, 6  # panels of an average and of another inside it

Scalar = Float[Array, ""] | float  # one number; those of NumPy are floats too

_X, _W = np.polynomial.legendre.leggauss(POINTS)


class Averages(NamedTuple):
    """E f, E f', E f^2 and E (z^2 - 1) f under the Gaussian."""

    mean: Float[Array, "..."]
    gain: Float[Array, "..."]
    square: Float[Array, "..."]
    curve: Float[Array, "..."]


def averages(
    f: Callable[[Array], Array],
    t: Float[Array, "..."] | float,
    b: Float[Array, "..."] | float,
    kinks: tuple[float, ...] = (),
    panels: int = PANELS,
) -> Averages:
    """The averages at every mean t and width b > 0 (arrays that broadcast); fewer panels are quicker, 6 good to 1e-7."""
    first, second = slopes(f, t, b, kinks, (2, 0), panels)
    return Averages(mean=first[0], gain=first[1], square=second[0], curve=xp.asarray(b, float) ** 2 * first[2])


def together(
    f: Callable[[Array], Array],
    t: tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]],
    b: tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]],
    rho: Float[np.ndarray, "..."],
    kinks: tuple[float, ...] = (),
) -> Float[np.ndarray, "..."]:
    """E f(b_1 z_1 + t_1) f(b_2 z_2 + t_2) for standard Gaussians of correlation rho: the mean of the second given z_1 inside."""
    t1, t2, b1, b2, r = np.broadcast_arrays(*t, *b, rho)
    wide = lambda x: x[..., None]  # noqa: E731
    slope = np.where(
        np.abs(r * b2) < 1e-12, 1e-12, r * b2
    )  # the second has its kinks, on average, at (kink - t_2)/(rho b_2)
    z, w = _nodes((t1, b1), kinks, OUTER, (np.asarray(kinks) - wide(t2)) / wide(slope))
    rest = wide(b2 * np.sqrt(np.maximum(1 - r**2, 1e-12)))
    inner = slopes(f, wide(t2) + wide(r * b2) * z, rest, kinks, (0,), INNER)[0][0]
    return np.sum(w * np.asarray(f(wide(b1) * z + wide(t1))) * inner, -1)


def slopes(
    f: Callable[[Array], Array],
    t: Float[Array, "..."] | float,
    b: Float[Array, "..."] | float,
    kinks: tuple[float, ...],
    orders: tuple[int, ...],
    panels: int = PANELS,
) -> list[list[Float[Array, "..."]]]:
    """Derivatives in t of E f(b z + t), E f(b z + t)^2, ..., from 0 up to the order of each: E f^(j) He_k(z) / b^k."""
    centre, width = xp.broadcast_arrays(xp.asarray(t, float), xp.asarray(b, float))
    z, w = _nodes((centre, width), kinks, panels)
    values = f(width[..., None] * z + centre[..., None])
    basis = [xp.ones_like(z), z]  # He_0, He_1, ...
    for k in range(1, max(orders)):
        basis.append(z * basis[k] - k * basis[k - 1])
    derivatives, weighted = [], w
    for order in orders:
        weighted = weighted * values
        derivatives.append([_summed(weighted, basis[k]) / width**k for k in range(order + 1)])
    return derivatives


def _summed(weighted: Float[Array, "*points q"], basis: Float[Array, "... q"]) -> Float[Array, "*points"]:
    """sum_q weighted_q basis_q; the nodes are the same for all where there is no kink."""
    return weighted @ basis if basis.ndim == 1 else xp.einsum("...q,...q->...", weighted, basis)


def _nodes(
    law: tuple[Float[Array, "*points"], Float[Array, "*points"]],
    kinks: tuple[float, ...],
    panels: int,
    others: Float[Array, "... m"] | None = None,
) -> tuple[Float[Array, "... q"], Float[Array, "... q"]]:
    """Nodes z and weights of the standard Gaussian, one panel more for every kink and for every one of the ``others``."""
    edges = np.linspace(-REACH, REACH, panels + 1)
    if not kinks:
        half = np.diff(edges)[:, None] / 2
        z = (edges[:-1, None] + half * (1 + _X)).ravel()
        return xp.asarray(z), xp.asarray((half * _W).ravel() * np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi))
    t, b = law
    cuts = (xp.asarray(kinks) - t[..., None]) / b[..., None]
    cuts = xp.clip(cuts if others is None else xp.concatenate([cuts, others], -1), -REACH, REACH)
    cuts = xp.concatenate([xp.broadcast_to(xp.asarray(edges), (*t.shape, panels + 1)), cuts], -1)
    cuts = xp.sort(cuts, -1)
    half = xp.diff(cuts)[..., None] / 2
    z = cuts[..., :-1, None] + half * (1 + _X)
    w = half * _W * xp.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return z.reshape(*t.shape, -1), w.reshape(*t.shape, -1)


def polynomial_part(
    coefficients: Float[Array, " k"], reference: Float[np.ndarray, " k"]
) -> Callable[[Array], Array | float]:
    """y -> sum_k (c_k - reference_k) He_k(y): how a function changes when its Hermite coefficients do."""
    shift = coefficients - np.asarray(reference)
    if not is_jax(shift) and not np.any(shift):
        return lambda y: 0.0

    def value(y):
        previous, current, total = xp.zeros_like(y), xp.ones_like(y), xp.zeros_like(y)
        for k in range(len(reference)):
            total = total + shift[k] * current
            previous, current = current, y * current - k * previous
        return total

    return value
