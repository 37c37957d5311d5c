"""The corrected step: its formula, and what it learns with less noise than a giant step."""

import numpy as np
from learned_tables import equations, network, table

from giantstep._machine.device import HOST
from giantstep.estimator.steps import corrected_step
from giantstep.estimator.steps import network as _network


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


def test_every_second_neuron_of_an_output_leaves_out_the_common_gradient():
    g, outputs = np.random.default_rng(0).standard_normal((8, 3)), np.arange(8) % 2
    found = corrected_step.without_common(g, outputs, HOST)
    for k in (0, 1):
        mine = np.flatnonzero(outputs == k)
        common = g[mine].mean(axis=0)
        np.testing.assert_allclose(found[mine[::2]], g[mine[::2]] - common)
        np.testing.assert_allclose(found[mine[1::2]], g[mine[1::2]])
