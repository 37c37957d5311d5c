"""Learning a table: streaming, and choices that do not fool themselves."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from learned_tables import RELU, table

import giantstep as gs
from giantstep._machine.device import HOST
from giantstep.estimator import GiantStepRegressor, fit
from giantstep.estimator.steps import directions
from giantstep.estimator.steps import network as _network
from giantstep.estimator.steps.network import Table


def test_streaming_changes_nothing(monkeypatch):
    rows = table(900, 6, 9, weights=True)
    wanted = fit.Wanted(32, RELU)
    one = fit.learn(rows, wanted, np.random.default_rng(0), HOST)
    monkeypatch.setattr(_network, "CHUNK", 256 * 38)
    many = fit.learn(rows, wanted, np.random.default_rng(0), HOST)
    assert (one.steps, one.eta, one.batch) == (many.steps, many.eta, many.batch)
    np.testing.assert_allclose(one.layer.W, many.layer.W, rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(one.fitted.coefficients, many.fitted.coefficients, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(one.loo_error, many.loo_error, rtol=1e-9)


def test_noise_is_not_learned():
    """Directions chosen on all rows would fit noise: judged on rows they have not seen they do not."""
    rng = np.random.default_rng(0)
    rows = Table(rng.standard_normal((600, 150)), rng.standard_normal((600, 1)), np.ones(600))
    found = fit.learn(rows, fit.Wanted(64, RELU), np.random.default_rng(1), HOST)
    assert found.loo_error > 0.95
    strength = directions.strengths(found.gradient, 1)[0][0]
    assert strength < directions.null_level(found.null)
    stepped = fit.learn(rows, fit.Wanted(64, RELU, steps=2, penalty=0.03), np.random.default_rng(1), HOST)
    fooled = _network.left_out(stepped.fitted, _network.pieces(rows, stepped.layer, HOST), HOST)
    assert np.mean(fooled**2) < 0.95 < 1.0 < stepped.loo_error  # on the rows of the steps the error seems to be 0.91


def test_the_error_told_is_the_error_met():
    """Leave-one-out on held-out rows against 20000 new rows."""
    ratios = []
    for seed in range(4):
        rows, new = table(1500, 30, seed), table(20000, 30, seed + 100)
        found = fit.learn(rows, fit.Wanted(96, RELU), np.random.default_rng(seed), HOST)
        error = np.mean(
            [np.mean((p.Y - found.fitted.predict(p)) ** 2) for p in _network.TableStream(new, found.layer, HOST)]
        )
        ratios.append(found.loo_error / error)
    # the network told about is half as wide and has seen four fifths of the rows: its error is larger
    assert 0.9 < np.mean(ratios) < 2.5, ratios


def test_fresh_batches_are_disjoint_and_judged_on_the_last():
    rows = table(800, 10, 3)
    found = fit.learn(rows, fit.Wanted(64, RELU, steps=2, batch="fresh"), np.random.default_rng(0), HOST)
    assert found.batch == "fresh"
    assert len(found.rows) == 266 and len(set(found.rows)) == 266
    assert found.fitted.weight is not None and float(found.fitted.weight) == 266


def test_what_cannot_be_solved_is_said():
    """Columns that agree to the last digit and no penalty to speak of."""
    rows = table(300, 3, 0)
    rows = replace(rows, X=np.repeat(rows.X, 3, axis=1))
    with pytest.raises(gs.InputError, match="give a larger"):
        fit.learn(rows, fit.Wanted(16, RELU, steps=1, penalty=1e-300), np.random.default_rng(0), HOST)
    assert fit.learn(rows, fit.Wanted(16, RELU), np.random.default_rng(0), HOST).loo_error < 0.5


def test_held_out_rows_are_judged_by_a_fit_to_all_rows():
    """Without a step, directions know nothing: the residuals told are those of plain leave-one-out."""
    rows = table(400, 5, 11, weights=True)
    found = fit.learn(rows, fit.Wanted(64, RELU, steps=0, penalty=0.02), np.random.default_rng(0), HOST)
    assert sorted(found.rows) == list(range(400))  # five folds: every row is a judge once
    every = _network.left_out(found.fitted, _network.pieces(rows, found.layer, HOST), HOST)
    np.testing.assert_allclose(found.residuals, every[found.rows], rtol=1e-8, atol=1e-10)


def test_a_target_without_a_linear_part_is_looked_at_again_with_more_neurons():
    """Of this sample of x1 x2 the network that choices are made with sees nothing; a wider one does."""
    rng = np.random.default_rng(0)
    U = np.linalg.qr(rng.standard_normal((256, 2)))[0].T
    X, X_test = (rng.standard_normal((n, 256)).astype(np.float32) for n in (4000, 5000))
    y, truth = (np.prod(rows @ U.T, axis=1) for rows in (X, X_test))
    rows = Table(X, (y + 0.1 * rng.standard_normal(4000))[:, None], np.ones(4000))
    once = fit.Wanted(fit.width(4000), RELU)
    assert fit.learn(rows, once, np.random.default_rng(2), HOST).steps == 0
    again = fit.learn(rows, replace(once, wider=fit.wider(4000)), np.random.default_rng(2), HOST)
    test = _network.pieces(Table(X_test, truth[:, None], np.ones(5000)), again.layer, HOST)
    error = float(np.mean(np.concatenate([p.Y - again.fitted.predict(p) for p in test]) ** 2))
    assert again.steps == 3 and len(again.layer.bias) == 500 and error < 0.4


def test_where_no_step_helps_label_transforms_show_the_directions():
    """The network learns nothing of x1 x2 x3, and no wider one is tried: a kernel in the directions of |y| learns it."""
    rng = np.random.default_rng(1)
    U = np.linalg.qr(rng.standard_normal((30, 3)))[0].T
    X, T = (rng.standard_normal((n, 30)).astype(np.float32) for n in (4000, 5000))
    y, truth = (np.prod(rows @ U.T, axis=1) for rows in (X, T))
    model: Any = GiantStepRegressor(random_state=1).fit(X, y + 0.1 * rng.standard_normal(4000))
    assert model.steps_ == 0 and min(model.loo_errors_) > 0.8 and model.width_ < fit.wider(4000)
    assert np.mean((model.predict(T) - truth) ** 2) < 0.02
