"""Moments of sigma(u + tau z) over z ~ N(0, 1), tabulated for every neuron and looked up for every sample.

    m(u, tau) = E sigma,   l(u, tau) = E sigma' = E[z sigma] / tau,   nu^2(u, tau) = E sigma^2 - m^2 - tau^2 l^2

Quadrature (``_smoothing``, exact at kinks) on a grid of u times Chebyshev nodes in log tau; a neuron's own table is a polynomial
in its log tau, and between two values of u a quintic with the exact first and second derivatives (m' = l, l' = E sigma'', ...).
"""

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np

from giantstep._machine.arrays import in_turn, is_jax, over_seeds, xp
from giantstep.functions import _chebyshev as chebyshev
from giantstep.functions._gaussian_averages import slopes
from giantstep.functions.activation import Activation

Array = Any
REACH = 9.0  # standard deviations of u that the grid covers; the probability outside is 2e-19
STEP = 0.3  # wanted distance of the grid in units of the least tau; the quintics' error is STEP^6 / 46080 times a derivative
FEWEST, MOST = 1024, 4096  # cells of the grid
WIDTHS = 16  # Chebyshev nodes in log tau
NODES = chebyshev.nodes(WIDTHS)
COARSE = 0.5  # the logarithms of the ends of a grid are rounded to multiples of this
NUMBERS = 7  # m, l, l', l'', nu^2, (nu^2)', (nu^2)'' at every point
USUAL = NUMBERS * FEWEST  # numbers of one neuron's table, for the estimate of memory
AT_A_TIME = 2**12  # NumPy looks up this many numbers at a time, so that they stay in the cache
PANELS = 14  # of the quadrature: its error is below that of the quintics
SPARSE = 4  # the error is checked in one of this many cells
WORST = 1e-4  # the status mentions an error of the tables above this


class GridRange(NamedTuple):
    """The range of a grid: |u| up to reach and log tau from low to high, rounded outwards so that seeds share grids."""

    reach: float
    low: float
    high: float

    @staticmethod
    def of(spread: np.ndarray, tau: np.ndarray, centre: float | np.ndarray = 0.0) -> "GridRange":
        """The range for neurons with these standard deviations of u, widths and means of u, all (p,)."""
        ends = np.log(np.maximum([tau.min(), tau.max()], 1e-300)) / COARSE
        low, high = COARSE * np.floor(ends[0]), COARSE * max(np.ceil(ends[1]), np.floor(ends[0]) + 1)
        wide = max(float(np.max(np.abs(centre) + REACH * spread)), 1e-3 * float(np.exp(low)))
        return GridRange(float(np.exp(COARSE * np.ceil(np.log(wide) / COARSE))), float(low), float(high))

    @property
    def cells(self) -> int:
        """The number of cells of the grid, a power of two."""
        wanted = min(max(2 * self.reach / (STEP * np.exp(self.low)), FEWEST), MOST)
        return 2 ** int(np.ceil(np.log2(wanted)))


class Moments(NamedTuple):
    """Tables of a group of seeds: grid values (S, WIDTHS, cells + 1, 7), weights of the nodes (S, p, WIDTHS) and the grid's
    half-width (S,)."""

    values: Array
    weights: Array
    reach: Array


def tabulate(
    sigma: Activation, ranges: Sequence[GridRange], tau: np.ndarray, cells: int, put: Callable[[Any], Array]
) -> tuple[Moments, np.ndarray]:
    """Tables for the neurons of every seed, of widths ``tau`` (S, p), and their errors (S,)."""
    low, high = (np.array([r[k] for r in ranges])[:, None] for k in (1, 2))
    logs = np.log(np.maximum(tau, 1e-300))
    weights = chebyshev.interpolation((2 * logs - low - high) / (high - low), WIDTHS)
    grids = [_values(sigma, r, cells) for r in ranges]
    values = put(np.stack([v for v, _ in grids]))
    reach = put([r.reach for r in ranges])
    return Moments(values, put(weights), reach), np.array([e for _, e in grids])


