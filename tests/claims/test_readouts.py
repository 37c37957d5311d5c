"""The claims on errors of readouts: their exact risks are those of large test samples, and their controls have mean zero."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.experiment import draw
from giantstep_papers.ba import rivals
from giantstep_papers.cui import test_error as cui
from giantstep_papers.giantstep import means
from giantstep_papers.liu import runs
from giantstep_papers.mei_montanari import double_descent
from giantstep_papers.shared import population


def test_double_descent_averages_the_risk_of_ridge_fits():
    """Over directions of the target and draws of the noise, against fits and the second moments of the features."""
    rng, d, n = np.random.default_rng(0), 8, 24
    X, noise, penalties = rng.standard_normal((n, d)), 0.5, np.array([0.1])
    for p in (10, 40):
        W = rng.standard_normal((p, d))
        W /= np.linalg.norm(W, axis=1, keepdims=True)
        F, second = np.maximum(X @ W.T, 0), population.relu_kernel(W, W)
        beta = rng.standard_normal((4000, d))
        beta /= np.linalg.norm(beta, axis=1, keepdims=True)
        y = X @ beta.T + noise * rng.standard_normal((n, 4000))
        b = np.linalg.solve(F.T @ F / n + penalties[0] * np.eye(p), F.T @ y / n)
        risks = 1 - np.sum(b * (W @ beta.T), axis=0) + np.sum(b * (second @ b), axis=0)
        expected = double_descent.mean_risks(X, F, second, W / 2, penalties, noise)[0]
        assert abs(risks.mean() - expected) < 5 * risks.std() / np.sqrt(4000)


def test_the_risk_of_relu_features_is_that_of_test_samples():
    rng = np.random.default_rng(1)
    W, b, X = rng.standard_normal((6, 5)), rng.standard_normal(6) / 6, rng.standard_normal((400_000, 5))
    f = X[:, 0] + (X[:, 0] ** 2 - 1) / np.sqrt(2)
    squares = (f - np.maximum(X @ W.T, 0) @ b) ** 2
    setting = gs.Setting(gs.Gaussian(5), rivals.target(), gs.Network(6, "relu"), gs.Protocol())
    risk = population.moments(setting, W).error(b) - setting.target.noise**2
    assert risk == pytest.approx(squares.mean(), abs=5 * squares.std() / np.sqrt(len(X)))


def test_controls_have_mean_zero():
    setting = cui.experiment(cui.CASES[1], 20, 3.0)
    values = np.array([cui.controls(setting, seed) for seed in range(300)])
    assert np.all(np.abs(values.mean(axis=0)) < 5 * values.std(axis=0) / np.sqrt(300))
    setting = rivals.experiment(16, 2.0, [1.0])
    batch = draw.readout_batch(setting)
    values = np.array([rivals.controls(setting, s, *draw.rows(setting, s, batch)) for s in range(300)])
    assert np.all(np.abs(values.mean(axis=0)) < 5 * values.std(axis=0) / np.sqrt(300))


def test_sgd_risks_are_those_that_simulate_measures():
    d, n = 12, 40
    setting = runs.experiment(d, n, 0.5, decay=0.25)
    readout = setting.protocol.readout
    assert isinstance(readout, gs.SGD)
    data = runs.features(d, n, (0, 1), runs.ACTIVATION)
    found = runs.risks(data, 20, readout, data["signal"] + data["noise"])
    np.testing.assert_allclose(found, gs.simulate(setting, range(2), n_test=200_000).risk, rtol=0.03)


def test_classes_with_means_of_their_own_are_drawn():
    """The rows that the claim on means simulates have the means and variances that it names."""
    said = (((1.0, -1.0), (1.0, 0.5)), ((2.0, 0.0), (1.0, 2.5)))
    for setting, (x1, spread) in zip(means.experiments(400), said, strict=True):
        X, y = draw.rows(setting, 3, draw.readout_batch(setting))
        for label, mean, variance in zip((1, -1), x1, spread, strict=True):
            own = X[y == label]
            assert own[:, 0].mean() == pytest.approx(mean, abs=0.35)
            assert own[:, 0].var() == pytest.approx(variance, rel=0.35)
            assert own[:, 1:].var() == pytest.approx(1.0 if label == 1 else 0.5, rel=0.02)
