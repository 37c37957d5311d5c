"""The readout: ridge regression on the features of a table, leave-one-out with weights."""

from dataclasses import replace

import numpy as np
import pytest
from learned_tables import equations, network, table

import giantstep as gs
from giantstep._machine.device import HOST
from giantstep.estimator.steps import network as _network


def test_the_fit_is_that_of_ridge():
    rows, first = table(80, 5, 0), network(12, 5, 1)
    held, normal = equations(rows, first)
    fitted = _network.solve(normal, 0.03, HOST)
    F = held[0].features
    other = gs.ridge(F - F.mean(axis=0), rows.Y[:, 0] - rows.Y[:, 0].mean(), 0.03)
    np.testing.assert_allclose(fitted.coefficients[:, 0], other.coefficients, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_rows_are_left_out(weighted):
    """Every row by a fit without it: the objective of the others, their penalty term n lam |b|^2 with the old n."""
    rows, first = table(40, 4, 2, weights=weighted, outputs=2), network(6, 4, 3)
    held, normal = equations(rows, first)
    found = _network.left_out(_network.solve(normal, 0.05, HOST), held, HOST)
    F, total = held[0].features, rows.weights.sum()
    for i in range(0, 40, 7):
        w = np.where(np.arange(40) == i, 0.0, rows.weights)
        mean, mean_y = w @ F / w.sum(), w @ rows.Y / w.sum()
        A = (F - mean).T @ (w[:, None] * (F - mean)) / total + 0.05 * np.eye(F.shape[1])
        b = np.linalg.solve(A, (F - mean).T @ (w[:, None] * (rows.Y - mean_y)) / total)
        np.testing.assert_allclose(found[i], rows.Y[i] - mean_y - (F[i] - mean) @ b, rtol=1e-8, atol=1e-10)


def test_weights_repeat_rows():
    rows, first = table(60, 4, 4, weights=True), network(8, 4, 5)
    repeated = rows.take(np.repeat(np.arange(60), rows.weights.astype(int)))
    one = _network.solve(equations(rows, first)[1], 0.1, HOST)
    two = _network.solve(equations(replace(repeated, weights=np.ones(len(repeated))), first)[1], 0.1, HOST)
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-10, atol=1e-12)
