"""The conditional Gaussian equivalent: its moments, its exact cases, the network it stands for, and what it refuses."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep import measure
from giantstep._machine.backend import jnp
from giantstep._training.plan import make_plan
from giantstep.equivalent import _moments as moments
from giantstep.experiment import draw
from giantstep.simulate import train

SEEDS = range(12)


@pytest.fixture(scope="module", autouse=True)
def one_group_size():
    """Groups of one size, so that all runs of one shape share what JAX compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("giantstep._training.plan.MAX_SEEDS", 6)
        yield


def change(setting, *, steps=None, readout=None, **network):
    protocol = setting.protocol
    protocol = gs.Protocol(protocol.steps if steps is None else steps, readout or protocol.readout)
    return dataclasses.replace(setting, protocol=protocol, network=dataclasses.replace(setting.network, **network))


def bent(x):
    return jnp.where(x > 0.3, jnp.sin(x - 0.3) + 0.03, x**2 / 3)


@pytest.mark.parametrize(
    "sigma", ["relu", "tanh", "erf", gs.activation(bent, kinks=(0.3,))], ids=["relu", "tanh", "erf", "callable"]
)
def test_moments_against_a_dense_sum(sigma, seed):
    """Integrals over y = u + tau z by midpoints, fine enough for any kink: errors of order 1e-7."""
    sigma, rng = gs.activation(sigma), np.random.default_rng(seed)
    a = rng.standard_normal((1, 12))
    spread, tau = 2 * np.abs(a), np.sqrt(0.6 + a**2 / 2)
    over = moments.GridRange.of(spread[0], tau[0])
    table, error = moments.tabulate(sigma, [over], tau, over.cells, np.float64)
    u = spread[:, None, :] * rng.standard_normal((1, 8, 12))
    z = (np.arange(-24_000, 24_000) + 0.5) / 3000
    w = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / 3000
    values = np.asarray(sigma(u[..., None] + tau[:, None, :, None] * z))
    m, gain, square = values @ w, values @ (w * z) / tau[:, None], values**2 @ w
    nu = np.sqrt(np.maximum(square - m**2 - tau[:, None] ** 2 * gain**2, 0.0))
    for found, exact in zip(moments.look_up(table, u), (m, gain, nu), strict=True):
        np.testing.assert_allclose(found, exact, atol=2e-6)
    assert error < 1e-6


def test_the_status_tells_of_a_step_too_large_for_the_grid(small):
    rows = gs.equivalent(change(small, steps=(gs.GiantStep(90, 1e5, update="rank1"),)), "conditional", n_test=200)
    assert "too large for the grid" in str(rows.status) and not rows.status.ok


def replaced(setting, seed, batch, k):
    """The features of a batch, written out with a dense sum for the moments."""
    sigma, (X, _) = setting.network.activation, draw.rows(setting, seed, batch)
    W0, W = draw.weights(setting, seed)[0], train(setting, seed).final
    V = np.linalg.svd(W - W0)[2][:k]
    s = W @ V.T
    outside = W - s @ V
    tau, u = np.linalg.norm(outside, axis=1), X @ V.T @ s.T
    z = (np.arange(-600, 600) + 0.5) / 100
    w = np.exp(-0.5 * z**2) / np.sqrt(2 * np.pi) / 100
    values = np.asarray(sigma(u[..., None] + tau[:, None] * z))
    m, gain = values @ w, values @ (w * z) / tau
    nu = np.sqrt(np.maximum(values**2 @ w - m**2 - tau**2 * gain**2, 0.0))
    Z = draw.feature_noise(setting, seed, batch)
    if setting.network.symmetric:
        rho = np.abs(np.sum(outside * outside[::-1], axis=1)) / (tau * tau[::-1])
        Z = rho * Z + np.sqrt(1 - rho**2) * draw.feature_noise(setting, seed, batch, apart=True)
    return m + gain * (X @ outside.T) + nu * Z


TWO = (gs.GiantStep(90, 2.0, residual="full"), gs.GiantStep(None, 4.0, batch="reuse"))
CASES = {
    "one step": ({}, 1),
    "two steps, more neurons than samples": ({"steps": TWO, "width": 90}, 2),
    "pairs": ({"symmetric": True, "second_layer": "rademacher"}, 1),
    "fewer neurons than inputs, two directions after one step": ({"width": 20}, 2),
}


@pytest.mark.parametrize("case", CASES)
def test_against_numpy(small, case, seed):
    changes, k = CASES[case]
    setting = change(small, **changes)
    found = gs.equivalent(setting, "conditional", seed, n_test=200, directions=k)
    F, y = (
        replaced(setting, seed, draw.readout_batch(setting), k),
        draw.rows(setting, seed, draw.readout_batch(setting))[1],
    )
    b = np.linalg.solve(F.T @ F / 70 + 0.05 * np.eye(setting.p), F.T @ y / 70)
    test = draw.test_batch(200)
    errors = draw.rows(setting, seed, test)[1] - replaced(setting, seed, test, k) @ b
    assert found.risk == pytest.approx(np.mean(errors**2), rel=1e-5)
    assert found.train_error == pytest.approx(np.mean((y - F @ b) ** 2), rel=1e-5)
    network = gs.simulate(setting, seed, n_test=200)
    np.testing.assert_allclose(found.overlaps, network.overlaps)


def test_without_directions_it_is_the_gaussian_equivalent(small):
    """Up to the rows' lengths, which are one without steps."""
    still = change(small, steps=(), symmetric=True)
    for setting in (still, change(small, steps=(gs.GiantStep(90, 0.0),))):
        one, other = (gs.equivalent(setting, m, 1, n_test=200) for m in ("conditional", "gaussian"))
        for name in ("test_error", "train_error", "train_objective"):
            assert getattr(one, name) == pytest.approx(getattr(other, name), rel=1e-9)
        assert setting is not still or str(one.status) == "ok"


