"""Learning a table: the corrected step, leave-one-out with weights, streaming, and choices that do not fool themselves."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.device import HOST
from giantstep.estimator import fit
from giantstep.estimator.steps import corrected_step, directions, search
from giantstep.estimator.steps import network as _network
from giantstep.estimator.steps.network import FirstLayer, Table
from giantstep.functions.activation import activation

RELU = activation("relu")


def table(n: int, d: int, seed: int, noise: float = 0.1, weights: bool = False, outputs: int = 1) -> Table:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d))
    Y = np.stack([X[:, j] + X[:, j] * X[:, j + 1] + noise * rng.standard_normal(n) for j in range(outputs)], axis=1)
    return Table(X, Y / Y.std(axis=0), rng.integers(1, 4, n).astype(float) if weights else np.ones(n))


def network(p: int, d: int, seed: int) -> FirstLayer:
    rng = np.random.default_rng(seed)
    return FirstLayer(rng.standard_normal((p, d)) / np.sqrt(d), rng.standard_normal(p), RELU)


def equations(rows: Table, first: FirstLayer):
    held = list(_network.pieces(rows, first, HOST))
    return held, _network.normal(
        _network.moments(held, _network.linear_moments(rows, first, HOST), HOST), first.q, HOST
    )


def test_the_fit_is_that_of_ridge():
    rows, first = table(80, 5, 0), network(12, 5, 1)
    held, normal = equations(rows, first)
    fitted = _network.solve(normal, 0.03, HOST)
    F = held[0].features
    other = gs.ridge(F - F.mean(axis=0), rows.Y[:, 0] - rows.Y[:, 0].mean(), 0.03)
    np.testing.assert_allclose(fitted.coefficients[:, 0], other.coefficients, rtol=1e-9, atol=1e-11)


@pytest.mark.parametrize("weighted", [False, True])
def test_left_out_rows_are_left_out(weighted):
    """Every row by a fit without it: the objective of the others, their penalty term n lam |b|^2 with the old n."""
    rows, first = table(40, 4, 2, weights=weighted, outputs=2), network(6, 4, 3)
    held, normal = equations(rows, first)
    found = _network.left_out(_network.solve(normal, 0.05, HOST), held, HOST)
    F, total = held[0].features, rows.weights.sum()
    for i in range(0, 40, 7):
        w = np.where(np.arange(40) == i, 0.0, rows.weights)
        mean, mean_y = w @ F / w.sum(), w @ rows.Y / w.sum()
        A = (F - mean).T @ (w[:, None] * (F - mean)) / total + 0.05 * np.eye(F.shape[1])
        b = np.linalg.solve(A, (F - mean).T @ (w[:, None] * (rows.Y - mean_y)) / total)
        np.testing.assert_allclose(found[i], rows.Y[i] - mean_y - (F[i] - mean) @ b, rtol=1e-8, atol=1e-10)


def test_weights_repeat_rows():
    rows, first = table(60, 4, 4, weights=True), network(8, 4, 5)
    repeated = rows.take(np.repeat(np.arange(60), rows.weights.astype(int)))
    one = _network.solve(equations(rows, first)[1], 0.1, HOST)
    two = _network.solve(equations(replace(repeated, weights=np.ones(len(repeated))), first)[1], 0.1, HOST)
    np.testing.assert_allclose(one.coefficients, two.coefficients, rtol=1e-10, atol=1e-12)


def test_the_corrected_gradient_is_its_formula():
    """Against plain loops: grad f by finite differences, the residual's pull row by row."""
    rows, first = table(50, 3, 6, outputs=2), network(5, 3, 7)
    held, normal = equations(rows, first)
    fitted, outputs = _network.solve(normal, 0.1, HOST), np.array([0, 1, 0, 1, 0])
    spread = rows.X.T @ rows.X / 50
    found = corrected_step.descent(held, fitted, outputs, corrected_step.damped(spread, HOST), HOST)

    def f(X):
        Z = np.concatenate([np.maximum(X @ first.W.T + first.bias, 0), X], axis=1)
        return Z @ fitted.coefficients + fitted.intercept

    S = (spread + corrected_step.DAMPING * np.eye(3)) / (1 + corrected_step.DAMPING)
    residual, active = rows.Y - f(rows.X), rows.X @ first.W.T + first.bias > 0
    step = 1e-6
    grad = np.stack([(f(rows.X + step * e) - f(rows.X - step * e)) / (2 * step) for e in np.eye(3)], axis=2)
    for i, c in enumerate(outputs):
        explained = np.mean(active[:, i, None] * grad[:, c], axis=0)
        pull = np.mean((residual[:, c] * active[:, i])[:, None] * rows.X, axis=0)
        np.testing.assert_allclose(found[i], explained + np.linalg.solve(S, pull), rtol=1e-5, atol=1e-7)


def test_the_corrected_step_learns_what_a_giant_step_learns_with_less_noise(monkeypatch):
    """Stein: off the neuron's own direction both estimate E[sigma' grad y], z2 here; the residual is half of the noise."""
    monkeypatch.setattr(corrected_step, "DAMPING", 0.0)
    d, n, first = 20, 2000, network(4, 20, 8)
    first = first.with_rows(np.eye(4, d) * [[2.0], [0.0], [2.0], [0.0]])  # along x1, or by the bias alone
    plain, better = [], []
    for seed in range(12):
        rows = table(n, d, seed, noise=0.0)
        held, normal = equations(rows, first)
        fitted = _network.solve(normal, 1e-3, HOST)
        cov = corrected_step.damped(rows.X.T @ rows.X / n, HOST)
        better.append(corrected_step.descent(held, fitted, np.zeros(4, int), cov, HOST)[[0, 2], 1:])
        slopes = np.asarray(held[0].slopes)[:, [0, 2]]
        plain.append((slopes * rows.Y).T @ rows.X[:, 1:] / n)
    plain, better = np.array(plain), np.array(better)
    error = np.sqrt(plain.var(axis=0).sum() / 12)
    assert np.linalg.norm(plain.mean(axis=0) - better.mean(axis=0)) < 3 * error
    ratio = better.var(axis=0).sum() / plain.var(axis=0).sum()
    assert ratio < 0.75  # 0.46 measured


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


def test_every_second_neuron_of_an_output_leaves_out_the_common_gradient():
    g, outputs = np.random.default_rng(0).standard_normal((8, 3)), np.arange(8) % 2
    found = corrected_step.without_common(g, outputs, HOST)
    for k in (0, 1):
        mine = np.flatnonzero(outputs == k)
        common = g[mine].mean(axis=0)
        np.testing.assert_allclose(found[mine[::2]], g[mine[::2]] - common)
        np.testing.assert_allclose(found[mine[1::2]], g[mine[1::2]])


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


def test_a_penalty_that_rounding_makes_too_small_is_raised_unless_it_was_given():
    A = np.diag([1.0, 1.0, -1e-6])  # what single precision may leave of diag(1, 1, 0)
    rounded = _network.Normal(A, np.ones((3, 1)), np.zeros(3), np.zeros(1), np.asarray(10.0))
    wanted = fit.Wanted(8, RELU)
    fitted, penalty = search.solved(rounded, -8.0, wanted, HOST)
    assert fitted.finite and penalty == pytest.approx(2e-6, rel=1e-5)
    np.testing.assert_allclose((A + penalty * np.eye(3)) @ fitted.coefficients, 1.0)
    assert not search.solved(rounded, -8.0, replace(wanted, penalty=1e-8), HOST)[0].finite
