"""Readouts fitted again to other rows: the features stay, and the penalties, the mix and the probabilities are new."""

import pickle
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

import giantstep as gs
from giantstep.estimator import GiantStepClassifier, GiantStepRegressor

NETWORK: Any = GiantStepRegressor(width=40, steps=1, eta=30.0, batch="reuse", scaling="standard")


def rows(n: int, seed: int, noise: float) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 6))
    truth = X[:, 0] + X[:, 0] * X[:, 1]
    return X, truth + noise * rng.standard_normal(n), truth


@pytest.fixture(scope="module")
def small() -> GiantStepRegressor:
    X, y, _ = rows(150, 0, 0.1)
    return GiantStepRegressor().fit(X, y)


def test_it_is_a_ridge_regression_on_the_learned_features():
    """The penalty is given here: the intercept and the coefficients are those of the normal equations of the new rows."""
    (X, y, _), (N, u, _) = rows(200, 3, 0.1), rows(300, 4, 0.1)
    model: Any = clone(NETWORK)
    model.set_params(penalty=0.01).fit(X, y)
    before = model._members[0].layer
    W, components = before.W.copy(), model.directions_.components.copy()
    model.refit(N, u)
    H = np.maximum((N - X.mean(axis=0)) / X.std(axis=0) @ W.T + before.bias, 0)
    F = np.concatenate([H, (N - X.mean(axis=0)) / X.std(axis=0)], axis=1)
    G, v = F - F.mean(axis=0), (u - u.mean()) / y.std()
    b = np.linalg.solve(G.T @ G / 300 + 0.01 * np.eye(F.shape[1]), G.T @ v / 300)
    np.testing.assert_allclose(model.predict(N), u.mean() + y.std() * (G @ b), rtol=1e-6, atol=1e-7)
    np.testing.assert_array_equal(model.directions_.components, components)
    assert model.penalty_ == 0.01


def test_noisier_rows_choose_a_larger_penalty_and_say_their_error():
    X, y, _ = rows(400, 5, 0.01)
    model: Any = clone(NETWORK)
    model.fit(X, y)
    first, (N, noisy, _) = model.penalty_, rows(400, 6, 2.0)
    model.refit(N, noisy)
    T, t, _ = rows(4000, 7, 2.0)
    assert model.penalty_ > 10 * first
    assert model.loo_error_ == pytest.approx(np.mean((model.predict(T) - t) ** 2) / t.var(), rel=0.15)


def test_more_rows_help_every_model_of_a_mix(small):
    """The features of 150 rows, and the readouts of 1500."""
    again = pickle.loads(pickle.dumps(small))
    N, u, _ = rows(1500, 8, 0.1)
    T, _, truth = rows(3000, 9, 0.1)
    before = np.mean((again.predict(T) - truth) ** 2)
    again.refit(N, u)
    assert np.mean((again.predict(T) - truth) ** 2) < 0.7 * before
    assert sum(again.weights_.values()) == pytest.approx(1) and set(again.weights_) == set(small.weights_)
    assert str(again.explain()).startswith("The model explains")


def test_probabilities_follow_the_new_rows():
    """Classes that are one in two in the first rows and one in five in the new ones."""
    X, y, _ = rows(300, 10, 0.3)
    model = GiantStepClassifier(width=40, steps=1, eta=30.0, scaling="standard").fit(X, y > np.median(y))
    N, u, _ = rows(1200, 11, 0.3)
    rare = u > np.quantile(u, 0.8)
    model.refit(N, rare)
    assert model.predict_proba(N)[:, 1].mean() == pytest.approx(0.2, abs=0.02)
    assert np.mean(model.predict(N) == rare) > 0.9


def test_what_refit_refuses(small):
    X, y, _ = rows(50, 12, 0.1)
    with pytest.raises(NotFittedError):
        GiantStepRegressor().refit(X, y)
    with pytest.raises(gs.InputError, match="needs 1 outputs, as fit had, not 2"):
        small.refit(X, np.stack([y, y], axis=1))
    with pytest.raises(ValueError, match="features"):
        small.refit(X[:, :3], y)
    two = GiantStepClassifier(width=16, steps=0, scaling="standard").fit(X, y > 0)
    with pytest.raises(gs.InputError, match="knows the classes of fit alone"):
        two.refit(X, np.where(y > 0, 2, 0))
