"""Averages of a function over a Gaussian of any mean and width, exact at its kinks and differentiable in both.

    mean(t, b) = E f(b z + t),      gain(t, b) = E z f(b z + t) / b = E f'(b z + t),
    square(t, b) = E f(b z + t)^2,  curve(t, b) = E (z^2 - 1) f(b z + t) = b^2 E f''(b z + t)

Gauss-Legendre panels in z, split where ``b z + t`` meets a kink, so that ReLU costs no accuracy. Panels without a kink are the
same for every mean and width.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, is_jax, xp

REACH = 8.5  # the Gaussian beyond holds 2e-17
PANELS = 34  # of width 1/2
POINTS = 8  # on each panel
AT_A_TIME = 2**16  # NumPy takes the function at this many nodes at a time, so that they stay in the cache
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
    # the second has its kinks, on average, at (kink - t_2)/(rho b_2)
    slope = np.where(np.abs(r * b2) < 1e-12, 1e-12, r * b2)
    rest, total = wide(b2 * np.sqrt(np.maximum(1 - r**2, 1e-12))), np.zeros(r.shape)
    for z, w, whole in _nodes((t1, b1), kinks, OUTER, (np.asarray(kinks) - wide(t2)) / wide(slope)):
        inner = slopes(f, wide(t2) + wide(r * b2) * z, rest, kinks, (0,), INNER)[0][0]
        total += np.sum(w * _kept(np.asarray(f(wide(b1) * z + wide(t1))) * inner, whole), -1)
    return total


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
    some = AT_A_TIME // (panels * POINTS)
    if is_jax((centre, width)) or centre.size <= some:
        return _slopes(f, centre, width, kinks, orders, panels)
    each = [np.array_split(x.ravel(), -(-x.size // some)) for x in (centre, width)]
    parts = [_slopes(f, own, wide, kinks, orders, panels) for own, wide in zip(*each, strict=True)]
    joined = lambda power, k: np.concatenate([part[power][k] for part in parts]).reshape(centre.shape)  # noqa: E731
    return [[joined(power, k) for k in range(order + 1)] for power, order in enumerate(orders)]


def _slopes(
    f: Callable[[Array], Array],
    centre: Float[Array, "*points"],
    width: Float[Array, "*points"],
    kinks: tuple[float, ...],
    orders: tuple[int, ...],
    panels: int,
) -> list[list[Float[Array, "*points"]]]:
    totals: list[Any] = [0.0 for _ in orders]
    product: Any = None
    for z, w, whole in _nodes((centre, width), kinks, panels):
        values = _kept(f(width[..., None] * z + centre[..., None]), whole)
        basis = [xp.ones_like(z), z]  # He_0, He_1, ...
        for k in range(1, max(orders)):
            basis.append(z * basis[k] - k * basis[k - 1])
        table = xp.stack(basis[: max(orders) + 1], -1) * w[..., None]
        for power, order in enumerate(orders):
            product = product * values if power else values
            totals[power] = totals[power] + _summed(product, table[..., : order + 1])
    return [[total[..., k] / width**k for k in range(order + 1)] for total, order in zip(totals, orders, strict=True)]


def _summed(values: Float[Array, "*points q"], basis: Float[Array, "... q k"]) -> Float[Array, "*points k"]:
    """sum_q values_q basis_qk; the nodes of whole panels are the same for all."""
    return values @ basis if basis.ndim == 2 else (values[..., None, :] @ basis)[..., 0, :]


def _kept(values: Float[Array, "*points q"], whole: Float[Array, "... panels"] | None) -> Float[Array, "*points q"]:
    """The values at the nodes of whole panels, and zero at those of panels with a kink."""
    if whole is None:
        return values
    return xp.reshape(xp.reshape(values, (*whole.shape, -1)) * whole[..., None], values.shape)


def _nodes(
    law: tuple[Float[Array, "*points"], Float[Array, "*points"]],
    kinks: tuple[float, ...],
    panels: int,
    others: Float[Array, "... m"] | None = None,
) -> list[tuple[Float[Array, "... q"], Float[Array, "... q"], Float[Array, "... panels"] | None]]:
    """Nodes z and weights of the standard Gaussian, and which panels count: those of all panels, with zeros for panels that have
    a kink or one of the ``others`` inside, and those of the pieces of these, which all count."""
    edges = np.linspace(-REACH, REACH, panels + 1)
    z, w = _legendre(edges[:-1], edges[1:])
    if not kinks:
        return [(z, w, None)]
    t, b = law
    cuts = (xp.asarray(kinks) - t[..., None]) / b[..., None]
    cuts = xp.sort(xp.clip(cuts if others is None else xp.concatenate([cuts, others], -1), -REACH, REACH), -1)
    place = xp.where(
        cuts > -REACH, (cuts + REACH) * (panels / (2 * REACH)), 0.0
    )  # NaN as a whole number depends on the processor
    panel = xp.clip(xp.floor(place), 0, panels - 1).astype(int)
    first, last = xp.take(edges, panel), xp.take(edges, panel + 1)
    whole = 1.0 - xp.any(panel[..., None] == np.arange(panels), -2)
    # From the cut before, or the panel's edge, to each cut, and from the panel's last cut to its edge
    low = xp.concatenate([first[..., :1], xp.maximum(first[..., 1:], cuts[..., :-1])], -1)
    high = xp.concatenate(
        [xp.where(panel[..., 1:] > panel[..., :-1], last[..., :-1], cuts[..., :-1]), last[..., -1:]], -1
    )
    pieces = _legendre(xp.concatenate([low, cuts], -1), xp.concatenate([cuts, high], -1))
    return [(z, w, whole), (*pieces, None)]


def _legendre(
    low: Float[Array, "... m"], high: Float[Array, "... m"]
) -> tuple[Float[Array, "... q"], Float[Array, "... q"]]:
    """Gauss-Legendre nodes between the edges, and their weights times the Gaussian density."""
    half = (high - low)[..., None] / 2
    z = low[..., None] + half * (1 + _X)
    w = half * _W * xp.exp(-0.5 * z**2) / np.sqrt(2 * np.pi)
    return tuple(x.reshape(*x.shape[:-2], -1) for x in (z, w))  # type: ignore[return-value]


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
