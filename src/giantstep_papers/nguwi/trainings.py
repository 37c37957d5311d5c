"""What the claims on generalisation bounds measure.

These are gaps on fresh and training samples, moduli, and distances of samples.
"""

import numpy as np

import giantstep as gs
from giantstep.checks.random import Stream, generator
from giantstep.systems.bounds import Bounds
from giantstep.systems.bounds.simulate import trained, wasserstein

# name: activation, loss, data
CASES = {"tanh": ("tanh", "absolute", "cube"), "ReLU": ("relu", "huber", "gaussian")}
TITLES = {"tanh": "tanh, absolute loss, x in a cube", "ReLU": "ReLU, Huber loss, Gaussian x"}
STEPS, RATE = 200, 0.004
TRAININGS = 20  # of a seed


def bounds(case: str, n: int = STEPS, rate: float = RATE, d_in: int = 2) -> Bounds:
    """20 neurons, d_out = 1."""
    activation, loss, data = CASES[case]
    how = {"n": n, "rate": rate, "steps": STEPS, "trainings": TRAININGS}
    return gs.Bounds(d_in, activation=activation, loss=loss, data=data, **how)


def fresh(case: str, d_in: int, samples: tuple[int, ...], oracle: int, seed: int) -> np.ndarray:
    """Gaps on fresh samples of these sizes, and Lambda, (sizes + 1,).

    They are means over the trainings of a seed. The risk is the mean over all fresh samples, of
    which n are a part: the gap is sqrt(1 - n/oracle) of that from the true risk.
    """
    networks = trained(bounds(case, d_in=d_in), STEPS, seed, oracle)
    gaps = [networks.test_gap(n).mean() / np.sqrt(1 - n / oracle) for n in samples]
    return np.array([*gaps, networks.modulus.mean()])


def training(d_in: int, n: int, oracle: int, seed: int) -> np.ndarray:
    """Gaps on n training samples and on n fresh ones, and Lambda squared.

    They are means over the trainings of a seed.
    """
    networks = trained(bounds("tanh", n, d_in=d_in), n, seed, oracle)
    gaps = networks.train_gap.mean(), networks.test_gap(n).mean()
    return np.array([*gaps, np.mean(networks.modulus**2)])


def learned(case: str, amount: float, oracle: int, seed: int) -> np.ndarray:
    """After training for rate * steps = amount: the error, Lambda and two gaps.

    The gaps are on ``STEPS`` fresh samples and on as many training samples. All are means over the
    trainings of a seed.
    """
    networks = trained(bounds(case, rate=amount / STEPS), STEPS, seed, oracle)
    fresh_gap = networks.test_gap(STEPS).mean() / np.sqrt(1 - STEPS / oracle)
    known = networks.risk.mean(), networks.modulus.mean()
    return np.array([*known, fresh_gap, networks.train_gap.mean()])


def apart(d_in: int, noise: float, n: int, seed: int) -> float:
    """W1 between two samples of size n."""
    return wasserstein(gs.Bounds(d_in, noise=noise), n, generator(seed, Stream.TEST, n))
