"""The orders of a target that an activation sees: a term of order k moves a neuron by a multiple of ``E sigma^(k)(sqrt(q) z)``.

By Stein's lemma the gradient on a neuron of squared norm q is ``sum_k E[sigma'(sqrt(q) z) He_{k-1}(z)] / (k-1)! C_k[...]``, so an
order whose factor is zero has no effect: ReLU sees 1, 2, 4, 6, ...; tanh sees 1, 3, 5, ...
"""

from math import sqrt

import numpy as np

from giantstep.errors import InputError
from giantstep.functions import hermite
from giantstep.functions.activation import Activation, normalised

LATER = (1.7, 2.9)
"""Two squared norms of a neuron after a step, because a factor may be zero at one of them by accident."""


def visible_orders(sigma: Activation, top: int) -> tuple[frozenset[int], frozenset[int]]:
    """Orders up to ``top`` seen at the first step, where neurons have norm one, and later, where they have any norm.

    Order 0 stands for a constant, which the readout fits if the features have a mean.
    """
    if sigma.jumps:
        raise InputError(f"{sigma.name} jumps: its derivative is not a useful gradient, so a giant step finds nothing")
    first = _nonzero(sigma, top, 1.0)
    return first, frozenset().union(*(_nonzero(sigma, top, q) for q in LATER))


def _nonzero(sigma: Activation, top: int, q: float) -> frozenset[int]:
    """c_k of sigma(sqrt(q) z) is ``q^(k/2) E sigma^(k)(sqrt(q) z) / k!``."""
    if q == 1.0:
        values, error = sigma.hermite(top), sigma.hermite_error(top)
    else:
        scaled = tuple(k / sqrt(q) for k in sigma.kinks)
        values, error = hermite.coefficients(lambda x: np.asarray(sigma(sqrt(q) * x)), top, scaled)
    sizes = np.abs(normalised(values))
    return frozenset(k for k in range(top + 1) if sizes[k] > 1e-10 * sqrt(sigma.mean_square) + 10 * error)
