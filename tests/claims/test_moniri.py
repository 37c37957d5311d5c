"""What the claims on one giant step measure and predict, run at tiny sizes, and the identities behind it."""

import json
from dataclasses import replace

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.checks._check import gather
from giantstep.checks.claim import Seeds
from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.experiment import draw
from giantstep.results.outcome import Status
from giantstep.simulate import train
from giantstep.theory import Optimum
from giantstep_papers.giantstep import leftover, one_curve, optimal, second_sample
from giantstep_papers.hu_lu import universality as hu_lu_universality
from giantstep_papers.moniri import (
    alignment,
    bulk,
    expansion,
    free,
    improvement,
    lengths,
    limits,
    linear_floor,
    normalisation_trap,
    onset,
    positions,
    protocol,
    rank_one,
    remainder,
    settings,
    spikes,
    talk,
    third_spike,
    trend,
)
from giantstep_papers.moniri import universality as moniri_universality
from giantstep_papers.shared import paired, population
from giantstep_papers.shared.controls import controlled

OWN = ("one-curve", "optimal", "settings", "second-sample", "leftover")
NAMES = [c.name for c in select(["moniri", "hu_lu"])] + [f"giantstep/{name}" for name in OWN]
RELU = tuple(each for each in lengths.networks() if each.activation.startswith("relu"))


@pytest.fixture
def tiny(monkeypatch):
    """Every claim at sizes that say nothing."""
    for module, size in (
        (remainder, (40, 80)),
        (spikes, 120),
        (bulk, 160),
        (expansion, (40, 60, 80)),
        (onset, (60, 80)),
        (positions, 100),
        (third_spike, 300),
        (protocol, (40, 60)),
        (improvement, (40, 60)),
        (limits, (40, 60)),
        (trend, 60),
        (settings, 60),
        (moniri_universality, (40, 60)),
        (hu_lu_universality, (40, 60)),
        (leftover, (60,)),
        (one_curve, 60),
        (optimal, 60),
    ):
        monkeypatch.setitem(module.SIZES, "quick" if "quick" in module.SIZES else "full", size)
    for module in (alignment, linear_floor):
        monkeypatch.setitem(module.DIMENSIONS, "quick", 30)
    monkeypatch.setattr(alignment, "SAMPLES_PER_DIMENSION", (1.0, 4.0))
    monkeypatch.setattr(bulk, "CASES", bulk.CASES[:1])
    monkeypatch.delitem(bulk.TITLES, "W")
    monkeypatch.setattr(linear_floor, "LINE", (2.0, 8.0))
    setting = talk.experiment(60, 0.3, talk.setting_1())
    monkeypatch.setattr(optimal, "best", lambda n: Optimum(setting, 8.6, 1.2, 1.5, 1.8, Status()))  # found elsewhere
    monkeypatch.setitem(positions.VARIANTS, "quick", (("target", "rank1"),))
    monkeypatch.setitem(positions.ALPHAS, "quick", (0.37, 0.45))
    monkeypatch.setattr(positions, "BETWEEN", (0.41,))
    monkeypatch.setattr(spikes, "ACTIVATIONS", ("relu", "sin(x+pi/4)"))
    monkeypatch.setattr(trend, "LARGE", (10**3, 10**12))
    monkeypatch.setattr(onset, "FAR_FACTORS", (0.8, 1.2, 1.8))
    monkeypatch.setattr(lengths, "networks", lambda: RELU)


@pytest.mark.parametrize("name", NAMES)
def test_a_claim_runs(name, tiny):
    (claim,) = select([name])
    size = "quick" if "quick" in claim.seeds else "full"
    claim = replace(claim, seeds={size: Seeds(8, 8)})
    measured, predicted, _ = gather(claim, size, 0)
    verdict = rule(claim, size, measured, predicted)
    again = rule(claim, size, *(kept.back(json.loads(json.dumps(kept.plain(x)))) for x in (measured, predicted)))
    assert again.outcome == verdict.outcome and again.header == verdict.header
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure


