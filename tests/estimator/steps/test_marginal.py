"""What every column says about the labels by itself."""

import numpy as np

from giantstep.estimator.steps import _marginal as marginal
from giantstep.estimator.steps.network import Table


def test_columns_speak_for_themselves():
    """An even effect, and one on the size of the labels alone."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2000, 50))
    y = np.abs(X[:, 3]) + X[:, 5] * rng.standard_normal(2000)
    found = marginal.explained_by_columns(Table(X, y[:, None], np.ones(2000)))
    assert set(np.argsort(-found)[:2]) == {3, 5}
    assert np.delete(found, [3, 5]).max() < 0.2 * found[[3, 5]].min()
