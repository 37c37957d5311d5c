"""How much of a target of one direction two steps learn at any width N, without draws.

They are taken on fresh batches and on one batch twice.

In the second step the slope of a neuron on sample x = (x_v, rest) is sigma'(h), with
t = C1 N^(alpha - 1/2) a and

    fresh batch:   h = b z + t mu_1 tau g
    reused batch:  h = b z + t ((d/n) y sigma'(z) + mu_1 tau g)    (see ``theory.two_steps.signal``)
    tau^2 = (d/n) E y^2,  b^2 = 1 + t^2 tau^2 Var sigma'

for standard normal z and g = <beta, x>/tau. What the layer moved along with a left vector P is X^T
(y o Q)/n with Q = E_a P a E_z sigma'(h). Along the target it has the mean E[y x Q] and fluctuations
of order n^(-1/2), which it also has in the d directions across:

    d cos^2/(1 - cos^2) = (d E[y x Q]^2 + (d/n) E[y^2 x^2 (Q + k)^2]) / ((d/n) E[y^2 (Q + k')^2])

with k = E[y x^2 dQ], k' = E[y dQ] and dQ = dQ/d<beta, x>. On a fresh batch the two terms of (Q +
k)^2 are of different batches, so their product is left out.
"""

import numpy as np

from giantstep.experiment.target import Target
from giantstep.functions.activation import Activation
from giantstep.functions.hermite import gauss_hermite

NEURONS, ALONG, ACROSS, INNER = 48, 64, 24, 60  # nodes of a, x_v, g and z


def learned(
    *,
    target: Target,
    sigma: Activation,
    power: int,
    length: float,
    samples: float,
    d: float,
    reused: bool,
) -> float:
    """d cos^2/(1 - cos^2) of the left vector a^power, for a first step t = length a.

    ``samples`` is n/d.
    """
    counts = (NEURONS, ALONG, ACROSS, INNER)
    (a, wa), (x, wx), (g, wg), (z, wz) = map(gauss_hermite, counts)
    y, w = np.asarray(target(x[None])), wx[:, None] * wg
    slope = np.asarray(sigma.slope(z))
    mu1, square = float(wz @ slope), float(wz @ slope**2)
    tau2 = float(wx @ y**2) / samples
    own = y / samples if reused else np.zeros_like(y)
    Q = np.zeros(w.shape)
    for each, weight in zip(a, wa * _left(a, wa, power) * a, strict=True):
        t = length * each
        b = (1 + t**2 * tau2 * (square - mu1**2)) ** 0.5
        moved = (own[:, None] * slope)[:, None, :] + mu1 * tau2**0.5 * g[:, None]
        Q += weight * (np.asarray(sigma.slope(b * z + t * moved)) @ wz)
    y, x = y[:, None], x[:, None]
    # E f dQ = E[f g Q]/tau for every f of x (Stein)
    along, across = (float(np.sum(w * f * g * Q)) / tau2**0.5 for f in (y * x**2, y))

    def power_of(f: np.ndarray, shift: float) -> float:
        both = (Q + shift) ** 2 if reused else Q**2 + shift**2
        return float(np.sum(w * f * both)) / samples

    signal = d * float(np.sum(w * y * x * Q)) ** 2
    return (signal + power_of(y**2 * x**2, along)) / power_of(y**2, across)


def _left(a: np.ndarray, weights: np.ndarray, power: int) -> np.ndarray:
    """a^power made orthonormal to the lower powers from a on."""
    Q, R = np.linalg.qr(np.sqrt(weights)[:, None] * a[:, None] ** np.arange(1, power + 1))
    return Q[:, -1] * np.sign(R[-1, -1]) / np.sqrt(weights)
