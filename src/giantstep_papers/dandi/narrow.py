"""The talk's networks: few neurons, prefactor 1/p, and signs as second layer.

Neurons come in pairs, so that the initial output is zero.
"""

import giantstep as gs
from giantstep.checks import cache
from giantstep.functions.activation import Activation
from giantstep.theory.one_step.parameters import activation_constants


def experiment(
    formula: str,
    d: int,
    n: int,
    steps: int,
    *,
    p: int = 40,
    activation: str = "relu",
    strength: float = 1.0,
    batch: str = "fresh",
    second_layer: str = "rademacher",
    deflate: int = 0,
) -> gs.Setting:
    """``steps`` steps with s = eta/p = strength.

    With ``batch="reuse"`` all of them are on the first one's samples.
    """
    first = gs.GiantStep(n, strength * p, deflate=deflate)
    more = gs.GiantStep(None if batch == "reuse" else n, strength * p, batch=batch, deflate=deflate)
    network = gs.Network(p, activation, scale="1/p", second_layer=second_layer, symmetric=True)
    protocol = gs.Protocol((first, *[more] * (steps - 1)), None)
    return gs.Setting(gs.Gaussian(d), gs.target(formula), network, protocol)


def chain(setting: gs.Setting, seeds: int) -> gs.Outcome:
    """By overlaps, whose cost does not depend on d."""
    return cache.simulate(setting, range(seeds), method="overlap", n_test=100, dtype="float32")


def steepness(sigma: Activation) -> float:
    """E sigma'(z)^2 under z ~ N(0, 1)."""
    return activation_constants(sigma)[2]