@pytest.mark.parametrize("update", ["gradient", "rank1"])
def test_a_free_constant_takes_the_length_of_the_rows_out_of_the_limit(update):
    """E g^4/E (g^2 + kappa)^2 is lost for a centred activation alone."""
    for centred in (True, False):
        network = lengths.SteppedNetwork(update, "relu", "setting 2", (2,), centred)
        published, ours = lengths.limits(network)
        assert np.allclose(published, ours) != (centred and update == "gradient")


def test_theory_at_large_n_has_the_limit_of_a_network_that_is_not_centred():
    network = lengths.SteppedNetwork("gradient", "relu", "setting 2", (2,), centred=False)
    far = [paired.gains(paired.predicted(lengths.experiment(network, n)))[0, 0] for n in (10**9, 10**11, 10**12)]
    limit = lengths.limits(network)[0][0, 0]
    assert np.all(np.diff(far) > 0) and limit * 0.99 < far[-1] < limit


def test_what_is_left_along_the_labels_is_half_of_the_rank_one_part():
    assert rank_one.stays(10**9) == pytest.approx(normalisation_trap.limit_along_labels() / (0.5 * 2.2**0.5), rel=1e-6)


@pytest.mark.parametrize("activation", ["relu", "erf", "sin(x+pi/4)", "relu(x)+3"])
def test_exact_errors_are_those_of_a_large_test_sample(activation):
    setting = paired.experiment(40, (0.4,), talk.setting_2(), activation=activation)
    exact = paired.fits(setting, 3)[..., 0]
    outcome = gs.simulate(setting, 3, n_test=200_000)
    np.testing.assert_allclose(exact[0], outcome.test_error, rtol=0.03)
    np.testing.assert_allclose(exact[1], outcome.train_objective, rtol=1e-5)


def test_closed_kernels_are_averages():
    setting = paired.experiment(40, (0.4,), talk.TARGETS["degree three"])
    W = train(setting, 1).final[1]
    X = np.random.default_rng(0).standard_normal((200_000, setting.d))
    F, y = np.asarray(setting.network.activation(X @ W.T)), np.asarray(setting.target(X.T[:1]))
    moments = population.moments(setting, W)
    np.testing.assert_allclose(moments.cross, y @ F / len(y), atol=0.03)
    np.testing.assert_allclose(moments.square, F.T @ F / len(y), atol=0.03)


def test_controls_have_mean_zero():
    setting = paired.experiment(60, (), talk.setting_2())
    found = np.array([paired.draws(setting, seed) for seed in range(400)])
    assert np.all(np.abs(found.mean(axis=0)) < 4.5 * found.std(axis=0) / 20)


def test_controls_lower_the_noise_and_keep_the_mean():
    rng = np.random.default_rng(0)
    control, rest = rng.standard_normal((2, 4000))
    left = controlled((2.0 + 3.0 * control + 0.1 * rest)[None], control[None])
    assert left.mean() == pytest.approx(2.0, abs=0.01) and left.std() == pytest.approx(0.1, rel=0.05)


def test_free_directions_equal_enormous_spikes():
    """Columns free of penalty, against a ridge fit with the same columns multiplied by 10^4, and on a large test sample."""
    n, seed = 60, 3
    setting = talk.experiment(n, 0.0, talk.setting_2(), activation=free.ACTIVATION)
    W, _ = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    Xt = np.random.default_rng(0).standard_normal((200_000, setting.d))
    beta = talk.direction(setting, seed)
    g, gt = (Z @ beta / np.linalg.norm(beta) for Z in (X, Xt))
    F, Ft = (np.asarray(setting.network.activation(Z @ W.T)) for Z in (X, Xt))
    wide = [np.column_stack([A, 1e4 * h, 1e4 * h**2]) for A, h in ((F, g), (Ft, gt))]
    fits = gs.ridge(F, y, paired.PENALTY), gs.ridge(wide[0], y, paired.PENALTY)
    objective = [f.train_error + paired.PENALTY * float(np.sum(f.coefficients**2)) for f in fits]
    yt = np.asarray(setting.target(Xt.T[:1]))
    errors = [np.mean((yt - A @ np.asarray(f.coefficients)) ** 2) for A, f in zip((Ft, wide[1]), fits, strict=True)]
    found = free.gains(n, seed)["gains"][1]
    assert objective[0] - objective[1] == pytest.approx(found[0], rel=1e-4)
    assert errors[0] - errors[1] == pytest.approx(found[1], rel=0.05)


