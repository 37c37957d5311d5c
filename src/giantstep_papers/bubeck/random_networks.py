"""What the claims on adversarial steps measure: random networks with several inputs each,
the activations on the same weights.

The size of the output, of known law, is a control variate: a sum of p independent
a_i sigma(z_i)/sqrt(p) has

    P(|f| <= tau) = 2 Phi(x) - 1 - kappa/(12 p) (x^3 - 3 x) phi(x),
    x = tau/sqrt(v0),   kappa = E sigma^4/v0^2 - 3

up to 1/p^2 (Edgeworth). A linear network flips where |f| <= eta v1: networks flip more often or
less often than that, and the difference scatters little.
"""

from collections.abc import Iterator, Sequence
from functools import lru_cache

import numpy as np
from scipy.special import ndtr, ndtri

import giantstep as gs
from giantstep.checks.random import Stream, generator, normals
from giantstep.functions.activation import Activation
from giantstep.functions.hermite import gaussian_panels
from giantstep.systems.attack.random_ray import REACH, WIDTH, RayLaw
from giantstep.systems.attack.ray import Rays
from giantstep.systems.attack.ray import rays as of
from giantstep.systems.attack.simulate import changes as turned
from giantstep.systems.attack.simulate import flips, random_network

Names = tuple[str, ...]
TITLES = {"relu": "ReLU", "tanh": "tanh"}
INPUTS = 32  # of every network


def rays(
    d: int, p: int, names: Names, networks: int, seed: int, inputs: int = INPUTS
) -> Iterator[list[Rays]]:
    """The rays of every network at its inputs, for each activation."""
    attack = gs.Attack(d, p, names[0])
    for number in range(networks):
        first, _ = random_network(attack, p, seed, number)
        X = normals(seed, (Stream.TEST, number), 0, inputs, d)
        X = X * (np.sqrt(d) / np.linalg.norm(X, axis=1, keepdims=True))
        yield [of(gs.Network(p, name, weights=first.weights), X) for name in names]


@lru_cache
def _constants(name: str) -> tuple[float, float, float]:
    """v0 = E sigma^2, v1 = E sigma'^2 and kappa = E sigma^4/v0^2 - 3."""
    sigma: Activation = gs.activation(name)
    z, w = gaussian_panels(sigma.kinks, WIDTH, REACH)
    powers = ((sigma, 2), (sigma.slope, 2), (sigma, 4))
    v0, v1, fourth = (float(w @ np.asarray(g(z)) ** k) for g, k in powers)
    return v0, v1, fourth / v0**2 - 3


def linear_flips(name: str, p: int, etas: np.ndarray) -> np.ndarray:
    """The probability of |f| <= eta v1: that a linear network of gradient v1 flips."""
    v0, v1, kappa = _constants(name)
    x = etas * v1 / v0**0.5
    tails = kappa / (12 * p) * (x**3 - 3 * x) * np.exp(-(x**2) / 2) / (2 * np.pi) ** 0.5
    return 2 * ndtr(x) - 1 - tails


def median_output(name: str, p: int) -> float:
    """The median of |f|: x = q + kappa/(24 p) (q^3 - 3 q) with 2 Phi(q) - 1 = 1/2."""
    (v0, _, kappa), q = _constants(name), float(ndtri(0.75))
    return v0**0.5 * (q + kappa / (24 * p) * (q**3 - 3 * q))


def steps(
    d: int, p: int, names: Names, etas: tuple[float, ...], networks: int, seed: int
) -> np.ndarray:
    """Means of ||grad f||^2 and of flips at the step sizes, less the control variate,
    (activations, 1 + etas)."""
    sizes, found = np.array(etas), []
    for several in rays(d, p, names, networks, seed):
        found.append([])
        for name, one in zip(names, several, strict=True):
            linear = np.abs(one.output)[:, None] <= sizes * _constants(name)[1]
            beyond = np.mean(flips(one, etas).astype(float) - linear, axis=0)
            shares = beyond + linear_flips(name, p, sizes)
            found[-1].append([np.mean(one.length**2), *shares])
    return np.mean(np.array(found), axis=0)


def medians(d: int, p: int, names: Names, networks: int, seed: int) -> np.ndarray:
    """Log medians of the distance to the other sign over ||x||,
    less the log median of |f| and plus its known value."""
    found = [
        [(one.roots(), np.abs(one.output)) for one in several]
        for several in rays(d, p, names, networks, seed)
    ]
    roots, outputs = np.moveaxis(np.log(np.median(np.concatenate(found, axis=-1), axis=-1)), -1, 0)
    return roots - outputs + np.log([median_output(name, p) / d**0.5 for name in names])


def changes(d: int, p: int, names: Names, inputs: int, networks: int, seed: int) -> np.ndarray:
    """Means over networks and inputs of the gradient's squared change along the ray and at random,
    (activations, 2)."""
    moves = generator(seed, Stream.STEP).standard_normal((networks, inputs, d))
    every = zip(rays(d, p, names, networks, seed, inputs), moves, strict=True)
    return np.mean(
        [[np.mean(turned(one, V), axis=0) for one in several] for several, V in every], axis=0
    )


def laws(cases: Sequence[tuple[str, int, int]]) -> list[RayLaw]:
    """The law of the ray for (activation, d, p)."""
    return [RayLaw(gs.activation(name), p, d) for name, d, p in cases]
