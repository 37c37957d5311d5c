"""The gradient of a giant step against automatic differentiation of the loss as written."""

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.backend import jax, jnp
from giantstep._training.step import descent_sum


@pytest.mark.parametrize("name", ["relu", "tanh", "gelu", "0.3*H1 + 0.8*H2"])
@pytest.mark.parametrize("residual", ["full", "target"])
@pytest.mark.parametrize("d", [4, 6])  # below and above the width: the factors stand with X or with the slopes
def test_against_automatic_differentiation(d, name, residual, seed):
    rng = np.random.default_rng(seed)
    W, a, X, y = (jnp.asarray(rng.standard_normal(s)) for s in ((5, d), (5,), (9, d), (9,)))
    sigma, scale, eta = gs.activation(name), 0.3, 1.7

    def loss(W):
        f = scale * sigma(X @ W.T) @ a
        return jnp.mean((y - f) ** 2) / 2 if residual == "full" else -jnp.mean(y * f)

    expected = W - eta * jax.grad(loss)(W)
    found = W + eta / len(X) * descent_sum(X @ W.T, a, X, y, sigma=sigma, scale=scale, full=residual == "full")
    np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-13)
