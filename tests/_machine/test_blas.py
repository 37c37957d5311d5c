"""Products by NumPy's BLAS are those of XLA."""

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine import blas
from giantstep._machine.backend import jnp


@pytest.mark.parametrize(("dtype", "within"), [("float64", 1e-12), ("float32", 1e-4)])
def test_products(monkeypatch, dtype, within):
    rng = np.random.default_rng(0)
    X, W = (jnp.asarray(rng.standard_normal(shape), dtype) for shape in ((1, 40, 30), (1, 20, 30)))
    plain = np.asarray(blas.product(X, W))
    monkeypatch.setattr(blas, "LARGE", 1)
    host = blas.product(X, W)
    assert host.dtype == dtype
    np.testing.assert_allclose(host, plain, rtol=0, atol=100 * within)


@pytest.mark.parametrize("readout", [150, 20])
def test_a_run_is_the_same_either_way(monkeypatch, readout):
    network, target = gs.Network(24, "tanh"), gs.target("x1 + H2(x2)", noise=0.2)
    steps = (gs.GiantStep(90, 3.0, residual="full"), gs.GiantStep(90, 2.0, deflate=2))
    setting = gs.Setting(gs.Gaussian(16), target, network, gs.Protocol(steps, gs.Ridge(readout, 0.1)))
    plain = gs.simulate(setting, n_test=100)
    monkeypatch.setattr(blas, "LARGE", 1)
    host = gs.simulate(setting, n_test=100)
    for name in ("risk", "train_error", "train_objective"):
        assert getattr(host, name) == pytest.approx(getattr(plain, name), rel=1e-9)
