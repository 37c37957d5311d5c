"""Tables of a staircase with noise, networks to learn them with, and their normal equations."""

import numpy as np

from giantstep._machine.device import HOST
from giantstep.estimator.steps import network as _network
from giantstep.estimator.steps.network import FirstLayer, Table
from giantstep.functions.activation import activation

RELU = activation("relu")


def table(n: int, d: int, seed: int, noise: float = 0.1, weights: bool = False, outputs: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.stack([X[:, j] + X[:, j] * X[:, j + 1] + noise * rng.standard_normal(n) for j in range(outputs)], axis=1)
    return Table(X, Y / Y.std(axis=0), rng.integers(1, 4, n).astype(float) if weights else np.ones(n))


def network(p: int, d: int, seed: int) -> FirstLayer:
    rng = np.random.default_rng(seed)
    return FirstLayer(rng.standard_normal((p, d)) / np.sqrt(d), rng.standard_normal(p), RELU)


def equations(rows: Table, first: FirstLayer):
    held = list(_network.pieces(rows, first, HOST))
    return held, _network.normal(
        _network.moments(held, _network.linear_moments(rows, first, HOST), HOST), first.q, HOST
    )
