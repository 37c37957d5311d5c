"""What the full gradient adds to its rank-one part: longer rows, and with them another limit from degree two on."""

from typing import TYPE_CHECKING, NamedTuple

from giantstep.claims import paired
from giantstep.claims.moniri import free, talk
from giantstep.claims.paired import Compared

if TYPE_CHECKING:
    import numpy as np

    from giantstep.setting import Setting
    from giantstep.target import Target

ALPHAS = {1: 0.15, 2: 0.3, 3: 0.37}  # inside the regimes of degree one, two and three


class Network(NamedTuple):
    """What is stepped, how, and for which degrees."""

    update: str
    activation: str
    target: "Target"
    orders: tuple[int, ...]


def networks() -> tuple[Network, ...]:
    """relu up to degree two, by the full gradient and by its rank-one part; for degree three a sigma with c_3 != 0."""
    return (
        Network("gradient", "relu", talk.setting_2(), (1, 2)),
        Network("rank1", "relu", talk.setting_2(), (2,)),
        Network("gradient", free.ACTIVATION, free.targets()[2], (3,)),
    )


def experiment(network: Network, n: int) -> "Setting":
    alphas = [ALPHAS[k] for k in network.orders]
    return paired.experiment(n, alphas, network.target, activation=network.activation, update=network.update)


def lengthening(network: Network) -> float:
    """kappa: the full gradient adds kappa U^2 a_i^2 to ||w_i||^2, where its rank-one part adds U^2 a_i^2, U = c_1 eta s ||beta||.

    kappa = phi E y^2 Var sigma' / (c_1 ||beta||)^2, phi = d/n. A row's length moves the mean of its feature, so the second spike
    is c_2 U^2 (g^2 + kappa) (a^2)^T. What kappa adds to the features has operator norm of order n^(2 alpha), as the published
    c_2 U^2 g^2 (a^2)^T has: above alpha = 1/4 it is not o(sqrt(n)).
    """
    from giantstep.theory.limit import direction
    from giantstep.theory.parameters import activation_constants

    setting, target = experiment(network, 1000), network.target
    coefficients, _, slope = activation_constants(setting.network.activation)
    phi, power = setting.d / 1000, target.power + target.noise**2
    beta = direction(phi, float(target.hermite.get((1,), 0.0)), power).norm
    return float(phi * power * (slope - coefficients[1] ** 2) / (coefficients[1] * beta) ** 2)


def limits(network: Network, order: int, error: str) -> tuple[float, float]:
    """The published limit of a gain, and ours: for the full gradient g^2 + kappa is free in place of g^2.

    The part of degree two shrinks by E g^4 / E (g^2 + kappa)^2 = 3 / (3 + 2 kappa + kappa^2). Degree three keeps its part, since
    g^3 + 3 kappa g and g span what g^3 and g do; its target here has no part of degree two.
    """
    setting = paired.experiment(1000, (ALPHAS[1], ALPHAS[order]), network.target, activation=network.activation)
    first, published = (float(v) for v in paired.gains(paired.predicted(setting, "limit"), error))
    if order != 2 or network.update == "rank1":
        return published, published
    k = lengthening(network)
    return published, first + (published - first) * 3 / (3 + 2 * k + k**2)


class Curve(NamedTuple):
    """One gain against n: simulated and predicted at small sizes, predicted at large ones, its published limit and ours."""

    network: Network
    order: int
    error: str
    samples: list["np.ndarray"]
    small: list[float]
    large: list[float]
    published: float
    ours: float

    @property
    def dots(self) -> list[Compared]:
        return [paired.compare(s, p) for s, p in zip(self.samples, self.small, strict=True)]  # type: ignore[arg-type]

    @property
    def missing(self) -> tuple[float, float]:
        """Share of our limit that is missing at the first and the last large n."""
        return abs(self.large[0] / self.ours - 1), abs(self.large[-1] / self.ours - 1)
