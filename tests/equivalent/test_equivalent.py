"""The replaced features against the same formulas in NumPy, against the network they stand for, and against themselves."""

import dataclasses
from typing import Any

import numpy as np
import pytest

import giantstep as gs
from giantstep import measure
from giantstep._training.plan import make_plan
from giantstep.equivalent._spiked import default_degree
from giantstep.experiment import draw
from giantstep.simulate import train

SEEDS = range(24)
TALK = "x1 + H2(x1)/sqrt(2)"  # the second setting of Moniri et al.'s talk


def change(setting, *, steps=None, readout=None, **network):
    protocol = setting.protocol
    protocol = gs.Protocol(protocol.steps if steps is None else steps, readout or protocol.readout)
    return dataclasses.replace(setting, protocol=protocol, network=dataclasses.replace(setting.network, **network))


def talk(n, alpha, **options):
    """d : n : p = 3 : 5 : 4."""
    options = {"target": TALK, "residual": "target", **options}
    return gs.presets.moniri(n, 3 * n // 5, 4 * n // 5, alpha, 0.1, **options)


def random_features(setting, seed, batch, W, base):
    sigma, (X, _) = setting.network.activation, draw.rows(setting, seed, batch)
    if base == "network":
        return sigma(X @ W.T)
    c0, c1 = sigma.hermite(1)
    return c0 + c1 * X @ W.T + np.sqrt(sigma.mean_square - c0**2 - c1**2) * draw.feature_noise(setting, seed, batch)


def replaced(setting, seed, batch, model, degree=2, base="network"):
    """The features of a batch and the first layer they stand for, written out."""
    if model == "gaussian":
        W = train(setting, seed).final
        return random_features(setting, seed, batch, W, "gaussian"), W
    (W, a), sigma, s = draw.weights(setting, seed), setting.network.activation, setting.network.factor
    step, first = setting.protocol.steps[0], draw.step_batches(setting)[0]
    X, y = draw.rows(setting, seed, first)
    r = (y - y.mean() if step.deflate else y) - (s * sigma(X @ W.T) @ a if step.residual == "full" else 0.0)
    beta, c, eta = X.T @ r / first.n, sigma.hermite(degree), float(step.etas(first.n, setting.d, setting.p))
    g = draw.rows(setting, seed, batch)[0] @ beta
    spikes = sum(c[k] * (c[1] * eta * s) ** k * np.outer(g**k, a**k) for k in range(1, degree + 1))
    return random_features(setting, seed, batch, W, base) + spikes, W + eta * c[1] * s * np.outer(a, beta)


CASES = {
    "gaussian": ({}, "gaussian", {}),
    "gaussian, no step, wide": ({"steps": (), "width": 90, "activation": "relu"}, "gaussian", {}),
    "gaussian, two steps": (
        {"steps": (gs.GiantStep(90, 2.0, residual="full"), gs.GiantStep(None, 1.0, batch="reuse"))}, "gaussian", {},
    ),
    "gaussian, pairs": ({"symmetric": True, "second_layer": "rademacher"}, "gaussian", {}),
    "spiked": ({"activation": "elu"}, "spiked", {"degree": 3}),
    "spiked, full residual, wide": (
        {"activation": "relu", "width": 90, "steps": (gs.GiantStep(90, 3.0, residual="full"),)}, "spiked", {"degree": 2},
    ),
    "spiked, gaussian base": (
        {"activation": "relu", "scale": "1/p", "rows": "gaussian"}, "spiked", {"degree": 2, "base": "gaussian"},
    ),
    "spiked, mean removed, reused batch": (
        {"steps": (gs.GiantStep(70, 3.0, deflate=1),), "readout": gs.Ridge(None, 0.05, batch="reuse")},
        "spiked", {"degree": 3},
    ),
    "gaussian, deflated readout": ({"readout": gs.Ridge(70, 0.05, deflate=2)}, "gaussian", {}),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_against_numpy(small, case, seed):
    changes, model, options = CASES[case]
    setting = change(small, **changes)
    found = gs.equivalent(setting, model, seed, n_test=500, **options)
    F, W = replaced(setting, seed, draw.readout_batch(setting), model, **options)
    (X, y), n, degree = draw.rows(setting, seed, draw.readout_batch(setting)), len(F), setting.protocol.readout.deflate
    mean, linear = y.mean() * (degree > 0), X.T @ y / n * (degree > 1)
    y = y - mean - X @ linear
    b = np.linalg.solve(F.T @ F / n + 0.05 * np.eye(setting.p), F.T @ y / n)
    test = draw.test_batch(500)
    X, truth = draw.rows(setting, seed, test)
    errors = truth - mean - X @ linear - replaced(setting, seed, test, model, **options)[0] @ b
    assert found.risk == pytest.approx(np.mean(errors**2), rel=1e-8)
    assert found.test_error == pytest.approx(np.mean(errors**2) + 0.09, rel=1e-8)
    assert found.train_error == pytest.approx(np.mean((y - F @ b) ** 2), rel=1e-8)
    assert found.train_objective == pytest.approx(found.train_error + 0.05 * b @ b, rel=1e-8)
    np.testing.assert_allclose(found.overlaps, W @ setting.target.matrix(30).T, rtol=1e-8, atol=1e-12)
    assert found.route == "equivalent" and found.axes == () and found.null_level > 0 and found.captured.shape == (2,)


def gap(a, b, name="test_error"):
    """Mean relative difference of paired seeds and its standard error, one a step size."""
    x, y = np.asarray(getattr(a, name)), np.asarray(getattr(b, name))
    return measure.mean_and_error((x - y) / y.mean(axis=-1, keepdims=True))


@pytest.fixture(scope="module", autouse=True)
def one_group_size():
    """Groups of one size, so that all runs of one shape share what JAX compiles."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("giantstep._training.plan.MAX_SEEDS", 6)
        yield


def test_random_features_equal_their_gaussian_equivalent():
    setting = gs.presets.mei_montanari(200, 120, 160, 0.1, target=TALK)
    network, model = gs.simulate(setting, SEEDS, n_test=2000), gs.equivalent(setting, "gaussian", SEEDS, n_test=2000)
    for name in ("test_error", "train_objective"):
        mean, error = gap(model, network, name)
        assert abs(mean) < 4 * error < 0.08
    # The noise is what makes it equal: the linear part alone is far off.
    linear = dataclasses.replace(setting, network=gs.Network(160, f"{setting.network.activation.hermite(1)[1]}*x"))
    mean, error = gap(gs.equivalent(linear, "gaussian", SEEDS, n_test=2000), network)
    assert abs(mean) > 8 * error


@pytest.fixture(scope="module")
def giant():
    """Setting 2 of the talk at alpha = 0.05 and 0.35, by the network and by its models."""
    setting = talk(200, [0.05, 0.35])
    models = {"chosen": {}, "one": {"degree": 1}, "gaussian base": {"base": "gaussian"}}
    runs = {k: gs.equivalent(setting, "spiked", SEEDS, n_test=2000, **options) for k, options in models.items()}
    return gs.simulate(setting, SEEDS, n_test=2000), runs


def test_a_small_step_equals_its_spiked_model(giant):
    network, runs = giant
    for name, bound in (("chosen", 0.02), ("gaussian base", 0.1)):
        mean, error = gap(runs[name], network)
        assert abs(mean[0]) < min(4 * error[0], bound)


def test_a_degree_too_small_is_seen(giant):
    """At alpha = 0.35 the quadratic spike learns H2(x1); a model of degree one cannot."""
    network, runs = giant
    mean, error = gap(runs["one"], network, "train_objective")
    assert mean[1] > 5 * error[1] and mean[1] > 0.05
    chosen, _ = gap(runs["chosen"], network, "train_objective")
    assert abs(chosen[1]) < 0.5 * mean[1]
    drop, spread = gap(runs["one"], runs["chosen"])  # the test error too, between two models of the same draws
    assert drop[1] > 5 * spread[1] and abs(drop[0]) < 1e-12  # at alpha = 0.05 the chosen degree is one


def test_the_status_says_the_degrees(giant, small):
    _, runs = giant
    assert "degree 1 was chosen from eta = 1.3 on. The degree 3 was chosen from eta = 6.39 on." in str(
        runs["chosen"].status
    )
    assert str(runs["one"].status) == "ok"
    beyond = gs.equivalent(change(small, steps=(gs.GiantStep(90, 10.0),)), "spiked", n_test=500)
    assert "From eta = 10 on the step is sqrt(n) or more" in str(beyond.status) and "tau = eta s c_1 |beta| is" in str(
        beyond.status
    )
    assert "degree 6 was chosen" in str(beyond.status) and beyond.status.ok


def test_what_the_expansion_leaves_out_falls_with_n():
    """||F - F_l|| / sqrt(n) falls like n^(alpha - 1/2) up to logarithms; with a degree too small it does not fall."""

    def left(n, alpha, degrees):
        setting, found = talk(n, alpha), []
        batch = draw.readout_batch(setting)
        for seed in range(4):
            F = setting.network.activation(draw.rows(setting, seed, batch)[0] @ train(setting, seed).final.T)
            models = [replaced(setting, seed, batch, "spiked", degree)[0] for degree in degrees]
            found.append([measure.operator_norm(F - model) / n**0.5 for model in models])
        return np.mean(found, axis=0)

    ratio = left(700, 0.1, (1,)) / left(100, 0.1, (1,))  # 7^-0.4 = 0.46
    assert 0.35 < ratio < 0.65
    small, large = left(100, 0.3, (1, 2)), left(700, 0.3, (1, 2))
    assert large[1] < 0.8 * small[1] and large[1] < 0.8 * large[0] and large[0] > 0.8 * small[0]


def test_no_step_size_is_random_features(small):
    still = change(small, steps=(gs.GiantStep(90, 0.0),))
    network, model = gs.simulate(still, n_test=500), gs.equivalent(still, "spiked", n_test=500)
    for name in ("test_error", "train_objective"):
        assert getattr(model, name) == pytest.approx(getattr(network, name), rel=1e-12)
    assert "degree 0 was chosen" in str(model.status)
    forced = gs.equivalent(still, "spiked", n_test=500, degree=3)
    assert forced.test_error == pytest.approx(network.test_error, rel=1e-12)
    gaussian = gs.equivalent(still, "gaussian", n_test=500)
    without = gs.equivalent(change(small, steps=()), "gaussian", n_test=500)
    assert gaussian.test_error == pytest.approx(without.test_error, rel=1e-12)


def test_degree_one_on_a_gaussian_base_is_the_gaussian_equivalent_of_a_rank_one_step(small):
    setting = change(small, steps=(gs.GiantStep(90, (1.0, 5.0), residual="full", update="rank1"),))
    gaussian = gs.equivalent(setting, "gaussian", n_test=500)
    spiked = gs.equivalent(setting, "spiked", n_test=500, degree=1, base="gaussian")
    for name in ("test_error", "train_error", "overlaps", "captured"):
        np.testing.assert_allclose(getattr(spiked, name), getattr(gaussian, name), rtol=1e-9)


@pytest.mark.parametrize("model", ["gaussian", "spiked"])
def test_lists_are_single_runs_side_by_side(small, model):
    """Also where the chosen degree differs between step sizes."""
    etas, penalties = (1.0, 4.0), (1e-2, 0.05)
    lists = change(small, steps=(gs.GiantStep(90, etas),), readout=gs.Ridge(70, penalties))
    together = gs.equivalent(lists, model, range(3), n_test=500)
    assert together.axes == ("eta", "penalty", "seed") and together.test_error.shape == (2, 2, 3)
    assert together.overlaps.shape == (2, 3, 40, 2) and together.eta == etas
    for i, eta in enumerate(etas):
        one = change(lists, steps=(gs.GiantStep(90, eta),), readout=gs.Ridge(70, 0.05))
        alone = gs.equivalent(one, model, 1, n_test=500)
        assert together.test_error[i, 1, 1] == pytest.approx(alone.test_error, rel=1e-8)
        assert together.train_objective[i, 1, 1] == pytest.approx(alone.train_objective, rel=1e-8)
        assert alone.eta == eta


def test_the_same_numbers_whatever_the_chunking(small, monkeypatch):
    from giantstep._machine import random

    monkeypatch.setattr(random, "BLOCK", 16 * 30)  # blocks of 16 rows of inputs and 12 of noise
    whole = gs.equivalent(small, "spiked", range(2), base="gaussian", n_test=100)
    monkeypatch.setattr("giantstep._training.plan.CHUNK_BYTES", 1.0)
    monkeypatch.setattr("giantstep._training.plan.MAX_SEEDS", 1)
    assert make_plan(small, 1, 100, 8, None, True).rows == 16
    pieces = gs.equivalent(small, "spiked", range(2), base="gaussian", n_test=100)
    for name in ("test_error", "train_error", "overlaps"):
        np.testing.assert_allclose(getattr(pieces, name), getattr(whole, name), rtol=1e-10)
    assert pieces.status.notes == whole.status.notes


def test_the_noise_is_normal_and_shared_by_pairs(small):
    batch = draw.readout_batch(small)
    Z = draw.feature_noise(small, 0, batch)
    np.testing.assert_array_equal(draw.feature_noise(small, 0, batch, 20, 50), Z[20:50])
    assert Z.shape == (70, 40) and abs(Z.mean()) < 4 / Z.size**0.5 and abs(Z.var() - 1) < 4 * (2 / Z.size) ** 0.5
    others = [draw.rows(small, 0, batch)[0], draw.feature_noise(small, 0, draw.test_batch(70))[:, :30]]
    assert all(abs(np.mean(Z[:, :30] * other)) < 4 / other.size**0.5 for other in others)
    pairs = draw.feature_noise(change(small, symmetric=True), 0, batch)
    np.testing.assert_array_equal(pairs, pairs[:, ::-1])


@pytest.mark.parametrize(
    ("alpha", "degree"),
    [
        (-np.inf, 0),
        (-1.0, 1),
        (0.0, 1),
        (0.24, 1),
        (0.25, 2),
        (1 / 3 - 1e-12, 3),
        (0.35, 3),
        (0.39, 4),
        (0.49, 6),
        (1, 6),
    ],
)
def test_default_degree(alpha, degree):
    assert default_degree(alpha) == degree


def test_the_step_size_is_judged_at_the_scale_of_the_network(small):
    """eta = sqrt(p) n^0.3 at scale 1/p is n^0.3 at scale 1/sqrt(p): one experiment, one degree."""
    scaled = change(small, scale="1/p", steps=(gs.GiantStep(90, 2.0 * 40**0.5),))
    one, other = (gs.equivalent(s, "spiked", n_test=500) for s in (small, scaled))
    assert one.test_error == pytest.approx(other.test_error, rel=1e-9) and "degree 1 was chosen" in str(other.status)


def test_gcv_minimum_norm_and_spectrum(small):
    setting = change(small, readout=gs.Ridge(70, "gcv"))
    outcome = gs.equivalent(setting, "spiked", 1, n_test=500, spectrum=True)
    assert outcome.penalty > 0 and outcome.bulk_edge > 0 and outcome.outliers >= 0
    F, _ = replaced(setting, 1, draw.readout_batch(setting), "spiked", 1)
    values = np.linalg.svd(F / np.sqrt(70), compute_uv=False)
    np.testing.assert_allclose(outcome.singular_values, values, atol=1e-6)
    exact = gs.equivalent(change(small, width=90, readout=gs.Ridge(70, 0)), "gaussian", n_test=500)
    assert exact.train_error < 1e-12 < exact.test_error


def test_the_status_tells_of_long_rows_and_of_overflow(small):
    long = gs.equivalent(change(small, steps=(gs.GiantStep(90, 30.0),)), "gaussian", n_test=500)
    assert "rows of W have the mean square" in str(long.status)
    assert str(gs.equivalent(change(small, steps=()), "gaussian", n_test=500).status) == "ok"
    overflow = gs.equivalent(change(small, steps=(gs.GiantStep(90, 1e200),)), "spiked", n_test=500, degree=3)
    assert not overflow.status.ok and "not finite" in str(overflow.status)


def test_refusals(small):
    two = change(small, steps=(gs.GiantStep(90, 1.0), gs.GiantStep(90, 1.0)))
    refused: list[tuple[Any, str, dict[str, Any], str]] = [
        (two, "spiked", {}, "one step, and this protocol has 2"),
        (change(small, steps=()), "spiked", {}, "one step, and this protocol has 0"),
        (change(small, steps=(gs.GiantStep(90, 1.0, deflate=2),)), "spiked", {}, "deflate=2"),
        (change(small, activation="H2"), "spiked", {}, "c_1 = 0"),
        (small, "spiked", {"degree": -1}, "degree must be"),
        (small, "spiked", {"base": "rf"}, "base must be one of"),
        (small, "gaussian", {"degree": 1}, "option of model='spiked'"),
        (small, "gaussian", {"base": "gaussian"}, "option of model='spiked'"),
        (small, "linear", {}, "model must be one of"),
        (small, "gaussian", {"seed": -1}, "seed must be"),
        (small, "gaussian", {"dtype": "int8"}, "dtype"),
        (dataclasses.replace(small, protocol=gs.Protocol(small.protocol.steps)), "gaussian", {}, "needs a readout"),
        ("s.toml", "gaussian", {}, "setting must be a Setting"),
    ]
    for setting, model, options, words in refused:
        with pytest.raises(gs.InputError, match=words):
            gs.equivalent(setting, model, **options)
    large = change(small, width=10**6, readout=gs.Ridge(10**6, 1.0))
    with pytest.raises(gs.InputError, match=r"GiB may be used; a width of \d+ would fit"):
        gs.equivalent(large, "gaussian", memory=4)
