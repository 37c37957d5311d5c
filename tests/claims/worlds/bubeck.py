"""Worlds in which networks or steps are other than stated: the claims on adversarial steps must notice."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from giantstep.experiment.network import Network, Weights
from giantstep.systems.attack import simulate
from giantstep.systems.attack.ray import Rays
from giantstep_papers.bubeck import random_networks

World = Callable[[pytest.MonkeyPatch], None]


def steps(factor: float) -> World:
    """Steps that are factor times as long."""
    own = random_networks.flips
    return lambda patch: patch.setattr(
        random_networks, "flips", lambda rays, etas: own(rays, tuple(factor * eta for eta in etas))
    )


def second_layer(factor: float) -> World:
    """A second layer that is factor times as large."""
    own = random_networks.random_network

    def drawn(*arguments: Any) -> tuple[Network, np.ndarray]:
        network, x = own(*arguments)
        W, a = network.weights.W, network.weights.a
        return Network(network.width, network.activation, weights=Weights(W, factor * a)), x

    return lambda patch: patch.setattr(random_networks, "random_network", drawn)


def roots(factor: float, power: float = 0.0) -> World:
    """Distances that are factor d^power times as long."""
    own = Rays.roots
    return lambda patch: patch.setattr(Rays, "roots", lambda rays: factor * rays.gradient.shape[1] ** power * own(rays))


WORLDS: dict[str, dict[str, World]] = {
    "bubeck/flips": {
        "steps are half as long": steps(0.5),
        "the second layer is half as large": second_layer(0.5),
    },
    "bubeck/rate": {
        "distances are 1.8 times as long": roots(1.8),
        "distances fall as d to the -0.2": roots(0.3, 0.3),
    },
    "giantstep/ray-law": {
        "steps are 1.3 times as long": steps(1.3),
        "the second layer is 1.3 times as large": second_layer(1.3),
        "distances are 1.15 times as long": roots(1.15),
    },
    "bubeck/linearity": {
        "the move is 1.2 times as long": lambda patch: patch.setattr(simulate, "UNIT", 1.2),
        "the second layer is 1.1 times as large": second_layer(1.1),
    },
    "bubeck/failure": {
        "steps are 0.6 times as long": steps(0.6),
        "the second layer is 0.7 times as large": second_layer(0.7),
    },
    "bubeck/width": {
        "steps are half as long": steps(0.5),
        "the second layer is half as large": second_layer(0.5),
    },
}
