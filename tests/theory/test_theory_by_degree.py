"""The risk of random features by degree: Mei and Montanari's limit, the modes of a kernel, ridge fits, and refusals."""

from math import factorial

import numpy as np
import pytest

import giantstep as gs
from giantstep.experiment import draw
from giantstep.theory.limits import by_degree


def features(target, d, n, p, activation, penalty, **network):
    protocol = gs.Protocol((), gs.Ridge(n, penalty))
    return gs.Setting(gs.Gaussian(d), gs.target(target, noise=0.3), gs.Network(p, activation, **network), protocol)


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_in_the_proportional_regime_it_is_the_limit_of_mei_and_montanari(activation):
    d = 10**6
    setting = features("x1 + H2(x1)/2", d, 2 * d, 3 * d // 2, activation, (1e-4, 1e-2, 1.0))
    np.testing.assert_allclose(by_degree.test_error(setting), gs.theory(setting).test_error, rtol=1e-4)


def test_the_modes_add_up_to_the_kernel_and_to_the_target():
    """sum_l B_l lam_l P_l(t) is sum_k k! c_k^2 t^k: at t = 1, and for P_1 = t by the mean of t times it."""
    setting = features("x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)", 9, 30, 40, "sin(x+pi/4)", 1.0)
    of = by_degree.modes(setting)
    assert of.counts @ of.values + of.rest == pytest.approx(0.5)  # E sin^2(z + pi/4)
    assert of.counts[:4].tolist() == [1, 9, 44, 156]
    t = np.random.default_rng(0).standard_normal((400_000, 9))
    t = t[:, 0] / np.linalg.norm(t, axis=1)
    c = np.asarray(setting.network.activation.hermite(20))
    kernel = sum(factorial(k) * c[k] ** 2 * t**k for k in range(21))
    assert of.values[1] == pytest.approx(np.mean(t * kernel), rel=0.02)
    second = (9 * t**2 - 1) / 8  # P_2
    assert of.values[2] == pytest.approx(np.mean(second * kernel), rel=0.02)
    assert of.target.sum() + of.noise == pytest.approx(3.09)  # what no feature reaches is noise
    large = by_degree.modes(features("x1 + H2(x1)/sqrt(2) + H3(x1)/sqrt(6)", 10**7, 30, 40, "sin(x+pi/4)", 1.0))
    np.testing.assert_allclose(large.target[:4], [0, 1, 1, 1], atol=1e-5)
    assert by_degree.modes(features("H3(x1)", 9, 30, 40, "relu", 1.0)).target.sum() == 0  # relu has no third order


def test_ridge_fits_have_that_error():
    setting = features("x1 + H2(x1)/sqrt(2)", 12, 260, 300, "sin(x+pi/4)", (0.02, 0.3))
    readout, found = setting.protocol.readout, []
    assert isinstance(readout, gs.Ridge)
    for seed in range(24):
        W, _ = draw.weights(setting, seed)
        X, y = draw.rows(setting, seed, draw.readout_batch(setting))
        Xt, yt = draw.rows(setting, seed, draw.test_batch(2000))
        b = gs.ridge(np.asarray(setting.network.activation(X @ W.T)), y, readout.penalty).coefficients
        fits = np.asarray(b) @ np.asarray(setting.network.activation(Xt @ W.T)).T
        found.append(np.mean((yt - fits) ** 2, axis=1) + 0.09)
    mean, error = np.mean(found, axis=0), np.std(found, axis=0) / 24**0.5
    predicted = by_degree.test_error(setting)
    assert np.all(np.abs(mean - predicted) < 4 * error + 0.03 * predicted)
    assert np.all(error < 0.06 * mean)


@pytest.mark.parametrize(
    ("setting", "words"),
    [
        (features("x1*x2", 9, 30, 40, "relu", 1.0), "one direction"),
        (features("x1", 9, 30, 40, "relu", 1.0, rows="gaussian"), "sphere"),
        (features("x1", 9, 30, 40, "relu", 0.0), "positive penalties"),
        (gs.presets.moniri(n=40, d=20, N=30, alpha=0.2, penalty=0.1), "no step"),
    ],
)
def test_what_it_does_not_cover_is_refused(setting, words):
    with pytest.raises(gs.InputError, match=words):
        by_degree.test_error(setting)
