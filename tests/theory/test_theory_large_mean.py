"""The mean of an activation may be large: the readout fits it as an intercept, and nothing else changes."""

from typing import Any

import jax
import numpy as np
import pytest

import giantstep as gs
from giantstep.functions.activation import LARGE
from giantstep.theory.one_step._fixed_point import Features
from giantstep.theory.one_step.errors import Blocks, projected, without

OFFSETS = ("100", "10000", "1000000")
QUADRATIC = "x1 + 0.5*H2(x1)"


def setting(activation, d=100, *, steps=None, readout=None, data=None, target=QUADRATIC, n=None, p=None, **network):
    n, p = n or 2 * d, p or 13 * d // 20 * 2
    steps = (gs.GiantStep(n, 1.0),) if steps is None else steps
    return gs.Setting(
        data or gs.Gaussian(d),
        gs.target(target, noise=0.5),
        gs.Network(p, activation, **network),
        gs.Protocol(steps, readout or gs.Ridge(n, 0.1)),
    )


def mixture(d):
    return gs.Mixture(d, (gs.Component(0.5, (gs.Spike(3.0),)), gs.Component(0.5, (gs.Spike(1.0),))))


TWO = (gs.GiantStep(200, 1.0), gs.GiantStep(200, 2.0))
AGAIN = (gs.GiantStep(200, 1.0), gs.GiantStep(None, 2.0, batch="reuse"))
ROUTES = {
    "gcv": {"readout": gs.Ridge(200, "gcv")},
    "interpolation": {"readout": gs.Ridge(200, 0.0)},
    "own batch": {"readout": gs.Ridge(None, 0.1, batch="reuse")},
    "pairs": {"symmetric": True},
    "rows": {"steps": TWO},
    "one batch": {"steps": AGAIN},
    "mixture": {"data": mixture(100), "target": "x1"},
    "random features on a mixture": {"data": mixture(100), "target": "x1", "steps": ()},
    "random features": {"steps": ()},
    "overlaps": {"d": 500, "p": 8, "n": 1500, "target": "x1 + x2", "steps": (gs.GiantStep(1500, 1.0),) * 2},
}


@pytest.mark.parametrize("d", [30, 10**4, 10**8, 10**12, 10**15])
@pytest.mark.parametrize("activation", ["relu(x)", "tanh(x)", "x^2"])
def test_one_step_with_any_mean_is_one_step_without(activation, d):
    centred = gs.theory(setting(activation, d, centred=True))
    found = [gs.theory(setting(f"{activation} + {offset}", d)) for offset in OFFSETS]
    for one in found:
        assert one.status.ok == centred.status.ok and (one.status.ok or d == 30)
        # an intercept takes a share of 1/n, and what moves with the learned coordinate, of some 1/d
        assert one.test_error == pytest.approx(centred.test_error, rel=1e-12 + 0.02 / d)
        # the intercept's own penalty vanishes as the inverse square of the mean
        assert one.test_error == pytest.approx(found[-1].test_error, rel=2e-5)
        assert one.train_error == pytest.approx(found[-1].train_error, rel=2e-4)


@pytest.mark.parametrize("route", ROUTES)
def test_no_route_loses_digits_to_a_mean(route):
    small, large, larger = (gs.theory(setting(f"relu(x) + {offset}", **ROUTES[route])) for offset in OFFSETS)
    assert small.status.ok and large.status.ok and larger.status.ok
    for one in (small, large):
        assert one.test_error == pytest.approx(larger.test_error, rel=3e-4)
        assert one.train_error == pytest.approx(larger.train_error, rel=1e-3)


def test_the_prediction_is_that_of_simulated_networks():
    made = setting("relu(x) + 1000")
    predicted, measured = gs.theory(made), gs.simulate(made, seed=range(6))
    error = np.std(measured.test_error, ddof=1) / 6**0.5
    assert abs(predicted.test_error - np.mean(measured.test_error)) < 4 * error


def test_a_mean_sets_no_scale_for_penalties():
    assert not any("A penalty below" in note for note in gs.theory(setting("relu(x) + 100000")).status.notes)


def test_outliers_keep_their_digits_beside_a_large_one():
    steps = (gs.GiantStep(200, 4.0),)
    laws: list[Any] = [gs.theory.spectrum(setting(f"relu(x) + {c}", steps=steps), density=False) for c in OFFSETS]
    for law, c in zip(laws, OFFSETS, strict=True):
        assert law.outliers[0].position == pytest.approx(130**0.5 * float(c), rel=0.01)
        assert law.outliers[0].constant == pytest.approx(1.0, abs=1e-3)
        assert len(law.outliers) == len(laws[0].outliers) > 1
        for one, other in zip(law.outliers[1:], laws[0].outliers[1:], strict=True):
            assert one.position == pytest.approx(other.position, rel=1e-4)
            assert one.alignments == pytest.approx(other.alignments, rel=1e-3, abs=1e-6)


