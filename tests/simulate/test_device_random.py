"""Random numbers of the device: the same data whatever the plan, the mesh and the precision, and the law of the host's."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep._machine.backend import jax
from giantstep._machine.counter import DEVICE
from giantstep._training import form as forms
from giantstep.experiment import draw
from giantstep.simulate import _dense as dense
from giantstep.simulate import deflated_errors

ERRORS = ("test_error", "risk_se", "train_error", "train_objective")  # seeds are the last axis
GEOMETRY = ("overlaps", "captured", "captured_se", "norms", "learned")  # seeds come after the step sizes
FIELDS = (*ERRORS, *GEOMETRY)


def setting(n=60, penalty=(0.01, 0.3, 2.0), eta=(0.0, 1.0, 3.0), width=40, activation="relu", before=(), **readout):
    steps = (*before, gs.GiantStep(50, eta, residual="full", deflate=1))
    network = gs.Network(width, activation, symmetric=True, second_layer="rademacher")
    protocol = gs.Protocol(steps, gs.Ridge(n, penalty, **readout))
    return gs.Setting(gs.Gaussian(20), gs.target("x1 + x1*x2", noise=0.3), network, protocol)


# A whole program takes five seconds to compile and milliseconds to run: tests that share a shape share a program.
def shared(penalty=(0.01, 0.3)):
    return setting(60, penalty=penalty, eta=1.0)


def run_shared(seeds=range(2), **options):
    return gs.simulate(shared(), seeds, n_test=60, random="device", **options)


def run_sixty(**changed):
    """Sixty seeds at once, with a deflated readout."""
    return gs.simulate(setting(60, deflate=2, **changed), range(60), n_test=90, random="device")


@pytest.fixture(scope="module")
def sixty():
    return run_sixty()


def weights(s: gs.Setting, seed: int):
    return (np.asarray(x) for x in jax.jit(lambda seed: draw.weights(s, seed, DEVICE))(seed))


def drawn(s: gs.Setting, seed: int, batch: draw.Batch):
    rows = jax.jit(lambda seed: draw.some_rows(s, seed, batch, 0, batch.n, np.dtype(float), DEVICE))(seed)
    return (np.asarray(x) for x in rows)


def literal(s: gs.Setting, seed: int, n_test: int):
    """One seed in plain NumPy, from the draws of the device."""
    sigma, scale, p = s.network.activation, s.network.factor, s.p
    W, a = weights(s, seed)

    def rows(batch):
        return drawn(s, seed, batch)

    etas, penalties = forms.arguments(s)
    G = np.zeros_like(W)
    for step, batch, eta in zip(s.protocol.steps, draw.step_batches(s), etas.T, strict=True):
        X, y = rows(batch)
        r = y - (y.mean() if step.deflate else 0) - scale * np.asarray(sigma(X @ W.T)) @ a
        G = scale / len(y) * (np.outer(r, a) * sigma.slope(X @ W.T)).T @ X
        W = W + (0 if step is s.protocol.steps[-1] else eta[0]) * G
    (X, y), (Xt, yt) = rows(draw.readout_batch(s)), rows(draw.test_batch(n_test))
    readout = s.protocol.readout
    assert readout is not None
    if readout.deflate:  # E y and E[y x], estimated on the batch of the readout
        mean, slope = y.mean(), y @ X / len(y)
        y, yt = y - mean - X @ slope, yt - mean - Xt @ slope
    errors = np.zeros((len(etas), len(penalties)))
    for e, eta in enumerate(etas[:, -1]):
        F, Ft = (np.asarray(sigma(x @ (W + eta * G).T)) for x in (X, Xt))
        for i, lam in enumerate(penalties):
            b = np.linalg.solve(F.T @ F / len(y) + lam * np.eye(p), F.T @ y / len(y))
            errors[e, i] = np.mean((yt - Ft @ b) ** 2) + s.target.noise**2
    return errors


MORE = (gs.GiantStep(70, 1.5, residual="full"),)


def test_a_whole_program_gives_the_errors_of_the_literal_loop(sixty):
    assert "drawn on the device" in str(sixty.status) and sixty.status.ok
    for seed in (3, 8):
        np.testing.assert_allclose(sixty.test_error[..., seed], literal(sixty.setting, seed, 90), rtol=1e-8)


@pytest.mark.slow
def test_so_does_one_of_two_steps_with_fewer_rows_than_features():
    s = setting(30, before=MORE)
    ours = gs.simulate(s, [3, 8], n_test=90, random="device")
    assert ours.status.ok
    for i, seed in enumerate((3, 8)):
        np.testing.assert_allclose(ours.test_error[..., i], literal(s, seed, 90), rtol=1e-8)


@pytest.mark.slow
def test_the_same_numbers_whatever_is_done_side_by_side(monkeypatch, sixty):
    shapes = []

    def small(*args):
        form, plan = forms.formed(*args)
        shapes.append(replace(form, rows=20, seeds=1, grams=1, members=1, penalties=1))
        return shapes[-1], replace(plan, rows=20, seeds=3)

    def first_three_are_those_at_once() -> None:
        few = gs.simulate(setting(60, deflate=2), range(3), n_test=90, random="device")
        for name in FIELDS:
            own = np.asarray(getattr(sixty, name))
            own = own[..., :3] if name in ERRORS else own[:, :3]
            np.testing.assert_allclose(getattr(few, name), own, rtol=1e-9, atol=1e-9, err_msg=name)

    monkeypatch.setattr(dense, "formed", small)
    first_three_are_those_at_once()
    assert len(shapes) == 1
    monkeypatch.setattr(dense, "covers", lambda *_: False)  # not one program: chunk by chunk, from the host
    first_three_are_those_at_once()


def test_step_sizes_and_penalties_share_a_program(sixty):
    from giantstep._training import whole

    program: Any = whole.program
    before = program._cache_size()
    other = run_sixty(penalty=(0.1, 0.2, 0.7), eta=(0.5, 2.0, 4.0))
    assert program._cache_size() == before and not np.any(other.test_error == sixty.test_error)


@pytest.mark.slow
def test_host_and_device_agree_statistically(sixty):
    host = gs.simulate(setting(60, deflate=2), range(60), n_test=90, random="host")
    assert "device" not in str(host.status)
    for name in ("test_error", "train_error", "captured", "null_level"):
        seeds = -1 if name in ERRORS else 1
        a, b = (np.moveaxis(np.asarray(getattr(o, name)), seeds, 0) for o in (host, sixty))
        spread = np.sqrt(np.var(a, axis=0, ddof=1) / len(a) + np.var(b, axis=0, ddof=1) / len(b))
        assert np.all(np.abs(a.mean(axis=0) - b.mean(axis=0)) < 5 * spread), name
    assert not np.any(host.test_error == sixty.test_error)


def test_the_default_on_a_cpu_is_the_host(small):
    auto, host = gs.simulate(small, 1, n_test=50), gs.simulate(small, 1, n_test=50, random="host")
    assert auto.test_error == host.test_error and auto.status == host.status


@pytest.mark.slow
def test_float32_has_the_same_data():
    one, other = (run_shared(dtype=t) for t in ("float64", "float32"))
    np.testing.assert_allclose(one.test_error, other.test_error, rtol=1e-4)
    assert np.all(one.test_error != other.test_error)


@pytest.mark.slow
def test_no_readout_no_steps_and_neither():
    step, readout = gs.GiantStep(50, 2.0), gs.Ridge(50, 0.1)
    for protocol in (gs.Protocol((), None), gs.Protocol((), readout), gs.Protocol((step,), None)):
        s = replace(setting(), protocol=protocol)  # one with both is done side by side above
        whole = gs.simulate(s, range(2), n_test=40, random="device")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(dense, "covers", lambda *_: False)
            chunks = gs.simulate(s, range(2), n_test=40, random="device")
        for name in FIELDS:
            if getattr(chunks, name) is not None:
                np.testing.assert_allclose(getattr(whole, name), getattr(chunks, name), rtol=1e-8, err_msg=name)


@pytest.mark.slow
def test_an_ill_conditioned_seed_is_measured_with_care():
    found = run_sixty(penalty=(1e-17, 0.1, 2.0), eta=(0.0, 1.0, 1e9))  # features are all but multiples of one another
    assert "ill-conditioned" in str(found.status) and np.all(np.isfinite(found.test_error))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("changed", "options"),
    [
        ({"penalty": "gcv"}, {"spectrum": True}),
        ({"penalty": 0.0, "n": 30}, {}),
        ({}, {"solver": "cg"}),
        ({}, {"method": "overlap"}),
        ({"batch": "reuse", "n": None}, {"method": "overlap"}),
    ],
)
def test_the_other_routes_draw_on_the_device_too(changed, options):
    found = gs.simulate(setting(**changed), range(2), n_test=60, random="device", **options)
    assert found.status.ok and "drawn on the device" in str(found.status) and np.all(np.isfinite(found.test_error))
    assert not np.any(found.test_error == gs.simulate(setting(**changed), range(2), n_test=60, **options).test_error)


@pytest.mark.slow
@pytest.mark.parametrize("model", ["gaussian", "conditional", "hermite"])
def test_equivalent_models_share_the_data_of_the_network(model):
    found = gs.equivalent(shared(), model, range(2), n_test=60, random="device")
    np.testing.assert_allclose(found.overlaps, run_shared().overlaps, rtol=1e-9)
    assert "drawn on the device" in str(found.status)


@pytest.mark.slow
def test_sgd_and_weights():
    s = replace(setting(), protocol=gs.Protocol((gs.GiantStep(50, 2.0),), gs.SGD(80, 0.1)))
    assert "drawn on the device" in str(gs.simulate(s, range(2), n_test=40, random="device").status)
    s = shared(penalty=0.3)
    trained = gs.simulate.train(s, 4, random="device")
    W, a = weights(s, 4)
    np.testing.assert_array_equal(trained.initial, W)
    found, test = gs.simulate.network(s, 4, random="device"), draw.test_batch(60)
    X, y = drawn(s, 4, test)
    risk = np.mean((y - np.asarray(s.network.activation(X @ found.weights.W.T)) @ found.weights.a) ** 2)
    np.testing.assert_allclose(risk, run_shared(range(4, 6)).risk[1, 0], rtol=1e-8)  # the second penalty


@pytest.mark.slow
def test_deflated_errors_by_one_program(monkeypatch):
    steps = (gs.GiantStep(70, 1.5, residual="full", deflate=2),)
    s = replace(setting(), protocol=gs.Protocol(steps, gs.Ridge(None, 0.1, batch="reuse", deflate=2)))
    found = deflated_errors([s], 3, 80, "float64", random="device")
    np.testing.assert_allclose(found[0, 1], gs.simulate(s, 3, n_test=80, random="device").risk, rtol=1e-8)
    many = [deflated_errors([s], seed, 80, "float64", random=r)[0] for r in ("host", "device") for seed in range(30)]
    host, device = np.reshape(many, (2, 30, 2))
    spread = np.sqrt((np.var(host, axis=0) + np.var(device, axis=0)) / 29)
    assert np.all(np.abs(host.mean(axis=0) - device.mean(axis=0)) < 5 * spread)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        (
            {"data": gs.Dataset((np.random.default_rng(0).normal(size=(400, 20)), np.arange(400) % 2))},
            "mixtures, not a Dataset",
        ),
        ({"target": gs.target(lambda z: np.sin(np.asarray(z[0])), rank=1)}, "that JAX can trace"),
    ],
)
def test_refusals(changed, words):
    with pytest.raises(gs.InputError, match=words):
        gs.simulate(replace(setting(penalty=0.1), **changed), random="device")
    with pytest.raises(gs.InputError, match="random must be one of"):
        gs.simulate(setting(), random="gpu")


@pytest.mark.slow
def test_tf32_says_how_far_it_is_from_float64():
    found, full = (run_shared(dtype="float32", precision=precision) for precision in ("tf32", "full"))
    assert "Products in tf32" in str(found.status) and "refined to a relative residual" in str(found.status)
    np.testing.assert_allclose(found.test_error, full.test_error, rtol=1e-5)  # a CPU rounds nothing
    np.testing.assert_allclose(found.train_error, full.train_error, rtol=1e-4)


@pytest.mark.parametrize("changed", [{"dtype": "float64"}, {"random": "host"}, {"spectrum": True}])
def test_tf32_is_refused_where_it_is_not(changed):
    options: Any = {"dtype": "float32", "random": "device", "precision": "tf32", **changed}
    with pytest.raises(gs.InputError, match="precision='tf32' needs"):
        gs.simulate(setting(), n_test=50, **options)


PARTS = (gs.Component(0.3, mean="u"), gs.Component(0.5, bulk=0.5, spikes=(gs.Spike(2.0, "u"),)), gs.Component(0.2))


@pytest.mark.slow
@pytest.mark.parametrize("counts", ["exact", "drawn"])
def test_a_mixture_is_drawn_on_the_device_by_the_law_of_the_host(counts):
    target = gs.target(("x1", "x1*x2", "H2(x1)"), noise=0.2)
    data = gs.Mixture(20, PARTS, counts=counts)
    s = replace(setting(penalty=0.1, eta=1.0), data=data, target=target)
    batch, host = draw.readout_batch(s), draw.some_components(s, 0, draw.Batch((1,), 9000), 0, 9000)
    one = jax.jit(lambda start: draw.some_components(s, 5, draw.Batch((1,), 9000), start, 9000, DEVICE))
    shares = np.bincount(np.asarray(one(0)), minlength=3) / 9000
    assert np.all(np.abs(shares - [0.3, 0.5, 0.2]) < 0.02)
    if counts == "exact":
        np.testing.assert_array_equal(one(0), host)
    np.testing.assert_array_equal(np.asarray(one(0))[60:], np.asarray(one(60))[:-60])
    c = np.asarray(jax.jit(lambda: draw.some_components(s, 5, batch, 0, batch.n, DEVICE))())
    Z = np.asarray(DEVICE.normals(5, (*batch.key, 0), 0, batch.n, 20))
    X, y = drawn(s, 5, batch)
    np.testing.assert_allclose(X, data.shaped(Z, c), rtol=1e-12, atol=1e-12)  # NumPy's own way
    np.testing.assert_allclose(y, draw.labels_of(s, 5, batch, X, c, source=DEVICE), rtol=1e-9, atol=1e-9)


@pytest.mark.slow
def test_a_whole_run_on_a_mixture_is_the_literal_one():
    data, target = gs.Mixture(20, PARTS), gs.target(("x1", "x1*x2", "H2(x1)"), noise=0.2)
    s = replace(setting(penalty=(0.1, 1.0), eta=(0.5, 1.0)), data=data, target=target)
    found = gs.simulate(s, [3], n_test=90, random="device")
    assert found.status.ok and "drawn on the device" in str(found.status)
    np.testing.assert_allclose(found.test_error[..., 0], literal(s, 3, 90), rtol=1e-8)