def test_the_full_gradient_lengthens_the_rows_as_predicted():
    """||w_i||^2 - 1 = (1 + kappa) U^2 a_i^2 after the full gradient, U^2 a_i^2 after its rank-one part."""
    grown = []
    for network in lengths.networks()[:2]:
        found = train(lengths.experiment(network, 1000), 0)
        a2 = found.second_layer**2
        grown.append(np.sum((np.sum(found.final[-1] ** 2, axis=1) - 1) * a2) / np.sum(a2**2))
    assert grown[0] / grown[1] == pytest.approx(1 + lengths.lengthening(lengths.networks()[0]), rel=0.05)


def test_longer_rows_move_the_mean_of_a_power():
    """E (g + tau xi)^k is 1, g, g^2 + tau^2, g^3 + 3 tau^2 g, and the plain power without tau."""
    g, tau = np.array([-1.5, 0.0, 2.0]), 0.7
    expected = (g, g**2 + tau**2, g**3 + 3 * tau**2 * g)
    for k, moved in enumerate(expected, start=1):
        np.testing.assert_allclose(expansion.powers(g, k, tau), moved, atol=1e-12)
        np.testing.assert_allclose(expansion.powers(g, k, 0.0), g**k, atol=1e-12)


def test_the_expansion_is_that_of_the_spiked_model():
    """F_l - F_0 beside a cubic activation, whose Taylor series ends: c_k u^k are the means of its finite differences."""
    c, g, u = np.array([0.3, -1.2, 0.4, 0.25]), np.array([-1.0, 0.5, 2.0]), np.array([0.2, -0.7])
    x, weights = np.polynomial.hermite_e.hermegauss(20)
    weights = weights / weights.sum()
    sigma = lambda z: np.polynomial.hermite_e.hermeval(z, c)  # noqa: E731
    moved = sigma(x[:, None, None] + np.outer(g, u)) - sigma(x)[:, None, None]
    np.testing.assert_allclose(expansion.expansion(c, g, u, 3), np.tensordot(weights, moved, axes=1), atol=1e-12)


def test_a_sample_of_the_step_moves_its_own_features_along_its_residual():
    """The mean over neurons of sigma'(h) (sigma'(h) - c_1) is Var sigma'."""
    setting = protocol.experiment(60, "setting 2")
    sigma, z = setting.network.activation, np.random.default_rng(0).standard_normal(400_000)
    slope = np.asarray(sigma.slope(z))
    expected = second_sample.predict("quick")["spike"]
    assert 0.6 * np.mean(slope * (slope - np.mean(slope))) == pytest.approx(expected[1], rel=0.01)
    assert np.mean(slope) ** 2 == pytest.approx(expected[0], rel=0.01)


def test_the_protocol_of_the_slides_is_that_of_the_preset():
    letter = gs.presets.moniri(50, 30, 40, 0.3, paired.PENALTY, target=talk.setting_2(), rows="gaussian")
    setting = protocol.experiment(50, "setting 2", (0.3,))
    assert setting.network == letter.network and setting.protocol.steps[0].residual == letter.protocol.steps[0].residual
    assert draw.readout_batch(setting) == draw.step_batches(setting)[0]


def test_half_of_a_symmetric_kernel_is_computed():
    W = np.random.default_rng(0).standard_normal((300, 20))  # several blocks of rows
    np.testing.assert_allclose(population.relu_kernel(W, W), population.relu_kernel(W, W.copy()), rtol=1e-13)
