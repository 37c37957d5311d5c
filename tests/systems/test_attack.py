"""Attacks: the verb on given weights, the law of a random network's ray, and the same after a giant step."""

import json

import jax
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import brentq
from scipy.special import erf

import giantstep as gs
from giantstep import system
from giantstep.cli import run
from giantstep.lab.compare._systems import compare_system as beside
from giantstep.systems.attack import margin_ray, ray
from giantstep.systems.attack.random_ray import RayLaw
from giantstep.systems.attack.simulate import random_network, sample
from giantstep.systems.attack.stepped_ray import law

ACTIVATIONS = ("relu", "sin(x+0.4)")


def drawn(name="tanh", p=40, d=12, n=9, seed=0):
    rng = np.random.default_rng(seed)
    network = gs.Network(p, name, weights=(rng.normal(size=(p, d)) / d**0.5, rng.normal(size=p)))
    return network, rng.normal(size=(n, d))


def output(network, x):
    z = np.asarray(x) @ network.weights.W.T
    return network.factor * np.asarray(network.activation(z)) @ network.weights.a


@pytest.mark.parametrize("name", ACTIVATIONS)
def test_the_gradient_is_that_of_automatic_differentiation(name):
    network, X = drawn(name)
    W, a = (jax.numpy.asarray(v) for v in (network.weights.W, network.weights.a))
    slope = jax.vmap(jax.grad(lambda x: network.factor * network.activation(W @ x) @ a))(X)
    np.testing.assert_allclose(ray.rays(network, X).gradient, slope, atol=1e-12)


@pytest.mark.parametrize("name", ACTIVATIONS)
@settings(max_examples=20)
@given(seed=st.integers(0, 10**6), eta=st.floats(0.01, 20.0))
def test_what_is_said_of_a_step_is_so(name, seed, eta):
    network, X = drawn(name, seed=seed)
    found = gs.attack(network, X, eta)
    np.testing.assert_allclose(found.after, output(network, X + found.perturbation), atol=1e-10)
    np.testing.assert_array_equal(found.flipped, found.before * output(network, X + found.perturbation) < 0)
    sizes = np.linalg.norm(found.perturbation, axis=1)
    np.testing.assert_allclose(found.relative, sizes / np.linalg.norm(X, axis=1), rtol=1e-12)
    assert np.all(found.eta * found.before <= 0)
    near = np.isfinite(found.root)
    start, reach = X[near], (found.root / sizes)[near, None] * found.perturbation[near]
    inside, beyond = (found.before[near] * output(network, start + scale * reach) for scale in (1 - 1e-6, 1 + 1e-6))
    assert np.all((inside > 0) & (beyond < 0))


def test_a_root_is_scipys():
    network, X = drawn(n=30)
    found = gs.attack(network, X)
    for x, delta, root in zip(X, found.perturbation, found.root, strict=True):
        u = delta / np.linalg.norm(delta)
        if np.isfinite(root):
            own = brentq(lambda t: output(network, x + t * u), 0.9 * root, 1.1 * root, xtol=1e-14)  # noqa: B023
            assert root == pytest.approx(own, rel=1e-9)


def test_a_linear_network_flips_where_its_linear_part_does():
    network, X = drawn("x")
    found = gs.attack(network, X)
    np.testing.assert_allclose(found.after, -found.before, rtol=1e-9)  # twice the first-order step
    np.testing.assert_allclose(2 * found.root, np.linalg.norm(found.perturbation, axis=1), rtol=1e-9)


def test_rows_do_not_depend_on_the_chunks(monkeypatch):
    network, X = drawn()
    whole = gs.attack(network, X)
    monkeypatch.setattr(margin_ray, "AT_ONCE", 100)
    parts = gs.attack(network, X)
    np.testing.assert_allclose(parts.root, whole.root, rtol=1e-12)
    np.testing.assert_array_equal(parts.flipped, whole.flipped)


