"""Rows are streamed: the memory of a fit does not grow with the features of its rows."""

import tracemalloc

import numpy as np

from giantstep.estimator import GiantStepRegressor
from giantstep.estimator.steps.network import CHUNK

WIDTH, COLUMNS = 320, 20


def peak(X: np.ndarray, y: np.ndarray) -> int:
    """The most bytes in use during a fit, above those before."""
    tracemalloc.start()
    GiantStepRegressor(width=WIDTH, steps=1, eta=30.0, penalty=1e-3, scaling="standard").fit(X, y)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return most


def test_memory_grows_with_the_table_and_not_with_its_features():
    """From 30 000 to 60 000 rows, more than one chunk in both: a few copies of the table, where features would take 16."""
    few, many = 30_000, 60_000
    assert few > CHUNK // (WIDTH + COLUMNS)
    rng = np.random.default_rng(0)
    X = rng.standard_normal((many, COLUMNS), dtype=np.float32)
    y = X[:, 0] + X[:, 0] * X[:, 1]
    grown = peak(X, y) - peak(X[:few], y[:few])
    assert grown < 5 * X[few:].nbytes < 0.35 * (many - few) * WIDTH * X.itemsize
