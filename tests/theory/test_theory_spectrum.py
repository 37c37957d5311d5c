"""Spectra of the conditional theory: closed forms without a step, a second route for small steps, and networks."""

from dataclasses import replace
from math import sqrt
from typing import Any

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

import giantstep as gs
from giantstep import measure
from giantstep.experiment import draw
from giantstep.simulate import train
from giantstep.theory.limits import _spikes as spikes
from giantstep.theory.limits import bulk
from giantstep.theory.one_step import _continuation as continuation
from giantstep.theory.one_step._conditional import problem
from giantstep.theory.one_step.parameters import parameters
from giantstep.theory.one_step.spectrum import Law

SHAPES = {"p < n": (1000, 600, 800), "p = n": (800, 600, 800), "p > n": (500, 600, 800), "p > d, n": (400, 100, 800)}


def setting(n=1000, d=600, p=800, eta: Any = 0.0, *, sigma="relu", centred=True, **step) -> gs.Setting:
    """y = x1 + noise, rank-one steps, a readout on n fresh samples."""
    network = gs.Network(p, sigma, centred=centred, rows=step.pop("rows", "sphere"))
    steps = (gs.GiantStep(n, eta, **{"update": "rank1", **step}),)
    return gs.Setting(gs.Gaussian(d), gs.target("x1", noise=1.0), network, gs.Protocol(steps, gs.Ridge(n, 0.1)))


def spectrum(s: gs.Setting, **options) -> Law:
    """The law at a single step size."""
    found = gs.theory.spectrum(s, **options)
    assert not isinstance(found, tuple)
    return found


@pytest.fixture(autouse=True)
def one_thread():
    with threadpool_limits(1):
        yield


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("sigma", ["relu", *(pytest.param(name, marks=pytest.mark.slow) for name in ("tanh", "x"))])
def test_without_a_step_the_law_is_that_of_random_features(shape, sigma):
    """Edge, density and total mass; ``bulk`` solves a polynomial instead of a fixed point."""
    s = setting(*SHAPES[shape], sigma=sigma)
    known, found = bulk.shape(s.network.activation, *SHAPES[shape]), spectrum(s)
    assert found.edge == pytest.approx(bulk.edge(known), rel=1e-9)
    np.testing.assert_allclose(found.density, bulk.law(known, found.x), atol=1e-5 * found.density.max())
    assert found.cdf(found.edge) == pytest.approx(1, abs=5e-3 if shape == "p > d, n" else 1e-3)  # a gap in the middle
    assert found.low == pytest.approx(bulk.lower_edge(known), abs=0.02 * found.edge)
    assert found.outliers == () and found.visible == ()
    assert found.count == min(*SHAPES[shape][::2], *([SHAPES[shape][1]] if sigma == "x" else []))
    wrong = replace(known, rest=1.03 * known.rest, linear=1.03 * known.linear)  # a perturbed law is seen
    assert abs(found.edge / bulk.edge(wrong) - 1) > 0.01


def test_no_step_and_a_step_of_size_zero_agree():
    s = setting()
    none = replace(s, protocol=gs.Protocol((), s.protocol.readout))
    assert spectrum(none, density=False).edge == pytest.approx(spectrum(s).edge, rel=1e-12)


@pytest.mark.parametrize(("d", "p"), [pytest.param(600, 800, marks=pytest.mark.slow), (600, 600), (600, 150)])
def test_the_first_layer_is_marchenko_pastur(d, p):
    """Edges sqrt(p/d) +- 1, density sqrt((x^2 - low^2)(high^2 - x^2)) / (pi x min(1, p/d)), and the known rank-one outlier."""
    found = spectrum(setting(1000, d, p), of="weights")
    ratio = p / d
    low, high = abs(1 - sqrt(ratio)), 1 + sqrt(ratio)
    assert found.edge == pytest.approx(high, rel=1e-8) and found.count == min(d, p)
    inside = np.sqrt(np.maximum((found.x**2 - low**2) * (high**2 - found.x**2), 0))
    expected = inside / (np.pi * found.x * min(1.0, ratio))
    np.testing.assert_allclose(found.density, expected, atol=1e-4 * expected.max())
    assert found.cdf(9.0) == pytest.approx(1, abs=1e-3)
    # strength u = U sqrt(p): position sqrt((1 + u^2)(u^2 + p/d))/u, cos^2 with v = (u^4 - p/d)/(u^2 (u^2 + 1))
    s = setting(1000, d, p, 8.0)
    numbers, form = parameters(s)
    u = float(problem(numbers, form).step.strength) * sqrt(p)
    place = lambda u: sqrt((1 + u**2) * (u**2 + ratio)) / u  # noqa: E731
    (only,) = spectrum(s, of="weights", density=False).outliers
    assert only.position == pytest.approx(place(u), rel=1e-6)
    assert only.alignments[0] == pytest.approx((u**4 - ratio) / (u**2 * (u**2 + 1)), rel=1e-4)


