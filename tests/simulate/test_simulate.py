"""The dense route against the same experiment written out in NumPy, and against itself in other chunkings."""

import dataclasses
import pickle

import numpy as np
import pytest

import giantstep as gs
from giantstep._training.plan import make_plan
from giantstep.experiment import draw
from giantstep.simulate import train


def by_hand(setting, seed, n_test=10_000):
    """Every line of the protocol in plain NumPy, one seed, single step sizes and penalty."""
    W, a = draw.weights(setting, seed)
    W, sigma, scale = W.copy(), setting.network.activation, setting.network.factor
    batches = draw.step_batches(setting)
    for step, batch in zip(setting.protocol.steps, batches, strict=True):
        X, y = draw.rows(setting, seed, batch)
        if step.deflate:
            y = y - y.mean() - (X @ (X.T @ y / len(y)) if step.deflate > 1 else 0.0)
        r = y - scale * sigma(X @ W.T) @ a if step.residual == "full" else y
        if step.update == "rank1":
            slope = sigma.hermite(1)[1] * scale * np.outer(a, X.T @ r / len(y))
        else:
            slope = scale / len(y) * (np.outer(r, a) * sigma.slope(X @ W.T)).T @ X
        W = W + float(step.etas(batch.n, setting.d, setting.p)) * slope
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    F, lam, degree = sigma(X @ W.T), setting.protocol.readout.penalty, setting.protocol.readout.deflate
    mean, linear = y.mean() * (degree > 0), X.T @ y / len(y) * (degree > 1)
    y = y - mean - X @ linear
    b = np.linalg.solve(F.T @ F / len(y) + lam * np.eye(setting.p), F.T @ y / len(y))
    Xt, yt = draw.rows(setting, seed, draw.test_batch(n_test))
    train_error = np.mean((y - F @ b) ** 2)
    risk = np.mean((yt - mean - Xt @ linear - sigma(Xt @ W.T) @ b) ** 2)
    return {"overlaps": W @ setting.target.matrix(setting.d).T, "train_error": train_error, "risk": risk,
            "train_objective": train_error + lam * b @ b, "test_error": risk + setting.target.noise**2}  # fmt: skip


def change(setting, *, steps=None, **network):
    protocol = setting.protocol if steps is None else dataclasses.replace(setting.protocol, steps=steps)
    return dataclasses.replace(setting, protocol=protocol, network=dataclasses.replace(setting.network, **network))


VARIANTS = {
    "plain": {},
    "relu, full residual": {"activation": "relu", "steps": (gs.GiantStep(90, 3.0, residual="full"),)},
    "rank one": {"steps": (gs.GiantStep(90, 3.0, residual="full", update="rank1"),)},
    "deflated": {"steps": (gs.GiantStep(90, 3.0, deflate=2),)},
    "mean removed": {"steps": (gs.GiantStep(90, gs.power(0.5, of="d"), deflate=1),)},
    "gaussian rows, 1/p": {"rows": "gaussian", "scale": "1/p", "second_layer": "constant"},
    "symmetric": {"symmetric": True, "second_layer": "rademacher", "scale": "1", "centred": True},
    "wide": {"width": 150, "activation": "elu"},
    "three steps": {
        "steps": (
            gs.GiantStep(90, 2.0, residual="full"),
            gs.GiantStep(None, 1.0, batch="reuse", residual="full"),
            gs.GiantStep(50, 0.5),
        )
    },
    "no step": {"steps": ()},
}


@pytest.mark.parametrize("variant", VARIANTS)
def test_against_numpy(small, variant, seed):
    setting = change(small, **VARIANTS[variant])
    found, expected = gs.simulate(setting, seed=seed, n_test=500), by_hand(setting, seed, 500)
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, err_msg=name)
    assert found.status.ok and found.axes == ()


