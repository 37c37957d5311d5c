"""The share of a neuron along a target of information exponent l after one giant step, as d grows.

With s = S d^((l-1)/2), g ~ N(0, 1) a neuron's initial overlap times sqrt(d), and x = n / d^l,

    share along the target = E_g [ A g^(2l-2) / (A g^(2l-2) + V/x + 1/S^2) ],   A = l! (l c_l)^2,   V = E[f*^2] E[sigma'^2]

by the expansion of the gradient in Hermite tensors (Dandi et al. 2024): a function of n / d^l alone. Here f* = h_l(x_1) is the
normalised Hermite polynomial, and E[sigma^(l)] = l! c_l.
"""

from math import factorial

import numpy as np

from giantstep.claims.dandi.narrow import experiment, steepness
from giantstep.experiment.setting import Setting
from giantstep.simulate.projections import initial

TARGETS = {1: "x1", 2: "H2(x1)/sqrt(2)", 3: "H3(x1)/sqrt(6)"}
ACTIVATIONS = {1: "relu", 2: "relu", 3: "H3"}  # relu is blind to odd orders from three on
STRENGTH = 10.0  # S: so long a step that the initial weights hardly count, and no longer one helps


def setting(order: int, d: int, n: int) -> Setting:
    strength = STRENGTH * d ** ((order - 1) / 2)
    return experiment(TARGETS[order], d, n, 1, p=4, activation=ACTIVATIONS[order], strength=strength)


def overlaps(order: int, d: int, seeds: int) -> np.ndarray:
    """g of every neuron of every seed, as drawn: (seeds, p)."""
    return d**0.5 * np.stack([initial(setting(order, d, d), seed)[:, 0] for seed in range(seeds)])


def share_at(order: int, x: np.ndarray, g: np.ndarray) -> np.ndarray:
    """The share of a neuron that starts at g, n = x d^l: shape of x, then of g."""
    sigma = setting(order, 100, 100).network.activation
    noise = steepness(sigma) / np.reshape(x, (-1, *[1] * np.ndim(g))) + STRENGTH**-2
    signal = factorial(order) * (order * sigma.hermite(order)[order]) ** 2 * g ** (2 * order - 2)
    return signal / (signal + noise)


def limit(order: int, x: np.ndarray, d: float = float("inf")) -> np.ndarray:
    """Its mean over g: a coordinate of a random point on the sphere of radius sqrt(d), or N(0, 1)."""
    rng = np.random.default_rng(0)
    g = rng.standard_normal(50_000)
    if d < np.inf:
        g *= np.sqrt(d / (g**2 + rng.chisquare(d - 1, g.size)))
    return share_at(order, x, g).mean(1)
