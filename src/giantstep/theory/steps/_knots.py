"""The residual of a step given kappa, shared between knots: columns (kappa, rho) of samples for functions of both.

A sample's value f(kappa, r) is taken as linear in r between two neighbouring knots, so that

    E[r^k f(kappa, r) | kappa] = sum_m f(kappa, rho_m) E[r^k hat_m(r) | kappa]

with the hat of every knot, which is one there and zero at all others. A second step on these samples has the residual r_2, and
averages with it have E[r_2^j r^(k - j) hat_m(r) | kappa] in the same sum.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep.functions import hermite
from giantstep.theory.steps._course import Course, CourseStep
from giantstep.theory.steps._residual import (
    NOISES,
    Coordinates,
    Residual,
    ResidualLaw,
    ResidualPowers,
    cut_weights,
    values_at,
)
from giantstep.theory.steps._rows import MovedRows

KNOTS = 16
TAIL = 1e-12  # weight of the furthest residuals


class Points(NamedTuple):
    """Residuals r (P,) of samples, their column ``cell`` and the share ``high`` of the next one, their weights given kappa, whole
    and cut, and tau (r, P); the number of columns."""

    r: Float[np.ndarray, " P"]
    cell: Int[np.ndarray, " P"]
    high: Float[np.ndarray, " P"]
    whole: Float[np.ndarray, " P"]
    cut: Float[np.ndarray, " P"]
    tau: Float[np.ndarray, "r P"]
    size: int

    def shared(self, x: Float[np.ndarray, " P"]) -> Float[np.ndarray, " C"]:
        """Sums over the points with the hats."""
        return np.bincount(self.cell, x * (1 - self.high), self.size) + np.bincount(
            self.cell + 1, x * self.high, self.size
        )

    def at(self, table: Float[np.ndarray, " C"]) -> Float[np.ndarray, " P"]:
        """A function of the columns at the points."""
        return table[self.cell] * (1 - self.high) + table[self.cell + 1] * self.high

    def moments(self, other: Float[np.ndarray, " P"] | float = 1.0, times: int = 0) -> Residual:
        """E other^j r^(k - j) with the hats, j = ``times``: none where k < j."""
        weights = [self.whole, self.whole, self.cut, self.cut]  # as in ``residual``
        product = [other**times * self.r ** (k - times) if k >= times else 0 * self.r for k in (1, 2, 3, 4)]
        power = [own * x for own, x in zip(weights, product, strict=True)]
        plain = np.array([self.shared(own) for own in power])
        first = np.array([[self.shared(own * one) for one in self.tau] for own in power[:3]])
        second = [
            [[self.shared(self.cut * x * one * two) for one in self.tau] for two in self.tau] for x in product[:2]
        ]
        return Residual(plain, first, np.array(second))


class Columns(NamedTuple):
    """The coordinates of every column, its knot rho (C,), the residual's moments with the hats, and its law over the columns: the
    ``typical`` r (C,) that has the column's second moment, and the weight with its moments 1, tau and tau tau^T; the points."""

    at: Coordinates
    rho: Float[np.ndarray, " C"]
    residual: Residual
    typical: Float[np.ndarray, " C"]
    weight: tuple[Float[np.ndarray, " C"], Float[np.ndarray, "r C"], Float[np.ndarray, "r r C"]]
    points: Points

    def later(self, change: Float[np.ndarray, " C"]) -> tuple[Residual, Residual]:
        """The moments with r_2 = r - change in the place of one factor r, and of two."""
        other = self.points.r - self.points.at(change)
        return self.points.moments(other, 1), self.points.moments(other, 2)

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

    along = np.array([np.broadcast_to(one[:, None], r.shape).ravel() for one in tau])
    points = Points(flat, cell, high, whole, cut, along, size)
    wide = at._replace(kappa=np.repeat(at.kappa, rho.size, axis=1), pi=np.repeat(at.pi, rho.size))
    mass, knots = points.shared(cut), np.tile(rho, at.pi.size)
    typical = np.sign(knots) * np.sqrt(points.shared(cut * flat**2) / np.maximum(mass, 1e-300))
    inside = np.array([points.shared(cut * one) for one in along])
    pairs = np.array([[points.shared(cut * one * other) for one in along] for other in along])
    weight = wide.pi * mass, wide.pi * inside, wide.pi * pairs
    return Columns(wide, knots, points.moments(), typical, weight, points)


def _knots(r: Float[np.ndarray, " P"], weights: Float[np.ndarray, " P"]) -> Float[np.ndarray, " R"]:
    """Quantiles of the residuals, of which half count by their squares, and the two furthest."""
    order = np.argsort(r)
    share = np.cumsum((weights * (1 + r**2 / (weights @ r**2)))[order]) / 2
    inner = np.interp(np.linspace(0, 1, KNOTS)[1:-1], share, r[order])
    seen = r[weights > TAIL]
    return np.unique(np.concatenate([[seen.min()], inner, [seen.max()]]))
