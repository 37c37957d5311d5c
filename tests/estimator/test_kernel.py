"""Kernel readouts: ridge regression in the space of the kernel, learned coordinates, label transforms, stacking."""

import pickle

import numpy as np
import pytest
from scipy.optimize import minimize
from sklearn.kernel_ridge import KernelRidge

from giantstep._machine.device import HOST
from giantstep.estimator import GiantStepRegressor
from giantstep.estimator.kernels import coordinates, kernel
from giantstep.estimator.mix.ensemble import mixed
from giantstep.estimator.mix.stack import simplex_weights, stacked
from giantstep.estimator.steps import marginal, spectral
from giantstep.estimator.steps.corrected_step import damped
from giantstep.estimator.steps.network import Table, linear_moments, moments, normal, pieces, solve
from giantstep.estimator.steps.search import Fold, Wanted, dealt, draw_start, judge
from giantstep.functions.activation import activation

SHAPES = kernel.GAUSSIAN, kernel.LAPLACE


def rows(n: int, d: int, seed: int) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    return Table(X, np.sin(X[:, :1]) + X[:, 1:2] ** 2, np.ones(n))


def fitted(table: Table, shape: kernel.KernelShape, landmarks: int, penalty: float):
    layer = kernel.kernel_layer(table.X[:landmarks], shape, HOST)
    held = pieces(table, layer, HOST)
    total = moments(held, linear_moments(table, layer, HOST), HOST)
    return layer, held, solve(normal(total, layer.q, HOST), penalty, HOST)


