"""Sweeps of the user's own activation and target, which have no text: nothing that lasts may hold them."""

import jax.numpy as jnp
import numpy as np
import pytest
from experiments import base

import giantstep as gs
from giantstep._given import unwritten
from giantstep.errors import InputError

OPTIONS = {"seeds": range(2), "progress": False}
FEW = "simulate(n_test=50)"


def bent(x):
    return jnp.maximum(x, 0.0)


def other(x):
    return jnp.tanh(x)


def product(z):
    return z[0] + z[0] * z[1]


def of_own(**changes):
    return base().with_(activation=gs.activation(bent, kinks=(0.0,)), **changes)


def test_an_own_activation_is_swept_like_its_formula():
    axes = {"eta": [0.0, 2.0], "penalty": [0.1, 1.0]}
    found = gs.sweep(of_own(), axes, routes=[FEW, "theory"], **OPTIONS)
    wanted = gs.sweep(base().with_(activation="relu"), axes, routes=[FEW, "theory"], **OPTIONS)
    np.testing.assert_allclose(found.test_error, wanted.test_error, rtol=1e-6)
    assert np.array_equal(found.ok, wanted.ok)
    assert "sweep" not in found.attrs and "sweep" in wanted.attrs


def test_an_own_target_is_swept_with_its_noise_and_its_rank():
    s, formula = base(), base().with_(target=gs.target("x1 + x1*x2", noise=0.5))
    s = s.with_(target=gs.target(product, rank=2, noise=0.5))
    axes = {"noise": [0.0, 0.5], "d": [20, 30]}
    found, wanted = (gs.sweep(each, axes, routes=FEW, **OPTIONS).test_error for each in (s, formula))
    np.testing.assert_allclose(found, wanted, rtol=1e-6)


def test_own_activations_are_an_axis():
    axis = {"activation": ["tanh", bent, gs.activation(other)]}
    found = gs.sweep(base(), axis, routes=FEW, **OPTIONS)
    assert found.activation.values.tolist() == ["tanh", "bent()", "other()"]
    np.testing.assert_allclose(found.test_error[:, 2], found.test_error[:, 0], rtol=1e-6)
    assert np.all(found.test_error[:, 1] != found.test_error[:, 0])


def test_two_functions_of_one_name_are_told_apart():
    two = [lambda x: jnp.tanh(x), lambda x: jnp.maximum(x, 0.0)]
    found = gs.sweep(base(), {"activation": two}, routes=FEW, **OPTIONS)
    assert found.activation.values.tolist() == ["<lambda>()", "<lambda>() 2"]
    assert np.all(found.test_error[:, 1] != found.test_error[:, 0])


@pytest.mark.parametrize(
    "make",
    [
        lambda: (of_own(), {"eta": [0.0, 1.0]}),
        lambda: (base().with_(target=gs.target(product, rank=2)), {}),
        lambda: (base(), {"activation": ["relu", bent]}),
    ],
    ids=["activation", "target", "axis"],
)
def test_a_store_needs_a_formula(tmp_path, make):
    s, axes = make()
    with pytest.raises(InputError, match=r"a store keeps settings as text.* give a formula.* or leave store out"):
        gs.sweep(s, axes, store=tmp_path / "s.db", **OPTIONS)


def test_other_processes_are_not_sent_functions():
    with pytest.raises(InputError, match="leave workers and scheduler out, or give a formula"):
        gs.sweep(of_own(), workers=2, **OPTIONS)


def test_the_setting_has_no_id_afterwards():
    s = of_own()
    gs.sweep(s, routes=FEW, **OPTIONS)
    with pytest.raises(InputError, match="has no id and cannot be saved"):
        s.id  # noqa: B018
    assert unwritten.meant("bent()") is None