@pytest.mark.parametrize("residual", ["target", "full"])
@pytest.mark.parametrize("sigma", ["relu", "tanh", "sin(x+pi/4)"])
def test_small_steps_agree_with_perturbation_theory(sigma, residual):
    """``spikes`` adds low-rank terms to the bulk of random features; the fixed point knows nothing of it."""
    for eta in (3.0, 6.0):
        s = setting(eta=eta, sigma=sigma, residual=residual)
        numbers, form = parameters(s)
        step = problem(numbers, form).step
        other = spikes.Step(
            s.network.activation, 1000, 600, 800, float(step.strength), residual=residual, beta=float(step.beta)
        )
        found, expected = spectrum(s, density=False).outliers, spikes.outliers(other)
        assert len(found) == len(expected) > 0
        assert found[0].position == pytest.approx(expected[0].position, rel=0.01)
        assert found[0].alignments[0] == pytest.approx(expected[0].gram_schmidt[0], abs=0.01)
        wrong = spikes.outliers(replace(other, tau=1.05 * other.tau))
        assert abs(found[0].position / wrong[0].position - 1) > 0.01


def test_a_strong_quadratic_part_has_a_radial_outlier():
    """0.3 H1 + 0.8 H2 at psi = 1/8, phi = 1/3: at 3.97, twice with Gaussian rows, along no power of kappa."""
    found, both = (
        spectrum(setting(1920, 640, 5120, sigma="0.3*H1 + 0.8*H2", rows=rows)).outliers
        for rows in ("sphere", "gaussian")
    )
    np.testing.assert_allclose([o.position for o in (*found, *both)], 3.97, atol=0.01)
    assert (len(found), len(both)) == (1, 2)
    assert max(found[0].alignments) < 1e-6 and found[0].constant < 1e-6


def test_a_mean_has_the_constants_outlier():
    plain, centred = (spectrum(setting(eta=4.0, centred=c), density=False) for c in (False, True))
    first, second = plain.outliers
    assert first.position > 10 and first.constant > 0.98
    assert second.position == pytest.approx(centred.outliers[0].position, rel=0.01)
    assert plain.edge == pytest.approx(centred.edge, rel=1e-6)


def test_lists_of_step_sizes_and_too_small_groups(monkeypatch):
    """One law a step size; groups too small to be seen do not move the outliers, and would have bands of their own."""
    s = setting(eta=(2.0, 20.0), update="gradient")
    laws = gs.theory.spectrum(s, density=False)
    assert isinstance(laws, tuple)
    first, second = laws
    assert first.edge < second.edge and len(second.visible) >= len(first.visible)
    alone = spectrum(setting(eta=20.0, update="gradient"), density=False)
    assert alone.edge == pytest.approx(second.edge, rel=1e-9)
    monkeypatch.setattr(continuation, "FEWEST", 1e-4)
    everything = spectrum(setting(eta=20.0, update="gradient"), density=False)
    assert everything.edge > 1.02 * alone.edge
    assert everything.outliers[0].position == pytest.approx(alone.outliers[0].position, rel=1e-3)


@pytest.mark.parametrize(("update", "residual"), [("rank1", "target"), ("gradient", "target"), ("gradient", "full")])
def test_networks(update, residual):
    """Bulk, edge, outlier and alignment of F and of W, means over seeds."""
    s = setting(500, 300, 400, 5.0, update=update, residual=residual)
    law, weights = spectrum(s), spectrum(s, of="weights")
    sigma, runs = s.network.activation, []
    for seed in range(8):
        found, (X, y) = train(s, seed), draw.rows(s, seed, draw.step_batches(s)[0])
        f0 = s.network.factor * sigma(X @ found.initial.T) @ found.second_layer
        beta = X.T @ (y - (f0 if residual == "full" else 0.0))
        Z, _ = draw.rows(s, seed, draw.readout_batch(s))
        F, W = measure.spectrum(sigma(Z @ found.final.T) / sqrt(500), 1), measure.spectrum(found.final, 1)
        along = measure.alignments(F.left, measure.gram_schmidt_powers(Z @ beta, 1))[0, 0]
        inside, ranks = np.sort(F.values)[:-1], np.arange(1, 400) / 399
        distance = np.max(np.abs(law.cdf(inside) - ranks))
        runs.append((F.values[0], along, W.values[0], measure.cosine(W.right[:, 0], beta) ** 2, distance))
        assert F.values[1] < 1.03 * law.edge and W.values[1] < 1.03 * weights.edge
    mean, error = measure.mean_and_error(np.array(runs), axis=0)
    expected = [law.outliers[0].position, law.outliers[0].alignments[0]]
    expected += [weights.outliers[0].position, weights.outliers[0].alignments[0]]
    assert np.all(np.abs(mean[:4] - expected) < 3 * error[:4] + 0.02 * np.array(expected))
    assert mean[4] < 0.02


