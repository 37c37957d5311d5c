"""Derivatives through several steps, pairs and the step's own batch: an identity, exact ones, and wide differences."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import giantstep as gs


def experiment(etas=(8.0, 8.0), batch="fresh", n=600, penalty=0.1, step=None, **network):
    steps = tuple(gs.GiantStep(n, eta, **(step or {})) for eta in etas)
    return gs.Setting(
        gs.Gaussian(200),
        gs.target("x1 + x1*x2", noise=0.3),
        gs.Network(300, "relu", **network),
        gs.Protocol(steps, gs.Ridge(n if batch == "fresh" else None, penalty, batch=batch)),
    )


KINDS = {
    "several steps": (experiment(), 1e-5),
    "pairs": (experiment((8.0,), symmetric=True), 1e-5),
    "own batch": (experiment((8.0,), "reuse"), 1e-3),
    "own batch, rank one": (experiment((8.0,), "reuse", step={"update": "rank1"}), 1e-3),
}


@pytest.mark.parametrize("kind", KINDS)
def test_labels_of_another_scale(kind):
    """Labels c times as large and steps 1/c times as long multiply errors by c^2: an identity between derivatives (Euler)."""
    setting, close = KINDS[kind]
    numbers, form = gs.theory.parameters(setting)

    def errors(c):
        target = jnp.asarray(numbers.target) * c
        found = gs.theory_errors(
            numbers._replace(target=target, noise=numbers.noise * c, eta=numbers.eta / c), form
        )  # all of them at once
        return jnp.stack([found.test, found.train, found.objective])

    value, slope = jax.jvp(errors, (1.0,), (1.0,))
    assert np.allclose(slope, 2 * value, rtol=close)


def test_the_numbers_are_those_of_theory():
    for setting, _ in KINDS.values():
        found, outcome = gs.theory_errors(*gs.theory.parameters(setting)), gs.theory(setting)
        assert np.allclose(found[:3], [outcome.test_error, outcome.train_error, outcome.train_objective], rtol=1e-12)


def test_a_second_step_of_size_zero_leaves_the_derivatives():
    """Those of the one-step theory, by central differences; with the rank-one update the two theories are the same."""
    setting = experiment((8.0,), step={"update": "rank1"})
    steps = (*setting.protocol.steps, gs.GiantStep(600, 0.0))
    numbers, form = gs.theory.parameters(replace(setting, protocol=replace(setting.protocol, steps=steps)))
    one, form_one = gs.theory.parameters(setting)
    at = np.array([8.0, 0.1, 0.3])
    both = jax.grad(
        lambda x: gs.theory_errors(numbers._replace(eta=jnp.array([x[0], 0.0]), penalty=x[1], noise=x[2]), form).test
    )(jnp.asarray(at))

    def error(x):
        return gs.theory_errors(one._replace(eta=x[0], penalty=x[1], noise=x[2]), form_one).test

    slopes = [(error(at + h) - error(at - h)) / (2 * h.sum()) for h in np.diag(1e-3 * at)]
    assert np.allclose(both, slopes, rtol=0.01)


@pytest.mark.parametrize("kind", KINDS)
def test_against_wide_differences_of_theory(kind):
    """gs.theory at other settings: penalties and samples 5% apart; their curvature is of the order of 1%."""
    setting, _ = KINDS[kind]
    numbers, form = gs.theory.parameters(setting)
    batch = setting.protocol.readout.batch  # type: ignore[union-attr]
    made = lambda **own: replace(  # noqa: E731
        setting,
        protocol=experiment(
            [step.eta for step in setting.protocol.steps],
            batch,
            step={"update": setting.protocol.steps[0].update},
            **own,
        ).protocol,
    )

    def error(penalty, size):
        own = {"n1_over_d": size * numbers.n1_over_d, "n_over_d": size * numbers.n_over_d, "penalty": penalty}
        return gs.theory_errors(numbers._replace(**own), form).test

    by_penalty, by_size = jax.grad(error, argnums=(0, 1))(0.1, 1.0)
    more, less = (float(gs.theory(made(penalty=p)).test_error) for p in (0.105, 0.095))
    assert np.isclose(by_penalty, (more - less) / 0.01, rtol=0.02)
    more, less = (float(gs.theory(made(n=n)).test_error) for n in (630, 570))
    assert np.isclose(by_size, (more - less) / 0.1, rtol=0.02)


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
@pytest.mark.parametrize("activation", ["tanh(x + 0.8)", "gelu"])
def test_directions_that_are_alike(batch, activation):
    """x2 and x3 of tanh(x1) + x2 x3, and noise directions that are new to the first step: any basis of them would do. Predictions
    are smooth only if the choice is."""
    steps = (gs.GiantStep(400, 12.0), gs.GiantStep(400, 12.0, batch=batch))
    network = gs.Network(300, activation, second_layer="rademacher")
    target = gs.target("tanh(x1) + x2*x3", noise=0.3)
    setting = gs.Setting(gs.Gaussian(100), target, network, gs.Protocol(steps, gs.Ridge(400, 0.1)))
    numbers, form = gs.theory.parameters(setting)
    eta = np.asarray(numbers.eta)
    values = [float(gs.theory_errors(numbers._replace(eta=eta * (1 + k * 1e-4)), form).test) for k in range(-2, 3)]
    assert np.allclose(np.diff(values, 2), 0, atol=1e-6 * values[0])


def test_compiled_and_mapped():
    numbers, form = gs.theory.parameters(experiment())
    value = lambda x: gs.theory_errors(numbers._replace(penalty=x), form).train  # noqa: E731
    plain = jax.grad(value)(0.1)
    assert np.isclose(jax.jit(jax.grad(value))(0.1), plain, rtol=1e-9)
    both = jax.vmap(value)(jnp.array([0.1, 0.2]))
    assert np.isclose(both[0], value(0.1), rtol=1e-9) and both[1] > both[0]


def test_coefficients_of_the_activation_move_its_slope_too():
    """With sigma = x + c He_2 in two forms: the coefficient moved from x, and the formula itself."""
    first, second = (replace(experiment(), network=gs.Network(300, sigma)) for sigma in ("x", "x + 0.3*(x^2 - 1)"))
    numbers, form = gs.theory.parameters(first)
    moved = numbers._replace(activation=numbers.activation + 0.3 * np.eye(7)[2])
    assert np.isclose(gs.theory_errors(moved, form).test, gs.theory(second).test_error, rtol=1e-6)
