"""What one giant step of size eta = C n^alpha adds to random features as n grows (Moniri et al. 2024, arXiv 2310.07891).

With alpha between (l-1)/(2l) and l/(2l+2) the features are F0 plus l spikes, c_k (c_1 eta)^k (X beta)^(o k) (a^(o k))^T, k <= l,
whose strengths n^(k alpha - (k-1)/2) grow without bound. In the limit the ridge readout has the functions g, g^2, ..., g^l of
g = <beta, x> / ||beta|| free of charge. What that gains over random features depends on the target's Hermite coefficients c*_k,
on rho = cos(beta, beta*) and on the bulk:

    D = b^T A^(-1) b,   A_jk = lim u_j^T Q u_k / n,   b_k = lim u_k^T Q y / n,   u_k = g^k on the samples,

where a Hermite component of degree 1 weighs m2 and any other m1. The gain in the objective is lambda D. As train =
objective - lambda d(objective)/d(lambda) for any ridge fit, and train = (lambda m1)^2 test, the other gains are -lambda^2 D' and
-D' / m1^2. The paper's own expression was not at hand: this one is derived. Gaussian second layer; the gradient of the labels
alone (residual="target"); samples new to the readout.
"""

from collections.abc import Iterable, Sequence
from math import factorial, sqrt
from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.plain import real, whole
from giantstep.errors import InputError
from giantstep.functions.activation import MAX_ORDER, normalised
from giantstep.functions.hermite import monomial_in_hermite
from giantstep.theory.limits.bulk import Shape, resolvent


class Gains(NamedTuple):
    """By how much the test error, the training error and the objective fall below those of random features."""

    test: Float[np.ndarray, "..."]
    train: Float[np.ndarray, "..."]
    objective: Float[np.ndarray, "..."]


class GradientDirection(NamedTuple):
    """The length of beta and its cosine with the target's direction."""

    norm: float
    cosine: float


def direction(
    phi: float, first: float, power: float, output_linear: float = 0.0, output_rest: float = 0.0
) -> GradientDirection:
    """beta = X^T r / n on a batch with d/n = phi, for residuals r = y, or r = y - f0(X).

    ||beta||^2 = c*_1^2 + phi E y^2 and <beta, beta*> = c*_1, with ``first`` = c*_1 and ``power`` = E y^2, noise included. An
    initial output f0 of linear part ``output_linear`` (c_1^2 for the scale 1/sqrt(p)) and power ``output_linear + output_rest``
    adds output_linear + phi (output_linear + output_rest) to the square and nothing to the product.
    """
    phi, first = real(phi, "phi", least=0.0), real(first, "first")
    square = first**2 + phi * real(power, "power", least=0.0)
    linear, rest = real(output_linear, "output_linear", least=0.0), real(output_rest, "output_rest", least=0.0)
    norm = sqrt(square + linear + phi * (linear + rest))
    return GradientDirection(norm, first / norm if norm else 0.0)


def improvements(
    shape: Shape,
    penalties: npt.ArrayLike,
    coefficients: Sequence[float],
    rho: float,
    orders: Iterable[int],
    constant: bool = False,
) -> Gains:
    """Gains over random features when g^k is free for every k in ``orders``.

    ``coefficients`` are the target's c*_0, c*_1, ... along beta*. ``orders`` are the k <= l with c_k != 0: a spike whose c_k
    vanishes does not exist. ``constant`` adds the function 1, which an activation of mean c_0 != 0 holds with or without a step:
    c*_0 is then fitted before and after, and plays no part.
    """
    basis, target = _free(orders, constant), _components(coefficients, real(rho, "rho"), constant)
    size = max(basis.shape[1], target.size)
    basis, target = (np.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, size - x.shape[-1])]) for x in (basis, target))
    at, lam = resolvent(shape, penalties), np.asarray(penalties, dtype=float)
    linear = np.arange(size) == 1
    weight = np.where(linear, at.m2[..., None], at.m1[..., None])
    change = np.where(linear, at.dm2[..., None], at.dm1[..., None])
    # f = V^T A^(-1) b, the fitted function; D = sum_j m_j f_j t_j, D' = sum_j m_j' (2 t_j - f_j) f_j
    A = np.einsum("ij,...j,kj->...ik", basis, weight, basis)
    b = (weight * target) @ basis.T
    f = np.linalg.solve(A, b[..., None])[..., 0] @ basis
    gained, slope = np.sum(weight * f * target, axis=-1), np.sum(change * (2 * target - f) * f, axis=-1)
    return Gains(-slope / at.m1**2, -(lam**2) * slope, lam * gained)


def _free(orders: Iterable[int], constant: bool) -> Float[np.ndarray, "functions orders"]:
    """Orthonormal rows over h_0, h_1, ... that span the free functions: g^k = sum_j M_kj He_j(g), h_j = He_j / sqrt(j!)."""
    chosen = sorted({whole(k, "an order") for k in orders} | ({0} if constant else set()))
    if max(chosen, default=0) > MAX_ORDER:
        raise InputError(f"orders go up to {MAX_ORDER}, not {chosen[-1]}")
    rows = np.zeros((len(chosen), max(chosen, default=0) + 1))
    for row, k in zip(rows, chosen, strict=True):
        for j, value in monomial_in_hermite(k).items():
            row[j] = float(value) * sqrt(factorial(j)) / sqrt(factorial(k))
    return np.linalg.qr(rows.T)[0].T


def _components(coefficients: Sequence[float], rho: float, constant: bool) -> Float[np.ndarray, " orders"]:
    """The target's components along h_j(g): E[f*(<beta*, x>) h_j(g)] = sqrt(j!) c*_j rho^j."""
    if not -1 <= rho <= 1:
        raise InputError(f"rho is a cosine, between -1 and 1, not {rho:g}")
    known = normalised(np.array([real(c, "every target coefficient") for c in coefficients]))
    if constant:
        known[:1] = 0.0
    return known * rho ** np.arange(known.size)
