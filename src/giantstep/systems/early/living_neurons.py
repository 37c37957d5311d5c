"""Living: how many neurons are alive at the start, and the width at which every sample has one (after Wang and Ma 2022).

A neuron is active on x with probability Phi(1/||x||) (1/2 without bias), alive if active on some sample. On orthogonally
separable data m_+- ~ Binomial(m, alive/2) neurons end up on class +-; the rest stays dead. Given N neurons of its sign, sample i
has no true-living neuron with probability q_i^N, q_i = P(dead on i), and two samples have none with q_ij^N:

    sum_i q_i^2N / sum_j q_ij^N  <=  P(some sample of the class has none)  <=  sum_i q_i^N          (de Caen; union)

so m of order log(n/delta) is enough for all of them.
"""

from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.special import ndtr, owens_t

from giantstep._given.plain import real
from giantstep._machine.random import Stream, generator
from giantstep.errors import InputError
from giantstep.systems.early.samples import gram, inputs

if TYPE_CHECKING:
    from giantstep.systems.early import Early

DRAWS = 2**13  # neurons drawn for the share that is alive
MOST = 33  # values of m_+- that an average is over


class Chance(NamedTuple):
    """A lower and an upper bound on a probability."""

    least: float
    most: float


def active(system: "Early") -> Float[np.ndarray, " n"]:
    """The chance that a neuron is active on each sample at the start, Phi(1/||x||)."""
    X, _ = inputs(system)
    return ndtr(_threshold(system) / np.linalg.norm(X, axis=1))


def _threshold(system: "Early") -> float:
    return float(system.bias != "none")


def alive(system: "Early") -> float:
    """The chance that a neuron is active on some sample: 1 - P(X z < -1), over drawn neurons."""
    X, _ = inputs(system)
    step = max(1, 2**24 // (8 * system.n))
    draw, dead = generator(0, Stream.SKETCH), 0
    for begin in range(0, DRAWS, step):
        Z = draw.standard_normal((system.d, min(step, DRAWS - begin)))
        dead += int(np.sum(np.all(X @ Z < -_threshold(system), axis=0)))
    return 1 - dead / DRAWS


def numbers(system: "Early", share: float) -> tuple[Int[np.ndarray, " k"], Float[np.ndarray, " k"]]:
    """Values of m_+ (or m_-) and their weights, Binomial(m, share/2); at most some of them, within six standard deviations."""
    m, p = system.width, share / 2
    spread = 6 * np.sqrt(m * p * (1 - p))
    low, high = (int(np.clip(m * p + side * spread, 0, m)) for side in (-1, 1))
    values = np.unique(np.rint(np.linspace(low, high, min(MOST, high - low + 1))).astype(int))
    weights = _binomial(values, m, p)
    return values, weights / weights.sum()


def _binomial(values: Int[np.ndarray, " k"], m: int, p: float) -> Float[np.ndarray, " k"]:
    from scipy.stats import binom  # here: it takes longer to import than all of this to compute

    return binom.pmf(values, m, p)


def uncovered(system: "Early", width: int | None = None) -> Chance:
    """Bounds on the chance that some sample has no true-living neuron at the start."""
    m = system.width if width is None else width
    _, y = inputs(system)
    alone, pairs = dead(system)
    N = np.arange(m + 1)
    weights = _binomial(N, m, 0.5)
    surely, perhaps = (
        np.ones(m + 1),
        np.ones(m + 1),
    )  # that all is covered given N neurons with a > 0: at least, at most
    for sign in (1, -1):
        own = y == sign
        several = (N if sign > 0 else m - N)[:, None]
        q, both = alone[own], pairs[np.ix_(own, own)]
        most = np.minimum(1.0, np.sum(q**several, axis=1))
        # de Caen: P(union) >= sum_i P(A_i)^2 / sum_j P(A_i A_j)
        joint = np.array([np.sum(both**k, axis=1) for k in several[:, 0]])
        with np.errstate(divide="ignore", invalid="ignore"):
            least = np.sum(np.where(joint > 0, q ** (2 * several) / joint, 0.0), axis=1)
        surely, perhaps = surely * (1 - most), perhaps * (1 - np.minimum(least, most))
    return Chance(float(weights @ (1 - perhaps)), float(weights @ (1 - surely)))


def dead(system: "Early") -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n n"]]:
    """q_i = P(dead on i) and q_ij = P(dead on both), by Owen's T: Phi_2(h, h; r) = Phi(h) - 2 T(h, sqrt((1 - r)/(1 + r)))."""
    X, _ = inputs(system)
    h = -_threshold(system) / system.norm
    cosines = np.clip(X @ X.T / system.norm**2, -1.0, 1.0)
    with np.errstate(divide="ignore"):
        tilt = np.sqrt((1 - cosines) / (1 + cosines))
    return 1 - active(system), ndtr(h) - 2 * owens_t(h, tilt)


def width_for(system: "Early", chance: float) -> int:
    """The least width at which every sample has a true-living neuron with probability 1 - chance, by the union bound."""
    chance = real(chance, "chance", least=1e-12)
    if chance >= 1:
        raise InputError(f"chance must be below 1, not {chance:g}")
    low, high = 1, 2
    while _most(system, high) > chance:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if _most(system, middle) > chance else (low, middle)
    return high


def _most(system: "Early", m: int) -> float:
    """The union bound over N ~ Binomial(m, 1/2), E q^N = ((1 + q)/2)^m for every sample."""
    return float(np.sum(((2 - active(system)) / 2) ** m))


def separable(system: "Early") -> bool:
    """Whether the inputs are orthogonally separable in what trains: y_i y_j K_ij > 0 for all pairs."""
    _, y = inputs(system)
    return bool(np.all(np.outer(y, y) * gram(system) > 0))
