"""Mixtures fitted to rows: planted ones found again, identities of the trace, and one sentence for anything bad."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import giantstep as gs
from giantstep.experiment.data import fit_mixture

BULK, STRENGTHS, D, N = 2.0, (12.0, 5.0), 100, 800
PHI = D / (N - 1)


def planted(seed, N=N, D=D, strengths=STRENGTHS, bulk=BULK, mean=0.0):
    rng = np.random.default_rng(seed)
    gammas = np.linalg.qr(rng.standard_normal((D, max(len(strengths), 1))))[0].T[: len(strengths)]
    X = bulk**0.5 * rng.standard_normal((N, D)) + mean * np.eye(D)[0]
    return X + (rng.standard_normal((N, len(strengths))) * np.sqrt(strengths)) @ gammas, gammas


def one(X, spikes=None, **options):
    return gs.Mixture.fit(X, np.zeros(len(X)), spikes, **options)


def test_planted_spikes_are_found():
    """Exactly as many; strengths within 4.5 s.e. over 12 seeds, where lambda = (s + theta)(1 + phi s / theta) fluctuates as
    (s + theta) sqrt(2 (1 - phi s^2 / theta^2) / n) (Paul 2007) and moves theta by 1 / lambda'; cosines as the formula."""
    theta, cosines, bulks = [], [], []
    for seed in range(12):
        X, gammas = planted(seed)
        found = one(X)
        assert len(found.components[0].spikes) == 2
        theta.append(found.components[0].strengths)
        cosines.append(np.abs(np.sum(found.directions(0) * gammas, axis=1)))
        bulks.append(found.bulk())
    true = np.array(STRENGTHS)
    share = 1 - PHI * BULK**2 / true**2
    error = (BULK + true) * np.sqrt(2 * share / N) / share / np.sqrt(12)
    # lambda' = 1 - phi s^2 / theta^2
    assert np.all(np.abs(np.mean(theta, axis=0) - true) < 4.5 * error)
    assert np.mean(theta, axis=0)[1] - true[1] < 0.5 * (
        fit_mixture.eigenvalue(true[1], BULK, PHI) - BULK - true[1]
    )  # the bias is gone
    cosines = np.array(cosines)
    s_e = cosines.std(axis=0, ddof=1) / np.sqrt(12)
    assert np.all(np.abs(cosines.mean(axis=0) - fit_mixture.cosine(true, BULK, PHI)) < 4.5 * s_e + 2 / N)
    assert np.mean(bulks) == pytest.approx(BULK, abs=4.5 * BULK * np.sqrt(2 / (12 * N * D)))


@pytest.mark.parametrize(("n", "d"), [(400, 60), (60, 200)])
def test_no_spikes_where_there_are_none(n, d):
    for seed in range(20):
        found = one(planted(seed, n, d, ())[0])
        assert found.components[0].spikes == () and found.components[0].mean is None


def test_fewer_rows_than_dimensions():
    X, gammas = planted(3, 80, 300, (60.0,))
    found = one(X)
    assert len(found.components[0].spikes) == 1
    assert abs(found.directions(0)[0] @ gammas[0]) == pytest.approx(fit_mixture.cosine(60.0, BULK, 300 / 79), abs=0.08)


