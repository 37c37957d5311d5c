"""Activations as nouns: equality, callables, kinks, errors that can be trusted."""

import numpy as np
import pytest

from giantstep import InputError
from giantstep._machine.backend import jax, jnp
from giantstep.functions.activation import Activation, activation


@pytest.mark.parametrize(
    "name", ["relu", "leaky relu", "tanh", "erf", "sigmoid", "softplus", "gelu", "silu", "elu", "sin", "cos", "abs"]
)
def test_the_same_numbers_in_numpy_and_jax(name):
    sigma, x = activation(name), np.linspace(-6, 6, 25) + 0.01
    np.testing.assert_allclose(np.asarray(jax.jit(sigma)(jnp.asarray(x))), sigma(x), rtol=1e-12, atol=1e-14)
    slopes = jax.vmap(jax.grad(sigma))(jnp.asarray(x))
    np.testing.assert_allclose(sigma.slope(x), np.asarray(slopes), rtol=1e-12, atol=1e-14)


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("gelu", lambda x: jax.nn.gelu(x, approximate=False)),
        ("silu", jax.nn.silu),
        ("elu", jax.nn.elu),
        ("softplus", jax.nn.softplus),
        ("leaky_relu", jax.nn.leaky_relu),
    ],
)
def test_against_jax(name, reference):
    x = np.linspace(-30, 30, 61)
    np.testing.assert_allclose(activation(name)(x), np.asarray(reference(x)), rtol=1e-12, atol=1e-14)


def test_equality_is_that_of_the_formula():
    assert activation("relu") == activation(" relu( x )") == Activation("relu(x)")
    assert hash(activation("relu")) == hash(activation("relu(x)"))
    assert activation("relu") != activation("relu", centred=True)
    assert activation("0.5*x + relu(x)") == activation("relu(x) + 0.5*x")


def test_float32_stays_float32():
    for name in ("relu", "gelu", "elu", "tanh", "abs", "leaky relu", "H3"):
        sigma = activation(name, centred=True)
        x = jnp.ones(3, jnp.float32)
        assert sigma(x).dtype == jnp.float32 and sigma.slope(x).dtype == jnp.float32


def test_a_callable_with_named_kinks_is_exact():
    def shifted(x):
        return jnp.maximum(x - 0.3, 0.0)

    exact = activation("relu(x-0.3)")
    named, unnamed = activation(shifted, kinks=(0.3,)), activation(shifted)
    np.testing.assert_allclose(named.hermite(8), exact.hermite(8), atol=1e-13)
    assert named.hermite_error(8) < 1e-13
    gap = np.max(np.abs(unnamed.hermite(8) - exact.hermite(8)))
    assert 1e-9 < gap < 10 * unnamed.hermite_error(8)  # the estimate owns up to the missing kink
    np.testing.assert_allclose(np.asarray(named.slope(np.array([-1.0, 1.0]))), [0, 1])


def test_centring_subtracts_the_mean():
    sigma = activation("softplus")
    x = np.array([0.0, 2.0])
    np.testing.assert_allclose(sigma.centre()(x), sigma(x) - sigma.mean)
    assert sigma.centre().hermite(3)[0] == 0


@pytest.mark.parametrize("bad", ["relux", "x1", "relu(y)", "", "tanh(", 3])
def test_bad_formulas_are_refused(bad):
    with pytest.raises(InputError):
        activation(bad)


def test_jumps():
    assert activation("sign").jumps and activation("x + step(x)").jumps and not activation("relu").jumps


def test_built_activations_keep_their_arguments():
    assert activation(activation("relu"), centred=True) == activation("relu", centred=True)
    for bad in (lambda: activation("relu", kinks=[1.0]), lambda: activation(activation("relu"), kinks=[1.0])):
        with pytest.raises(InputError, match="kinks"):
            bad()


@pytest.mark.parametrize(
    ("function", "words"),
    [(np.tanh, "traceable by JAX"), (lambda x: x[:2], "element by element"), (len, "element by element")],
)
def test_callables_are_probed(function, words):
    with pytest.raises(InputError, match=words):
        activation(function)


def test_orders_are_checked():
    for order in (-1, 101, 1.5):
        with pytest.raises(InputError, match="order"):
            activation("relu").hermite(order)  # type: ignore[arg-type]
    assert activation("relu(x-x+1)").hermite(2)[0] == pytest.approx(1.0)


def test_many_kinks_near_zero_are_found():
    sigma = activation("relu(sin(20*x))")
    x = np.linspace(-9, 9, 2_000_001)
    expected = np.sum(np.maximum(np.sin(20 * x), 0) * np.exp(-x * x / 2)) / np.sum(np.exp(-x * x / 2))
    assert sigma.hermite_error(4) < 1e-12 and sigma.hermite(4)[0] == pytest.approx(expected, abs=1e-9)
