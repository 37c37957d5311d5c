"""The claims on mixtures and images can stay open and run without the images, on a small data set in their place."""

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.checks import cache, check
from giantstep.claims import select
from giantstep.claims.demir import conditional, fashion, fashion_step, hermite
from giantstep.claims.giantstep import fitted
from giantstep.plot import style

NAMES = ("demir/conditional", "demir/hermite", "demir/fashion", "demir/fashion-step", "giantstep/fitted")


def judged(name, change):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return claim.judge("quick", change(measured), predicted)


def spread(values, by):
    """Deviations from the mean over seeds, ``by`` times as wide."""
    mean = values.mean(axis=-1, keepdims=True)
    return mean + by * (values - mean)


def every(data, by):
    """The same in every array of what was measured."""
    if isinstance(data, dict):
        return {key: every(value, by) for key, value in data.items()}
    return spread(data, by) if isinstance(data, np.ndarray) else data


@pytest.mark.parametrize("name", NAMES)
def test_wide_error_bars_decide_nothing(name, monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure: "")
    verdict = judged(name, lambda m: every(m, 6))
    assert verdict.outcome == "inconclusive", verdict.sentence


def test_the_control_in_the_place_of_the_images_is_nearer(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure: "")
    verdict = judged("giantstep/fitted", lambda m: {**m, fitted.IMAGES: 0.7 * m[fitted.IMAGES]})
    assert verdict.outcome == "fails"


def test_a_step_that_teaches_nothing_fails(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure: "")
    assert (
        judged("demir/fashion-step", lambda m: {**m, "network": 0 * m["network"] + m["network"][:1]}).outcome == "fails"
    )


@pytest.fixture
def pictures(monkeypatch, coarse):
    """Two small Gaussian classes with a spike each in the place of the images, at sizes that say nothing."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((900, 12)), np.arange(900) % 2
    X[labels == 0, 0] *= 4
    X[labels == 1, 1] *= 3
    data = gs.Dataset((X, labels), counts="exact")

    def experiment(size, m, pair, activation, ratio, eta=1.0):
        network = gs.Network(round(ratio * m), activation, rows="trace", scale="1/p")
        steps = (gs.GiantStep(m, eta, residual="full"),)
        return gs.Setting(data, gs.target("-1 | 1"), network, gs.Protocol(steps, gs.Ridge(m, 1e-2)))

    for module in (fashion, fashion_step, fitted):
        monkeypatch.setattr(module, "experiment", experiment)
        monkeypatch.setitem(module.SIZES, "quick", (40, 2))
    monkeypatch.setattr(fashion, "N_TEST", 200)
    for module in (fashion, fitted):
        monkeypatch.setitem(module.RATIOS, "quick", (0.5,))
    monkeypatch.setitem(fashion.CONDITIONED, "quick", (0.5,))
    monkeypatch.setattr(fitted, "SPIKES", 1)


@pytest.mark.parametrize("module", [fashion, fashion_step, fitted], ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_on_other_pictures(module, pictures, monkeypatch):
    # the theory is tested elsewhere, and dear
    monkeypatch.setattr(fitted, "prediction", lambda *cell: [[1.0, 0.9], [0.01, 0.01]])
    measured, predicted = module.measure("quick"), module.predict("quick")
    verdict = module.judge("quick", measured, predicted)
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption


def test_the_conditional_model_runs_at_a_tiny_size(monkeypatch, coarse):
    monkeypatch.setitem(conditional.SIZES, "quick", (40, 3))
    monkeypatch.setattr(conditional, "CASES", conditional.CASES[:2])
    monkeypatch.setattr(conditional, "LARGEST", 1)
    verdict = conditional.judge("quick", conditional.measure("quick"), conditional.predict("quick"))
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption


def test_the_polynomial_runs_at_a_tiny_size_and_shows_a_trend(monkeypatch):
    monkeypatch.setattr(hermite, "CASES", hermite.CASES[2:])
    monkeypatch.setitem(hermite.SIZES, "quick", ((40,), 3))
    measured = hermite.measure("quick")
    monkeypatch.setitem(hermite.SIZES, "quick", ((20, 40), 3))
    verdict = hermite.judge("quick", {**measured, "n = 20": measured["n = 40"]}, hermite.predict("quick"))
    assert len(verdict.rows) == 16 and "<svg" in verdict.figure and "n = 20, 40" in verdict.trend


def test_orders_in_pairs():
    assert [hermite.even(order) for order in range(2, 9)] == [2, 4, 4, 6, 6, 8, 8]
    assert hermite.predict("quick")["orders"] == [3, 4, 4, 8]


@pytest.mark.parametrize("name", NAMES[2:])
def test_with_an_empty_folder_a_claim_is_open_and_says_why(name, monkeypatch, tmp_path):
    monkeypatch.setenv("GIANTSTEP_FASHION_MNIST", str(tmp_path))
    (claim,) = select([name])
    with pytest.raises(cache.Unmeasured, match="has no file train-images"):
        claim.measure("full")
    (result,) = check.check([claim], "full")
    assert result.verdict.outcome == "not run" and "has no file train-images" in str(result.error)
