"""Coordinates: a turn moves them towards the directions of the target."""

import numpy as np

from giantstep._machine.device import HOST
from giantstep.estimator.kernels import _coordinates as coordinates
from giantstep.estimator.kernels import _kernel as kernel
from giantstep.estimator.steps._search import whole_stage
from giantstep.estimator.steps.corrected_step import damped
from giantstep.estimator.steps.network import Table, solve


def test_a_turn_corrects_a_coordinate_that_is_nearly_right():
    """A kernel along a tilted direction, and the target along the true one: the corrected gradients turn towards it."""
    rng = np.random.default_rng(0)
    d, n = 10, 4000
    X, true = rng.standard_normal((n, d)), np.eye(d)[0]
    table = Table(X, np.tanh(2 * X[:, :1]), np.ones(n))
    tilted = (0.9 * np.eye(d)[0] + np.sqrt(1 - 0.81) * np.eye(d)[1])[:, None]
    inside = Table(X @ tilted, table.Y, table.weights)
    stage = whole_stage(inside, np.arange(10), kernel.kernel_layer(inside.X[:100], kernel.GAUSSIAN, HOST), HOST)
    found, held = solve(stage.of_all, 1e-4, HOST), stage.training
    covariance = damped(X.T @ X / n, HOST)
    g, null, own = coordinates.corrected(table, held, found, tilted, covariance, 0.1, HOST)
    assert g.shape == (1, d) and own[0] > own[1] > 0
    before, after = float(tilted[0, 0]), abs(float(g[0] @ true)) / np.linalg.norm(g)
    assert after > 0.99 > before
    assert np.linalg.norm(null) < 0.2 * np.linalg.norm(g)