def test_modes_of_the_kernel_keep_theirs():
    every: list[Any] = [gs.theory.kernel(setting(f"relu(x) + {c}")) for c in ("1000", "1000000")]
    small, large = (one.after.values for one in every)
    assert large[0] == pytest.approx(1e12, rel=1e-5)
    assert large[1:3] == pytest.approx(small[1:3], rel=1e-5)


def test_derivatives_flow_beside_a_mean():
    made = setting("relu(x) + 1000000")
    numbers, form = gs.theory.parameters(made)
    slopes = jax.grad(lambda own: gs.theory.theory_errors(own, form).test)(jax.tree.map(jax.numpy.asarray, numbers))
    up, down = (gs.theory(made.with_(penalty=0.1 + h)).test_error for h in (1e-4, -1e-4))
    assert float(slopes.penalty) == pytest.approx((up - down) / 2e-4, rel=1e-5)
    assert abs(float(slopes.activation[0])) < 1e-6  # a larger mean changes nothing
    assert np.all(np.isfinite(np.concatenate([np.ravel(x) for x in slopes])))


def test_double_precision_that_does_not_carry_is_told():
    rounded = gs.theory(setting(lambda x: jax.nn.relu(x) + 1e12))
    assert not rounded.status.ok
    assert any("a formula adds it" in note for note in rounded.status.notes)
    long = gs.theory(setting("tanh", 10**15, steps=(gs.GiantStep(2 * 10**15, 1e7),)))
    assert not long.status.ok
    kept = gs.theory(setting("relu(x) + 100", steps=(gs.GiantStep(200, 1.0, residual="full"),) * 2))
    assert not kept.status.ok
    assert any("initial output is larger than the labels" in note for note in kept.status.notes)


def test_constants_of_a_formula_leave_all_digits():
    x = np.linspace(-3, 3, 7)
    plain = gs.activation("relu")
    for formula in ("relu(x) + 1000000000000", "relu(x) - 10000000000", "2*(100000000 + 0.5*relu(x))"):
        f, constant = gs.activation(formula).split
        assert constant == gs.activation(formula).mean
        assert np.allclose(f(x), plain(x) - plain.mean, rtol=0, atol=1e-15)
    assert plain.split == (plain, 0.0)  # a mean that costs no digits stays where it is
    assert abs(plain.mean) < LARGE * plain.variance**0.5


def blocks(rng, C, K):
    root, mean = rng.standard_normal((C * K, C * K)), rng.standard_normal((C, K))
    return Blocks((root @ root.T / (C * K)).reshape(C, K, C, K), mean, np.asarray(0.3))


def dense(S):
    C, K = S.mean.shape
    return S.around.reshape(C * K, C * K) + np.outer(S.mean, S.mean) / S.share


def test_the_part_of_rank_one_is_solved_apart():
    rng, C, K = np.random.default_rng(0), 3, 4
    S, alpha, b = blocks(rng, C, K), rng.random(K), rng.standard_normal((C, K))
    root = rng.standard_normal((K, C, C))
    excess = root @ np.swapaxes(root, 1, 2)
    one = np.ones((1, K))
    f = Features(np.ones(1), np.full(K, 1 / K), np.ones(1), one, one, np.ones((1, 1)), 1.0, 1.0)
    y, inside, psi, along = projected(f, S, excess, alpha, b)
    delta = np.einsum("kcd,kl->ckdl", alpha[:, None, None] * excess, np.eye(K)).reshape(C * K, C * K)
    known = np.linalg.solve(np.eye(C * K) + delta @ dense(S), b.ravel())
    assert np.allclose(np.ravel(y), known) and np.allclose(np.ravel(inside), known)
    assert np.allclose(np.ravel(psi), dense(S) @ known)
    assert np.allclose(along, np.ravel(S.mean) @ known)


def test_what_one_channel_has_in_the_bulk_is_taken_from_the_whole():
    rng, C, K = np.random.default_rng(1), 3, 4
    S, known = blocks(rng, C, K), np.zeros((3, 4, 3, 4))
    root = 0.1 * rng.standard_normal((K, K))
    known[1, :, 1, :] = root @ root.T
    found = dense(without(S, 1, known[1, :, 1, :]))
    assert np.allclose(found, np.linalg.inv(np.linalg.inv(dense(S)) - known.reshape(C * K, C * K)))
