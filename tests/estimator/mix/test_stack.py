"""Weights of several models: the constrained problem, models without a solution, and the linear model."""

import numpy as np
import pytest
from scipy.optimize import minimize

from giantstep.estimator.mix._ensemble import mixed
from giantstep.estimator.mix._stack import simplex_weights, stacked, surely_better
from giantstep.estimator.steps._search import Fold
from giantstep.estimator.steps.network import Table


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
    held = Table(rng.standard_normal((200, 2)), np.zeros((200, 1)), np.ones(200))
    folds = [Fold(held, held, np.arange(200), ())]  # type: ignore[arg-type]
    residuals = {"network": (0.1 * rng.standard_normal((200, 1)),), "columns": (np.full((200, 1), np.nan),)}
    residuals["linear"] = (rng.standard_normal((200, 1)),)
    weights, left = mixed(folds, residuals)
    assert weights["network"] > 0.9 and weights["columns"] == 0 and np.all(np.isfinite(left[0]))


def test_a_mix_must_be_surely_better_than_a_linear_model():
    rng = np.random.default_rng(10)
    plain, weights = rng.standard_normal((500, 1)), np.ones(500)
    assert surely_better(0.9 * plain, plain, weights)
    assert not surely_better(plain + 0.1 * rng.standard_normal((500, 1)), plain, weights)
    assert not surely_better(plain, plain, weights)
