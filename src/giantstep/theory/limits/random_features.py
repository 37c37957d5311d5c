"""Errors of random-feature ridge regression in the proportional limit, and its two neighbours.

The readout minimises (1/n) ||y - F0 b||^2 + lambda ||b||^2 on n samples. The target enters by two numbers: the square of its
linear coefficient, ``target_linear = c*_1^2``, and all the rest, ``target_rest = E f*^2 - c*_0^2 - c*_1^2 + noise^2``, which
acts as noise (Mei & Montanari 2022, arXiv 1908.05355; Hu & Lu 2023, arXiv 2009.07669; Adlam & Pennington 2020).

A mean of the target: with a centred activation no feature can fit it, and ``c*_0^2`` belongs to ``target_rest``; with an
activation of mean c_0 != 0 the features hold the constant function with a strength that grows with p, the mean is fitted for
free, and ``c*_0^2`` is left out.
"""

from typing import NamedTuple

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.plain import real
from giantstep.errors import InputError
from giantstep.theory.limits.bulk import Resolvent, Shape, positive, resolvent


class RandomFeatureErrors(NamedTuple):
    """Arrays of the penalties' shape.

    test: E (y - f(x))^2 on a new sample, its label noise included. train: mean squared error on the n samples.
    objective: the minimised objective, train + lambda ||b||^2.
    """

    test: Float[np.ndarray, "..."]
    train: Float[np.ndarray, "..."]
    objective: Float[np.ndarray, "..."]


def errors(at: Resolvent, penalties: npt.ArrayLike, target_linear: float, target_rest: float) -> RandomFeatureErrors:
    """Ridge errors from the resolvent, A = ``target_linear``, B = ``target_rest``.

    objective = lambda (A m2 + B m1),   test = -(A m2' + B m1') / m1^2,   train = (lambda m1)^2 test.
    """
    lam = np.asarray(penalties, dtype=float)
    first, rest = real(target_linear, "target_linear", least=0.0), real(target_rest, "target_rest", least=0.0)
    objective = lam * (first * at.m2 + rest * at.m1)
    test = -(first * at.dm2 + rest * at.dm1) / at.m1**2
    return RandomFeatureErrors(test, (lam * at.m1) ** 2 * test, objective)


def random_features(
    shape: Shape, penalties: npt.ArrayLike, target_linear: float, target_rest: float
) -> RandomFeatureErrors:
    """Ridge regression on F0 = sigma(X W0^T): Mei & Montanari's limit, with the label noise in the test error."""
    return errors(resolvent(shape, penalties), penalties, target_linear, target_rest)


def linear_regression(
    phi: float, penalties: npt.ArrayLike, target_linear: float, target_rest: float
) -> RandomFeatureErrors:
    """Ridge regression on the inputs themselves, (1/n) ||y - X b||^2 + lambda ||b||^2.

    m1 = m and m2 = m / (1 + m), where lambda m + phi m / (1 + m) = 1 (Marchenko & Pastur).
    """
    return errors(_inputs(phi, positive(penalties)), penalties, target_linear, target_rest)


def _inputs(phi: float, lam: Float[np.ndarray, "..."]) -> Resolvent:
    phi = real(phi, "phi", least=0.0)
    # lambda m^2 + (lambda + phi - 1) m - 1 = 0, its positive root in the form that does not cancel
    half = (lam + phi - 1) / 2
    large = np.abs(half) + np.sqrt(half**2 + lam)
    m = np.where(half > 0, 1 / large, large / lam)
    dm = -m / (lam + phi / (1 + m) ** 2)
    return Resolvent(m, m / (1 + m), dm, dm / (1 + m) ** 2)


def kernel(
    phi: float, linear: float, rest: float, penalties: npt.ArrayLike, target_linear: float, target_rest: float
) -> RandomFeatureErrors:
    """Kernel ridge regression, the limit of infinite width: (1/n) ||y - f||^2 + (penalty / d) ||f||_H^2.

    H has the kernel K(x, x') = E_w sigma(⟨w, x⟩) sigma(⟨w, x'⟩); ``linear`` = a, ``rest`` = b as in ``Shape``. A width p has
    K_p = F0 F0^T / p and ||f||_H^2 = p ||b||^2, so the same objective with lambda = p penalty / d = penalty / psi. In high
    dimension K = a X X^T / d + b I on the samples and a ⟨x, x'⟩ / d off them: the predictor is that of ridge regression on the
    inputs, and b is a ridge that comes for free,

        lambda_inputs = (penalty + b phi) / a,   residual = kept times that of the inputs, kept = penalty / (penalty + b phi),
        test = test_inputs,   train = kept^2 train_inputs,   objective = kept objective_inputs.

    A penalty of 0 interpolates; it needs b > 0.
    """
    lam, phi = np.asarray(penalties, dtype=float), real(phi, "phi", least=0.0)
    a, b = real(linear, "linear", least=0.0), real(rest, "rest", least=0.0)
    total = lam + b * phi
    if lam.size == 0 or not np.all(np.isfinite(lam)) or np.any(lam < 0) or np.any(total <= 0):
        raise InputError(
            "a kernel's penalty must be a finite number, positive, or 0 where the kernel has a nonlinear part"
        )
    factor = lam / total
    if a == 0:  # no linear part: nothing is predicted
        power = np.full(lam.shape, float(target_linear) + float(target_rest))
        return RandomFeatureErrors(power, factor**2 * power, factor * power)
    inputs = linear_regression(phi, total / a, target_linear, target_rest)
    return RandomFeatureErrors(inputs.test, factor**2 * inputs.train, factor * inputs.objective)
