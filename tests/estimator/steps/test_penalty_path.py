"""One eigendecomposition for all penalties of a small fit."""

import numpy as np

from giantstep._machine.device import HOST
from giantstep.estimator.kernels import _kernel as kernel
from giantstep.estimator.steps import network as _network
from giantstep.estimator.steps._penalty_path import penalty_path


def test_one_eigendecomposition_gives_the_residuals_of_every_penalty():
    """Against a Cholesky factor for each, with weights and two outputs."""
    rng = np.random.default_rng(1)
    X, Y, weights = rng.standard_normal((90, 4)), rng.standard_normal((90, 2)), rng.uniform(0.5, 2.0, 90)
    table = _network.Table(X, Y, weights)
    layer = kernel.kernel_layer(X[:30], kernel.GAUSSIAN, HOST)
    held = _network.pieces(table.take(np.arange(50)), layer, HOST)
    linear = _network.linear_moments(table, layer, HOST)
    equations = _network.normal(_network.moments(_network.pieces(table, layer, HOST), linear, HOST), layer.q, HOST)
    path = penalty_path(equations, held)
    for penalty in (1e-4, 1e-2, 1.0):
        one = _network.left_out(_network.solve(equations, penalty, HOST), held, HOST)
        np.testing.assert_allclose(path.left_out(penalty), one, rtol=1e-6, atol=1e-9)
    assert np.isnan(path.left_out(-1.0)).all()
