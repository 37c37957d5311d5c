"""What the claims on adversarial steps measure: many random networks with one input each, the activations on the same weights."""

from collections.abc import Iterator, Sequence

import numpy as np

import giantstep as gs
from giantstep.systems.attack.random_ray import RayLaw
from giantstep.systems.attack.ray import Rays
from giantstep.systems.attack.ray import rays as of
from giantstep.systems.attack.simulate import changes as turned
from giantstep.systems.attack.simulate import flips, random_network

Names = tuple[str, ...]
TITLES = {"relu": "ReLU", "tanh": "tanh"}


def rays(d: int, p: int, names: Names, networks: int, seed: int) -> Iterator[list[Rays]]:
    """The ray of every network, for each activation."""
    attack = gs.Attack(d, p, names[0])
    for number in range(networks):
        first, x = random_network(attack, p, seed, number)
        yield [of(gs.Network(p, name, weights=first.weights), x) for name in names]


def steps(d: int, p: int, names: Names, etas: tuple[float, ...], networks: int, seed: int) -> np.ndarray:
    """Means over the networks of ||grad f||^2 and of flips at the step sizes, (activations, 1 + etas)."""
    numbers = [
        [[one.length[0] ** 2, *flips(one, etas)[0]] for one in several] for several in rays(d, p, names, networks, seed)
    ]
    return np.mean(np.array(numbers, dtype=float), axis=0)


def medians(d: int, p: int, names: Names, networks: int, seed: int) -> np.ndarray:
    """Medians over the networks of the distance to the other sign over ||x||, (activations,)."""
    roots = [[one.roots()[0] / d**0.5 for one in several] for several in rays(d, p, names, networks, seed)]
    return np.median(np.array(roots), axis=0)


def changes(d: int, p: int, names: Names, networks: int, seed: int) -> np.ndarray:
    """Means over the networks of the gradient's change along the ray and at random, (activations, 2)."""
    rng = np.random.default_rng([seed, d, p])
    pairs = [[turned(one, rng.standard_normal(d)) for one in several] for several in rays(d, p, names, networks, seed)]
    return np.mean(np.array(pairs), axis=0)


def laws(cases: Sequence[tuple[str, int, int]]) -> list[RayLaw]:
    """The law of the ray for (activation, d, p)."""
    return [RayLaw(gs.activation(name), p, d) for name, d, p in cases]
