"""The models beside the network that are not kernels: boosted trees for jumps, and a linear model for weak signals."""

import pickle
from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import RidgeCV

from giantstep.estimator import GiantStepClassifier, GiantStepRegressor
from giantstep.estimator.mix import _trees as trees
from giantstep.estimator.mix._trees import (
    KINDS,
    TreeRun,
    TreeTrial,
    boosted,
    learned_axes,
    telling_columns,
    tree_inputs,
    tried_trees,
)
from giantstep.estimator.steps._search import Fold
from giantstep.estimator.steps.network import Table


def jumps(n: int, seed: int, d: int = 12, turned: bool = False):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((d, d)))[0] if turned else np.eye(d)
    Z = X @ U
    return X, np.sign(Z[:, 0]) + np.sign(Z[:, 1] - 0.5) * np.maximum(Z[:, 2], 0) + np.sign(Z[:, 3]) / 2


def error(model, X, y):
    return np.mean((model.predict(X) - y) ** 2) / y.var()


def test_jumps_along_columns_are_learned_as_well_as_by_boosting():
    (X, y), (T, t) = jumps(1500, 2), jumps(4000, 3)
    y = y + 0.3 * np.random.default_rng(4).standard_normal(len(y))
    model = GiantStepRegressor().fit(X, y)
    assert model.weights_["trees"] > 0.5
    assert error(model, T, t) < 1.2 * error(HistGradientBoostingRegressor(random_state=0).fit(X, y), T, t)
    assert "boosted trees" in str(model.explain())
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(T), model.predict(T))


def test_learned_directions_are_columns_of_the_trees():
    """A jump along a turned direction: one threshold where the direction is known, many without it."""
    (X, y), (T, t) = jumps(1500, 5, turned=True), jumps(4000, 6, turned=True)
    table = Table(X, y[:, None], np.ones(len(y)))
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    known = tree_inputs(table, learned_axes(U[:, :4].T * [[4.0], [3.0], [2.0], [1.0]]))
    np.testing.assert_allclose(np.abs(known.axes @ U[:, :4]), np.eye(4), atol=1e-9)
    errors = [np.mean((boosted(table, i, 50).predict(T)[:, 0] - t) ** 2) for i in (known, tree_inputs(table, None))]
    assert errors[0] < 0.3 * errors[1]


def test_trees_that_go_on_are_the_same_trees():
    X, y = jumps(300, 7)
    table = Table(X, np.stack([y, X[:, 5]], axis=1), np.random.default_rng(0).uniform(0.5, 2, 300))
    inputs = tree_inputs(table, None)
    whole = boosted(table, inputs, 20).predict(X)
    np.testing.assert_allclose(boosted(table, inputs, 20, boosted(table, inputs, 8)).predict(X), whole, atol=1e-12)
    assert whole.shape == (300, 2)


def test_of_many_columns_trees_see_those_that_matter():
    X = np.random.default_rng(8).standard_normal((1000, 90))
    table = Table(X, (np.sign(X[:, 70]) + X[:, 3] ** 2)[:, None], np.ones(1000))
    columns = tree_inputs(table, None).columns
    assert {3, 70} <= set(columns) and len(columns) < 20
    noise = Table(X, np.random.default_rng(9).standard_normal((1000, 1)), np.ones(1000))
    assert 1 <= len(tree_inputs(noise, None).columns) < 10


def test_a_column_that_a_kernel_uses_is_seen_though_it_says_nothing_by_itself():
    X = np.random.default_rng(8).standard_normal((1000, 20))
    table = Table(X, (X[:, 3] + np.sin(3 * X[:, 7] * X[:, 9]))[:, None], np.ones(1000))
    assert set(telling_columns(table, np.arange(0))) == {3}
    assert set(telling_columns(table, np.array([7, 9]))) == {3, 7, 9}


def test_small_trees_for_sums_and_large_ones_for_products():
    X = np.random.default_rng(14).standard_normal((3000, 6))
    for y, kind in ((np.abs(X).sum(axis=1), KINDS[1]), (4 * np.prod(np.sign(X[:, :3] + 0.3), axis=1), KINDS[0])):
        y = y + 0.3 * np.random.default_rng(15).standard_normal(len(y))
        table = Table(X, (y - y.mean())[:, None] / y.std(), np.ones(len(y)))
        part = Fold(table.take(np.arange(2400)), table.take(np.arange(2400, 3000)), np.arange(2400, 3000), (X, X))
        best = tried_trees([part], [X[:0]], [np.arange(6)], 1.0, lambda trial: True, None)
        assert best is not None and best.kind is kind