@pytest.mark.parametrize("width", [40, 150])
@pytest.mark.parametrize("readout", [{"deflate": 1}, {"deflate": 2}, {"deflate": 2, "batch": "reuse"}])
def test_a_deflated_readout_against_numpy(small, readout, width, seed):
    ridge = gs.Ridge(None if "batch" in readout else 70, 0.05, **readout)
    made = change(small, steps=(gs.GiantStep(90, 3.0, deflate=2, residual="full"),), width=width)
    setting = dataclasses.replace(made, protocol=dataclasses.replace(made.protocol, readout=ridge))
    found, expected = gs.simulate(setting, seed=seed, n_test=500), by_hand(setting, seed, 500)
    for name, value in expected.items():
        np.testing.assert_allclose(getattr(found, name), value, rtol=1e-9, err_msg=name)


def test_a_deflated_readout_takes_a_linear_target_off_the_features():
    """y = 3 + x1: what is left is of order sqrt(d/n), whatever the features; without the mean and the linear part it is not."""
    base = gs.Setting(gs.Gaussian(20), "3 + x1", gs.Network(10, "H2"), gs.Protocol((), gs.Ridge(20_000, 1.0)))
    risks = [
        gs.simulate(dataclasses.replace(base, protocol=gs.Protocol((), gs.Ridge(20_000, 1.0, deflate=k)))).risk
        for k in range(3)
    ]
    assert risks[0] > 9.9 and risks[1] == pytest.approx(1, abs=0.05) and risks[2] < 10 * 20 * 10 / 20_000


def test_reused_readout(small, seed):
    readout = gs.Ridge(None, 0.05, batch="reuse")
    setting = dataclasses.replace(small, protocol=dataclasses.replace(small.protocol, readout=readout))
    assert gs.simulate(setting, seed=seed, n_test=500).train_error == pytest.approx(
        by_hand(setting, seed, 500)["train_error"]
    )
    fresh = gs.simulate(small, seed=seed).train_error
    assert gs.simulate(setting, seed=seed).train_error != pytest.approx(fresh, rel=1e-3)


@pytest.mark.parametrize("variant", ["plain", "wide", "deflated", "three steps"])
def test_the_same_numbers_whatever_the_chunking(small, variant, monkeypatch, seed):
    from giantstep._machine import random

    monkeypatch.setattr(random, "BLOCK", 16 * 30)  # blocks of 16 rows, so that small batches have several chunks
    setting = change(small, **VARIANTS[variant])
    whole = gs.simulate(setting, seed=seed, n_test=100)
    monkeypatch.setattr("giantstep._training.plan.CHUNK_BYTES", 1.0)
    assert make_plan(setting, 1, 100, 8, None).rows == 16
    pieces = gs.simulate(setting, seed=seed, n_test=100)
    for name in ("test_error", "train_error", "train_objective", "overlaps"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-10)


@pytest.mark.parametrize("batch", ["fresh", "reuse"])
def test_the_same_numbers_whether_batches_are_held_or_drawn_again(small, batch, monkeypatch, seed):
    ridge = gs.Ridge(90, 0.05, batch=batch, deflate=2)
    setting = dataclasses.replace(small, protocol=gs.Protocol((gs.GiantStep(90, 3.0, deflate=2),), ridge))
    held = gs.simulate(setting, seed=seed, n_test=100)
    monkeypatch.setattr("giantstep._training.plan.HELD_BYTES", 0.0)
    assert make_plan(setting, 1, 100, 8, None).room == 0
    again = gs.simulate(setting, seed=seed, n_test=100)
    for name in ("risk", "train_error"):
        assert getattr(again, name) == pytest.approx(getattr(held, name), rel=1e-10)