def test_a_dead_input_has_no_ray():
    network = gs.Network(2, "relu", weights=(np.eye(2), np.ones(2)))
    found = gs.attack(network, [[-1.0, -1.0], [1.0, 1.0]])
    assert found.gradient[0] == 0 and np.isinf(found.root[0]) and not found.flipped[0]
    assert "the gradient vanishes at 1 inputs" in found.notes[0]


def test_bad_input_is_one_sentence():
    network, X = drawn()
    with pytest.raises(gs.InputError, match="weights of its own"):
        gs.attack(gs.Network(4, "relu"), X)
    with pytest.raises(gs.InputError, match=r"shape \(n, 12\)"):
        gs.attack(network, X[:, 1:])
    with pytest.raises(gs.InputError, match="no useful one"):
        gs.attack(gs.Network(2, "sign", weights=(np.eye(2), np.ones(2))), np.ones(2))
    with pytest.raises(gs.InputError, match="d and width, or a setting"):
        gs.Attack(d=10)
    with pytest.raises(gs.InputError, match="etas must increase"):
        gs.Attack(10, 20, etas=(1.0, 0.5))


def test_trained_networks_predict_what_simulate_tests(small):
    """The network after the readout has the risk that ``simulate`` measures on the same inputs."""
    from giantstep.experiment import draw

    network = gs.simulate.network(small, 3)
    X, y = draw.rows(small, 3, draw.test_batch(500))
    assert np.mean((output(network, X) - y) ** 2) == pytest.approx(gs.simulate(small, 3, n_test=500).risk, rel=1e-8)
    with pytest.raises(gs.InputError, match="one penalty"):
        gs.simulate.network(
            gs.Setting(small.data, small.target, small.network, gs.Protocol((), gs.Ridge(70, (0.1, 1))))
        )


def test_limits_of_the_law():
    """As p and d grow: A -> sqrt(v1) t, flips 2 Phi(eta v1/sqrt(v0)) - 1, which is erf(eta/2) for ReLU."""
    far = RayLaw(gs.activation("relu"), 10**9, 10**9)
    assert far.flips(np.array([1.0, 2.0])) == pytest.approx(erf(np.array([0.5, 1.0])), abs=1e-4)
    assert far.median == pytest.approx(0.67449, abs=1e-4)
    smooth = RayLaw(gs.activation("tanh"), 10**6, 10**6)
    assert smooth.pushed(1.0) == pytest.approx((smooth.v1**0.5, 1.0), rel=1e-5)


@pytest.mark.parametrize("d", [50, 800])
def test_a_move_at_random_turns_relu_by_an_arctangent(d):
    for t in (0.5, 2.0):
        assert RayLaw(gs.activation("relu"), 10, d).random_change(t) == pytest.approx(
            np.arctan(t / d**0.5) / np.pi, rel=1e-6
        )


