"""The signal matrix at any width N, without draws.

It is what it becomes as n, d and N grow together, on fresh batches.

With t = C1 N^(alpha_1 - 1/2) a and beta = e_1 + noise of variance (d/n) E y^2, u = <beta, x>, the
row of a neuron gets

    R(a) = C2 N^(alpha_2 - 1/2) a X2^T (y o s(t u))/n + C1 mu_1 N^(alpha_1 - 1/2) a beta
    s(v) = E sigma'(z + mu_1 v)

    <R(a), R(a')> = products of means E[y x s] + (d/n) E[y^2 s s']

The strengths are the singular values of sqrt(N) R(a) under the law of a. R is taken as it stands,
because the products would lose all but the first half of the digits of its strengths. Its columns
are the means along x1, x2, x3 and the noise of beta, and the function s at the nodes of x1 and that
noise. For the target of ``layers``, y = x1 + x1 x2 + h_2(x1) x3, the means over x2 and x3 are done
by hand.
"""

import numpy as np

from giantstep.errors import InputError
from giantstep.functions.activation import activation
from giantstep.functions.hermite import gauss_hermite
from giantstep_papers.moniri_hassani import layers

NEURONS, ALONG, NOISE, INNER = 60, 40, 20, 60  # nodes of a, x1, the noise in u, and z
POWER = 3.0  # E y^2
LOST = 0.01  # rounding, as a share of an outlier's threshold, from which nothing is said


def strengths(width: float, alpha1: float, alpha2: float) -> np.ndarray:
    """Singular values of the signal matrix in decreasing order."""
    sigma, n_over_d, (C1, C2) = activation(layers.SMOOTH), layers.SAMPLES, layers.CONSTANTS
    mu1, counts = float(sigma.hermite(1)[1]), (NEURONS, ALONG, NOISE, INNER)
    (a, wa), (x, wx), (g, wg), (z, wz) = map(gauss_hermite, counts)
    x, g, w = np.repeat(x, NOISE), np.tile(g, ALONG), np.outer(wx, wg).ravel()
    beta = np.array([1.0, 0.0, 0.0, (POWER / n_over_d) ** 0.5])  # along x1, x2, x3 and the noise
    first, second = (C * width ** (alpha - 0.5) * a for C, alpha in ((C1, alpha1), (C2, alpha2)))
    shift = mu1 * (x + beta[3] * g)
    s = np.array([np.asarray(sigma.slope(z + (t * shift)[:, None])) @ wz for t in first])
    h2 = (x**2 - 1) / 2**0.5
    means = np.stack([s @ (w * part) for part in (x * x, x, h2, x * g)], axis=1)  # E[y x s]
    noise = s * np.sqrt(w * (2 * x**2 + h2**2) / n_over_d)
    along = second[:, None] * means + mu1 * first[:, None] * beta
    R = np.concatenate([along, second[:, None] * noise], axis=1)
    found = np.linalg.svd(np.sqrt(width * wa)[:, None] * R, compute_uv=False)
    if not found[0] * np.finfo(float).eps * NEURONS < LOST * layers.WIDTH**0.25:
        raise InputError(
            f"at the width {width:.1e} the largest strength leaves the others no digits of double "
            "precision; take a smaller width"
        )
    return found


def count(width: float, alpha1: float, alpha2: float) -> int:
    """Strengths above the threshold (p/d)^(1/4) of an outlier."""
    return int(np.sum(strengths(width, alpha1, alpha2) > layers.WIDTH**0.25))


def exponents(width: float, alpha1: float, alpha2: float, spikes: int) -> np.ndarray:
    """Local exponents of the width of the first strengths."""
    low, high = (strengths(factor * width, alpha1, alpha2)[:spikes] for factor in (0.5, 2.0))
    return np.log(high / low) / np.log(4.0)
