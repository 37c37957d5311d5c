"""Penalties that rounding makes too small to be solved."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep._machine.device import HOST
from giantstep.estimator.steps._search import Stage, Wanted, dealt, draw_start, judge, solved
from giantstep.estimator.steps.network import Table, centred_equations
from giantstep.functions.activation import activation

RELU = activation("relu")


def test_a_penalty_that_rounding_makes_too_small_is_raised_unless_it_was_given():
    A = np.diag([1.0, 1.0, -1e-6])  # what single precision may leave of diag(1, 1, 0)
    rounded = centred_equations(A, np.ones((3, 1)), np.zeros(3), np.zeros(1), np.asarray(10.0))
    wanted = Wanted(8, RELU)
    fitted, penalty = solved(rounded, -8.0, wanted, HOST)
    assert fitted.finite and penalty == pytest.approx(2e-6, rel=1e-5)
    np.testing.assert_allclose((A + penalty * np.eye(3)) @ fitted.coefficients, 1.0)
    assert not solved(rounded, -8.0, replace(wanted, penalty=1e-8), HOST)[0].finite


def test_a_penalty_is_found_from_one_that_cannot_be_solved(monkeypatch):
    """Columns that agree to the last digit have no fit at the smallest penalties; which ones depends on the processor."""
    X = np.random.default_rng(8).standard_normal((300, 3))
    Y = np.sin(X[:, :1]) + X[:, 1:2] ** 2
    twice = Table(np.repeat(X, 3, axis=1).astype(np.float32), Y, np.ones(300))
    wanted = Wanted(16, RELU)
    start = draw_start(twice, wanted, np.random.default_rng(0), HOST)
    stages = [start.linear_stage(f) for f in dealt(twice, start, np.random.default_rng(0))]
    usual, solvable = judge(stages, -3.0, wanted, HOST), Stage.judged

    def judged(stage, penalty, where):
        return solvable(stage, penalty, where) * (1.0 if penalty > 1e-12 else np.nan)

    monkeypatch.setattr(Stage, "judged", judged)
    low = judge(stages, -17.0, wanted, HOST)
    assert np.isfinite(low.error) and low.error <= 1.1 * usual.error
