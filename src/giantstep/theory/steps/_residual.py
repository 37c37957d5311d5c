"""The residual of a step given the learned coordinates: its moments with what the target has beyond them.

kappa = f^T x,    z = C kappa + L tau,    r = f*(z) - shift - f(x) + noise,    f(x) ~ F(kappa) + noise of variance n(kappa)
F = s p E_a[a m(u.kappa; b)],    n = s^2 p E_a[a^2 c^2(u.kappa; b)]                        (residual="full")
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.functions import _nodes as nodes
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import averages
from giantstep.theory.one_step import _gradient_law as gradient_law
from giantstep.theory.one_step._gradient_law import SpectralModes
from giantstep.theory.one_step._label import points
from giantstep.theory.steps._course import Course, CourseStep
from giantstep.theory.steps._rows import MovedRows, both, learned

COUNTS = {1: (20,), 2: (20, 6), 3: (20, 5, 3)}  # nodes of kappa: the rows have moved furthest along the first
BEYOND = {1: 40, 2: 24, 3: 12}  # nodes of tau along each direction, by the rank
MANY = 2**10  # Sobol points of tau of more directions
NOISES = 7  # nodes of the noise
CLOSE = 1e-8  # least variance of the target beyond the learned directions


class Coordinates(NamedTuple):
    """The learned directions f (F, m) and those of tau, e (F, r), in the frame; C and L; nodes kappa with their weights pi."""

    f: Float[np.ndarray, "F m"]
    e: Float[np.ndarray, "F r"]
    C: Float[np.ndarray, "r m"]
    L: Float[np.ndarray, "r r"]
    kappa: Float[np.ndarray, "m K"]
    pi: Float[np.ndarray, " K"]


class Residual(NamedTuple):
    """Given kappa: E r^k (4, K) for k = 1..4, E r^k tau (3, r, K) for k = 1..3 and E r^k tau tau^T (2, r, r, K) for k = 1, 2."""

    plain: Float[np.ndarray, "4 K"]
    first: Float[np.ndarray, "3 r K"]
    second: Float[np.ndarray, "2 r r K"]


def coordinates(rows: MovedRows, p: float) -> Coordinates:
    """What features and labels depend on, for p neurons."""
    f, r = learned(rows, p), rows.rank
    C = f[:r]
    values, vectors = np.linalg.eigh(np.eye(r) - C @ C.T)
    L = vectors * np.sqrt(np.maximum(values, CLOSE)) @ vectors.T  # the symmetric root: smooth where values are equal
    # e = L^{-1} (z - C kappa) in the frame: z_k is its k-th vector
    e = np.linalg.solve(L, np.eye(r, f.shape[0]) - C @ f.T).T
    kappa, pi = nodes.product([hermite.gauss_hermite(count) for count in COUNTS[f.shape[1]]])
    return Coordinates(f, e, C, L, kappa, pi)


def values_at(
    course: Course, step: CourseStep, rows: MovedRows, at: Coordinates
) -> tuple[Float[np.ndarray, "K N"], Float[np.ndarray, " K"], Float[np.ndarray, "r N"], Float[np.ndarray, " N"]]:
    """The residual without noise at nodes (kappa, tau), the variance of its noise given kappa, and the nodes of tau."""
    star, r = course.star, rows.rank
    tau, w = points(r, BEYOND.get(r, MANY), 0)
    values = np.asarray(star.value((at.C @ at.kappa)[:, :, None] + (at.L @ tau)[:, None, :]))
    noise = np.full(at.pi.size, course.noise**2)
    if step.form.deflated:
        values = values - float(star.mean)
    if step.form.full:
        s, p, sigma, b2 = course.scale, course.p, course.sigma, rows.square[:, None]
        places = (at.f.T @ rows.u).T @ at.kappa
        table = averages(sigma.value, places, np.sqrt(b2), sigma.kinks)
        constant = float(sigma.constant) * (rows.omega @ rows.a)
        values = values - s * p * ((rows.omega * rows.a) @ table.mean + constant)[:, None]
        squares = both(rows, sigma.value, places, np.asarray(table.square), sigma.kinks)
        mean, gain = (x[rows.left] * x[rows.right] for x in (np.asarray(table.mean), np.asarray(table.gain)))
        # of pairs: a^2 (c_left^2 - the covariance with the noise of -a), since their second layers are opposite
        rest = rows.product(rows.a)[:, None] * (squares - mean - rows.inner[:, None] * gain)
        noise = noise + s**2 * p * np.maximum(rows.omega[rows.left] @ rest, 0.0)
    return values, noise, tau, w


def cut_weights(
    step: CourseStep, at: Coordinates, tau: Float[np.ndarray, "r N"], w: Float[np.ndarray, " N"]
) -> Float[np.ndarray, "K N"]:
    """The nodes' weights, cut softly at the length of the largest of n samples as in ``one_step.label.law``, for high moments."""
    z2 = np.sum(((at.C @ at.kappa)[:, :, None] + (at.L @ tau)[:, None, :]) ** 2, axis=0)
    level = 2 * np.log(step.n)
    largest = np.sqrt(level + (len(at.C) - 1) * np.log(level))
    weights = at.pi[:, None] * w / (1 + np.exp(-8.0 * (largest - np.sqrt(z2))))
    return weights / weights.sum()


