"""Calibration: probabilities of classes from fitted indicators, by rows that were left out of the fit.

    p_c = exp(s (f_c + o_c)) / sum_c' exp(s (f_c' + o_c')).

Least squares with an intercept gives every class its frequency: the fitted indicators f of a class average to it, whatever the
classes look like. The softmax of s f alone does not keep this average: the indicators of a rare class lie near its frequency and
far from one half. The offsets o bring it back, and the sharpness s minimises the logarithmic loss. Platt (1999) fits both to
labels, which know the average less well than f; only where they surely contradict f are they believed.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize, minimize_scalar
from scipy.special import log_softmax, logsumexp, softmax

__all__ = ["Calibration", "calibrated"]

LOGARITHMS = (-2.0, 5.0)  # of the sharpness
PRIOR = 1.0  # deviation of s o, so that classes which no row confuses keep their borders
SURE = 2.0  # standard errors


@dataclass(frozen=True)
class Calibration:
    """``sharpness`` s and ``offsets`` o, one for each class."""

    sharpness: float
    offsets: Float[np.ndarray, " c"]


def calibrated(
    fitted: Float[np.ndarray, "m c"], number: Int[np.ndarray, " m"], weights: Float[np.ndarray, " m"]
) -> Calibration:
    """The calibration for the fitted indicators of left-out rows, whose classes are ``number``."""
    w = weights / weights.sum()
    means = np.maximum(_averages(fitted, number, w), 0.5 / len(fitted))
    means = means / means.sum()
    b = np.zeros(fitted.shape[1])

    def loss(logarithm: float) -> float:
        nonlocal b  # the offsets of one sharpness are a good start for the next
        b = _offsets(np.exp(logarithm) * fitted, means, w, b)
        logarithms = log_softmax(np.exp(logarithm) * fitted + b, axis=1)
        return -float(w @ logarithms[np.arange(len(number)), number])

    minimum: Any = minimize_scalar(loss, bounds=LOGARITHMS, method="bounded")
    s = float(np.exp(minimum.x))
    return Calibration(s, _offsets(s * fitted, means, w, b) / s)


def _averages(
    fitted: Float[np.ndarray, "m c"], number: Int[np.ndarray, " m"], w: Float[np.ndarray, " m"]
) -> Float[np.ndarray, " c"]:
    """Those of the indicators; of the labels, where the two differ by more than two standard errors."""
    residuals = (number[:, None] == np.arange(fitted.shape[1])) - fitted
    gap = w @ residuals
    sure = np.abs(gap) > SURE * np.sqrt(w**2 @ (residuals - gap) ** 2)
    return w @ fitted + np.where(sure, gap, 0.0)


def _offsets(
    scores: Float[np.ndarray, "m c"], means: Float[np.ndarray, " c"], w: Float[np.ndarray, " m"], b: np.ndarray
) -> Float[np.ndarray, " c"]:
    """b with E softmax(scores + b) = means, up to the prior: the minimum of the convex E logsumexp(scores + b) - <b, means> +
    |b|^2 / 2m, whose gradient is the difference of the two sides plus b / m."""
    m = len(scores) * PRIOR**2

    def convex(b: np.ndarray) -> tuple[float, np.ndarray]:
        value = float(w @ logsumexp(scores + b, axis=1) - b @ means + b @ b / (2 * m))
        return value, w @ softmax(scores + b, axis=1) - means + b / m

    found: Any = minimize(convex, b, jac=True, method="BFGS", options={"gtol": 1e-6})
    return found.x