def test_arrays_of_step_sizes_and_penalties_are_single_runs_side_by_side(small, seed):
    etas, penalties = (0.0, 1.0, 4.0), (1e-3, 1e-2, 0.1, 1.0, 10.0)
    protocol = gs.Protocol((gs.GiantStep(90, etas, residual="full"),), gs.Ridge(70, penalties))
    together = gs.simulate(dataclasses.replace(small, protocol=protocol), seed=range(seed, seed + 3), n_test=300)
    assert together.axes == ("eta", "penalty", "seed") and together.test_error.shape == (3, 5, 3)
    assert together.overlaps.shape == (3, 3, 40, 2) and together.captured.shape == (3, 3, 2)
    for i, eta in enumerate(etas):
        for j, penalty in ((0, 1e-3), (3, 1.0)):
            one = gs.Protocol((gs.GiantStep(90, eta, residual="full"),), gs.Ridge(70, penalty))
            alone = gs.simulate(dataclasses.replace(small, protocol=one), seed=seed + 1, n_test=300)
            assert together.test_error[i, j, 1] == pytest.approx(alone.test_error, rel=1e-8)
            assert together.train_objective[i, j, 1] == pytest.approx(alone.train_objective, rel=1e-8)


def test_step_sizes_that_move_together_over_two_steps(small, seed):
    lists = gs.Protocol(
        (gs.GiantStep(90, (1.0, 3.0)), gs.GiantStep(60, (2.0, 0.5), residual="full")), gs.Ridge(70, 0.05)
    )
    both = gs.simulate(dataclasses.replace(small, protocol=lists), seed=seed, n_test=200)
    for i, (first, second) in enumerate(((1.0, 2.0), (3.0, 0.5))):
        steps = (gs.GiantStep(90, first), gs.GiantStep(60, second, residual="full"))
        expected = by_hand(change(small, steps=steps), seed, 200)
        assert both.test_error[i] == pytest.approx(expected["test_error"], rel=1e-9)


def test_seeds_in_groups_equal_single_seeds(small, monkeypatch):
    together = gs.simulate(small, seed=range(5), n_test=200)
    monkeypatch.setattr("giantstep._training.plan.MAX_SEEDS", 2)
    grouped = gs.simulate(small, seed=range(5), n_test=200)
    np.testing.assert_allclose(grouped.test_error, together.test_error, rtol=1e-11)
    assert together.seeds == (0, 1, 2, 3, 4)


@pytest.mark.parametrize("width", [40, 120])
def test_gcv_picks_the_best_of_its_own_curve(small, width, seed):
    setting = dataclasses.replace(
        small, network=gs.Network(width, "tanh"), protocol=gs.Protocol(small.protocol.steps, gs.Ridge(70, "gcv"))
    )
    outcome = gs.simulate(setting, seed=range(seed, seed + 2))
    from giantstep.ridge import ridge

    final = train(setting, seed).final
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    fit = ridge(setting.network.activation(X @ final.T), y, "gcv")
    assert outcome.penalty[0] == pytest.approx(fit.penalty, rel=1e-3)
    assert outcome.train_error[0] == pytest.approx(fit.train_error, rel=1e-3)


@pytest.mark.parametrize("width", [40, 70, 150])
def test_minimum_norm(small, width, seed):
    setting = dataclasses.replace(
        small, network=gs.Network(width, "relu"), protocol=gs.Protocol(small.protocol.steps, gs.Ridge(70, 0))
    )
    outcome = gs.simulate(setting, seed=seed, n_test=300)
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    W, sigma = train(setting, seed).final, setting.network.activation
    b = np.linalg.lstsq(sigma(X @ W.T), y, rcond=None)[0]
    Xt, yt = draw.rows(setting, seed, draw.test_batch(300))
    assert outcome.risk == pytest.approx(np.mean((yt - sigma(Xt @ W.T) @ b) ** 2), rel=1e-5)
    if width == 150:
        assert outcome.train_error < 1e-12


def test_duplicate_neurons_are_reported_not_nan(small):
    """Symmetric pairs make the features rank deficient: numbers stay finite and the status says what was done."""
    setting = dataclasses.replace(
        small,
        network=gs.Network(40, "relu", symmetric=True, weights=None),
        protocol=gs.Protocol((), gs.Ridge(90, (0.0, 1e-18))),
    )
    outcome = gs.simulate(setting, seed=0)
    assert np.all(np.isfinite(outcome.test_error)) and any("20 of 40" in note for note in outcome.status.notes)