def test_the_closed_form_of_relu():
    """E D^2 at first order in t/sqrt(d): t/sqrt(2 pi d) (E|N(m, 1)| + sqrt(2/pi))/2, m = sqrt(2d/p)."""
    from scipy.stats import foldnorm

    d = 10**6
    for p in (d // 4, d, 16 * d):
        closed = (foldnorm.mean(np.sqrt(2 * d / p)) + np.sqrt(2 / np.pi)) / 2 / np.sqrt(2 * np.pi * d)
        assert RayLaw(gs.activation("relu"), p, d).change() == pytest.approx(closed, rel=0.01)


@pytest.mark.parametrize(("name", "width"), [("relu", 240), ("relu", 30), ("tanh", 120)])
def test_random_networks_follow_the_law(name, width, seed):
    """Within 4 standard errors, and 2% of the gradient's change, whose law leaves out what is of order 1/d."""
    attack = gs.Attack(60, width, name, etas=(0.5, 1.5, 3.0), networks=250)
    found, said = sample(attack, width, seed), RayLaw(attack.activation, width, 60)
    mean = {k: np.mean(v, axis=0) for k, v in found.items()}
    error = {k: np.std(v, axis=0) / 250**0.5 for k, v in found.items()}
    assert abs(mean["output"] - said.v0) < 4 * error["output"]
    assert abs(mean["gradient"] - said.gradient) < 4 * error["gradient"] < 0.08 * said.gradient
    assert np.all(np.abs(mean["flips"] - said.flips(np.array(attack.etas))) < 4 * error["flips"] + 0.01)
    assert abs(mean["change"] - said.change()) < 4 * error["change"] + 0.03 * said.change()
    assert abs(mean["random_change"] - said.random_change()) < 4 * error["random_change"] + 0.02 * said.random_change()
    assert np.mean(found["root"] <= said.median) == pytest.approx(0.5, abs=4 * 0.5 / 250**0.5)


def test_the_change_leaves_out_its_part_along_the_gradients_own_coefficients(seed):
    """Narrow networks, where (E D sigma')^2/v1 is 11% of the change: without it the law is missed by ten standard errors."""
    (p, d, count), rng = (20, 200, 6000), np.random.default_rng(seed)
    found = []
    for _ in range(count // 250):
        W, a = rng.normal(size=(250, p, d)) / d**0.5, rng.choice([-1.0, 1.0], size=(250, p))
        x = rng.normal(size=(250, d))
        z = (W @ (d**0.5 * x / np.linalg.norm(x, axis=1, keepdims=True))[..., None])[..., 0]
        slope = lambda z, W=W, a=a: ((a * (z > 0))[:, None] @ W)[:, 0] / p**0.5  # noqa: E731
        before = slope(z)
        after = slope(z + (W @ (before / np.linalg.norm(before, axis=1, keepdims=True))[..., None])[..., 0])
        found.append(np.sum((after - before) ** 2, axis=1))
    found, said = np.concatenate(found), RayLaw(gs.activation("relu"), p, d).change()
    assert abs(found.mean() - said) < 3 * found.std() / count**0.5 + 0.015 * said < 0.05 * said


def test_random_networks_have_the_papers_law():
    network, x = random_network(gs.Attack(50, 400), 400, 0, 3)
    assert np.linalg.norm(x) == pytest.approx(50**0.5) and set(network.weights.a) == {-1.0, 1.0}
    assert np.mean(network.weights.W**2) * 50 == pytest.approx(1, abs=0.04)


@pytest.fixture(scope="module")
def stepped():
    step = gs.GiantStep(400, 20.0)
    return gs.Setting(gs.Gaussian(60), gs.target("x1", noise=0.3), gs.Network(120, "tanh"), gs.Protocol((step,), None))


def test_after_a_giant_step(stepped):
    """The gradient grows tenfold, the way to the other sign does not: both as predicted, within 4 s.e. or 10%."""
    found = beside(gs.Attack(setting=stepped, networks=10, inputs=60), [0])
    assert found.gaps.keys() == {"output", "gradient", "median", "relative", "untrained"}
    for name, gap in found.gaps.items():
        assert gap.se is not None and abs(gap.measured - gap.predicted) < max(4 * gap.se, 0.1 * gap.predicted), name
    assert found.gaps["gradient"].measured > 8 * 0.46
    assert all(abs(gap.measured - gap.predicted) < 0.08 for _, gap in found.along("within"))


def test_without_a_step_it_is_the_first_order_law(stepped):
    from dataclasses import replace

    plain = law(replace(stepped, protocol=gs.Protocol((), None)))
    v0, v1 = RayLaw(stepped.network.activation, 120, 60).v0, RayLaw(stepped.network.activation, 120, 60).v1
    assert plain.gradient == pytest.approx(v1, rel=1e-6) and plain.output == pytest.approx(v0, rel=1e-6)
    assert plain.median == pytest.approx(0.67449 * (v0 / v1) ** 0.5, rel=1e-3)


def test_what_is_not_predicted_is_said(small):
    found = gs.theory(gs.Attack(setting=small, networks=2))
    assert not found.numbers and found.status.notes == (
        "Nothing is predicted: a readout makes the second layer depend on the rows.",
    )
    assert gs.simulate(gs.Attack(setting=small, networks=2, inputs=5)).numbers["median"].value > 0


def test_files_and_the_command_line(stepped, tmp_path, capsys):
    for attack in (
        gs.Attack(20, 30, networks=20),
        gs.Attack(20, (10, 30), "tanh", networks=20),
        gs.Attack(setting=stepped),
    ):
        assert system.from_plain(json.loads(json.dumps(attack.to_plain()))).id == attack.id
        (tmp_path / "a.toml").write_text(attack.to_toml())
        assert system.read(tmp_path / "a.toml") == attack
    (tmp_path / "a.toml").write_text('system = "attack"\nd = 20\nwidth = [10, 40]\nnetworks = 20\n')
    assert run(["compare", str(tmp_path / "a.toml"), "--seeds", "0-1"]) == 0
    assert "flips, η = 1" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "p"), [("relu", 20), ("tanh", 60)])