def residual(course: Course, step: CourseStep, rows: MovedRows, at: Coordinates) -> tuple[Residual, "ResidualLaw"]:
    """The moments given kappa, and the law at all nodes."""
    values, noise, tau, w = values_at(course, step, rows, at)
    more = noise[:, None]
    powers = [values, values**2 + more, values**3 + 3 * values * more, values**4 + 6 * values**2 * more + 3 * more**2]
    weights = cut_weights(step, at, tau, w)
    cut = [np.broadcast_to(w, weights.shape)] * 2 + [weights / at.pi[:, None]] * 2
    plain = np.array([np.sum(x * v, axis=1) for x, v in zip(powers, cut, strict=True)])
    first = np.array([(x * v) @ tau.T for x, v in zip(powers[:3], cut, strict=False)])
    pairs = (tau[:, None] * tau).reshape(-1, tau.shape[1])
    second = np.array([((x * cut[-1]) @ pairs.T).T.reshape(rows.rank, rows.rank, -1) for x in powers[:2]])
    return Residual(plain, np.swapaxes(first, 1, 2), second), ResidualLaw(values, noise, weights, tau)


class ResidualPowers(NamedTuple):
    """Of the samples at kappa, with their weight: E r^k (k, K), E r^k tau (k, r, K), E r^k tau tau^T (k, r, r, K), k = 0, 1 .."""

    plain: Float[np.ndarray, "k K"]
    first: Float[np.ndarray, "k r K"]
    second: Float[np.ndarray, "k r r K"]


class ResidualLaw(NamedTuple):
    """Values of r without noise at nodes (K, N), the noise's variance (K,), weights, and the nodes of tau."""

    values: Float[np.ndarray, "K N"]
    noise: Float[np.ndarray, " K"]
    weights: Float[np.ndarray, "K N"]
    tau: Float[np.ndarray, "r N"]

    def powers(self, order: int) -> ResidualPowers:
        """Up to that order."""
        power = np.zeros((order + 1, *self.values.shape))
        for x, v in zip(*hermite.gauss_hermite(NOISES), strict=True):
            r = self.values + np.sqrt(self.noise)[:, None] * x
            power += v * np.cumprod(np.concatenate([self.weights[None], np.broadcast_to(r, (order, *r.shape))]), axis=0)
        pairs = (self.tau[:, None] * self.tau).reshape(-1, self.tau.shape[1])
        first, second = (np.moveaxis(power @ own.T, 2, 1) for own in (self.tau, pairs))
        return ResidualPowers(power.sum(axis=2), first, second.reshape(order + 1, *2 * (len(self.tau),), -1))

    def modes(self, shape: Float[np.ndarray, " K"], phi: float, count: int) -> SpectralModes:
        """Gauss quadrature of the spectral law of X^T diag(r shape(kappa)) X/n, phi = d/n."""
        order = 2 * count + 3
        plain = np.zeros(order + 1)
        for x, v in zip(*hermite.gauss_hermite(NOISES), strict=True):
            own = (self.values + np.sqrt(self.noise)[:, None] * x) * shape[:, None]
            power = v * self.weights
            for k in range(order + 1):
                plain[k] += power.sum()
                power = power * own
        law = gradient_law.ResidualMoments(plain, 0 * plain[None], plain[None, None])
        return gradient_law.quadratures(law, phi, np.array([[1.0, 0.0]]), count, count)[0]