def test_overflow_is_a_status_not_a_silent_nan(small):
    outcome = gs.simulate(change(small, activation="H3", steps=(gs.GiantStep(90, 1e200),)), seed=0)
    assert not outcome.status.ok and "not finite" in str(outcome.status)


def test_spectrum(small, seed):
    outcome = gs.simulate(small, seed=seed, spectrum=True)
    X, _ = draw.rows(small, seed, draw.readout_batch(small))
    F = small.network.activation(X @ train(small, seed).final.T)
    np.testing.assert_allclose(outcome.singular_values, np.linalg.svd(F / np.sqrt(70), compute_uv=False), atol=1e-7)
    assert outcome.outliers >= 0 and outcome.bulk_edge > 0


def test_without_a_readout_the_network_itself_is_tested(small, seed):
    setting = dataclasses.replace(small, protocol=gs.Protocol(small.protocol.steps))
    outcome = gs.simulate(setting, seed=seed, n_test=400)
    found = train(setting, seed)
    Xt, yt = draw.rows(setting, seed, draw.test_batch(400))
    f = small.network.factor * small.network.activation(Xt @ found.final.T) @ found.second_layer
    assert outcome.risk == pytest.approx(np.mean((yt - f) ** 2)) and outcome.train_error is None


def test_symmetric_networks_start_at_zero(small, seed):
    network = gs.Network(40, "relu", symmetric=True)
    outcome = gs.simulate(dataclasses.replace(small, network=network, protocol=gs.Protocol()), seed=seed, n_test=100)
    _, yt = draw.rows(small, seed, draw.test_batch(100))
    assert outcome.risk == pytest.approx(np.mean(yt**2))


def test_float32_is_close_to_float64(small, seed):
    double, single = (gs.simulate(small, seed=seed, dtype=t) for t in ("float64", "float32"))
    assert single.test_error == pytest.approx(double.test_error, rel=1e-4)
    assert single.test_error != double.test_error


def test_the_standard_error_is_that_of_the_test_sample(small):
    """Over many test sets of one network the error scatters by its stated standard error."""
    errors = [gs.simulate(small, seed=0, n_test=n) for n in range(2000, 2004)]
    reference = gs.simulate(small, seed=0, n_test=200_000)
    assert reference.test_error_se < errors[0].test_error_se / 5
    assert all(abs(o.test_error - reference.test_error) < 4 * o.test_error_se for o in errors)


def test_own_weights(small, seed):
    rng = np.random.default_rng(seed)
    W, a = rng.standard_normal((7, 30)), rng.standard_normal(7)
    setting = dataclasses.replace(small, network=gs.Network(7, "tanh", weights=(W, a)))
    np.testing.assert_array_equal(train(setting, seed).initial, W)
    np.testing.assert_allclose(gs.simulate(setting, seed=seed).overlaps, by_hand(setting, seed)["overlaps"], rtol=1e-10)


def test_callables_are_simulated(small, seed):
    from giantstep._machine.backend import jnp

    network = gs.Network(40, lambda x: jnp.tanh(x))
    setting = dataclasses.replace(
        small, target=gs.target(lambda z: z[0] + z[0] * z[1], rank=2, noise=0.3), network=network
    )
    assert gs.simulate(setting, seed=seed).test_error == pytest.approx(
        gs.simulate(small, seed=seed).test_error, rel=1e-9
    )


