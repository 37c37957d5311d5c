"""Bounds on generalisation gaps: every inequality against draws, limits, and an independent way."""

import json
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import wasserstein_distance

import giantstep as gs
from giantstep import system
from giantstep._machine.random import generator
from giantstep.cli import run
from giantstep.systems.bounds import simulate as measure
from giantstep.systems.bounds import theory as theory

SMALL = gs.Bounds(2, trainings=6, samples=(10, 40), n=40, steps=40, rate=0.02)


@pytest.mark.parametrize("b", [SMALL, gs.Bounds(3, 2, frequency=1.3, noise=0.4, data="gaussian")])
def test_moments_of_the_law(b):
    """tr Cov Z, the moments of r and the error of predicting zero against draws."""
    x, y = measure.draw(b, np.random.default_rng(1), 200_000)
    assert np.var(np.concatenate([x, y], axis=1), axis=0).sum() == pytest.approx(theory.spread(b), rel=0.01)
    r = np.sqrt(1 + np.sum(x**2, axis=1))
    for q in (2, 4):
        assert np.mean(r**q) ** (1 / q) == pytest.approx(theory.input_moment(b, q), rel=0.01)
    assert float(np.mean(measure.cost(y, b.loss))) == pytest.approx(theory.trivial(b), rel=0.01)


def test_norms_of_initial_weights():
    rng = np.random.default_rng(0)
    norms = np.linalg.norm(rng.normal(scale=0.3, size=(20_000, 12)), axis=1)
    for q in (2, 4):
        assert np.mean(norms**q) ** (1 / q) == pytest.approx(theory.start(12, 0.09, q), rel=0.01)


@pytest.mark.parametrize(("activation", "loss"), [("tanh", "absolute"), ("sin(x+1)", "huber")])
def test_sgd_takes_the_step_of_its_formula(activation, loss):
    """One step on one sample: dW2 = -rate g sigma(h)^T, dW1 = -rate (W2^T g o sigma'(h)) (x, 1)^T, db2 = -rate g."""
    b = replace(SMALL, d_out=2, activation=activation, loss=loss, steps=1)
    rng = np.random.default_rng(0)
    before, (x, y) = measure.initial(b, rng), measure.draw(b, rng, b.trainings, 1)
    after = measure.train(b, before, x, y)
    W1, W2, b2 = (w[0] for w in before)
    extended = np.append(x[0, 0], 1.0)
    h = W1 @ extended
    e = W2 @ np.asarray(b.activation(h)) + b2 - y[0, 0]
    g = e / np.linalg.norm(e) * (1.0 if loss == "absolute" else min(np.linalg.norm(e), 1.0))
    slopes = (
        np.outer((W2.T @ g) * np.asarray(b.activation.slope(h)), extended),
        np.outer(g, np.asarray(b.activation(h))),
        g,
    )
    for new, old, slope in zip(after, (W1, W2, b2), slopes, strict=True):
        np.testing.assert_allclose(new[0], old - b.rate * slope, atol=1e-12)


def test_a_step_on_a_batch_is_the_mean_of_steps_on_its_samples():
    b, rng = replace(SMALL, d_out=2, steps=1, batch=3), np.random.default_rng(0)
    before, (x, y) = measure.initial(b, rng), measure.draw(b, rng, b.trainings, 3)
    whole = measure.train(b, before, x, y)
    one = replace(b, batch=1)
    each = [measure.train(one, before, x[:, i : i + 1], y[:, i : i + 1]) for i in range(3)]
    for k, new in enumerate(whole):
        np.testing.assert_allclose(new, np.mean([part[k] for part in each], axis=0), atol=1e-12)
    with pytest.raises(gs.InputError, match="a batch of 50 samples needs as many training samples"):
        replace(SMALL, batch=50)
    assert "No bound on the weights is known" in " ".join(
        gs.theory(replace(SMALL, activation="relu", batch=2)).status.notes
    )


@pytest.mark.parametrize(
    "b",
    [
        replace(SMALL, rate=0.05, steps=100, batch=4),
        replace(SMALL, rate=0.05, steps=100),  # bounded, more than one pass
        replace(SMALL, activation="relu(x+1)", data="gaussian"),  # one pass, sigma(0) != 0
    ],
)
def test_the_modulus_is_below_its_bound_on_the_way(b, seed):
    """E Lambda with Frobenius norms, which the bound is of, and E v w behind it, at several numbers of steps."""
    rng = generator(seed, 9)
    start, (x, y) = measure.initial(b, rng), measure.draw(b, rng, b.trainings, b.n)
    for steps in (0, b.steps):
        now = replace(b, steps=steps)
        W1, W2, _ = measure.train(now, start, x, y) if steps else start
        product = np.linalg.norm(W1, axis=(1, 2)) * np.linalg.norm(W2, axis=(1, 2))
        ways = [theory.growing(now, 2)] if steps <= b.n else []
        ways += [theory.polynomial(now, 2)] if np.isfinite(b.height) else []
        assert np.mean(product) - 3 * np.std(product) / b.trainings**0.5 < min(ways)
        assert np.mean(measure.modulus(now, (W1, W2, np.zeros(1)))) < theory.modulus(now)[0]
    if np.isfinite(b.height):
        assert theory.polynomial(replace(b, steps=0), 2) == pytest.approx(np.sqrt(b.width * b.d_out))