def test_a_linear_network_is_its_own_equivalent(small):
    setting = change(small, activation="2*x + 0.5", steps=TWO)
    network, model = gs.simulate(setting, n_test=200), gs.equivalent(setting, "conditional", n_test=200)
    for name in ("test_error", "train_error", "train_objective"):
        assert getattr(model, name) == pytest.approx(getattr(network, name), rel=1e-7)


@pytest.mark.parametrize("pairs", [True])
def test_two_giant_steps_equal_their_conditional_model_and_not_the_gaussian_one(pairs):
    network = gs.Network(120, "relu", scale="1/p", second_layer="rademacher" if pairs else "gaussian", symmetric=pairs)
    step = gs.GiantStep(480, 120.0, residual="full" if pairs else "target")
    target = gs.target("x1 + x2 + x1^2 - x2^2")
    setting = gs.Setting(gs.Gaussian(120), target, network, gs.Protocol((step, step), gs.Ridge(480, 0.1)))
    simulated = gs.simulate(setting, SEEDS, n_test=1500, method="dense")

    def gap(model, name):
        x, y = (
            np.asarray(getattr(simulated, name)),
            np.asarray(getattr(gs.equivalent(setting, model, SEEDS, n_test=1500), name)),
        )
        return measure.mean_and_error((y - x) / x.mean())

    mean, error = gap("conditional", "test_error")
    assert abs(mean) < min(4 * error, 0.06)
    far, spread = gap("gaussian", "test_error")
    assert far > max(8 * spread, 0.2)


def test_lists_are_single_runs_side_by_side(small):
    etas = (1.0, 4.0)
    lists = change(small, steps=(gs.GiantStep(90, etas),), readout=gs.Ridge(70, (1e-2, 0.05)))
    together = gs.equivalent(lists, "conditional", range(3), n_test=200)
    assert together.axes == ("eta", "penalty", "seed") and together.test_error.shape == (2, 2, 3)
    for i, eta in enumerate(etas):
        one = change(lists, steps=(gs.GiantStep(90, eta),), readout=gs.Ridge(70, 0.05))
        alone = gs.equivalent(one, "conditional", 1, n_test=200)
        assert together.test_error[i, 1, 1] == pytest.approx(alone.test_error, rel=1e-6)
    early = change(small, steps=(gs.GiantStep(90, etas), gs.GiantStep(90, 2.0)))
    both = change(small, steps=(gs.GiantStep(90, 4.0), gs.GiantStep(90, 2.0)))
    found = gs.equivalent(early, "conditional", n_test=200).test_error[1]
    assert found == pytest.approx(gs.equivalent(both, "conditional", n_test=200).test_error, rel=1e-6)


def test_the_same_numbers_whatever_the_chunking(small, monkeypatch):
    from giantstep._machine import random

    pairs = change(small, symmetric=True)
    monkeypatch.setattr(random, "BLOCK", 50 * 40)  # blocks of 66 rows of inputs and 50 of noise
    whole = gs.equivalent(pairs, "conditional", range(2), n_test=132)
    monkeypatch.setattr("giantstep._training.plan.CHUNK_BYTES", 1.0)
    pieces = gs.equivalent(pairs, "conditional", range(2), n_test=132)
    np.testing.assert_allclose(pieces.test_error, whole.test_error, rtol=1e-9)
    np.testing.assert_allclose(pieces.train_error, whole.train_error, rtol=1e-9)
    assert make_plan(pairs, 1, 132, 8, None, 8, 10**4).bytes > make_plan(pairs, 1, 132, 8, None).bytes


def test_the_status_says_the_directions(small):
    wide = dataclasses.replace(change(small, width=60, steps=(gs.GiantStep(200, 8.0),)), data=gs.Gaussian(50))
    one, two = (str(gs.equivalent(wide, "conditional", range(2), n_test=200, directions=k).status) for k in (None, 3))
    assert "takes 1 direction as given. W - W_0 has the singular value" in one and "bulk of the others" in one
    assert "takes 3 directions as given" in two and "stand" in two
    reuse = change(small, readout=gs.Ridge(None, 0.05, batch="reuse"))
    assert "assumes new samples" in str(gs.equivalent(reuse, "conditional", n_test=200).status)
    overflow = gs.equivalent(change(small, steps=(gs.GiantStep(90, 1e200),)), "conditional", n_test=200)
    assert not overflow.status.ok


def test_refusals(small):
    refused: tuple[tuple[Any, str, dict[str, Any], str], ...] = (
        (small, "conditional", {"directions": -1}, "directions must be"),
        (small, "conditional", {"directions": 30}, "at most 29 here"),
        (change(small, width=20), "conditional", {"directions": 21}, "at most 20 here"),
        (small, "conditional", {"directions": 1.5}, "directions must be"),
        (change(small, steps=()), "conditional", {"directions": 1}, "no step"),
        (small, "gaussian", {"directions": 1}, "option of model='conditional'"),
        (small, "spiked", {"directions": 1}, "option of model='conditional'"),
        (small, "conditional", {"degree": 1}, "option of model='spiked'"),
        (dataclasses.replace(small, protocol=gs.Protocol(small.protocol.steps)), "conditional", {}, "needs a readout"),
    )
    for setting, model, options, words in refused:
        with pytest.raises(gs.InputError, match=words):
            gs.equivalent(setting, model, **options)
    large = change(small, width=10**6, readout=gs.Ridge(10**6, 1.0))
    with pytest.raises(gs.InputError, match=r"GiB may be used; a width of \d+ would fit"):
        gs.equivalent(large, "conditional", memory=4)