def test_memory_is_estimated_and_refused(small):
    large = dataclasses.replace(
        small, network=gs.Network(10**6, "relu"), protocol=gs.Protocol((), gs.Ridge(10**6, 1.0))
    )
    with pytest.raises(gs.InputError, match=r"GiB may be used; a width of \d+ would fit") as caught:
        gs.simulate(large, memory=4)
    width = int(str(caught.value).split("width of ")[1].split()[0])
    fits = dataclasses.replace(large, network=gs.Network(width, "relu"))
    assert make_plan(fits, 1, 100, 8, 4).bytes <= 4 * 2**30
    huge = dataclasses.replace(
        small,
        data=gs.Gaussian(512),
        network=gs.Network(1024, "relu"),
        protocol=gs.Protocol((gs.GiantStep(512**2, 1.0),), gs.Ridge(512**2, 1.0)),
    )
    assert make_plan(huge, 1, 10_000, 8, 4).bytes < 2**30


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"seed": -1}, "seed must be"), ({"seed": []}, "non-empty"), ({"seed": [1, 1]}, "different"), ({"seed": 1.5}, "seed"),
        ({"method": "magic"}, "method must be one of"), ({"dtype": "int8"}, "dtype"), ({"n_test": 0}, "n_test"),
        ({"memory": "much"}, "memory"),
    ],
)  # fmt: skip
def test_bad_arguments(small, arguments, words):
    with pytest.raises(gs.InputError, match=words):
        gs.simulate(small, **arguments)
    with pytest.raises(gs.InputError, match="setting must be a Setting"):
        gs.simulate("s.toml")  # type: ignore[arg-type]


def test_verbs_are_modules_that_can_be_called_and_pickled():
    assert pickle.loads(pickle.dumps(gs.simulate)) is gs.simulate
    import giantstep.simulate._dense  # noqa: F401  (importing a submodule must not hide the verb)

    assert callable(gs.simulate) and callable(gs.target) and callable(gs.plot)


@pytest.mark.parametrize("width", [40, 150])
def test_an_overflow_at_one_step_size_leaves_the_others(small, width):
    setting = change(small, activation="H3", width=width, steps=(gs.GiantStep(90, (0.0, 1e200)),))
    outcome = gs.simulate(setting, seed=0, spectrum=True)
    assert not outcome.status.ok and np.isfinite(outcome.test_error[0]) and not np.isfinite(outcome.train_error[1])


def test_shares_survive_huge_weights(small):
    moderate, huge = (gs.simulate(change(small, steps=(gs.GiantStep(90, eta),)), seed=0) for eta in (1e6, 1e200))
    np.testing.assert_allclose(huge.captured, moderate.captured, rtol=1e-4)


def test_the_null_level_of_directions_that_are_not_orthogonal(small):
    target = gs.target("x1 + x2", directions=[[1.0] + [0.0] * 29, [1.0, 0.1] + [0.0] * 28])
    outcome = gs.simulate(
        dataclasses.replace(small, target=target, protocol=gs.Protocol((gs.GiantStep(900, 50.0),))), seed=0
    )
    assert outcome.captured.sum() > 1 > 0.02 > outcome.null_level > 0


def test_the_spread_of_the_share_counts_pairs_once(small):
    setting = change(small, symmetric=True, width=200, steps=())
    outcome = gs.simulate(setting, seed=range(60), n_test=10)
    spread = outcome.captured.std(axis=0, ddof=1)
    np.testing.assert_allclose(outcome.captured_se.mean(axis=0), spread, rtol=0.35)


def test_a_single_seed_in_a_list_keeps_its_standard_error(small):
    alone, listed = gs.simulate(small, seed=3), gs.simulate(small, seed=[3])
    assert listed.mean().test_error_se == pytest.approx(alone.test_error_se)
    assert listed.mean().train_error_se is None


def test_more_refusals(small):
    with pytest.raises(gs.InputError, match="needs a readout"):
        gs.simulate(dataclasses.replace(small, protocol=gs.Protocol()), spectrum=True)
    with pytest.raises(gs.InputError, match="seeds would fit"):
        gs.simulate(small, seed=range(10**6), memory=1)
    with pytest.raises(gs.InputError, match="at most 1000000 entries"):
        gs.simulate(small, seed=range(10**9))
    with pytest.raises(gs.InputError, match="not the text"):
        gs.simulate(small, seed="0-3")  # type: ignore[arg-type]
    with pytest.raises(gs.InputError, match="seed must be"):
        train(small, -1)
    with pytest.raises(gs.InputError, match="train: setting must be a Setting"):
        train("small")  # type: ignore[arg-type]