def test_chance_in_the_length_of_the_gradient_is_averaged(name, p):
    """E 2 Phi(Q level) - 1 against draws of S0, S1 and the chi-square themselves; without chance it would be off by 0.007."""
    from scipy.special import ndtr

    law, rng, d, level = RayLaw(gs.activation(name), p, 50), np.random.default_rng(0), 50, np.array([2.0])
    z = rng.standard_normal((60_000, p))
    zero, one = (np.mean(np.asarray(g(z)) ** 2, axis=1) for g in (law.sigma, law.sigma.slope))
    length = one / law.v1 * rng.chisquare(d, len(z)) / d
    for power in (0.5, 1.0):
        drawn = np.mean(2 * ndtr(level * length**power * (zero / law.v0) ** -0.5) - 1)
        found = law._probability(level, power)[0]
        assert found == pytest.approx(drawn, abs=0.004) and (power < 1 or 2 * ndtr(2.0) - 1 - found > 0.007)


def many_outputs(q=4, p=30, d=8, n=60, activation="tanh", seed=0):
    rng = np.random.default_rng(seed)
    A, b, c = rng.normal(size=(q, p)), rng.normal(size=p), rng.normal(size=q)
    return gs.Layers(rng.normal(size=(p, d)) / d**0.5, A, activation, b, c), rng.normal(size=(n, d))


@pytest.mark.parametrize("activation", ["tanh", "relu"])
def test_a_step_of_a_network_with_several_outputs(activation):
    """The class changes at the root and not before; the step is along the gradient of the margin that JAX finds."""
    layers, X = many_outputs(activation=activation)
    found = gs.attack(layers, X)
    outputs = lambda x: layers(np.asarray(x))  # noqa: E731
    assert found.decision is not None and found.reached is not None
    np.testing.assert_array_equal(found.decision, np.argmax(outputs(X), axis=1))
    np.testing.assert_array_equal(found.reached, np.argmax(outputs(X + found.perturbation), axis=1))
    np.testing.assert_array_equal(found.flipped, found.decision != found.reached)
    sizes = np.linalg.norm(found.perturbation, axis=1, keepdims=True)
    for scale, same in ((1 - 1e-6, True), (1 + 1e-6, False)):
        moved = X + scale * found.root[:, None] * found.perturbation / sizes
        near = np.isfinite(found.root)
        assert np.all((np.argmax(outputs(moved[near]), axis=1) == found.decision[near]) == same)
    W, A, b, c = (jax.numpy.asarray(v) for v in (layers.W, layers.A, layers.b, layers.c))
    for i in range(2):
        k = int(found.decision[i])
        margin = lambda x, k=k: jax.numpy.delete(  # noqa: E731
            (lambda f: f[k] - f)(A @ layers.activation(W @ x + b) + c), k
        )
        values, slopes = np.asarray(margin(X[i])), np.asarray(jax.jacobian(margin)(X[i]))
        nearest = int(np.argmin(values / np.linalg.norm(slopes, axis=1)))
        assert found.before[i] == pytest.approx(values.min())
        np.testing.assert_allclose(found.perturbation[i], found.eta[i] * slopes[nearest], rtol=1e-9)
        assert found.gradient[i] == pytest.approx(np.linalg.norm(slopes[nearest]))


