"""Kernel readouts: ridge regression in the space of the kernel, in single precision too, and the laws that need them."""

import pickle

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge

from giantstep._machine.device import HOST
from giantstep.estimator import GiantStepRegressor
from giantstep.estimator.kernels import _kernel as kernel
from giantstep.estimator.kernels._kernel_search import mapped
from giantstep.estimator.steps.network import Table, linear_moments, moments, normal, pieces, solve

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


def test_a_wide_kernel_survives_single_precision():
    """Its values are all close to one, and what is left of their variance without their means is enough. With the means in them,
    the normal equations cannot be solved in single precision."""
    table = rows(800, 3, 11)
    exact = mapped(table, np.eye(3) / 8, np.float64)
    found = []
    for inside in (exact, mapped(table, np.eye(3) / 8)):
        layer, _, readout = fitted(inside, kernel.GAUSSIAN, 100, 1e-8)
        bare, coefficients = layer.for_predictions(readout)
        found.append(coefficients.predict(next(iter(pieces(exact, bare, HOST)))))
    assert np.mean((found[0] - table.Y) ** 2) < 0.01
    assert np.std(found[1] - found[0]) < 2e-3


def test_degrees_of_freedom_are_the_trace_of_the_fit():
    table = rows(50, 3, 2)
    layer = kernel.kernel_layer(table.X[:20], kernel.GAUSSIAN, HOST)
    held = pieces(table, layer, HOST)
    equations = normal(moments(held, linear_moments(table, layer, HOST), HOST), layer.q, HOST)
    F = next(iter(held)).features - equations.mean
    hat = F @ np.linalg.solve(F.T @ F / 50 + 0.01 * np.eye(layer.q), F.T) / 50
    np.testing.assert_allclose(equations.degrees(0.01), np.trace(hat), rtol=1e-8)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_triangular_product_is_the_product(dtype):
    rng = np.random.default_rng(2)
    K, R = rng.standard_normal((70, 20)).astype(dtype), np.triu(rng.standard_normal((20, 20))).astype(dtype)
    for factor in (R, np.asfortranarray(R)):
        np.testing.assert_allclose(kernel.triangular_product(K.copy(), factor), K @ R, rtol=1e-4, atol=1e-5)