@pytest.mark.parametrize("data", ["cube", "gaussian"])
def test_the_bounds_of_the_weights_are_those_of_the_worst_steps(data):
    """Norms that grow as fast as a step allows, drawn: E v w is below the bound, by a little, and so is the root of E (v w)^2."""
    b = gs.Bounds(2, activation="sin(x+0.4)", rate=0.01, steps=120, n=120, data=data)
    rng = np.random.default_rng(0)
    x, _ = measure.draw(b, rng, 4000, b.steps)
    r = np.sqrt(1 + np.sum(x**2, axis=2))
    w0 = np.sqrt(rng.chisquare(b.width * 3, 4000) / 3)
    v0 = np.sqrt(rng.chisquare(b.width, 4000) / b.width)
    added, root = abs(float(b.activation(0.0))) * b.width**0.5, b.width**0.5
    once, bounded = np.stack([v0, w0]), np.stack([v0, w0])
    for k in range(b.steps):
        once = once + b.rate * np.stack([r[:, k] * once[1] + added, r[:, k] * once[0]])
        bounded = bounded + b.rate * np.stack([root + 0 * v0, r[:, k] * bounded[0]])
    for (v, w), way, slack in ((once, theory.growing, 1.3), (bounded, theory.polynomial, 1.1)):
        assert np.mean(v * w) < way(b, 2) < slack * np.mean(v * w)
        assert np.mean((v * w) ** 2) ** 0.5 < way(b, 4) < slack * np.mean((v * w) ** 2) ** 0.5


@settings(max_examples=25)
@given(steps=st.integers(0, 2000), rate=st.floats(0, 0.1), width=st.integers(1, 400))
def test_more_training_gives_larger_bounds(steps, rate, width):
    b = gs.Bounds(3, width=width, rate=rate, steps=steps, n=4000)
    more = replace(b, steps=steps + 50)
    for way in (theory.growing, theory.polynomial):
        assert way(b, 2) <= min(way(b, 4), way(more, 2)) * (1 + 1e-12)


def test_what_the_bounds_are_of_is_below_them():
    found, said = gs.simulate(SMALL, 0), gs.theory(SMALL)
    for name in ("test_gap", "train_gap", "lipschitz", "wasserstein"):
        assert found.numbers[name].value < said.numbers[name].value
        if name != "lipschitz":
            assert np.all(found.curves[name].y < said.curves[name].y)
    for name in ("test_gap", "train_gap"):
        assert found.numbers[name].value < found.numbers[f"realised_{name}"].value < said.numbers[name].value
    assert abs(found.numbers["trivial"].value - said.numbers["trivial"].value) < 0.02
    assert any("vacuous" in note for note in said.status.notes) and said.status.ok


def test_the_bound_of_the_distance():
    """Its rate is n^{-1/D}, it shrinks with the side, and in the mean it is above W1 in one dimension, known exactly."""
    n = np.array([10**4, 10**10])
    for D in (3, 5):
        slope = np.diff(np.log([theory.cube(k, D, 1.0) for k in n]))[0] / np.diff(np.log(n))[0]
        assert slope == pytest.approx(-1 / D, abs=0.03)
    assert theory.cube(100, 3, 2.0) == pytest.approx(2 * theory.cube(100, 3, 1.0))
    rng, grid = np.random.default_rng(0), (np.arange(20_000) + 0.5) / 20_000
    for k in (10, 100):
        exact = np.mean([wasserstein_distance(rng.random(k), grid) for _ in range(200)])
        assert exact < theory.cube(k, 1, 1.0) < 10 * exact


def test_the_assignment_is_the_distance():
    b = gs.Bounds(1, noise=0.0, frequency=0.0)  # y = 0: one dimension, where sorting is optimal
    rng = np.random.default_rng(3)
    found = measure.wasserstein(b, 60, np.random.default_rng(3))
    x, other = (measure.draw(b, rng, 60)[0][:, 0] for _ in range(2))
    assert found == pytest.approx(wasserstein_distance(x, other))


def test_activations_are_told_apart():
    assert gs.Bounds(2, activation="tanh").height == pytest.approx(1) and gs.Bounds(2).lipschitz == pytest.approx(1)
    assert np.isinf(gs.Bounds(2, activation="relu").height) and gs.Bounds(
        2, activation="2*sin(3*x)"
    ).lipschitz == pytest.approx(6)
    with pytest.raises(gs.InputError, match="must be Lipschitz"):
        gs.Bounds(2, activation="x^2")
    with pytest.raises(gs.InputError, match="samples must not be empty and must increase"):
        gs.Bounds(2, samples=(20, 10))
    with pytest.raises(gs.InputError, match="at most 3000"):
        gs.simulate(gs.Bounds(2, samples=(10, 5000)))
    said = gs.theory(gs.Bounds(2, activation="relu", n=50, steps=100))
    assert "test_gap" not in said.numbers and "No bound on the weights is known" in " ".join(said.status.notes)


def test_files_and_the_command_line(tmp_path, capsys):
    assert system.from_plain(json.loads(json.dumps(SMALL.to_plain()))) == SMALL
    (tmp_path / "b.toml").write_text(SMALL.to_toml())
    assert run(["predict", str(tmp_path / "b.toml")]) == 0
    assert "is vacuous" in capsys.readouterr().out


def test_an_activation_of_ones_own_needs_no_hash_and_may_change():
    class Own:
        __hash__ = None  # type: ignore[assignment]
        slope = 1.0

        def __eq__(self, other):
            return self is other

        def __call__(self, x):
            return self.slope * x

    own = Own()
    assert gs.Bounds(2, activation=own).lipschitz == pytest.approx(1.0)
    own.slope = 3.0
    assert gs.Bounds(2, activation=own).lipschitz == pytest.approx(3.0)
