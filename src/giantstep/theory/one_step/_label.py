"""The label as a function of the target's r orthonormal coordinates, and its law given what the steps have learned.

    z = C kappa + L tau,     L L^T = I - C C^T,     tau ~ N(0, I_r) independent of kappa

C (r, m) holds the target's coordinates along the m learned directions. What the readout needs of the label is

    E[y | kappa],   E[y tau | kappa],   E[y^2 | kappa]

One direction takes panels that are exact at its kinks, up to three take products of Gauss nodes, more of them scrambled Sobol
points.
"""

from collections.abc import Callable
from functools import lru_cache
from math import factorial, prod
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array, xp
from giantstep.experiment.target import Target
from giantstep.functions import _nodes as nodes
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import Scalar, averages

ORDERS = 7  # of one direction: c_0 .. c_6 can be moved
DEGREE = 3  # of several: all coefficients up to this degree can be moved
GIVEN = {2: 32, 3: 14}  # Gauss nodes along each direction, given kappa
LAW = {2: 40, 3: 20}  # of the residual's law
SOBOL = 2**12


class Label(NamedTuple):
    """f* at orthonormal coordinates (r, ...), its kinks along one direction, E f*, the gradient E f* z (r,) and E f*^2."""

    value: Callable[[Array], Array]
    kinks: tuple[float, ...]
    mean: Scalar
    first: Float[Array, " r"]
    square: Scalar

    @property
    def rank(self) -> int:
        return self.first.shape[0]


class LabelGiven(NamedTuple):
    """E[y], E[y tau] and E[f*^2] given kappa, without noise."""

    mean: Float[Array, " K"]
    along: Float[Array, "r K"]
    square: Float[Array, " K"]


@lru_cache(maxsize=64)
def target_constants(target: Target) -> tuple[Float[np.ndarray, " k"], float]:
    """The target's Hermite coefficients that can be moved, in the order of ``movable``, and its power E f*^2."""
    return np.array([float(target.hermite.get(b, 0.0)) for b in movable(target.rank)]), target.power


@lru_cache(maxsize=16)
def movable(rank: int) -> list[tuple[int, ...]]:
    """The multi-indices of the coefficients that can be moved: c_0 .. c_6 of one direction, up to degree 3 of several."""
    return hermite.indices(rank, ORDERS - 1 if rank == 1 else DEGREE)


def label(target: Target, moved: Float[Array, " k"]) -> Label:
    """The target with its Hermite coefficients moved to those given."""
    known, power = target_constants(target)
    orders = movable(target.rank)
    weights = np.array([float(prod(map(factorial, b))) for b in orders])
    change, mix = moved - known, target.mixing
    still = isinstance(change, np.ndarray) and not np.any(change)

    def value(z: Array) -> Array:
        mixed = z if mix is None else xp.einsum("ij,j...->i...", mix, z)
        plain = xp.asarray(target(mixed))
        return plain if still else plain + sum(c * _product(b, z) for c, b in zip(change, orders, strict=True))

    length = 1.0 if mix is None or target.rank > 1 else float(mix[0, 0])
    kinks = tuple(k / length for k in target.kinks)
    place = [orders.index(tuple(int(i == j) for j in range(target.rank))) for i in range(target.rank)]
    square = power + xp.sum(weights * (moved**2 - known**2))
    return Label(value, kinks, moved[orders.index((0,) * target.rank)], moved[np.array(place)], square)


def _product(orders: tuple[int, ...], z: Array) -> Array:
    """He_b(z), the product of He_k along the coordinates."""
    total = xp.ones_like(z[0])
    for k, x in zip(orders, z, strict=True):
        total = total * hermite.hermite(k, x)
    return total


def given(
    star: Label, C: Float[Array, "r m"], L: Float[Array, "r r"], kappa: Float[Array, "m K"], scramble: int
) -> LabelGiven:
    """The label's moments given kappa."""
    if star.rank == 1:  # E[y tau] = L E f*'
        one = averages(lambda y: star.value(y[None]), (C @ kappa)[0], L[0, 0], star.kinks)
        return LabelGiven(one.mean, (L[0, 0] * one.gain)[None], one.square)
    tau, w = points(star.rank, GIVEN.get(star.rank, SOBOL), scramble)
    values = star.value((C @ kappa)[:, :, None] + (L @ tau)[:, None, :])  # (K, N)
    return LabelGiven(values @ w, (values @ (w * tau).T).T, values**2 @ w)


def points(rank: int, count: int, scramble: int) -> nodes.Nodes:
    """Nodes of ``rank`` standard Gaussians: ``count`` a coordinate up to three, ``count`` in all beyond."""
    if rank <= nodes.FEW:
        return nodes.product([hermite.gauss_hermite(count)] * rank)
    return nodes.sobol(rank, count, scramble)


def law(star: Label, samples: Scalar, scramble: int) -> tuple[Float[Array, "r Q"], Float[Array, " Q"]]:
    """Nodes z and weights of the label's law, cut softly at the length of the largest of so many samples.

    P(|z| > R) = 1/samples at R^2 = 2 log samples + (r - 1) log(2 log samples), about.
    """
    if star.rank == 1:
        x, w = hermite.gaussian_panels(star.kinks, 0.5, 6.0)
        z = x[None]
    else:
        z, w = points(star.rank, LAW.get(star.rank, SOBOL), scramble)
    level = 2 * xp.log(samples)
    largest = xp.sqrt(level + (star.rank - 1) * xp.log(level))
    w = w / (1 + xp.exp(-8.0 * (largest - np.linalg.norm(z, axis=0))))
    return z, w / xp.sum(w)
