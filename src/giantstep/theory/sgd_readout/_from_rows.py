"""Moments of the features on data that are not N(0, I): from the rows of a data set, or from rows drawn from a mixture.

With N rows, features F and labels f* without noise,

    Sigma = F^T F / (N p),    theta* = Sigma^{-1} F^T f* / (N sqrt(p)),    floor = |f* - F theta* / sqrt(p)|^2 / (N - p)

where N - p in place of N makes up for the p coefficients that were fitted to the rows.
"""

from math import sqrt

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import one_blas_thread
from giantstep._machine.random import Stream, normals
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.setting import Setting
from giantstep.theory.sgd_readout.population import SMALL, Population

DRAWN, EACH = 8192, 32  # rows drawn from a mixture, at least and for every neuron
FEWEST = 3  # rows of a data set for every neuron
BLOCK = 4096  # rows at once


def on_rows(setting: Setting, W: Float[np.ndarray, "p d"], seed: int) -> Population:
    """The moments of sigma(W x) and of the setting's target on the rows of its data."""
    X, y = rows(setting, seed, max(DRAWN, EACH * len(W)))
    N, p = len(X), len(W)
    if N < FEWEST * p:
        raise InputError(
            f"theory of an SGD readout takes the moments of {p} features from the rows of the data set: "
            f"it needs {FEWEST * p} rows, and there are {N}; take a width of at most {N // FEWEST}"
        )
    second, cross, total = np.zeros((p, p)), np.zeros(p), np.zeros(p)
    with one_blas_thread(p):
        for at in range(0, N, BLOCK):
            F = np.asarray(setting.network.activation(X[at : at + BLOCK] @ W.T))
            second += F.T @ F
            cross += F.T @ y[at : at + BLOCK]
            total += F.sum(axis=0)
        values, Q = np.linalg.eigh(second / (N * p))
    large = values > SMALL * p * values[-1]
    values, Q = values[large], Q[:, large]
    along = Q.T @ cross / (N * sqrt(p))
    left = float(np.mean(y**2)) - float(np.sum(along**2 / values))
    return Population(values, along / values, Q.T @ total / (N * sqrt(p)), max(left, 0.0) * N / (N - len(values)), 0.0)


def rows(setting: Setting, seed: int, count: int) -> tuple[Float[np.ndarray, "N d"], Float[np.ndarray, " N"]]:
    """All training inputs of a data set, or so many of a mixture, with labels without noise."""
    data, batch = setting.data, draw.test_batch(count)  # the labels of a test have no noise
    if not isinstance(data, Dataset):
        return draw.rows(setting, seed, batch)
    X, c = data.split()
    if data.signal is not None:
        X = X + normals(seed, (Stream.NULL,), 0, *X.shape)
    return X, data.source.values if setting.target.of_data else draw.labels_of(setting, seed, batch, X, c)
