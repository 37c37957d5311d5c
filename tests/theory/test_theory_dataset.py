"""Theory on a data set: its rows give the law of the coordinates, where a fitted mixture knows second moments only."""

from dataclasses import replace

import numpy as np
import pytest

import giantstep as gs
from giantstep.theory.mixtures._structure import samples, structure

D, N, NODES = 40, 3000, 128


def rows(kind: str) -> tuple[np.ndarray, np.ndarray]:
    """Two classes with one covariance, 100 along the first axis: Gaussian, or +-10 in one class and mostly 0 in the other."""
    rng = np.random.default_rng(0)
    X, labels = rng.standard_normal((N, D)), np.arange(N) % 2
    along = rng.standard_normal(N)
    if kind == "values":
        along = np.sign(along) * np.where(labels == 0, 1.0, 10**0.5 * (rng.random(N) < 0.1))
    X[:, 0] = 10 * along
    return X, labels


def setting(kind: str, eta: float = 0.0) -> gs.Setting:
    data = gs.Dataset(rows(kind), signal=None, centre="class")
    network = gs.Network(100, "relu", rows="trace", scale="1/p")
    step = (gs.GiantStep(200, eta, residual="full"),) if eta else ()
    return gs.Setting(data, "-1 | 1", network, gs.Protocol(step, gs.Ridge(300, 1e-2)))


@pytest.mark.slow
@pytest.mark.parametrize("eta", [0.0, 20.0])
def test_the_law_of_the_rows_is_what_the_network_sees(eta):
    """Two values along a spike separate the classes for a network; the fitted mixture has nothing to separate them by."""
    of = setting("values", eta)
    seen = gs.simulate(of, range(12), n_test=2000).test_error
    error = float(np.std(seen, ddof=1)) / 12**0.5
    said = gs.theory(of, nodes=2 * NODES)
    mixture = gs.theory(replace(of, data=of.data.fitted()), nodes=2 * NODES)  # type: ignore[union-attr]
    assert mixture.test_error > 1.0 > 0.85 > float(np.mean(seen))
    doubt = 3 * float(np.hypot(error, said.test_error_se or 0.0))
    assert abs(said.test_error - np.mean(seen)) < 0.03 * np.mean(seen) + doubt < 0.35 * np.mean(seen)
    assert said.status.ok == (eta == 0) and "rows of the data set" in str(said.status)


@pytest.mark.slow
def test_rows_of_a_gaussian_law_give_what_the_mixture_gives():
    of = setting("gaussian")
    said = gs.theory(of, nodes=NODES)
    mixture = gs.theory(replace(of, data=of.data.fitted()), nodes=NODES)  # type: ignore[union-attr]
    doubt = 3 * float(np.hypot(said.test_error_se or 0.0, mixture.test_error_se or 0.0))
    assert abs(said.test_error - mixture.test_error) < max(doubt, 0.02)


def test_the_nodes_are_rows_with_the_moments_of_the_fit():
    of = structure(setting("values"))
    part = of.parts[0]
    found = samples(part, of, np.ones(of.k), [1.0], 256, 3)
    kappa = found.points[: of.k]
    np.testing.assert_allclose(kappa.mean(axis=1), part.mean, atol=1e-9)
    np.testing.assert_allclose(np.cov(kappa, bias=True), part.root @ part.root.T, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found.bulk, part.bulk)  # a Gaussian law's lengths vary no more than the theory knows
    # +-10 stays +-10
    top = np.linalg.eigh(part.root @ part.root.T)[1][:, -1] @ kappa
    assert np.mean(top**4) / np.mean(top**2) ** 2 < 1.1
    assert found.points.shape == (of.k + 1, 256) and found.weights.sum() == pytest.approx(1)


def test_noise_that_is_added_to_rows_is_in_the_nodes():
    data = gs.Dataset(rows("values"), centre="class")  # signal = 1: scaled to the trace d, and N(0, I) added
    of = structure(replace(setting("values"), data=data))
    part = of.parts[0]
    assert part.rows is not None and part.rows.noise == 1.0
    found = samples(part, of, np.ones(of.k), [], 512, 0)
    np.testing.assert_allclose(np.cov(found.points, bias=True), part.root @ part.root.T, rtol=1e-6, atol=1e-6)
    assert np.all(found.bulk > 0.9)


def test_lengths_that_vary_more_than_a_gaussian_law_are_in_the_nodes():
    X, labels = rows("gaussian")
    X[:, 1:] *= np.where(np.arange(N)[:, None] % 4 < 2, 0.5, 1.5)  # two lengths outside the spike
    of = structure(replace(setting("gaussian"), data=gs.Dataset((X, labels), signal=None)))
    found = samples(of.parts[0], of, np.ones(of.k), [], 256, 0)
    low, high = np.sort(found.bulk)[[64, 192]]
    assert found.bulk.mean() == pytest.approx(of.parts[0].bulk, rel=0.01)
    assert low == pytest.approx(0.25, abs=0.08) and high == pytest.approx(2.25, rel=0.1)


def test_what_theory_does_not_have_of_a_data_set():
    with pytest.raises(gs.InputError, match="covers isotropic Gaussian data only"):
        gs.theory(setting("gaussian"), "limit")
