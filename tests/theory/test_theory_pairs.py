"""Symmetric networks after a step: what they must agree with where pairs do not matter, and simulations."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep.experiment import draw
from giantstep.functions._gaussian_averages import averages, together
from giantstep.simulate import train
from giantstep.theory.one_step.parameters import parameters
from giantstep.theory.pairs._errors import errors
from giantstep.theory.pairs._fixed_point import derivatives, solve
from giantstep.theory.pairs._rows import stepped_pairs


def experiment(
    eta=8.0, target="x1 + H2(x2)/sqrt(2)", sigma="relu", d=200, n=600, p=300, penalty=0.1, step=None, **network
):
    own: dict[str, Any] = {"symmetric": True} | network
    return gs.Setting(
        gs.Gaussian(d),
        gs.target(target, noise=0.3),
        gs.Network(p, sigma, **own),
        gs.Protocol((gs.GiantStep(n, eta, **(step or {})),), gs.Ridge(n, penalty)),
    )


def made(setting):
    return stepped_pairs(*parameters(setting))


def test_without_a_move_the_neurons_of_a_pair_are_equal():
    """As many features as pairs, at half the penalty: the theory of random features says so by itself."""
    still = experiment(1e-6)
    none = replace(still, protocol=gs.Protocol((), still.protocol.readout))
    for name in ("test_error", "train_error", "train_objective"):
        assert np.isclose(getattr(gs.theory(still), name), getattr(gs.theory(none), name), rtol=2e-3)


def test_pairs_of_independent_neurons_are_no_pairs():
    """Without what the two have in common the blocks are diagonal, and the theory is that of a network without pairs."""
    setting = experiment()
    one = made(setting)
    f, own = one.features, one.features.left == one.features.right
    alone = f._replace(noise=f.noise * own[:, None], variance=f.variance * own)
    signal = one.signal._replace(variance=one.signal.variance * own)
    at = solve(alone, 0.1)
    found = errors(one._replace(features=alone, signal=signal, signs=one.signs * own), 0.1, at)
    plain = gs.theory(experiment(symmetric=False))
    assert np.allclose(found[:3], [plain.test_error, plain.train_error, plain.train_objective], rtol=1e-6)


@pytest.mark.parametrize("sigma", ["relu", "tanh(x + 0.8)"])
def test_the_errors_are_derivatives_of_the_objective(sigma):
    one = made(experiment(sigma=sigma))
    at = [errors(one, lam, solve(one.features, lam)) for lam in 0.1 * np.exp([-1e-3, 0.0, 1e-3])]
    slope = (at[2].objective - at[0].objective) / 2e-3
    assert np.isclose(at[1].train, at[1].objective - slope, rtol=1e-5)


def test_the_derivatives_are_those_of_the_map():
    """Symmetric moves of Q and moves of alpha against differences."""
    f = made(experiment(sigma="tanh(x + 0.8)")).features
    at = solve(f, 0.1)
    assert at.residual < 1e-9
    alpha, rng = f.pi / (1 + at.delta), np.random.default_rng(0)
    move = rng.standard_normal((at.q.size // 4, 2, 2))
    dq, da, h = (move + np.swapaxes(move, 1, 2)).ravel() * np.abs(at.q), rng.standard_normal(alpha.size) * alpha, 1e-5
    up, down = (derivatives(f, 0.1, at.q + s * h * dq, alpha + s * h * da) for s in (1, -1))
    here = derivatives(f, 0.1, at.q, alpha)
    assert np.allclose((up.right - down.right) / (2 * h), here.slope @ da - here.coupling @ dq, rtol=1e-5, atol=1e-8)
    expected = (f.omega[:, None] * here.slope).T @ dq + here.d_trace @ da
    assert np.allclose((up.trace - down.trace) / (2 * h), expected, rtol=1e-5, atol=1e-8)


@pytest.mark.parametrize("sigma", ["relu", "tanh(x + 0.8)"])
def test_the_mean_of_a_product(sigma):
    f = gs.Network(2, sigma).activation
    t, b = np.array([0.3, -1.2]), np.array([1.0, 1.3])
    same = together(f, (t, t), (b, b), np.ones(2), f.kinks)
    assert np.allclose(same, averages(f, t, b, f.kinks).square, rtol=1e-4)
    apart = together(f, (t, -t), (b, b), np.zeros(2), f.kinks)
    assert np.allclose(apart, averages(f, t, b, f.kinks).mean * averages(f, -t, b, f.kinks).mean, rtol=1e-5)
    if f.kinks:  # E relu(z) relu(z') = (sqrt(1 - r^2) + r (pi - arccos r))/(2 pi)
        r = np.array([-0.4, 0.7])
        exact = (np.sqrt(1 - r**2) + r * (np.pi - np.arccos(r))) / (2 * np.pi)
        assert np.allclose(together(f, (0 * r, 0 * r), (1 + 0 * r, 1 + 0 * r), r, f.kinks), exact, rtol=1e-5)


@pytest.mark.parametrize(
    "changes",
    [
        {},
        {"sigma": "tanh(x + 0.8)", "target": "x1 + x1*x2", "eta": 12.0},
        {"sigma": "gelu", "step": {"update": "rank1"}, "second_layer": "constant", "penalty": 0.01},
    ],
)
def test_against_simulation(changes):
    setting = experiment(**changes)
    theory, found = gs.theory(setting), gs.simulate(setting, range(10), n_test=2000, progress=False).mean()
    for name in ("test_error", "train_error"):
        measured = getattr(found, name)
        gap = abs(getattr(theory, name) / measured - 1)
        assert gap < 0.02 + 3 * getattr(found, f"{name}_se") / measured
    assert np.allclose(theory.captured, found.captured, rtol=0.15, atol=2e-3)


@pytest.mark.parametrize("sigma", ["relu", "tanh"])
def test_the_rows_of_a_pair(sigma):
    """Mean lengths and inner products of trained rows without their part along beta: what is white has opposite signs."""
    setting = experiment(25.0, "x1", sigma, d=300, n=600, p=600)
    W, (X, y) = train(setting, 0).final, draw.rows(setting, 0, draw.step_batches(setting)[0])
    v = X.T @ y / np.linalg.norm(X.T @ y)
    rest = W - np.outer(W @ v, v)
    f = made(setting).features
    B, own = f.modes @ f.variance, f.left == f.right
    mean = lambda entries: np.sum((f.omega * B)[entries]) / 2  # noqa: E731
    assert np.isclose(np.mean(np.sum(rest**2, axis=1)), mean(own), rtol=0.03)
    assert np.isclose(np.mean(np.sum(rest * rest[::-1], axis=1)), mean(~own), rtol=0.03)
    assert mean(own) - mean(~own) > 0.1  # and the two differ