def test_two_outputs_are_one_difference():
    """Two classes f_0, f_1 are attacked as the sign of f_1 - f_0."""
    layers, X = many_outputs(q=2)
    one = gs.Layers(layers.W, layers.A[1] - layers.A[0], "tanh", layers.b, [layers.c[1] - layers.c[0]])
    both, single = gs.attack(layers, X, 0.3), gs.attack(one, X, 0.3)
    np.testing.assert_allclose(both.root, single.root, rtol=1e-9)
    np.testing.assert_allclose(both.perturbation, single.perturbation, atol=1e-12)
    np.testing.assert_array_equal(both.flipped, single.flipped)
    np.testing.assert_allclose(np.abs(single.after), np.abs(both.after), atol=1e-10)
    assert single.decision is None and np.all(single.eta * single.before <= 0)


def test_layers_without_biases_are_the_network():
    network, X = drawn(n=20)
    plain, layers = gs.attack(network, X), gs.attack(gs.Layers.of(network), X)
    for name in ("root", "perturbation", "before", "after", "eta", "relative"):
        np.testing.assert_allclose(getattr(layers, name), getattr(plain, name), rtol=1e-9, atol=1e-12)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_a_network_that_a_user_trained():
    from sklearn.neural_network import MLPClassifier

    rng = np.random.default_rng(0)
    X = rng.normal(size=(300, 5))
    y = np.argmax(X[:, :3], axis=1)
    fitted = MLPClassifier(hidden_layer_sizes=(40,), max_iter=60, random_state=0, tol=0.0).fit(X, y)
    found = gs.attack(fitted, X)
    np.testing.assert_array_equal(found.decision, fitted.predict(X))
    np.testing.assert_array_equal(found.reached, fitted.predict(X + found.perturbation))
    assert np.mean(found.flipped) > 0.8
    with pytest.raises(gs.InputError, match="one hidden layer, not 2"):
        gs.attack(MLPClassifier(hidden_layer_sizes=(4, 4), max_iter=2, random_state=0).fit(X, y), X)
    with pytest.raises(gs.InputError, match=r"shape \(n, 5\)"):
        gs.attack(fitted, X[:, :3])


@pytest.mark.slow
def test_the_distance_for_a_probability_of_failure():
    """The law's distance against simulated quantiles, the limit of large sizes, and the bound sqrt(2 v0/v1 log(1/gamma))."""
    attack = gs.Attack(60, 240, "relu", networks=250, failures=(0.1, 0.5))
    found, said = gs.simulate(attack, 0).curves["needed"], gs.theory(attack).curves["needed"]
    assert found.se is not None and np.all(np.abs(found.y - said.y) < 4 * found.se)
    wide = RayLaw(gs.activation("tanh"), 10**6, 10**6)
    gamma = np.array([0.5, 0.02])
    needed = np.array([wide.distance(g) for g in gamma])
    ratio = (wide.v0 / wide.v1) ** 0.5
    from scipy.special import erfcinv

    np.testing.assert_allclose(needed, ratio * 2**0.5 * erfcinv(gamma), rtol=2e-3)
    assert np.all(needed < ratio * np.sqrt(2 * np.log(1 / gamma)))
    with pytest.raises(gs.InputError, match="between 0 and 1"):
        gs.Attack(10, 20, failures=(0.5, 1.0))
