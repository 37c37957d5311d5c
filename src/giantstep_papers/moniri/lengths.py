"""What the full gradient adds to its rank-one part: longer rows.

With them comes another limit from degree two on.
"""

from itertools import product
from typing import NamedTuple

import numpy as np

from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.theory.limits.gains import direction
from giantstep.theory.one_step.parameters import activation_constants
from giantstep_papers.moniri import free, talk
from giantstep_papers.shared import paired

ALPHAS = {1: 0.15, 2: 0.3, 3: 0.37}  # inside the regimes of degree one, two and three
# its mean is six times its spread: the readout's constant costs next to nothing
INTERCEPT = "relu(x)+3"


class SteppedNetwork(NamedTuple):
    """What is stepped, how, and for which degrees."""

    update: str
    activation: str
    name: str
    orders: tuple[int, ...]
    centred: bool = True

    @property
    def constant(self) -> str:
        """How a constant is free to the readout, in words; empty if none is."""
        if self.centred:
            return ""
        return "not centred" if self.activation == "relu" else "with an intercept"

    @property
    def target(self) -> Target:
        return talk.TARGETS[self.name]


def networks() -> tuple[SteppedNetwork, ...]:
    """relu up to degree two, by the full gradient and by its rank-one part, and three more.

    For degree three a sigma with c_3 != 0. The others are the full gradient of a relu that is not
    centred, and of one whose mean is so large that the readout has an intercept.
    """
    return (
        SteppedNetwork("gradient", "relu", "setting 2", (1, 2)),
        SteppedNetwork("rank1", "relu", "setting 2", (2,)),
        SteppedNetwork("gradient", free.ACTIVATION, "degree three", (3,)),
        SteppedNetwork("gradient", "relu", "setting 2", (2,), centred=False),
        SteppedNetwork("gradient", INTERCEPT, "setting 2", (2,), centred=False),
    )


def experiment(network: SteppedNetwork, n: int) -> Setting:
    return paired.experiment(
        n,
        [ALPHAS[k] for k in network.orders],
        network.target,
        activation=network.activation,
        update=network.update,
        centred=network.centred,
    )


def remainder_power(setting: Setting) -> float:
    """tau^2 = phi E y^2 Var sigma' / c_1^2, phi = d/n.

    It is what the full gradient adds to ||w_i||^2 beyond its rank-one part, in units of
    (c_1 eta s a_i)^2.
    """
    coefficients, _, slope = activation_constants(setting.network.activation)
    phi = setting.d / setting.protocol.sizes()[0]
    power = setting.target.power + setting.target.noise**2
    return float(phi * power * (slope - coefficients[1] ** 2) / coefficients[1] ** 2)


def lengthening(network: SteppedNetwork) -> float:
    """kappa = tau^2 / ||beta||^2.

    The full gradient adds kappa U^2 a_i^2 to ||w_i||^2, where its rank-one part adds U^2 a_i^2,
    U = c_1 eta s ||beta||. A row's length moves the mean of its feature, so the second spike is
    c_2 U^2 (g^2 + kappa) (a^2)^T. What kappa adds to the features has operator norm of order
    n^(2 alpha), as the published c_2 U^2 g^2 (a^2)^T has: above alpha = 1/4 it is not o(sqrt(n)).
    """
    setting, target = experiment(network, 1000), network.target
    first, power = float(target.hermite.get((1,), 0.0)), target.power + target.noise**2
    return remainder_power(setting) / float(direction(setting.d / 1000, first, power).norm) ** 2


def limits(network: SteppedNetwork) -> tuple[np.ndarray, np.ndarray]:
    """Limits of the gains for the rank-one part, (errors, orders), and for the update itself.

    For the full gradient g^2 + kappa is free in place of g^2. A constant that is free as well,
    that of an activation that is not centred or of a readout with an intercept, takes kappa out.

    The part of degree two shrinks by E g^4 / E (g^2 + kappa)^2 = 3 / (3 + 2 kappa + kappa^2).
    Degree three keeps its part, since g^3 + 3 kappa g and g span what g^3 and g do; its target
    here has no part of degree two.
    """
    setting = paired.experiment(
        1000,
        [ALPHAS[1], *(ALPHAS[order] for order in network.orders)],
        network.target,
        activation=network.activation,
        centred=network.centred,
    )
    gains = paired.gains(paired.predicted(setting, "limit"))
    first, rank_one, kappa = gains[:, :1], gains[:, 1:], lengthening(network)
    lengthened = network.update == "gradient" and network.centred
    shrunk = np.array(network.orders) == 2 if lengthened else np.zeros(len(network.orders), bool)
    left = np.where(shrunk, 3 / (3 + 2 * kappa + kappa**2), 1.0)
    return rank_one, first + (rank_one - first) * left


class GainCurve(NamedTuple):
    """One gain against n."""

    network: SteppedNetwork
    error: str
    order: int

    @property
    def degree_two(self) -> bool:
        """Whether it is the test error's at l = 2 of a centred activation.

        There the two updates part.
        """
        return self.order == 2 and self.error == "test error" and self.network.centred

    @property
    def label(self) -> str:
        parts = (f"ℓ = {self.order}", self.network.update, self.network.constant, self.error)
        return ", ".join(part for part in parts if part)


def curves() -> list[GainCurve]:
    """All gains, in the order in which ``flat`` puts those of the networks one after the other."""
    errors = paired.ERRORS.values()
    return [
        GainCurve(network, *at) for network in networks() for at in product(errors, network.orders)
    ]


def flat(parts: list[np.ndarray]) -> np.ndarray:
    """Gains (errors, orders) of every network, with one axis for all curves.

    Other axes follow.
    """
    return np.concatenate([part.reshape(-1, *part.shape[2:]) for part in parts])
