"""The share of a neuron along a target after one giant step of the best size, as d grows.

With l the information exponent of the target, g_k ~ N(0, 1) a neuron's initial overlaps with its
r directions times sqrt(d), and x = n / d^l,

    share along the target = E_g [ G / (G + V/x) ],
    G = l! (l c_l)^2 (1/r) sum_k g_k^(2l-2),   V = E[f*^2] E[sigma'^2]

by the expansion of the gradient in Hermite tensors (Dandi et al. 2024): a function of n / d^l
alone. Here f* = r^(-1/2) sum_k h_l(x_k) with the normalised Hermite polynomials, and
E[sigma^(l)] = l! c_l. Several directions make the share less noisy than one. A longer step hides
the initial weights, so that no step size is better than the longest.
"""

from math import factorial

import numpy as np
from jaxtyping import Float
from scipy.special import ndtri

import giantstep as gs
from giantstep_papers.dandi.narrow import steepness

RANKS = {1: 1, 2: 8, 3: 8}  # r
ACTIVATIONS = {1: "relu", 2: "relu", 3: "H3"}  # relu is blind to odd orders from three on
STRENGTHS = tuple(10.0**k for k in range(-2, 5))  # s = eta/p
WIDTH = 16


def setting(order: int, d: int, n: int) -> gs.Setting:
    """One step of every size.

    The gradient is that of the labels alone, as from a network whose output starts at zero.
    """
    total = " + ".join(f"H{order}(x{k})" for k in range(1, RANKS[order] + 1))
    target = gs.target(f"({total})/sqrt({RANKS[order] * factorial(order)})")
    step = gs.GiantStep(n, tuple(WIDTH * s for s in STRENGTHS))
    network = gs.Network(WIDTH, ACTIVATIONS[order], scale="1/p", second_layer="rademacher")
    return gs.Setting(gs.Gaussian(d), target, network, gs.Protocol((step,), None))


def limit(order: int, x: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    """The mean share at n = x d^l."""
    from scipy.stats import qmc  # here: it takes long to import

    sigma = setting(order, 100, 100).network.activation
    g = ndtri(qmc.Halton(RANKS[order], scramble=False).random(4001)[1:])
    slope, powers = order * sigma.hermite(order)[order], np.mean(g ** (2 * order - 2), axis=1)
    signal = factorial(order) * slope**2 * powers
    return np.mean(signal / (signal + steepness(sigma) / x[:, None]), axis=1)
