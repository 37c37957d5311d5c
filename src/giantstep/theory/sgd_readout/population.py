"""Moments of the features under x ~ N(0, I) given the first layer, exact by Hermite expansion.

With w_i = s_i u_i, |u_i| = 1, and sigma(s z) = sum_k c_k(s) He_k(z),

    E sigma(<w_i, x>) sigma(<w_j, x>) = sum_k k! c_k(s_i) c_k(s_j) <u_i, u_j>^k
    E sigma(<w_i, x>) f*(x) = sum_beta |beta|! c_|beta|(s_i) c*_beta u_i^beta

(Mehler). Neurons overlap little, so few orders are needed off the diagonal; the diagonal is E sigma(s z)^2 itself.
"""

from dataclasses import dataclass
from functools import lru_cache
from math import ceil, factorial, floor, log2, sqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.interpolate import BarycentricInterpolator
from scipy.optimize import brentq

from giantstep._machine import memory
from giantstep._machine.backend import one_blas_thread
from giantstep.experiment.setting import Setting
from giantstep.functions import hermite
from giantstep.functions.activation import Activation

ORDERS = 40  # of the expansion
LENGTHS = 16  # Chebyshev points in the lengths of the neurons, on which c_k(s) depends smoothly
GRADES = 8  # in a factor of two: the ends of the lengths are rounded, so that other first layers have the same points
SMALL = 1e-13  # of the largest eigenvalue, below which one has no digits; and of the diagonal, of what is left out
SAME = 1e-9  # cosines this near to one are of the same neuron twice
CACHED = 2**14  # numbers of a block of rows that is summed over the orders
MATRICES = 6  # of p x p held at once


@dataclass(frozen=True)
class Population:
    """The features F / sqrt(p) in the eigenvectors of Sigma = E F F^T / p.

    Attributes:
        values: eigenvalues of Sigma.
        best: coefficients of the least risk, theta* = Sigma^{-1} E[F f*] / sqrt(p).
        mean: E F / sqrt(p).
        floor: the least risk, E (f* - <theta*, F / sqrt(p)>)^2.
        rest: bound of what the expansion left out, against the diagonal.
    """

    values: Float[np.ndarray, " k"]
    best: Float[np.ndarray, " k"]
    mean: Float[np.ndarray, " k"]
    floor: float
    rest: float


class Expanded(NamedTuple):
    """sqrt(k!) c_k(s_i), (p, ORDERS + 1), and E f(s_i z)^2, (p), of the activation f + constant without its constant."""

    coefficients: Float[np.ndarray, "p orders"]
    square: Float[np.ndarray, " p"]
    constant: float

    @property
    def mean(self) -> Float[np.ndarray, " p"]:
        """E sigma(s_i z)."""
        return self.coefficients[:, 0] + self.constant


def population(setting: Setting, W: Float[np.ndarray, "p d"]) -> Population:
    """The moments of sigma(W x) and of the setting's target, W (p, d)."""
    p = len(W)
    needed, allowed = MATRICES * 8.0 * p**2, memory.budget(None)
    if needed > allowed:
        raise memory.refuse(needed, allowed, f"a width of {int(sqrt(allowed / (8.0 * MATRICES)))}")
    of, U = _split(setting, W)
    second, rest = _second(of, U)
    cross = _cross(setting, of, U)
    with one_blas_thread(p):
        values, Q = np.linalg.eigh(second / p)
    large = values > SMALL * p * values[-1]
    values, Q = values[large], Q[:, large]
    along = Q.T @ cross / sqrt(p)
    floor = max(setting.target.power - float(np.sum(along**2 / values)), 0.0)
    return Population(values, along / values, Q.T @ of.mean / sqrt(p), floor, rest)


def moments(setting: Setting, W: Float[np.ndarray, "p d"]) -> tuple[Float[np.ndarray, "p p"], Float[np.ndarray, " p"]]:
    """E F F^T and E F f*, of which the risk of any readout b is made: E f*^2 - 2 <b, E F f*> + b^T E F F^T b."""
    of, U = _split(setting, W)
    return _second(of, U)[0], _cross(setting, of, U)


def _split(setting: Setting, W: Float[np.ndarray, "p d"]) -> tuple[Expanded, Float[np.ndarray, "p d"]]:
    """The expansion at the lengths of the rows, and the rows as unit vectors."""
    lengths = np.linalg.norm(W, axis=1)
    return expanded(setting.network.activation, lengths), W / lengths[:, None]


