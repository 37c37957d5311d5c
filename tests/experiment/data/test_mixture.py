"""Mixtures: their population against samples, round trips, streams of rows, and one sentence for anything bad."""

import dataclasses
import json
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep.experiment import draw
from giantstep.experiment.data.mixture import pattern

D = 12
C, S = gs.Component, gs.Spike
strengths = st.floats(-0.9, 50)
names = st.sampled_from(["u", "v", "w", "x1", "x3"])
combinations = st.dictionaries(names, st.floats(0.1, 3), min_size=1, max_size=3)
directions = st.one_of(st.none(), names, combinations)


@st.composite
def mixtures(draws):
    """One to three components with one shared-language spike and some of their own."""
    count = draws(st.integers(1, 3))
    shares = np.array([draws(st.floats(0.1, 1)) for _ in range(count)])
    parts = []
    for weight in (shares / shares.sum()).tolist():
        bulk = draws(st.one_of(st.just(1.0), st.floats(0.1, 10)))
        first, *others = (bulk * s for s in draws(st.lists(strengths, min_size=1, max_size=2)))
        spikes = (gs.Spike(first, draws(directions)), *others)
        parts.append(gs.Component(weight, spikes, draws(st.one_of(st.none(), combinations)), bulk))
    return gs.Mixture(D, tuple(parts), seed=draws(st.integers(0, 5)), counts=draws(st.sampled_from(["drawn", "exact"])))


def setting(mixture, formula="x1", n=50, **network):
    network = gs.Network(12, "relu", **network)
    return gs.Setting(mixture, gs.target(formula), network, gs.Protocol((gs.GiantStep(n, 1.0),), gs.Ridge(40, 0.1)))


def two(**options):
    parts = (gs.Component(0.3, (gs.Spike(5.0, "u"), 2.0), mean={"v": 1.5}), gs.Component(0.7, (gs.Spike(3.0, "x2"),)))
    return gs.Mixture(D, parts, **options)


@given(mixtures())
def test_round_trips(mixture):
    one = setting(mixture)
    for again in (gs.Setting.from_toml(one.to_toml()), gs.Setting.from_json(one.to_json())):
        assert again == one and hash(again) == hash(one) and again.id == one.id


@given(mixtures())
def test_the_population(mixture):
    whole = mixture.covariance()
    for c in range(len(mixture.components)):
        G = mixture.directions(c)
        np.testing.assert_allclose(G @ G.T, np.eye(len(G)), atol=1e-12)
        outer = G.T @ np.diag(mixture.components[c].strengths) @ G
        np.testing.assert_allclose(mixture.covariance(c), mixture.components[c].bulk * np.eye(D) + outer, atol=1e-10)
    for c in (None, *range(len(mixture.components))):
        B, M = mixture.low_rank(c)
        np.testing.assert_allclose(mixture.bulk(c) * np.eye(D) + B.T @ M @ B, mixture.covariance(c), atol=1e-10)
    shares = mixture.weights
    moment = sum(w * (mixture.covariance(c) + np.outer(mixture.mean(c), mixture.mean(c))) for c, w in enumerate(shares))
    np.testing.assert_allclose(mixture.second_moment(), moment, atol=1e-10)
    np.testing.assert_allclose(whole, moment - np.outer(mixture.mean(), mixture.mean()), atol=1e-10)
    assert mixture.spread == pytest.approx(np.linalg.norm(whole, 2), rel=1e-10)
    assert mixture.trace == pytest.approx(np.trace(whole), rel=1e-10)


@given(mixtures())
def test_a_matrix_root(mixture):
    """What z becomes has the covariance of its component exactly: the linear map A has A A^T = Sigma_c."""
    for c in range(len(mixture.components)):
        A = mixture.shaped(np.eye(D), np.full(D, c)) - mixture.mean(c)
        np.testing.assert_allclose(A @ A.T, mixture.covariance(c), rtol=1e-9, atol=1e-9)


@given(mixtures(), st.integers(0, 99))
def test_rows_are_the_same_with_all_directions_at_once_and_with_those_of_their_component(mixture, seed):
    rng = np.random.default_rng(seed)
    Z, c = rng.standard_normal((20, D)), rng.integers(0, len(mixture.components), 20)
    at_once = mixture.shaped(Z, c)
    with mock.patch("giantstep.experiment.data.mixture.TOGETHER", 0):
        np.testing.assert_allclose(mixture.shaped(Z, c), at_once, rtol=1e-9, atol=1e-9)


