"""The Gaussian equivalent: features with the mean and covariance of the network's, linear in the data but for noise.

    sigma(X W^T)  ->  c_0 + c_1 X W^T + c_{>1} Z,   Z iid N(0, 1),   c_{>1}^2 = E sigma(z)^2 - c_0^2 - c_1^2

c_k are the Hermite coefficients at z ~ N(0, 1), so the rows of W should have length near one. Mei and Montanari (2022) for
random features, Hu and Lu (2023) for their universality; Ba et al. (2022) for W after a step of order one.
"""

from dataclasses import dataclass

import numpy as np

from giantstep._machine.arrays import xp
from giantstep._training.batches import Chunk
from giantstep._training.features import Parts, measured
from giantstep._training.first_layer import Array, FirstLayers, Run, train
from giantstep._training.job import Part

OFF = 0.1  # the status mentions a mean squared row of W that differs from one by more than this


@dataclass(frozen=True)
class Linearised:
    """c_0 + c_1 (H + eta * slope) + c_{>1} Z."""

    c0: float
    c1: float
    rest: float

    def __call__(self, H: Array, slope: Array | None, eta: float, Z: Array) -> Array:
        return self.c0 + self.c1 * (H if slope is None else H + eta * slope) + self.rest * Z


@dataclass(frozen=True)
class GaussianFeatures:
    """The equivalent for every first layer; all share Z."""

    run: Run
    layers: FirstLayers

    @property
    def recipe(self) -> Linearised:
        sigma = self.run.sigma
        c0, c1 = sigma.hermite(1).tolist()
        return Linearised(c0, c1, float(np.sqrt(max(sigma.variance - c1**2, 0.0))))

    def __len__(self) -> int:
        return len(self.layers)

    def parts(self, chunk: Chunk) -> Parts:
        before, Z = self.layers.preactivations(chunk.X), self.run.batches.noise(chunk)
        return lambda e: (*before[e], Z)


def part(run: Run, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds, with the mean squared row of W (E, S)."""
    run = run.holding_the_last()
    layers = train(run).layers
    numbers = measured(run, GaussianFeatures(run, layers), layers, n_test, spectrum)
    rows = [np.asarray(xp.mean(xp.sum(layers[e] ** 2, axis=2), axis=1)) for e in range(len(layers))]
    return {**numbers, "row": np.stack(rows)}


def notes(parts: list[Part]) -> list[str]:
    """A sentence if the rows of W are far from length one."""
    rows = np.concatenate([part["row"] for part in parts], axis=1).mean(axis=1)
    worst = float(rows[np.argmax(np.abs(rows - 1))])
    if not abs(worst - 1) > OFF:
        return []
    return [f"The rows of W have the mean square {worst:.3g}, and the coefficients of the model assume that it is 1."]
