"""The residual of a step given kappa, shared between knots: columns (kappa, rho) of samples for functions of both.

A sample's value f(kappa, r) is taken as linear in r between two neighbouring knots, so that

    E[r^k f(kappa, r) | kappa] = sum_m f(kappa, rho_m) E[r^k hat_m(r) | kappa]

with the hat of every knot, which is one there and zero at all others.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.functions import hermite
from giantstep.theory.steps.course import Course, CourseStep
from giantstep.theory.steps.residual import (
    NOISES,
    Coordinates,
    Residual,
    ResidualLaw,
    ResidualPowers,
    cut_weights,
    values_at,
)
from giantstep.theory.steps.rows import MovedRows

KNOTS = 16
TAIL = 1e-12  # weight of the furthest residuals


class Columns(NamedTuple):
    """The coordinates of every column, its knot rho (C,), the residual's moments with the hats, and its law over the columns: the
    ``typical`` r (C,) that has the column's second moment, and the weight with its moments 1, tau and tau tau^T."""

    at: Coordinates
    rho: Float[np.ndarray, " C"]
    residual: Residual
    typical: Float[np.ndarray, " C"]
    weight: tuple[Float[np.ndarray, " C"], Float[np.ndarray, "r C"], Float[np.ndarray, "r r C"]]

    @property
    def law(self) -> ResidualLaw:
        r = self.typical[:, None]
        return ResidualLaw(r, 0 * self.typical, self.weight[0][:, None], np.zeros((len(self.weight[1]), 1)))

    def powers(self, order: int) -> ResidualPowers:
        """Of the typical residual, up to that order."""
        power = self.typical ** np.arange(order + 1)[:, None]
        one, first, second = self.weight
        return ResidualPowers(power * one, power[:, None] * first, power[:, None, None] * second)


def columns(course: Course, step: CourseStep, rows: MovedRows, at: Coordinates) -> Columns:
    """The samples of a step whose residual has the target and label noise in it."""
    values, noise, tau, w = values_at(course, step, rows, at)
    x, v = hermite.gauss_hermite(NOISES)
    r = values[:, :, None] + np.sqrt(noise)[:, None, None] * x  # (K, N, Q)
    whole = np.broadcast_to(w[:, None] * v, r.shape).ravel()
    cut = (cut_weights(step, at, tau, w)[:, :, None] * v / at.pi[:, None, None]).ravel()
    place, flat = np.repeat(np.arange(at.pi.size), r[0].size), r.ravel()
    rho = _knots(flat, cut * at.pi[place])
    low = np.clip(np.searchsorted(rho, flat) - 1, 0, rho.size - 2)
    high = np.clip((flat - rho[low]) / (rho[low + 1] - rho[low]), 0.0, 1.0)
    cell, size = place * rho.size + low, at.pi.size * rho.size

    def shared(x: Float[np.ndarray, " P"]) -> Float[np.ndarray, " C"]:
        return np.bincount(cell, x * (1 - high), size) + np.bincount(cell + 1, x * high, size)

    along = [np.broadcast_to(one[:, None], r.shape).ravel() for one in tau]
    weights = [whole, whole, cut, cut]  # as in ``residual``
    power = [own * flat ** (k + 1) for k, own in enumerate(weights)]
    plain = np.array([shared(own) for own in power])
    first = np.array([[shared(own * one) for one in along] for own in power[:3]])
    second = np.array([[[shared(cut * flat**k * one * other) for one in along] for other in along] for k in (1, 2)])
    wide = at._replace(kappa=np.repeat(at.kappa, rho.size, axis=1), pi=np.repeat(at.pi, rho.size))
    mass, knots = shared(cut), np.tile(rho, at.pi.size)
    typical = np.sign(knots) * np.sqrt(shared(cut * flat**2) / np.maximum(mass, 1e-300))
    inside = np.array([shared(cut * one) for one in along])
    pairs = np.array([[shared(cut * one * other) for one in along] for other in along])
    return Columns(
        wide, knots, Residual(plain, first, second), typical, (wide.pi * mass, wide.pi * inside, wide.pi * pairs)
    )


def _knots(r: Float[np.ndarray, " P"], weights: Float[np.ndarray, " P"]) -> Float[np.ndarray, " R"]:
    """Quantiles of the residuals, of which half count by their squares, and the two furthest."""
    order = np.argsort(r)
    share = np.cumsum((weights * (1 + r**2 / (weights @ r**2)))[order]) / 2
    inner = np.interp(np.linspace(0, 1, KNOTS)[1:-1], share, r[order])
    seen = r[weights > TAIL]
    return np.unique(np.concatenate([[seen.min()], inner, [seen.max()]]))