@pytest.mark.parametrize("shape", SHAPES)
def test_with_all_rows_as_landmarks_it_is_kernel_ridge_regression(shape):
    """Against scikit-learn, with a linear kernel added for the linear part; a centred kernel stands for the intercept."""
    table = rows(60, 3, 0)
    _, held, found = fitted(table, shape, 60, 0.01)
    K = shape.value(kernel.distances(table.X, table.X))
    K = K @ np.linalg.solve(K + kernel.JITTER * np.sqrt(60) * np.eye(60), K) + table.X @ table.X.T
    C = np.eye(60) - 1 / 60
    other = KernelRidge(alpha=0.6, kernel="precomputed")  # type: ignore[arg-type]
    other.fit(C @ K @ C, table.Y - table.Y.mean())
    expected = other.predict(C @ K @ C) + table.Y.mean()
    np.testing.assert_allclose(found.predict(next(iter(held))), expected, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("shape", SHAPES)
def test_its_gradient_is_that_of_finite_differences(shape):
    table = rows(50, 3, 1)
    layer, held, found = fitted(table, shape, 20, 0.01)
    gradient = layer.gradient(next(iter(held)), found.coefficients[:, 0])
    step = 1e-5

    def f(X):
        return found.predict(next(iter(pieces(Table(X, table.Y, table.weights), layer, HOST))))[:, 0]

    slopes = np.stack([(f(table.X + step * e) - f(table.X - step * e)) / (2 * step) for e in np.eye(3)], axis=1)
    np.testing.assert_allclose(
        gradient[20:], slopes[20:], rtol=1e-5, atol=1e-6
    )  # a Laplace kernel has kinks at its landmarks


def test_predictions_need_no_whitening():
    table = rows(80, 3, 2)
    layer, held, found = fitted(table, kernel.GAUSSIAN, 30, 1e-3)
    bare, coefficients = layer.for_predictions(found)
    assert bare.whitening is None
    piece = next(iter(pieces(table, bare, HOST)))
    np.testing.assert_allclose(coefficients.predict(piece), found.predict(next(iter(held))), rtol=1e-6, atol=1e-7)
    pickle.loads(pickle.dumps(bare))


def test_a_turn_corrects_a_coordinate_that_is_nearly_right():
    """A kernel along a tilted direction, and the target along the true one: the corrected gradients turn towards it."""
    rng = np.random.default_rng(0)
    d, n = 10, 4000
    X, true = rng.standard_normal((n, d)), np.eye(d)[0]
    table = Table(X, np.tanh(2 * X[:, :1]), np.ones(n))
    tilted = (0.9 * np.eye(d)[0] + np.sqrt(1 - 0.81) * np.eye(d)[1])[:, None]
    inside = Table(X @ tilted, table.Y, table.weights)
    _, held, found = fitted(inside, kernel.GAUSSIAN, 100, 1e-4)
    covariance = damped(X.T @ X / n, HOST)
    g, null, own = coordinates.corrected(table, held, found, tilted, covariance, 0.1, HOST)
    assert g.shape == (1, d) and own[0] > own[1] > 0
    before, after = float(tilted[0, 0]), abs(float(g[0] @ true)) / np.linalg.norm(g)
    assert after > 0.99 > before
    assert np.linalg.norm(null) < 0.2 * np.linalg.norm(g)


def test_label_transforms_show_what_the_gradient_hides():
    """x1 x2 x3 + x1: no gradient along x2 and x3 on average; y x1 is curved in their plane. Noise shows nothing."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4000, 30))
    y = X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0]
    covariance = damped(X.T @ X / 4000, HOST)
    table = Table(X, y[:, None], np.ones(4000))
    found = spectral.curved(table, spectral.transforms(table, np.eye(30)[:, :1]), covariance, rng, HOST)
    inside = (found[:, :3] ** 2).sum() / (found**2).sum()
    assert inside > 0.9
    assert np.all(np.linalg.svd(found[:, :3], compute_uv=False)[:3] > 0.5)
    noise = Table(X, rng.standard_normal((4000, 1)), np.ones(4000))
    chance = spectral.curved(noise, spectral.transforms(noise, np.eye(30)[:, :1]), covariance, rng, HOST)
    assert len(chance) == 0 or np.linalg.norm(chance, axis=1).max() < 0.3


def test_columns_speak_for_themselves():
    """An even effect, and one on the size of the labels alone."""
    rng = np.random.default_rng(2)
    X = rng.standard_normal((2000, 50))
    y = np.abs(X[:, 3]) + X[:, 5] * rng.standard_normal(2000)
    found = marginal.explained_by_columns(Table(X, y[:, None], np.ones(2000)))
    assert set(np.argsort(-found)[:2]) == {3, 5}
    assert np.delete(found, [3, 5]).max() < 0.2 * found[[3, 5]].min()


def test_weights_of_a_stack_are_those_of_the_constrained_problem():
    rng = np.random.default_rng(3)
    common = rng.standard_normal((300, 2))
    residuals = [s * rng.standard_normal((300, 2)) + common for s in (0.5, 0.6, 4.0)]
    weights = rng.uniform(0.5, 2, 300)
    found = stacked(residuals, weights)
    loss = lambda a: float(weights @ (np.tensordot(a, residuals, axes=1) ** 2).sum(axis=1))  # noqa: E731
    best = minimize(loss, np.ones(3) / 3, bounds=[(0, 1)] * 3, constraints={"type": "eq", "fun": lambda a: sum(a) - 1})
    np.testing.assert_allclose(simplex_weights(residuals, weights), best.x, atol=1e-4)
    assert found.sum() == pytest.approx(1) and found[2] == 0 < best.x[2] < 0.1  # too little to be worth its time
    assert loss(found) < 1.05 * best.fun
    assert stacked([residuals[0], np.full((300, 2), np.nan)], weights).tolist() == [1, 0]


def test_a_model_that_cannot_be_solved_spoils_no_mix():
    """It has no weight, and NaN times zero is NaN."""
    rng = np.random.default_rng(6)
    held = rows(200, 2, 7)
    folds = [Fold(held, held, np.arange(200), ())]  # type: ignore[arg-type]
    residuals = {"network": (0.1 * rng.standard_normal((200, 1)),), "columns": (np.full((200, 1), np.nan),)}
    residuals["linear"] = (rng.standard_normal((200, 1)),)
    weights, left = mixed(folds, residuals)
    assert weights["network"] > 0.9 and weights["columns"] == 0 and np.all(np.isfinite(left[0]))


def test_a_penalty_is_found_from_one_that_cannot_be_solved():
    """Columns that agree to the last digit: at the smallest penalties there is no fit."""
    table = rows(300, 3, 8)
    twice = Table(np.repeat(table.X, 3, axis=1).astype(np.float32), table.Y, table.weights)
    wanted = Wanted(16, activation("relu"))
    start = draw_start(twice, wanted, np.random.default_rng(0), HOST)
    stages = [start.linear_stage(f) for f in dealt(twice, start, np.random.default_rng(0))]
    low, usual = (judge(stages, near, wanted, HOST) for near in (-17.0, -3.0))
    assert not np.isfinite(stages[0].judged(wanted.penalty_at(-17.0, stages[0].of_all), HOST)).all()
    assert np.isfinite(low.error) and low.error <= 1.1 * usual.error


@pytest.mark.parametrize(
    ("law", "member", "most"),
    [
        (lambda x: x[0] * x[1] * x[2] + x[0], "directions", 0.02),  # 0.49 by the network alone
        (lambda x: np.sin(2 * x[0]) + np.abs(x[1]) + x[2] + x[3] ** 2 / 2, "columns", 0.05),
    ],
)
def test_laws_that_the_network_alone_does_not_learn(law, member, most):
    rng = np.random.default_rng(4)
    U = np.linalg.qr(rng.standard_normal((20, 20)))[0].T if member == "directions" else np.eye(20)
    X, T = rng.standard_normal((2000, 20)), rng.standard_normal((3000, 20))
    y, t = law(U @ X.T), law(U @ T.T)
    model = GiantStepRegressor().fit(X, y + 0.1 * rng.standard_normal(2000))
    assert max(model.weights_, key=lambda name: model.weights_[name]) == member
    assert np.mean((model.predict(T) - t) ** 2) / t.var() < most
    alone = GiantStepRegressor(model="network").fit(X, y)
    assert alone.weights_ == {"network": 1.0} and alone.score(T, t) < 0.9


def test_the_sample_can_be_too_small_for_a_leap():
    rng = np.random.default_rng(5)
    X = rng.standard_normal((300, 40))
    U = np.linalg.qr(rng.standard_normal((40, 3)))[0]
    said = str(GiantStepRegressor().fit(X, np.prod(X @ U, axis=1)).explain())
    assert "the sample is too small" in said and "300 rows of 40 columns" in said
    assert "at least 13.3% of the variance" in said and "about 53.3% on" in said


def test_single_precision_costs_a_kernel_nothing():
    """A cubic link wants a wide kernel and a penalty far below the rounding of single precision."""
    rng = np.random.default_rng(9001)
    X, T = rng.standard_normal((2500, 30)), rng.standard_normal((4000, 30))
    y, t = ((Z[:, 0] ** 3 - 3 * Z[:, 0]) / np.sqrt(6) + 0.3 * Z[:, 0] for Z in (X, T))
    y = y + 0.1 * rng.standard_normal(len(y))
    errors = [np.mean((GiantStepRegressor().fit(X.astype(d), y).predict(T.astype(d)) - t) ** 2) for d in ("f4", "f8")]
    assert errors[0] < 0.01 and errors[0] < 1.5 * errors[1]


def test_degrees_of_freedom_are_the_trace_of_the_fit():
    table = rows(50, 3, 2)
    layer = kernel.kernel_layer(table.X[:20], kernel.GAUSSIAN, HOST)
    held = pieces(table, layer, HOST)
    equations = normal(moments(held, linear_moments(table, layer, HOST), HOST), layer.q, HOST)
    F = next(iter(held)).features - equations.mean
    hat = F @ np.linalg.solve(F.T @ F / 50 + 0.01 * np.eye(layer.q), F.T) / 50
    np.testing.assert_allclose(equations.degrees(0.01), np.trace(hat), rtol=1e-8)