def test_samples_have_the_moments_of_the_population(seed):
    one, n = setting(two()), 40_000
    assert isinstance(one.data, gs.Mixture)
    batch = draw.Batch((99,), n)
    X, _ = draw.rows(one, seed, batch)
    c = draw.components(one, seed, batch)
    for k in range(2):
        part = X[c == k]
        assert abs(len(part) / n - one.data.weights[k]) < 5 * np.sqrt(0.21 / n)
        Sigma = one.data.covariance(k)
        error = np.sqrt((np.outer(np.diag(Sigma), np.diag(Sigma)) + Sigma**2) / len(part))
        assert np.all(np.abs(np.cov(part.T) - Sigma) < 5 * error)
        assert np.all(np.abs(part.mean(axis=0) - one.data.mean(k)) < 5 * np.sqrt(np.diag(Sigma) / len(part)))


@pytest.mark.parametrize("counts", ["drawn", "exact"])
def test_rows_do_not_depend_on_how_they_are_cut(counts, seed):
    one = setting(two(counts=counts), "x1 | 2*x2 - 1")
    long, short = draw.Batch((16,), 1000), draw.Batch((16,), 300)
    X, y = draw.rows(one, seed, long)
    pieces = [draw.rows(one, seed, long, start, start + 170) for start in range(0, 1000, 170)]
    np.testing.assert_allclose(np.concatenate([p[0] for p in pieces]), X, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(draw.rows(one, seed, short)[1], y[:300], rtol=1e-12, atol=1e-12)
    c = draw.components(one, seed, long)
    assert np.array_equal(draw.components(one, seed, long, 500, 700), c[500:700])
    np.testing.assert_allclose(y, np.where(c == 0, X[:, 0], 2 * X[:, 1] - 1), rtol=1e-12)


@given(st.lists(st.integers(1, 20), min_size=1, max_size=4), st.integers(1, 400))
def test_exact_counts(shares, n):
    weights = [s / sum(shares) for s in shares]
    mixture = gs.Mixture(3, tuple(gs.Component(w) for w in weights), counts="exact")
    counts = np.bincount(pattern(mixture.weights, 0, n), minlength=len(shares))
    if len(shares) > 1:
        assert counts[0] == shares[0] * n // sum(shares)
    assert np.all(np.abs(counts - n * np.array(weights)) < len(shares))
    assert np.array_equal(pattern(mixture.weights, 0, n)[n // 2 :], pattern(mixture.weights, n // 2, n))


def test_empty_components():
    for weights in ((0.0, 1.0), (1.0, 0.0)):
        for counts in ("drawn", "exact"):
            mixture = gs.Mixture(D, tuple(gs.Component(w) for w in weights), counts=counts)
            assert set(draw.components(setting(mixture), 0, draw.Batch((1,), 500))) == {weights.index(1.0)}


def test_directions_are_of_the_population_not_of_the_run():
    a, b = two(), two(seed=1)
    assert np.array_equal(a.directions(0), two().directions(0)) and not np.allclose(a.directions(0), b.directions(0))
    assert np.array_equal(a.directions(1), np.eye(1, D, 1))
    shared = gs.Mixture(D, (gs.Component(0.5, gs.Spike(1.0, "u")), gs.Component(0.5, gs.Spike(2.0, {"u": 3, "v": 4}))))
    assert shared.directions(0) @ shared.directions(1).T == pytest.approx(0.6)
    vector = np.full(D, D**-0.5)
    given = gs.Mixture(D, gs.Component(spikes=(gs.Spike(1.0, vector), gs.Spike(1.0, "u"), gs.Spike(2.0))))
    assert gs.Setting.from_toml(setting(given).to_toml()).data == given
    np.testing.assert_allclose(given.directions(0)[0], vector)


def test_one_component_without_spikes_is_gaussian(seed):
    mixture, plain = setting(gs.Mixture(D, gs.Component())), setting(gs.Gaussian(D))
    for a, b in zip(
        draw.rows(mixture, seed, draw.Batch((3,), 9)), draw.rows(plain, seed, draw.Batch((3,), 9)), strict=True
    ):
        assert np.array_equal(a, b)
    one, other = (gs.simulate(s, seed, n_test=50).risk for s in (mixture, plain))
    assert one == pytest.approx(other, rel=1e-12)
    assert mixture.data.spread == plain.data.spread == 1 and mixture.data.trace == plain.data.trace == D


def test_a_bulk_is_a_scale(seed):
    """bulk b and strengths b theta are sqrt(b) times the rows; the default bulk is not part of the id."""
    first, second = two().components
    wide = gs.Mixture(D, (C(0.3, (S(20.0, "u"), 8.0), {"v": 3.0}, bulk=4.0), second))
    batch = draw.Batch((7,), 60)
    one = setting(two())
    X, c = draw.rows(one, seed, batch)[0], draw.components(one, seed, batch)
    np.testing.assert_allclose(draw.rows(setting(wide), seed, batch)[0], np.where(c == 0, 2.0, 1.0)[:, None] * X)
    assert wide.bulk() == pytest.approx(0.3 * 4 + 0.7) and (wide.bulk(0), wide.bulk(1)) == (4.0, 1.0)
    assert one.id == "e6f300fd259418ad"  # before components had a bulk
    assert dataclasses.replace(first, bulk=1.0) == first and "bulk" not in first.to_plain()
    assert setting(wide).id != one.id and gs.Setting.from_toml(setting(wide).to_toml()).data == wide


def test_rows_of_the_network_and_length_of_the_target(seed):
    one, gaussian = setting(two(), rows="trace"), setting(two(), rows="gaussian")
    factor = np.sqrt(D / one.data.trace)
    np.testing.assert_allclose(draw.weights(one, seed)[0], factor * draw.weights(gaussian, seed)[0])
    short = dataclasses.replace(one, target=gs.target("x1", scale="1/sqrt(spread)"))
    batch = draw.Batch((3,), 9)
    y = draw.rows(one, seed, batch)[1]
    np.testing.assert_allclose(draw.rows(short, seed, batch)[1], y / np.sqrt(one.data.spread))
    overlaps = (gs.simulate(s, seed, n_test=20).overlaps for s in (one, short))
    assert all(o.shape == (12, 1) for o in overlaps)


def test_classes_and_noise(seed):
    noisy = dataclasses.replace(setting(two()), target=gs.target(["1", "-1"], noise=0.5))
    batch = draw.Batch((5,), 400)
    y, c = draw.rows(noisy, seed, batch)[1], draw.components(noisy, seed, batch)
    assert np.std(y - np.where(c == 0, 1, -1)) == pytest.approx(0.5, rel=0.2)
    test = draw.test_batch(400)
    assert set(draw.rows(noisy, seed, test)[1]) == {1.0, -1.0}
    outcome = gs.simulate(noisy, seed, n_test=100)
    assert outcome.test_error == pytest.approx(outcome.risk + 0.25)


def test_single_precision_and_streaming(seed):
    one = setting(two(), "relu(x1) | -1", n=3000)
    exact = gs.simulate(one, seed, n_test=500, method="dense").risk
    assert gs.simulate(one, seed, n_test=500, dtype="float32").risk == pytest.approx(exact, rel=1e-3)


NEAR = st.recursive(
    st.one_of(st.none(), st.booleans(), st.floats(), st.sampled_from(["u", "x1", "exact", "mixture", 1, -1, 10**30])),
    lambda inner: st.one_of(
        st.lists(inner, max_size=3),
        st.dictionaries(
            st.sampled_from(["u", "x1", "x99", "weight", "spikes", "strength", "direction", "d", "bulk"]),
            inner,
            max_size=4,
        ),
    ),
    max_leaves=8,
)


@given(mixtures(), st.data())
def test_a_damaged_mixture_is_refused_in_one_sentence(mixture, data):
    """Replace one thing anywhere."""
    plain = json.loads(json.dumps(setting(mixture).to_plain()))
    place = plain["data"]
    while True:
        key = data.draw(st.sampled_from(list(place) if isinstance(place, dict) else list(range(len(place)))))
        if isinstance(place[key], dict | list) and place[key] and data.draw(st.booleans()):
            place = place[key]
            continue
        place[key] = data.draw(NEAR)
        break
    try:
        gs.Setting.from_plain(plain)
    except gs.InputError as error:
        assert str(error) and "\n" not in str(error)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: gs.Mixture(D, (C(0.5), C(0.4))), "sum to one, not to 0.9"),
        (lambda: C(-0.1), "weight must be a finite number of at least 0"),
        (lambda: C(1.0, (-1.0,)), "strength must be above -1, for a variance above zero"),
        (lambda: C(1.0, (-2.5,), bulk=2.5), "above minus the bulk, -2.5"),
        (lambda: C(bulk=0.0), "bulk is a variance"),
        (lambda: C(bulk=float("nan")), "bulk must be a finite number"),
        (lambda: S(float("inf")), "strength must be a finite number"),
        (lambda: S(1.0, (1.0, 1.0)), "unit length"),
        (lambda: S(1.0, "2u"), "letters and digits"),
        (lambda: S(1.0, {"u": 0.0}), "must not be zero"),
        (lambda: S(1.0, 3), "a name, a table"),  # type: ignore[arg-type]
        (lambda: gs.Mixture(D, C(1.0, S(1.0, (1.0, 0.0)))), "has 2 entries but d = 12"),
        (lambda: gs.Mixture(D, C(1.0, S(1.0, "x13"))), "uses x13, but d is 12"),
        (lambda: gs.Mixture(D, C(mean=(1.0, 0.0))), "the mean of component 1 has 2 entries"),
        (
            lambda: gs.Mixture(D, C(1.0, (S(1.0, "u"), S(1.0, {"u": 3, "v": 4})))),
            "must be orthogonal: their cosine is 0.6",
        ),
        (lambda: gs.Mixture(2, C(1.0, (1.0, 1.0, 1.0))), "do not hold so many"),
        (lambda: gs.Mixture(D, ()), "sum to one"),
        (lambda: gs.Mixture(D, (C(), "a")), "a list of Component"),  # type: ignore[arg-type]
        (lambda: gs.Mixture(D, C(), counts="some"), "counts must be one of"),
        (lambda: setting(two(), "1 | 2 | 3"), "formulas for 3 components but the data 2"),
        (lambda: setting(gs.Gaussian(D), "1 | 2"), "formulas for 2 components but the data 1"),
        (lambda: setting(gs.Gaussian(D), rows="trace"), "rows='trace' is for a Mixture"),
        (lambda: setting("gaussian"), "a Gaussian, a Mixture or a Dataset"),
        (lambda: gs.simulate(setting(two()), method="overlap"), "isotropic Gaussian data only"),
        (lambda: gs.equivalent(setting(two())), "isotropic Gaussian data only"),
        (lambda: gs.theory.sgd(setting(two()), 10, 0.1), "isotropic Gaussian data only"),
        (lambda: gs.target("1 | x1").hermite, "for every component of a mixture"),
        (lambda: gs.explain("x1 | x1^2"), "for every component of a mixture"),
        (lambda: gs.target("x1", scale="2"), "scale must be one of"),
        (lambda: gs.Setting.from_plain({**setting(two()).to_plain(), "data": {"law": "cauchy", "d": 3}}), "'mixture'"),
    ],
)
def test_sentences(bad, words):
    with pytest.raises(gs.InputError, match=words) as caught:
        bad()
    assert "\n" not in str(caught.value)


def test_deflating_the_linear_part_is_for_gaussian_data():
    one = setting(two())
    with pytest.raises(gs.InputError, match="deflate = 2"):
        dataclasses.replace(one, protocol=gs.Protocol((gs.GiantStep(9, 1.0, deflate=2),)))


def test_a_mixture_counts_its_spikes_in_words():
    parts = (gs.Component(0.5, spikes=(5.0,)), gs.Component(0.25), gs.Component(0.25, spikes=(2.0, 3.0)))
    _, *lines = str(gs.Mixture(d=10, components=parts)).splitlines()
    ends = ("one spike of strength 5", "no spikes", "2 spikes of strengths 3, 2")
    assert all(line.endswith(end) for line, end in zip(lines, ends, strict=True))


def test_long_directions_are_shown_by_their_count():
    axis = tuple(float(k == 0) for k in range(100))
    data = gs.Mixture(100, (gs.Component(0.5, (gs.Spike(8.0, axis),), mean="u"), gs.Component(0.5)))
    assert "direction=<100 numbers>" in repr(data) and len(repr(data)) < 300
    assert repr(gs.Spike(2.0, "x1")) == "Spike(strength=2.0, direction='x1')"
