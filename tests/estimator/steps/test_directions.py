"""Directions: singular vectors of gradients, and the shares of variance that they carry."""

import numpy as np
import pytest

from giantstep.estimator.steps import directions


def test_share_of_variance_of_a_known_function():
    X = np.random.default_rng(0).standard_normal((20000, 3))

    def f(X):
        return (X[:, 0] + X[:, 1] * X[:, 2])[:, None]

    shares = directions.shares(f, X, np.eye(3), np.random.default_rng(1))
    np.testing.assert_allclose(shares, [0.5, 0.5, 1.0], atol=0.03)
    assert shares[2] == pytest.approx(1.0, abs=1e-12)
    lost = directions.variances_without(f, X, np.eye(3), np.random.default_rng(1))
    np.testing.assert_allclose(lost, [1.0, 1.0, 1.0], atol=0.06)


@pytest.mark.parametrize("shape", [(5, 9), (9, 5)])
def test_strengths_are_singular_values(shape):
    g = np.random.default_rng(0).standard_normal(shape)
    values, rows = directions.strengths(g, 3)
    _, s, Vt = np.linalg.svd(g / np.sqrt(shape[0]))
    np.testing.assert_allclose(values, s[:3], rtol=1e-10)
    np.testing.assert_allclose(np.abs(np.sum(rows * Vt[:3], axis=1)), 1.0, rtol=1e-9)


@pytest.mark.parametrize("shape", [(5, 9), (9, 5)])
def test_weak_directions_have_length_one_too(shape):
    """Singular values down to rounding: the squares of the last ones are below 1e-16 of the first one's."""
    rng, m = np.random.default_rng(0), 5
    U, V = (np.linalg.qr(rng.standard_normal((size, m)))[0] for size in shape)
    for s in (10.0 ** -np.arange(0.0, 15.0, 3.0), np.r_[1.0, np.full(4, 1e-9)], np.r_[1.0, np.zeros(4)]):
        values, rows = directions.strengths(U * s @ V.T, m)
        np.testing.assert_allclose(rows @ rows.T, np.eye(m), atol=1e-12)
        assert values[0] == pytest.approx(1 / np.sqrt(shape[0])) and abs(rows[0] @ V[:, 0]) == pytest.approx(1.0)


def test_directions_that_chance_turns_are_nearest_to_columns():
    rng, level = np.random.default_rng(3), 1.0
    Q = np.linalg.qr(rng.standard_normal((3, 3)))[0]
    rows = np.zeros((5, 8))
    rows[:3, [6, 1, 4]] = Q
    rows[3, 0] = rows[4, 7] = 1.0
    strength = np.array([9.2, 8.9, 8.6, 5.0, 0.5])
    turn = directions.nearest_to_columns(strength, rows, level)
    np.testing.assert_allclose(turn @ turn.T, np.eye(5), atol=1e-12)
    np.testing.assert_allclose(turn[3:, 3:], np.eye(2))
    np.testing.assert_allclose(np.sort(np.abs(turn @ rows)[:3].max(axis=1)), 1.0)
    apart = directions.nearest_to_columns(np.array([9.2, 7.9, 6.6, 5.0, 0.5]), rows, level)
    np.testing.assert_allclose(apart, np.eye(5))
    few = np.linalg.qr(rng.standard_normal((8, 3)))[0].T  # not along columns: the span stays
    turn = directions.nearest_to_columns(strength[:3], few, level)
    np.testing.assert_allclose((turn @ few).T @ (turn @ few), few.T @ few, atol=1e-12)
