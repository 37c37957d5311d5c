"""The code that runs on a GPU, on the CPU of JAX: the same network as NumPy's, from few compiled programs."""

import numpy as np
import pytest

from giantstep._machine import device
from giantstep._machine.backend import jax, jnp
from giantstep.estimator import GiantStepRegressor
from giantstep.estimator import _base as base


@pytest.fixture
def on_jax(monkeypatch):
    """The estimator takes the CPU of JAX for a GPU, and every program it compiles is counted."""
    calls = []
    real = device._program
    monkeypatch.setattr(device, "_program", lambda *given: calls.append(given) or real(*given))
    monkeypatch.setattr(base, "arrays", lambda _: device.Arrays(jnp, jax.scipy.linalg, jax.devices("cpu")[0]))
    return calls


def test_the_same_network_as_on_the_host(monkeypatch, on_jax):
    X = np.random.default_rng(5).standard_normal((400, 6))
    Y = np.stack([X[:, 0] + X[:, 0] * X[:, 1], X[:, 2], X[:, 3] ** 2], axis=1)
    given = {"model": "network", "steps": 1, "width": 64, "random_state": 0}
    here = GiantStepRegressor(**given).fit(X, Y)
    assert on_jax  # the fixture is what the next line tests
    monkeypatch.undo()
    there = GiantStepRegressor(**given).fit(X, Y)
    np.testing.assert_allclose(here.predict(X), there.predict(X), atol=1e-7)
    assert here.loo_error_ == pytest.approx(there.loo_error_, rel=1e-7)
    assert len({function for function, _ in on_jax}) < 25
