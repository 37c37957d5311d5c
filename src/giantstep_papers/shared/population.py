"""Exact test errors of a network on Gaussian inputs.

Kernels in closed form take the place of a test sample and its noise.
"""

import re
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from numpy.polynomial.hermite_e import hermegauss
from scipy.special import eval_hermitenorm, factorial

from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions.activation import Activation, activation

ORDER = 3  # the largest degree of a target
ROOTS = np.sqrt(factorial(np.arange(ORDER + 1)))  # H_k = sqrt(k!) h_k
CACHED = 2**14  # numbers of a kernel at a time, which stay in the cache of a core
_NODES, _WEIGHTS = hermegauss(60)
_BASIS = np.stack([eval_hermitenorm(k, _NODES) / np.sqrt(factorial(k)) for k in range(ORDER + 1)])
_BASIS = _BASIS * _WEIGHTS / np.sqrt(2 * np.pi)


class PopulationMoments(NamedTuple):
    """E y^2, E y F and E F^T F for features F and labels y."""

    power: float
    cross: Float[np.ndarray, " p"]
    square: Float[np.ndarray, "p p"]

    def error(self, b: Float[np.ndarray, "*more p"]) -> Float[np.ndarray, "*more"]:
        """E (y - F b)^2."""
        return self.power - 2 * b @ self.cross + np.sum((b @ self.square) * b, axis=-1)


def linear_floor(target: Target) -> float:
    """The least error of a linear predictor: E f*^2 beyond degree one, plus the noise."""
    return target.power - target.hermite.mass(0) - target.hermite.mass(1) + target.noise**2


def moments(setting: Setting, W: Float[np.ndarray, "p d"]) -> PopulationMoments:
    """Those of a network of the setting with first layer W.

    The target depends on the first coordinate alone.
    """
    target, sigma = setting.target, setting.network.activation
    lengths = np.linalg.norm(W, axis=1)
    plain, constant = _parts(sigma)
    c = _coefficients(plain, lengths)
    # E (sigma_i + k)(sigma_j + k) = E sigma_i sigma_j + k (u_i + u_j) + k^2, u_i = E sigma(|w_i| z)
    bare, means = _kernel(plain.formula or "", W, lengths), np.add.outer(c[0], c[0])
    square = bare + constant * means + constant**2
    c[0] += constant
    # coefficients c*_k of f* = sum_k c*_k h_k; those of the target multiply H_k = sqrt(k!) h_k
    wanted = np.array([float(target.hermite.get((k,), 0.0)) for k in range(ORDER + 1)]) * ROOTS
    # E f*(x_1) sigma(<w, x>) = sum_k c*_k c_k(|w|) cos(w, e_1)^k
    cross = wanted @ (c * (W[:, 0] / lengths) ** np.arange(ORDER + 1)[:, None])
    return PopulationMoments(target.power + target.noise**2, cross, square)


def _parts(sigma: Activation) -> tuple[Activation, float]:
    """A function without a constant, and the constant.

    That is the one of relu(x)+3 and the like, less the mean of a centred one.
    """
    name = sigma.formula or ""
    shifted = re.fullmatch(r"(relu)\(x\)\+(\d+)", name)
    plain, constant = (shifted[1], float(shifted[2])) if shifted else (name, 0.0)
    return activation(plain), constant - (sigma.mean if sigma.centred else 0.0)


def _coefficients(sigma: Activation, lengths: np.ndarray) -> np.ndarray:
    """E h_k(z) sigma(r_i z) for k = 0..ORDER with orthonormal h_k, (ORDER + 1, p)."""
    if sigma.formula == "relu":
        # relu(r z) = r relu(z), E sigma h_k = sqrt(k!) c_k
        return np.outer(np.asarray(sigma.hermite(ORDER)) * ROOTS, lengths)
    return _BASIS @ np.asarray(sigma(np.outer(_NODES, lengths)))


def relu_kernel(
    A: Float[np.ndarray, "p d"], B: Float[np.ndarray, "q d"]
) -> Float[np.ndarray, "p q"]:
    """E relu(<a, x>) relu(<b, x>) = (|a| |b|/2 pi) (sin t + (pi - t) cos t).

    t is the angle of a and b (Cho and Saul 2009).
    """
    products, long = A @ B.T, np.linalg.norm(A, axis=1)
    wide = long if A is B else np.linalg.norm(B, axis=1)
    for start in range(0, len(A), rows := max(1, CACHED // len(B))):
        # the other half of a symmetric one is known
        some = slice(start, start + rows), slice(start if A is B else 0, None)
        lengths = np.outer(long[some[0]], wide[some[1]])
        cosine = np.clip(products[some] / lengths, -1.0, 1.0)
        sine, angle = np.sqrt(1 - cosine**2), np.arccos(cosine)
        products[some] = lengths * (sine + (np.pi - angle) * cosine) / (2 * np.pi)
        if A is B:
            products[some[::-1]] = products[some].T
    return products


def _kernel(name: str, W: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """E sigma(<w_i, x>) sigma(<w_j, x>) for x ~ N(0, I) and a sigma that is not centred."""
    if name == "relu":
        return relu_kernel(W, W)
    C, r = W @ W.T, lengths
    if name == "erf":
        # (2/pi) arcsin(2 <w_i, w_j>/sqrt((1 + 2 r_i^2)(1 + 2 r_j^2))) (Williams 1997)
        one = np.sqrt(1 + 2 * r**2)
        return (2 / np.pi) * np.arcsin(2 * C / np.outer(one, one))
    if name == "sin(x+pi/4)":
        # (exp(-|w_i - w_j|^2/2) - cos(2 pi/4) exp(-|w_i + w_j|^2/2))/2
        return 0.5 * np.exp(C - 0.5 * np.add.outer(r**2, r**2))
    raise ValueError(f"The kernel of {name} has no closed form here.")
