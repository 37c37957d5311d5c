"""A random network along its own gradient: f(x) = p^{-1/2} sum_i a_i sigma(<w_i, x>), a_i = +-1, w_i ~ N(0, I/d), ||x||^2 = d.

The preactivations are z_i ~ N(0, 1), and with v0 = E sigma^2, v1 = E sigma'^2

    E f^2 = v0,   E ||grad f||^2 = v1 + (E[sigma'^2 z^2] - v1)/d

A unit move along the gradient moves z_i by a_i omega_i,  omega = sigma'(z)/sqrt(p v1) + xi/sqrt(d),  xi ~ N(0, 1): its own share
of the gradient, and chance. With y_a = z + a t omega, a = +-1 the two signs of equal weight, towards the other sign

    |f| becomes |f| r(t) - A(t),   A = sqrt(p) E (sigma(y_+) - sigma(y_-))/2,   r = E sigma(z) (sigma(y_+) + sigma(y_-))/2 / v0

A -> sqrt(v1) t and r -> 1 as p and d grow. For ReLU A is smaller by a share of order d^{-1/2} + p^{-1/2}, for a smooth sigma by
one of order 1/d + 1/p. Given z, f ~ N(0, S0) and ||grad f||^2 ~ S1 chi^2_d/d, S0 the mean of sigma(z_i)^2 and S1 that of
sigma'(z_i)^2: the sign has changed before t with probability E[2 Phi(Q max_{s<=t} A(s)/(r(s) sqrt(v0))) - 1], where
Q = ||grad f|| sqrt(v0/(v1 S0)) is near 1; for a step eta grad f, of length |eta| ||grad f||, it has one more factor
||grad f||/sqrt(v1). (Derived here; Bubeck et al. 2021, arXiv 2104.03863, prove that the probability is near one at a t that does
not grow with d.)
"""

from functools import cached_property

import numpy as np
from jaxtyping import Float
from scipy.optimize import brentq
from scipy.special import ndtr, ndtri

from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import slopes
from giantstep.functions.activation import Activation
from giantstep.theory.one_step.parameters import activation_constants

REACH, WIDTH = 9.0, 0.25  # of the panels in z
NEAR = 8  # panels on each side of a kink, as wide as chance moves z
NODES = 9  # of Q
CHUNK = 1024  # nodes at a time
FURTHEST = 8.0  # first-order medians up to which a quantile is looked for