def test_weak_linear_signals_get_a_linear_model():
    """Two standard errors leave one draw in some tens to chance: of the seeds 12 to 23, it is seed 12."""
    rng = np.random.default_rng(13)
    X, u = rng.standard_normal((1500, 15)), rng.standard_normal(15) / np.sqrt(15)
    T = rng.standard_normal((4000, 15))
    y = X @ u + 3 * rng.standard_normal(1500)
    model = GiantStepRegressor().fit(X, y)
    assert model.weights_ == {"network": 0.0, "linear": 1.0}
    assert error(model, T, T @ u) < 1.1 * error(RidgeCV(np.logspace(-3, 4, 15)).fit(X, y), T, T @ u)
    assert "It is a linear model." in str(model.explain())


def test_classes_beyond_a_threshold():
    (X, y), (T, t) = jumps(2000, 12, d=6), jumps(2000, 13, d=6)
    model = GiantStepClassifier().fit(X, y > 0.2)
    assert model.weights_["trees"] > 0 and np.mean(model.predict(T) != (t > 0.2)) < 0.05


def test_learned_directions_must_be_much_better():
    """The true directions of turned jumps halve the error of rough trees; the columns of a sum do not."""
    U = np.linalg.qr(np.random.default_rng(1).standard_normal((12, 12)))[0]
    (X, y), sums = jumps(3000, 16, turned=True), np.abs(jumps(3000, 16)[0][:, :6]).sum(axis=1)
    for labels, axes, turned in ((y, U[:, :4].T, True), (sums, np.eye(12)[:6], False)):
        table = Table(X, (labels - labels.mean())[:, None] / labels.std(), np.ones(len(X)))
        part = Fold(table.take(np.arange(2400)), table.take(np.arange(2400, 3000)), np.arange(2400, 3000), (X, X))
        best = tried_trees([part], [axes], [np.arange(12)], 1.0, lambda trial: True, None)
        assert best is not None and best.turned is turned
        assert tried_trees([part], [axes], [np.arange(12)], 1.0, lambda trial: False, None) is None


def test_trees_end_where_others_are_far_ahead():
    """Rough trees that are hopeless are the last ones; the first trees of both kinds are, if they have no weight. Where no
    kernel in columns is near, trees see the learned directions and the columns that say something by themselves."""
    X, y = jumps(2000, 17)
    table = Table(X, (y - y.mean())[:, None] / y.std(), np.ones(len(X)))
    part = Fold(table.take(np.arange(1500)), table.take(np.arange(1500, 2000)), np.arange(1500, 2000), (X, X))
    tried: list[int] = []

    def no(trial: TreeTrial) -> bool:
        tried.append(trial.count)
        return False

    assert tried_trees([part], [X[:0]], [np.arange(4)], 1e-6, no, None) is None and tried == []
    assert tried_trees([part], [X[:0]], [np.arange(4)], 1.0, no, None) is None and tried == [KINDS[0].first]
    seen = tried_trees([part], [np.eye(12)[:2]], None, 1.0, lambda trial: True, None)
    assert seen is not None and seen.turned and seen.columns is not None and len(seen.columns) < 12


def test_trees_begin_in_both_choices_of_columns_where_these_are_alike_and_near():
    """A choice by twenty rough trees is luck there. Where the other models are far ahead, one choice is enough."""
    X, y = jumps(2000, 18)
    table = Table(X, (y - y.mean())[:, None] / y.std(), np.ones(len(X)))
    part = Fold(table.take(np.arange(1500)), table.take(np.arange(1500, 2000)), np.arange(1500, 2000), (X, X))
    seen = trees._seen_best([part], [X[:0]], [np.arange(4)], 1.0)
    errors = [trial.error for _, trial in seen]
    assert errors == sorted(errors) and len(errors) == 2 and errors[1] < trees.BEATEN * errors[0]
    assert {12 if run.columns[0] is None else len(run.columns[0]) for run, _ in seen} == {4, 12}
    (one,) = trees._seen_best([part], [X[:0]], [np.arange(4)], errors[0] / 2)
    assert one[1].error == errors[0]


@pytest.mark.parametrize(
    ("slow_start", "winner"), [((0.26, 0.145, 0.11, 0.1, 0.1), 1), ((0.26, 0.18, 0.11, 0.1, 0.1), 0)]
)
def test_trees_that_are_behind_go_on_while_their_error_falls_faster(monkeypatch, slow_start, winner):
    """Errors of a fit in which the kind with the better start was the worse one in the end; if it is far behind, it ends."""
    falls = {KINDS[0]: (0.227, 0.138, 0.117, 0.11, 0.11), KINDS[1]: slow_start}

    def judged(run):
        error = falls[run.kind][int(np.log2(run.count / run.kind.first))]
        return TreeTrial(run.kind, run.count, None, False, (), error)

    monkeypatch.setattr(TreeRun, "grown", lambda run, count: replace(run, count=count))
    monkeypatch.setattr(TreeRun, "judged", judged)
    best = trees._grown_on([trees.begun(TreeRun((), (), (), kind)) for kind in KINDS])
    assert best.kind is KINDS[winner] and best.error == min(falls[KINDS[winner]])