@given(st.floats(0.1, 10), st.floats(0.01, 20), st.floats(1.01, 50))
def test_the_map_of_strengths(bulk, phi, times):
    """Inverse to each other, and the edge is where the spike is at its threshold s sqrt(phi)."""
    theta = times * bulk * phi**0.5
    assert fit_mixture.strength(fit_mixture.eigenvalue(theta, bulk, phi), bulk, phi) == pytest.approx(theta, rel=1e-5)
    assert fit_mixture.eigenvalue(bulk * phi**0.5, bulk, phi) == pytest.approx(bulk * (1 + phi**0.5) ** 2)
    assert 0 < fit_mixture.cosine(theta, bulk, phi) < 1


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 99), st.sampled_from([None, 0, 1, 5]), st.sampled_from([(40, 6), (12, 30)]), st.floats(0, 3))
def test_the_trace_is_that_of_the_rows(seed, spikes, shape, noise):
    """Whatever is kept; the noise adds to it; the order of the rows is nothing to it."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal(shape) * rng.choice([1.0, 8.0], shape[1], p=[0.8, 0.2])
    found = one(X, spikes, noise=noise)
    assert found.trace == pytest.approx(np.sum(np.var(X, axis=0)) + shape[1] * noise**2, rel=1e-9)
    assert spikes is None or len(found.components[0].spikes) <= spikes
    again = one(X[rng.permutation(len(X))], spikes, noise=noise)
    np.testing.assert_allclose(again.covariance(), found.covariance(), atol=1e-7)
    scaled = one(10 * X, spikes, noise=10 * noise)
    np.testing.assert_allclose(scaled.covariance(), 100 * found.covariance(), rtol=1e-6, atol=1e-6)


def test_classes_weights_and_means():
    X = np.concatenate([planted(0, mean=3.0)[0], planted(1, N=400, strengths=())[0]])
    labels = np.repeat([7, 4], [800, 400])
    found = gs.Mixture.fit(X, labels)
    assert found.weights.tolist() == [1 / 3, 2 / 3]
    other = gs.Mixture.fit(X, labels, classes=(7, 4))
    assert other.components == found.components[::-1]
    np.testing.assert_allclose(other.mean(0), X[:800].mean(axis=0))
    assert not np.any(other.mean(1)) and [len(c.spikes) for c in other.components] == [2, 0]
    assert "2 in 100 dimensions" in str(other) and "2 spikes of strengths 1" in str(other) and "no spikes" in str(other)
    assert len(gs.Mixture.fit(X, labels, 1).components[1].spikes) == 1


def test_what_is_not_kept_is_in_the_bulk():
    """The variance along the spikes kept does not depend on how many are."""
    X = planted(2)[0]
    all_, first = one(X), one(X, 1)
    v = first.directions(0)[0]
    assert v @ first.covariance() @ v == pytest.approx(v @ all_.covariance() @ v, rel=1e-9)
    assert first.bulk() > all_.bulk() and one(X, 0).bulk() == pytest.approx(np.var(X, axis=0).mean())


def test_noise_hides_spikes():
    """With phi = 1/8 and the bulk 2, theta = 5 has its eigenvalue beyond the edge under the noise 4 and not under 14."""
    X = planted(2)[0]
    assert [len(one(X, noise=v**0.5).components[0].spikes) for v in (0.0, 4.0, 14.0, 100.0)] == [2, 2, 1, 0]
    assert one(X, noise=1.0).bulk() == pytest.approx(one(X).bulk() + 1)


def test_a_dataset_is_fitted(seed):
    X, labels = planted(4)[0], np.repeat([0, 1], 400)
    choices: tuple[dict[str, Any], ...] = ({}, {"signal": None}, {"counts": "exact"})
    for options in choices:
        data = gs.Dataset((X, labels), **options)
        found = data.fitted()
        assert found.trace == pytest.approx(data.trace) and found.counts == data.counts
        assert found.spread == pytest.approx(data.spread, rel=0.1)
    protocol = gs.Protocol((gs.GiantStep(50, 1.0),), gs.Ridge(50, 0.1))
    data = gs.Dataset((X, labels), counts="exact")
    one = gs.Setting(data.fitted(1), gs.target("-1 | 1"), gs.Network(10, "relu", rows="trace"), protocol)
    assert gs.Setting.from_json(one.to_json()).id == one.id
    assert gs.simulate(one, seed, n_test=50).status.ok


EYE = np.eye(4)


@pytest.mark.parametrize(
    ("bad", "words"),
    [
        (lambda: gs.Mixture.fit(EYE[:1], [0]), "at least two rows of every class, and class 0 has 1"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 0, 1]), "class 1 has 1"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 1, 1], classes=(0, 2)), "class 2 has 0"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 1, 1], classes=()), "different labels"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 1, 1], classes=(0, 0)), "different labels"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 1, 1], classes=3), "different labels"),  # type: ignore[arg-type]
        (lambda: gs.Mixture.fit(EYE * np.nan, [0, 0, 1, 1]), "finite numbers"),
        (lambda: gs.Mixture.fit(EYE[0], [0, 0, 1, 1]), "N x d"),
        (lambda: gs.Mixture.fit(EYE, [0, 0]), "4 inputs needs 4 labels"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 0, 0], -1), "spikes must be a whole number"),
        (lambda: gs.Mixture.fit(EYE, [0, 0, 0, 0], noise=-1.0), "noise must be"),
        (lambda: gs.Mixture.fit(np.ones((4, 3)), [0, 0, 0, 0]), "leaves no bulk"),
        (lambda: gs.Mixture.fit(np.full((3, 4), 0.1), [0, 0, 0]), "leaves no bulk"),
        (lambda: one(planted(0, 500, 2, ())[0] @ np.eye(2, 9)), "lie in 2 dimensions, which leaves no bulk"),
    ],
)
def test_sentences(bad, words):
    with pytest.raises(gs.InputError, match=words) as caught:
        bad()
    assert "\n" not in str(caught.value)
