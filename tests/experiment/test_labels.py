"""Moments of the labels: closed forms, identities, and samples of ``draw``."""

import dataclasses
from math import pi
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep.experiment import draw

D = 8
RELU = 0.5 - 0.5 / pi  # Var relu(z)
rng = np.random.default_rng(3)
ROWS = (rng.standard_normal((60, D)) * 2, np.repeat([0, 1], [20, 40]))


def setting(data, formula, **options):
    return gs.Setting(data, gs.target(formula, **options), gs.Network(4, "relu"), gs.Protocol((), gs.Ridge(60, 0.1)))


def mixed():
    parts = (
        gs.Component(0.3, (gs.Spike(5.0, {"x1": 1, "x2": 1}), 2.0), mean={"x1": 1.5, "u": 1.0}),
        gs.Component(0.7, (gs.Spike(3.0, "x2"),), bulk=0.5),
    )
    return gs.Mixture(D, parts)


@given(st.floats(0.1, 9), st.floats(-0.9, 20), st.floats(0.01, 0.99))
def test_relu_along_a_spike(bulk, strength, weight):
    """x1 ~ N(0, s_c^2): E relu = s_c / sqrt(2 pi), E relu^2 = s_c^2 / 2."""
    data = gs.Mixture(D, (gs.Component(weight, gs.Spike(strength * bulk, "x1"), bulk=bulk), gs.Component(1 - weight)))
    squares = np.array([bulk * (1 + strength), 1.0])
    found = gs.labels(setting(data, "relu(x1)"))
    assert found.mean == pytest.approx(data.weights @ np.sqrt(squares / (2 * pi)), rel=1e-10)
    assert found.power == pytest.approx(data.weights @ squares / 2, rel=1e-10)
    assert gs.labels(setting(data, "x1")).variance == pytest.approx(data.covariance()[0, 0], rel=1e-10)
    short = gs.labels(setting(data, "relu(x1)", scale="1/sqrt(spread)"))
    assert short.variance == pytest.approx(found.variance / data.spread, rel=1e-9)


def test_gaussian_data_are_a_mixture_of_one():
    for formula in ("x1 + H2(x1)*x2", "relu(x1) - 1", "tanh(x1*x2)", "relu(x1)*relu(x2)"):
        one, other = (gs.labels(setting(data, formula)) for data in (gs.Gaussian(D), gs.Mixture(D, gs.Component())))
        assert one.mean == pytest.approx(other.mean, abs=1e-12) and one.power == pytest.approx(other.power, rel=1e-12)
    assert gs.labels(setting(gs.Gaussian(D), "relu(x1)", noise=0.5)).total == pytest.approx(RELU + 0.25, rel=1e-12)


def test_a_linear_target_has_the_moments_of_the_inputs():
    data, w = mixed(), np.linspace(-1, 2, D)
    found = gs.labels(setting(data, "x1 + 2", directions=[w]))
    assert found.mean == pytest.approx(data.mean() @ w + 2, rel=1e-12)
    assert found.variance == pytest.approx(w @ data.covariance() @ w, rel=1e-11)
    mean, Sigma = data.mean()[:2], data.second_moment()[:2, :2]
    product = gs.labels(setting(data, "x1*x2 - x1"))
    assert product.mean == pytest.approx(Sigma[0, 1] - mean[0], rel=1e-11)


def test_classes():
    """A share r of ones: variance 4 r (1 - r)."""
    assert gs.labels(setting(mixed(), "-1 | 1")).variance == pytest.approx(4 * 0.3 * 0.7)
    choices: tuple[dict[str, Any], ...] = ({}, {"signal": None})
    for options in choices:
        found = gs.labels(setting(gs.Dataset(ROWS, **options), "-1 | 1", noise=1.0))
        assert (found.mean, found.power, found.noise) == pytest.approx((1 / 3, 1.0, 1.0))


FORMULAS = ["relu(x1) | sign(x1) + x2", "relu(x1 - 0.3)", "tanh(x1)*x2 | 1", "relu(x1 + x2)", "x1^2*x2"]


@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("law", ["mixture", "dataset", "raw"])
def test_against_samples(law, formula, seed):
    """Every row of a dataset once, so that only the noise is random; there it is averaged over 400 seeds."""
    data = mixed() if law == "mixture" else gs.Dataset(ROWS, signal=None if law == "raw" else 2.0)
    one = setting(data, formula)
    if law == "mixture":
        means = draw.rows(one, seed, draw.Batch((50,), 100_000))[1].reshape(400, -1)
    else:
        means = np.array([draw.rows(one, s, draw.readout_batch(one))[1] for s in range(400 if law == "dataset" else 2)])
    found = gs.labels(one)
    for value, samples in ((found.mean, means), (found.power, means**2)):
        by_seed = samples.mean(axis=1)
        error = by_seed.std(ddof=1) / len(by_seed) ** 0.5
        assert abs(value - by_seed.mean()) < 4.5 * error + 1e-9


def test_a_callable_is_its_formula():
    for data in (mixed(), gs.Dataset(ROWS)):
        one = gs.labels(setting(data, "sin(x1)*x2"))
        other = gs.labels(setting(data, lambda z: np.sin(z[0]) * z[1], rank=2))
        assert one.mean == pytest.approx(other.mean, abs=1e-6) and one.power == pytest.approx(other.power, rel=1e-6)


def test_normalised(seed):
    """A readout that fits nothing predicts zero, which for labels of mean zero is their mean."""
    one = gs.Setting(
        mixed(), gs.target("x2", noise=0.5), gs.Network(4, "relu"), gs.Protocol((), gs.Ridge(30, [1e12, 1.0]))
    )
    outcome = gs.simulate(one, seed, n_test=20_000)
    assert outcome.normalised.shape == (2,) and outcome.normalised[0] == pytest.approx(1, abs=0.1)
    np.testing.assert_allclose(outcome.normalised * gs.labels(one).total, outcome.test_error)
    assert dataclasses.replace(outcome, test_error=None).normalised is None
    for value in ("3", "0.1", "7.7"):  # constants whose mean and power round apart, on one processor or another
        constant = dataclasses.replace(one, target=gs.target(value))
        assert np.isnan(dataclasses.replace(outcome, setting=constant, test_error=1.0).normalised)
        assert gs.labels(setting(gs.Dataset(ROWS), value)).variance == 0


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: gs.labels(3), "labels: setting must be a Setting, not int"),  # type: ignore[arg-type]
        (lambda: gs.labels(setting(gs.Dataset(ROWS), "tanh(x1*x5)")), "at most 4 directions, not 5"),
        (lambda: gs.labels(setting(mixed(), "tanh(x1*x5)")), "at most 4 directions, not 5"),
    ],
)
def test_sentences(bad, words):
    with pytest.raises(gs.InputError, match=words):
        bad()