@lru_cache(maxsize=32)
def _values(sigma: Activation, over: GridRange, cells: int) -> tuple[np.ndarray, float]:
    """Values on the grid (WIDTHS, cells + 1, 7), and the largest error of m, of tau l and of nu^2 between its points against the
    size of sigma."""
    centre, half = (over.high + over.low) / 2, (over.high - over.low) / 2
    u = over.reach * np.linspace(-1.0, 1.0, cells + 1)
    values = _grid(np.exp(centre + half * NODES), u, sigma=sigma)
    between, x = u[:-1:SPARSE] + 0.8 * over.reach / cells, np.linspace(-1.0, 1.0, WIDTHS)
    exact, tau = _grid(np.exp(centre + half * x), between, sigma=sigma).T, np.exp(centre + half * x)
    table = Moments(values[None], chebyshev.interpolation(x, WIDTHS)[None], np.array([over.reach]))
    mean, gain, nu = (y[0] for y in look_up(table, np.broadcast_to(between[:, None], (1, between.size, WIDTHS))))
    size = np.sqrt(max(float(np.max(exact[4] + exact[0] ** 2)), 1e-300))
    off = [mean - exact[0], tau * (gain - exact[1]), (nu**2 - np.maximum(exact[4], 0.0)) / size]
    return values, float(np.max(np.abs(off)) / size)


def _grid(taus: np.ndarray, u: np.ndarray, *, sigma: Activation) -> np.ndarray:
    """(WIDTHS, points, 7), one width after the other: the quadrature has hundreds of nodes a point."""

    def one(tau):
        (m, l0, l1, l2), (q0, q1, q2) = slopes(sigma, u, tau, sigma.kinks, (3, 2), PANELS)
        q0 = q0 - m**2 - tau**2 * l0**2
        q1 = q1 - 2 * m * l0 - 2 * tau**2 * l0 * l1
        q2 = q2 - 2 * (l0**2 + m * l1) - 2 * tau**2 * (l1**2 + l0 * l2)
        return xp.stack([m, l0, l1, l2, q0, q1, q2], axis=-1)

    return in_turn(one, taus)


def joined(laws: Sequence[Moments]) -> Moments:
    """The tables of several laws, on an axis after that of the seeds."""
    return Moments(*(xp.stack(each, axis=1) for each in zip(*laws, strict=True)))


def look_up(moments: Moments, u: Array, law: Array | None = None) -> tuple[Array, Array, Array]:
    """m, l and nu at u (S, rows, p), one column a neuron; in joined tables every row has its own law (S, rows). Traced by
    JAX."""
    if law is None:
        moments, law = joined([moments]), xp.zeros(u.shape[:2], np.int32)
    return over_seeds(_look_up)(*moments, u, law)


def _look_up(values, weights, reach, u, law):
    table = (weights @ values.reshape(*values.shape[:2], -1)).reshape(-1, NUMBERS)
    if is_jax((table, u)):
        return _quintics(table, values.shape[2] - 1, reach, u, law)
    rows = max(1, AT_A_TIME // u.shape[1])
    parts = [
        _quintics(table, values.shape[2] - 1, reach, u[i : i + rows], law[i : i + rows]) for i in range(0, len(u), rows)
    ]
    return tuple(np.concatenate(each) for each in zip(*parts, strict=True))


def _quintics(table, cells, reach, u, law):
    """m, l and nu at u (rows, p) from tables (laws * p * (cells + 1), 7)."""
    p = u.shape[1]
    reach = reach[law][:, None]
    width = 2 * reach / cells
    place = xp.clip((u + reach) / width, 0, cells)
    left = xp.minimum(place.astype(np.int32), cells - 1)
    t = place - left
    at = left + (law[:, None] * p + np.arange(p, dtype=np.int32)) * (cells + 1)
    low, high = (xp.take(table, at + side, axis=0, mode="clip") for side in (0, 1))
    # t^3 (10 - 15 t + 6 t^2), t^3 (t - 1) (4 - 3 t) and t^3 (1 - t)^2 / 2 are 0 at 0 with two derivatives; at 1 each has one of
    # (value, slope, second derivative) equal to 1. The same mirrored give the quintic through both ends.
    ends = []
    for x, end, step in ((1 - t, low, -width), (t, high, width)):
        cube = x * x * x  # NumPy's x**3 takes a hundred times as long
        basis = cube * (10 - 15 * x + 6 * x**2), cube * (x - 1) * (4 - 3 * x) * step, cube * (1 - x) ** 2 / 2 * step**2
        ends.append((basis, end))

    def quintic(first: int) -> Array:
        return sum(basis[k] * end[..., first + k] for basis, end in ends for k in range(3))

    return quintic(0), quintic(1), xp.sqrt(xp.maximum(quintic(4), 0.0))
