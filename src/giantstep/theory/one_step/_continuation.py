"""The fixed point away from ridge penalties: followed down to the edge of the bulk, and into it.

At the penalty -z, z above the spectrum of F F^T/n, q and delta are real and negative. They are followed in

    s = log(-sum_k pi_k delta_k)

which never stops growing on the way down, while z(s) turns at the edge of the bulk: dz/ds = 0 there, and nothing is singular.
Inside the bulk the fixed point is complex, with the density Im m(z)/pi of the squares,

    m(z) = -(1/z) sum_k pi_k/(1 + delta_k)      per sample,      m(z) = sum_j omega_j q_j      per neuron

Groups with less than half a neuron or half a sample, and modes with less than a hundredth of the gradient's law, take the law of
their nearest neighbour: in the limit they have little bands of their own above the bulk, where a finite matrix has a few
outliers or none.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Complex, Float, Int
from scipy.optimize import brentq

from giantstep._machine.arrays import xp
from giantstep.theory.one_step._fixed_point import Features, alphas, system
from giantstep.theory.one_step._newton import newton

FEWEST = 0.5  # neurons or samples in a group with a law of its own
TAIL = 0.01  # weight of a mode with one
STEP = 0.25  # in s
LEAST = 1e-9  # where a few neurons with a band of their own end the way, z turns within 1e-5 of s
SOLVED = 1e-8  # the residual of a point that is known
NEAREST = 3  # known points from which a solution is looked for
HEIGHTS = (3.0, 1.0, 0.3, 0.1, 0.03, 0.01, 3e-3, 1e-3, 1e-4, 0.0)  # above the real axis, over the edge
ON_THE_WAY, AT_THE_END = (0.05, 3), (1e-10, 6)  # the move after which Newton stops, and the most steps


class Point(NamedTuple):
    """The fixed point at some s: q and alpha, their derivatives in s, and -dlog z/ds, zero at the edge."""

    q: Float[np.ndarray, " J"]
    alpha: Float[np.ndarray, " K"]
    dq: Float[np.ndarray, " J"]
    dalpha: Float[np.ndarray, " K"]
    fall: float


class Bulk:
    """Features without groups too small to be seen, ``f``, and the real fixed point above their bulk as a function of s.

    ``full`` has all groups, the small ones with their neighbours' law; ``edge`` is the s of the edge, ``far`` the least s known.
    """

    def __init__(self, full: Features, n: float, p: float) -> None:
        self._rows, omega, j = _merged(np.asarray(full.omega), FEWEST / p)
        self._columns, pi, k = _merged(np.asarray(full.pi), FEWEST / n)
        _, modes, m = _merged(np.asarray(full.modes), TAIL)
        self.f = Features(
            omega, pi, modes, full.gain[j][:, k], full.noise[j][:, k], full.variance[m][:, j], full.p_over_d,
            full.p_over_n,
        )  # fmt: skip
        spread = lambda table: table[self._rows][:, self._columns]  # noqa: E731
        self.full = self.f._replace(
            omega=full.omega, pi=full.pi, gain=spread(self.f.gain), noise=spread(self.f.noise),
            variance=self.f.variance[:, self._rows],
        )  # fmt: skip
        self._points: list[tuple[float, Any, Any]] = [_start(self.f)]  # s, y and dy/ds
        self.edge = self._follow()

    def _follow(self) -> float:
        """From far above the bulk to where z turns."""
        s, step = self.far, STEP
        while True:
            y, slope, residual = self.at(s + step)
            if not residual < SOLVED:
                step /= 2
                if step < LEAST:
                    raise RuntimeError(
                        f"the fixed point above the bulk was lost near z = {np.exp(self.at(s)[0][-1]):.4g}"
                    )
                continue
            self._points.append((s + step, y, slope))
            if slope[-1] > 0:
                return float(brentq(lambda s: self.at(s)[1][-1], s, s + step, xtol=1e-10))  # type: ignore[arg-type]
            s, step = s + step, min(2 * step, STEP)

    @property
    def far(self) -> float:
        return self._points[0][0]

    def farther(self) -> float:
        """Add one more point away from the bulk, and return its s."""
        s, y, slope = self._points[0]
        y, slope, _ = _real(self.f, s - 2.0, y - 2.0 * slope)
        self._points.insert(0, (s - 2.0, y, slope))
        return self.far

    def at(self, s: float) -> tuple[Float[np.ndarray, " y"], Float[np.ndarray, " y"], float]:
        """(log -q, log -delta, log z), its derivative in s and the residual, from the nearest points that are known."""
        found = None
        for near, y, slope in sorted(self._points, key=lambda point: abs(point[0] - s))[:NEAREST]:
            with np.errstate(invalid="ignore"):  # Newton is lost where a step was too long
                found = _real(self.f, s, y + slope * (s - near))
            if found[2] < SOLVED:  # from one side of the edge Newton may be lost where it is not from the other
                break
        assert found is not None
        return found

    def singular_value(self, s: float) -> float:
        """The singular value at s, sqrt(z)."""
        return float(np.exp(self.at(s)[0][-1] / 2))

    def point(self, s: float) -> Point:
        """The fixed point at s, of all groups: dalpha = -alpha ddelta/(1 + delta)."""
        y, slope, _ = self.at(s)
        J = len(self.f.omega)
        q, delta = -np.exp(y[:J])[self._rows], -np.exp(y[J:-1])[self._columns]
        alpha = np.asarray(alphas(self.full, delta))
        dq, moved = q * slope[:J][self._rows], delta * slope[J:-1][self._columns]
        return Point(q, alpha, dq, -alpha * moved / (1 + delta), max(-float(slope[-1]), 0.0))

    def density(self, x: Float[np.ndarray, " points"], *, rows: bool) -> Float[np.ndarray, " points"]:
        """Density of the singular values at x, per sample or, for ``rows``, per neuron."""
        # The fixed point is followed down sqrt(z) = x + i height
        f, J, edge = self.f, len(self.f.omega), self.singular_value(self.edge)
        far = 2 * np.log(1j / (x + 1j * edge * HEIGHTS[0]))  # log(-1/z)
        state = np.log(np.concatenate([np.ones(J), f.p_over_n * _size(f)])) + far[:, None]
        for height in HEIGHTS:
            state = _complex(f, (x + 1j * edge * height) ** 2, state, *(ON_THE_WAY if height else AT_THE_END))
        parts = np.exp(state)
        with np.errstate(invalid="ignore"):  # a point next to zero, far below the bulk, may be lost
            m = parts[:, :J] @ f.omega if rows else -(1 / (1 + parts[:, J:])) @ f.pi / x**2
        return 2 * x * np.maximum(np.imag(m), 0.0) / np.pi


def _merged(
    weights: Float[np.ndarray, " groups"], least: float
) -> tuple[Int[np.ndarray, " groups"], Float[np.ndarray, " kept"], Int[np.ndarray, " kept"]]:
    """For every group the place of the one whose law it takes, the weights of those, and which they are."""
    large = np.flatnonzero(weights >= least)
    large = large if large.size else np.array([int(np.argmax(weights))])
    place = np.abs(np.arange(weights.size)[:, None] - large).argmin(axis=1)
    return place, np.bincount(place, weights), large


def _size(f: Features) -> Float[np.ndarray, " K"]:
    """Mean square over the neurons of the part of a feature that is not signal, for every group of samples."""
    return np.asarray(f.omega @ (f.noise + (f.modes @ f.variance)[:, None] * f.gain**2))


def _start(f: Features) -> tuple[float, Float[np.ndarray, " y"], Float[np.ndarray, " y"]]:
    """The fixed point far above the bulk, where q = -1/z and delta = -(p/n) size/z."""
    J, K = f.gain.shape
    largest = np.max(f.noise + (f.modes @ f.variance)[:, None] * f.gain**2)
    top = float(50 * largest * (1 + np.sqrt(f.p_over_n)) ** 2 * (1 + np.sqrt(f.p_over_d)) ** 2)
    delta = f.p_over_n * _size(f) / top
    y = np.log(np.concatenate([np.full(J, 1 / top), delta, [top]]))
    return float(np.log(f.pi @ delta)), y, np.concatenate([np.ones(J + K), [-1.0]])


def _real(
    f: Features, s: float, y: Float[np.ndarray, " y"]
) -> tuple[Float[np.ndarray, " y"], Float[np.ndarray, " y"], float]:
    """Newton for y = (log -q, log -delta, log z) at s; y, dy/ds and the largest residual."""
    J = f.omega.size

    def parts(y):
        residual, matrix = system(f, -np.exp(y[-1]), y[:-1], -1)
        held = f.pi * np.exp(y[J:-1])
        # dlog(q right)/dlog z = -z/right, and right = exp(residual)/q
        bordered = np.zeros((y.size, y.size))
        bordered[:-1, :-1] = matrix
        bordered[:J, -1] = np.exp(y[-1] + y[:J] - residual[:J])
        bordered[-1, J:-1] = held / np.sum(held)
        return np.append(residual, np.log(np.sum(held)) - s), bordered

    def move(y):
        residual, matrix = parts(y)
        return np.clip(-xp.linalg.solve(matrix, residual), -1.0, 1.0)

    y, _ = newton(move, y, 1e-9, 20)
    residual, matrix = parts(y)
    return y, xp.linalg.solve(matrix, np.eye(y.size)[-1]), float(np.max(np.abs(residual)))


def _complex(
    f: Features, z: Complex[np.ndarray, " points"], x: Complex[np.ndarray, "points JK"], settled: float, most: int
) -> Complex[np.ndarray, "points JK"]:
    """Newton for (log q, log delta) at every complex z."""

    def move(x):
        residual, matrix = system(f, -z, x)
        return -xp.linalg.solve(matrix, residual[..., None])[..., 0]

    return newton(move, x, settled, most)[0]