class RayLaw:
    """The law of the ray of a random network of width p on inputs of length sqrt(d)."""

    def __init__(self, sigma: Activation, p: int, d: int) -> None:
        self.sigma, self.p, self.d = sigma, p, d
        self.v0, self.v1 = sigma.mean_square, activation_constants(sigma)[2]

    @cached_property
    def gradient(self) -> float:
        """The mean square of the gradient, E ||grad f||^2."""
        z, w = hermite.gaussian_panels(self.sigma.kinks, WIDTH, REACH)
        return float(self.v1 + (w @ (np.asarray(self.sigma.slope(z)) ** 2 * (z**2 - 1))) / self.d)

    def _nodes(self, t: float) -> tuple[Float[np.ndarray, " z"], Float[np.ndarray, " z"], Float[np.ndarray, " z"]]:
        """z, weights and sigma'(z), with panels as fine as t/sqrt(d) where a move can meet a kink."""
        kinks = self.sigma.kinks
        own = [float(abs(self.sigma.slope(np.array(k + side * 1e-9)))) for k in kinks for side in (-1, 1)]
        jumps = {0.0, *(side * t * s / np.sqrt(self.p * self.v1) for s in own for side in (-1, 1))}
        fine = np.arange(-NEAR, NEAR + 1) * t / np.sqrt(self.d)
        cuts = sorted({float(k + j + e) for k in kinks for j in jumps for e in fine})
        z, w = hermite.gaussian_panels(tuple(cuts), WIDTH, REACH)
        return z, w, np.asarray(self.sigma.slope(z))

    def _moved(self, t: float, slope: bool) -> tuple[np.ndarray, ...]:
        """z, weights, sigma'(z), and of g = sigma or sigma' the averages over chance at y_a: E g, d/dz E g, E g^2, (2, nodes)."""
        z, w, s = self._nodes(t)
        centre = z + np.array([[1.0], [-1.0]]) * t * s / np.sqrt(self.p * self.v1)
        return z, w, s, *_averaged(self.sigma, slope, centre, t / np.sqrt(self.d))

    def pushed(self, t: float) -> tuple[float, float]:
        """The push A(t) and the ratio r(t)."""
        z, w, _, (plus, minus), _, _ = self._moved(t, slope=False)
        ratio = w @ (np.asarray(self.sigma(z)) * (plus + minus)) / (2 * self.v0)
        return float(np.sqrt(self.p) * (w @ (plus - minus)) / 2), float(ratio)

    def _levels(self, t: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """A/(r sqrt(v0)) at every distance: how many standard deviations of f are pushed over zero."""
        pushed = np.array([self.pushed(s) if s > 0 else (0.0, 1.0) for s in np.atleast_1d(t)])
        return pushed[:, 0] / (pushed[:, 1] * np.sqrt(self.v0))

    def _probability(self, levels: Float[np.ndarray, " t"], power: float) -> Float[np.ndarray, " t"]:
        """E 2 Phi(Q level) - 1 with Q = (||grad f||^2/v1)^power (S0/v0)^(-1/2), taken as Gaussian with its first two moments."""
        z, w = hermite.gaussian_panels(self.sigma.kinks, WIDTH, REACH)
        zero, one = (np.asarray(g(z)) ** 2 / v for g, v in ((self.sigma, self.v0), (self.sigma.slope, self.v1)))
        s00, s01, s11 = (float(w @ (a * b) - 1) / self.p for a, b in ((zero, zero), (zero, one), (one, one)))
        g = 2 / self.d + s11
        mean = 1 + power * (power - 1) / 2 * g + 3 / 8 * s00 - power / 2 * s01
        spread = np.sqrt(max(power**2 * g + s00 / 4 - power * s01, 0.0))
        x, v = hermite.gauss_hermite(NODES)
        return np.maximum((2 * ndtr(np.outer(levels, np.maximum(mean + spread * x, 0.0))) - 1) @ v, 0.0)

    def within(self, t: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """The probability that the sign has changed before every distance t, which increase."""
        return self._probability(np.maximum.accumulate(self._levels(t)), 0.5)

    def flips(self, etas: Float[np.ndarray, " t"]) -> Float[np.ndarray, " t"]:
        """The probability that a step eta grad f has flipped the sign."""
        return self._probability(self._levels(np.abs(etas) * self.v1**0.5), 1.0)

    def distance(self, failure: float) -> float:
        """The distance at which the sign has changed with probability 1 - ``failure``; NaN where none is found.

        In the limit sqrt(v0/v1) Phi^-1(1 - failure/2), which is below sqrt(2 (v0/v1) log(1/failure)) and approaches it.
        """
        first = ndtri(1 - failure / 2) * np.sqrt(self.v0 / self.v1)
        gap = lambda t: float(self.within(np.array([t]))[0]) - (1 - failure)  # noqa: E731
        low = high = first / 2
        while gap(high) < 0:
            low, high = high, 1.5 * high
            if high > FURTHEST * first:
                return float("nan")
        return float(brentq(gap, low if low < high else 0.0, high, xtol=1e-7))  # type: ignore[arg-type]

    @cached_property
    def median(self) -> float:
        """The median distance at which the sign changes; NaN where none is found."""
        return self.distance(0.5)

    def change(self, t: float = 1.0) -> float:
        """E ||grad f(x + t u) - grad f(x)||^2 with u along the gradient.

        With D_a = sigma'(y_a) - sigma'(z): the neurons' own changes E D^2, less what they have along the gradient's own
        coefficients, (E D sigma')^2/v1, and their common parts along x and along u, p/d (E a D z)^2 and p (E D omega)^2.
        """
        z, w, s, mean, turn, square = self._moved(t, slope=True)
        a, change = np.array([[1.0], [-1.0]]), mean - s
        own = np.sum((square - 2 * mean * s + s**2) @ w) / 2
        shared = np.sum((change * s) @ w) / 2
        along_x = np.sqrt(self.p / self.d) * np.sum((a * change * z) @ w) / 2
        along_u = np.sqrt(self.p) * np.sum((change * s / np.sqrt(self.p * self.v1) + a * t * turn / self.d) @ w) / 2
        return float(own - shared**2 / self.v1 + along_x**2 + along_u**2)

    def random_change(self, t: float = 1.0) -> float:
        """The same after a move in a direction that has nothing to do with the network; arctan(t/sqrt(d))/pi for ReLU."""
        z, w, s = self._nodes(t)
        mean, _, square = (x[0] for x in _averaged(self.sigma, True, z[None], t / np.sqrt(self.d)))
        return float(w @ (square - 2 * mean * s + s**2))


def _averaged(
    sigma: Activation, slope: bool, centre: Float[np.ndarray, "k z"], spread: float
) -> tuple[Float[np.ndarray, "k z"], Float[np.ndarray, "k z"], Float[np.ndarray, "k z"]]:
    """E g, its derivative in the centre and E g^2 for g = sigma or sigma' at N(centre, spread^2), in chunks."""
    g, parts = sigma.slope if slope else sigma, []
    for one in np.array_split(centre.ravel(), -(-centre.size // CHUNK)):
        (mean, turn), (square,) = slopes(g, one, max(spread, 1e-12), sigma.kinks, (1, 0), panels=12)
        parts.append((mean, turn, square))
    return tuple(np.concatenate([p[k] for p in parts]).reshape(centre.shape) for k in range(3))  # type: ignore[return-value]