def expanded(sigma: Activation, lengths: Float[np.ndarray, " p"]) -> Expanded:
    """The expansion at every length; between Chebyshev points where they differ."""
    low, high, constant = float(lengths.min()), float(lengths.max()), sigma.split[1]
    if high - low < 1e-12 * high:
        one = _at(sigma, low)
        return Expanded(np.broadcast_to(one[:-1], (len(lengths), ORDERS + 1)), np.full(len(lengths), one[-1]), constant)
    low, high = (2.0 ** (rounded(GRADES * log2(end)) / GRADES) for rounded, end in ((floor, low), (ceil, high)))
    nodes = (low + high) / 2 + (high - low) / 2 * np.cos(np.pi * (np.arange(LENGTHS) + 0.5) / LENGTHS)
    table = BarycentricInterpolator(nodes, np.stack([_at(sigma, float(s)) for s in nodes]))(lengths)
    return Expanded(table[:, :-1], table[:, -1], constant)


@lru_cache(maxsize=256)
def _at(sigma: Activation, s: float) -> Float[np.ndarray, " columns"]:
    """sqrt(k!) c_k(s) for k = 0, ..., ORDERS, and E f(s z)^2."""
    stretched = lambda z: np.asarray(sigma.split[0](s * z))  # noqa: E731
    kinks = [kink / s for kink in sigma.kinks]
    coefficients, _ = hermite.coefficients(stretched, ORDERS, kinks)
    roots = np.array([sqrt(factorial(k)) for k in range(ORDERS + 1)])
    return np.append(roots * coefficients, hermite.mean_square(stretched, kinks))


def _second(of: Expanded, U: Float[np.ndarray, "p d"]) -> tuple[Float[np.ndarray, "p p"], float]:
    """E sigma(<w_i, x>) sigma(<w_j, x>), (p, p), and a bound of what is left out, against the diagonal."""
    a, p = of.coefficients, len(U)
    cosines = U @ U.T
    twice = cosines > 1 - SAME
    cosines[twice] = 0.0  # and the diagonal: set in the end
    largest = float(np.max(np.abs(cosines)))
    orders, left = 0, 1.0 - a[:, 0] ** 2 / of.square
    while orders < ORDERS and largest ** (orders + 1) * left.max() > SMALL:
        orders += 1
        left = left - a[:, orders] ** 2 / of.square
    same = [np.ptp(a[:, k]) == 0 for k in range(orders + 1)]  # neurons of one length
    total = np.empty((p, p))
    for start in range(0, p, rows := max(1, CACHED // p)):
        some = slice(start, start + rows)
        sums, power = np.outer(of.mean[some], of.mean), np.ones_like(cosines[some])
        for k in range(1, orders + 1):
            power *= cosines[some]
            if not same[k]:
                sums += a[some, k, None] * a[:, k] * power
            elif abs(a[0, k]) > SMALL:
                sums += a[0, k] ** 2 * power
        total[some] = sums
    square = of.square - a[:, 0] ** 2 + of.mean**2  # E sigma^2
    total[twice] = np.sqrt(np.outer(square, square))[twice]
    return total, largest ** (orders + 1) * max(float(left.max()), 0.0)


def _cross(setting: Setting, of: Expanded, U: Float[np.ndarray, "p d"]) -> Float[np.ndarray, " p"]:
    """The products of features and target, E sigma(<w_i, x>) f*(x), (p)."""
    along = U @ setting.target.orthonormal(setting.d).T
    total = np.zeros(len(U))
    for beta, c in setting.target.hermite.items():
        k = sum(beta)
        if k <= ORDERS:
            own = of.mean if k == 0 else of.coefficients[:, k]
            total += sqrt(factorial(k)) * float(c) * own * np.prod(along**beta, axis=1)
    return total


def minimum_norm(of: Population, n: int, noise: float) -> float:
    """The risk of the minimum-norm fit to n samples with label noise of that variance, for features of Gaussian law.

    With s^2 = floor + noise: s^2 / (1 - p/n) - noise for p < n; for p > n, with sum_i lam_i / (lam_i + k) = n,
    (s^2 + k^2 sum_i lam_i theta*_i^2 / (lam_i + k)^2) / (1 - sum_i (lam_i / (lam_i + k))^2 / n) - noise (Hastie et al. 2022).
    """
    lam, left = of.values, of.floor + noise
    if len(lam) <= n:
        return left / (1 - len(lam) / n) - noise if len(lam) < n else np.inf
    low, high = np.log(lam[0]) - 40, np.log(lam[-1] * len(lam))
    k = np.exp(float(brentq(lambda x: np.sum(lam / (lam + np.exp(x))) - n, low, high)))  # type: ignore[arg-type]
    bias = k**2 * np.sum(lam * of.best**2 / (lam + k) ** 2)
    return float((left + bias) / (1 - np.sum((lam / (lam + k)) ** 2) / n) - noise)
