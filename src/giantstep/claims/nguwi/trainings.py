"""What the claims on generalisation bounds measure: gaps on fresh and training samples, moduli, distances of samples."""

import numpy as np

import giantstep as gs
from giantstep.checks.random import Stream, generator
from giantstep.systems.bounds import Bounds
from giantstep.systems.bounds.simulate import trained, wasserstein

# name: activation, loss, data
CASES = {"tanh": ("tanh", "absolute", "cube"), "ReLU": ("relu", "huber", "gaussian")}
TITLES = {"tanh": "tanh, absolute loss, x in a cube", "ReLU": "ReLU, Huber loss, Gaussian x"}
STEPS, RATE = 200, 0.004


def bounds(case: str, n: int = STEPS, rate: float = RATE, trainings: int = 20) -> Bounds:
    """d_in = 2, d_out = 1, 20 neurons."""
    activation, loss, data = CASES[case]
    return gs.Bounds(2, activation=activation, loss=loss, data=data, n=n, rate=rate, steps=STEPS, trainings=trainings)


def fresh(case: str, samples: tuple[int, ...], oracle: int, seed: int) -> np.ndarray:
    """Gaps on fresh samples of these sizes, and Lambda, in the mean over the trainings of a seed, (sizes + 1,)."""
    networks = trained(bounds(case), STEPS, seed, oracle)
    return np.array([*(networks.test_gap(n).mean() for n in samples), networks.modulus.mean()])


def training(case: str, n: int, fresh: int, rate: float, oracle: int, seed: int) -> np.ndarray:
    """Gaps on n training samples and on ``fresh`` new ones, Lambda and its square, in the mean over the trainings of a seed."""
    networks = trained(bounds(case, n, rate), n, seed, oracle)
    return np.array(
        [
            networks.train_gap.mean(),
            networks.test_gap(fresh).mean(),
            networks.modulus.mean(),
            np.mean(networks.modulus**2),
        ]
    )


def apart(d_in: int, noise: float, n: int, seed: int) -> float:
    """W1 between two samples of size n."""
    return wasserstein(gs.Bounds(d_in, noise=noise), n, generator(seed, Stream.TEST, n))