@pytest.mark.parametrize("update", ["rank1", "gradient"])
@pytest.mark.parametrize("sigma", ["relu", "tanh", "sin(x+pi/4)"])
def test_alignments_are_shares_at_any_size(sigma, update):
    """Of F and of W, up to n = 10^12: in [0, 1], all powers together, and after a long step one of them is nearly one."""
    for n in (100, 10**6, 10**12):
        s = setting(n, 3 * n // 5, 4 * n // 5, gs.power([0.1, 0.3, 0.45]), sigma=sigma, update=update)
        for of in ("features", "weights"):
            laws = gs.theory.spectrum(s, of, density=False)
            assert isinstance(laws, tuple)
            for one in (one for law in laws for one in law.outliers):
                assert min(one.alignments) >= 0 and sum(one.alignments) <= 1 + 1e-9
                assert 0 <= one.constant <= 1 + 1e-9
            assert n < 10**12 or max(one.alignments[0] for one in laws[-1].outliers) > 0.98


def test_the_third_spike_goes_to_its_power():
    """cos^2 with kappa^3 grows to one: with the strength s it is one less of the order 1/s^2, n^-0.124 at last."""
    sizes = np.logspace(4, 12, 5)
    gaps = []
    for n in sizes.astype(int):
        s = setting(n, 3 * n // 5, 4 * n // 5, gs.power(0.354, times=2.0), sigma="sin(x+0.5)")
        gaps.append(1 - spectrum(s, density=False).outliers[2].alignments[2])
    assert np.all(np.diff(gaps) < 0) and 0 < gaps[-1] < 0.01
    assert np.log(gaps[-1] / gaps[-2]) / np.log(100.0) == pytest.approx(-0.124, abs=0.02)


def test_cos_squared_of_a_rank_one_spike_far_away():
    """W = W0 + u a v^T: cos^2 with v = (u^4 - p/d)/(u^2 (u^2 + 1)), to eight digits at every size."""
    for n in (1000, 10**6, 10**9, 10**12):
        s = setting(n, 3 * n // 5, 4 * n // 5, gs.power(0.1, times=8.0))
        numbers, form = parameters(s)
        u, ratio = float(problem(numbers, form).step.strength) * sqrt(s.p), s.p / (3 * n // 5)
        (only,) = spectrum(s, of="weights", density=False).outliers
        assert only.alignments[0] == pytest.approx((u**4 - ratio) / (u**2 * (u**2 + 1)), rel=1e-8)


def test_a_band_of_a_few_neurons_ends_the_way_to_the_edge():
    """At n = 10^8 the largest second-layer entries have the edge: z turns within 10^-4 of where Newton is lost."""
    edges = []
    for n in (10**7, 10**8, 10**9):
        s = setting(n, 3 * n // 5, 4 * n // 5, gs.power(0.45), update="gradient")
        edges.append(spectrum(s, density=False).edge)
    assert edges[0] > edges[1] > edges[2]


@pytest.mark.slow
def test_the_edge_is_found_where_newton_is_lost_from_one_side():
    """At alpha = 0.45 the search for the edge met a point that cannot be reached from the nearest one known."""
    s = gs.Setting(
        gs.Gaussian(200),
        gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
        gs.Network(400, "relu", centred=True),
        gs.Protocol((gs.GiantStep(800, gs.power([0.44, 0.45, 0.46])),), gs.Ridge(800, 0.1)),
    )
    laws = gs.theory.spectrum(s, density=False)
    assert isinstance(laws, tuple)
    below, here, above = laws
    assert here.edge == pytest.approx((below.edge + above.edge) / 2, rel=0.01)
    for a, b, c in zip(below.outliers, here.outliers, above.outliers, strict=True):
        assert b.position == pytest.approx((a.position + c.position) / 2, rel=0.01)


def test_outliers_that_double_precision_does_not_know_have_no_alignments():
    """The smallest of those from 10^8 on down are rounding: NaN and a sentence, and not a number."""
    n = 10**18
    s = setting(n, 3 * n // 5, 4 * n // 5, gs.power(0.5), sigma="tanh")
    first, *_, last = spectrum(s, density=False).outliers
    assert first.position > 1e7 * last.position
    assert np.all(np.isfinite(first.alignments)) and np.all(np.isnan(last.alignments)) and np.isnan(last.constant)
    status = gs.theory(s, spectrum=True).status
    assert not status.ok and any(note.startswith("Double precision does not know outliers") for note in status.notes)
