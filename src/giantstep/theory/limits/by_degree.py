"""The risk of random features at any sizes n, d, p, degree by degree: what it is before d is large enough for a limit.

For x ~ N(0, I) and w on the unit sphere, sigma(⟨w, x⟩) = sum_{l, m} sqrt(lam_l) psi_lm(x) Y_lm(w) with spherical harmonics Y_lm.
There are B_l = C(d + l - 1, l) - C(d + l - 3, l - 2) of degree l. With sigma = sum_k c_k He_k, the Legendre polynomials P_l in d
dimensions and the gamma function G

    lam_l = sum_k k! c_k^2 tau_kl
    tau_kl = E w_1^k P_l(w_1) = k! G(d/2) G((k - l + 1)/2) / ((k - l)! 2^l G(1/2) G((k + l + d)/2))

A target f = sum_k f_k He_k(x_1) has the coefficient theta_l = sum_k k! f_k c_k tau_kl sqrt(B_l/lam_l) along degree l, and what no
feature reaches, E f^2 - sum_l theta_l^2, acts as noise. For |y - F b|^2/n + penalty |b|^2, with L = n penalty/p and sums over all
modes, the equivalent of random matrices is (Defilippis, Loureiro and Misiakiewicz 2024, arXiv 2405.15699)

    n - L/v1 = p - p v1/v2 = T1,    T1 = sum lam/(lam + v2),    T2 = sum lam^2/(lam + v2)^2,    S = sum lam/(lam + v2)^2
    U = (p/n) ((1 - v1/v2)^2 + (v1/v2)^2 T2/(p - T2))
    risk = (v2^2 sum theta^2 (1 + lam S/(p - T2))/(lam + v2)^2 + noise)/(1 - U)
"""

from math import comb, factorial, sqrt
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.special import gammaln

from giantstep.errors import InputError
from giantstep.experiment.setting import Setting

ORDERS, DEGREES = 40, 12  # of the expansion of sigma, and of the harmonics; the rest of sigma acts as a penalty
REACH, BISECTIONS = 300.0, 62  # log v2 lies within, and is halved to its last digit


class Modes(NamedTuple):
    """By degree l: eigenvalues, how many, and the target's theta_l^2; and the rest of E sigma^2 and of E y^2."""

    values: Float[np.ndarray, " l"]
    counts: Float[np.ndarray, " l"]
    target: Float[np.ndarray, " l"]
    rest: float
    noise: float


def test_error(setting: Setting) -> Float[np.ndarray, " L"]:
    """E (y - f(x))^2 of the ridge readout on the first layer as it starts, for every penalty, which must be positive.

    The target has one direction, and the rows of the network are on the sphere.
    """
    readout = setting.protocol.readout
    if setting.target.rank != 1 or setting.network.rows != "sphere" or setting.network.weights is not None:
        raise InputError("the risk by degree needs a target of one direction and a network with rows='sphere'")
    if setting.protocol.steps or readout is None:
        raise InputError("the risk by degree is that of random features: no step and a ridge readout")
    penalties = np.atleast_1d(np.asarray(readout.path, dtype=float))
    if not np.all(penalties > 0):
        raise InputError("the risk by degree needs positive penalties")
    return at(modes(setting), setting.protocol.readout_size, setting.p, penalties)


def modes(setting: Setting) -> Modes:
    """The modes of a setting's features in its own dimension."""
    d, target, sigma, k = setting.d, setting.target, setting.network.activation, np.arange(ORDERS + 1)
    c, roots = np.asarray(sigma.hermite(ORDERS)), np.array([sqrt(factorial(j)) for j in k])
    f = np.array([float(target.hermite.get((int(j),), 0.0)) for j in k])
    own, wanted = (roots * c) ** 2, roots**2 * f * c
    table = np.stack([_tau(d, k, degree) for degree in range(DEGREES + 1)])
    counts = np.array([float(_count(d, degree)) for degree in range(DEGREES + 1)])
    values = table @ own
    theta = np.where(values > 0, (table @ wanted) ** 2 * counts / np.where(values > 0, values, 1.0), 0.0)
    rest = sigma.variance - float(counts @ (table[:, 1:] @ own[1:]))  # the mean is all in the first mode
    left = target.power - float(np.sum(theta))
    return Modes(values, counts, theta, max(rest, 0.0), max(left, 0.0) + target.noise**2)


def at(of: Modes, n: float, p: float, penalties: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """The test error for n samples and p neurons."""
    v2 = solved(of, n, p, penalties)
    share, theta = of.values / (of.values + v2[:, None]), of.target  # lam/(lam + v2)
    T2 = share**2 @ of.counts
    ratio = 1 - (share @ of.counts + of.rest / v2) / p  # v1/v2
    S = (share * (1 - share) @ of.counts + of.rest / v2) / v2
    U = p / n * ((1 - ratio) ** 2 + ratio**2 * T2 / (p - T2))
    bias = ((1 - share) ** 2 * (1 + of.values * (S / (p - T2))[:, None])) @ theta
    return (bias + of.noise) / (1 - U)


def solved(of: Modes, n: float, p: float, penalties: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """v2 with (n - T1) (p - T1) v2 = n penalty and T1 < n, p, by bisection of its logarithm: the left side grows with v2."""
    low, high = np.full(penalties.shape, -REACH), np.full(penalties.shape, REACH)
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        v2 = np.exp(middle)
        T1 = (of.values / (of.values + v2[:, None])) @ of.counts + of.rest / v2
        small = (T1 >= min(n, p)) | ((n - T1) * (p - T1) * v2 < n * penalties)
        low, high = np.where(small, middle, low), np.where(small, high, middle)
    return np.exp(high)


def _tau(d: int, k: np.ndarray, degree: int) -> Float[np.ndarray, " k"]:
    """E w_1^k P_degree(w_1), zero where k - degree is odd or negative."""
    fits = (k >= degree) & ((k - degree) % 2 == 0)
    more = np.where(fits, k - degree, 0)
    log = gammaln(k + 1) - gammaln(more + 1) - degree * np.log(2) + gammaln((more + 1) / 2) - gammaln(0.5)
    return np.where(fits, np.exp(log + gammaln(d / 2) - gammaln((k + degree + d) / 2)), 0.0)


def _count(d: int, degree: int) -> int:
    """The number of harmonics of a degree in d dimensions."""
    return comb(d + degree - 1, degree) - (comb(d + degree - 3, degree - 2) if degree > 1 else 0)
