"""Claims about training and test errors: each holds at a small size, and fails when the formula or the data is wrong."""

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep import draw
from giantstep.claims import paired
from giantstep.claims.hu_lu import universality
from giantstep.claims.moniri import free, improvement, lengths, limits, settings, talk, trend
from giantstep.claims.own import one_curve, optimal
from giantstep.outcome import Status
from giantstep.theory import Optimum

SMALL = (200, 24)  # n and seeds: the same everywhere, so that compiled programs are shared


def picture(verdict) -> bool:
    return verdict.figure.lstrip().startswith("<?xml") and "<svg" in verdict.figure


def test_improvement_holds_and_fails_for_steps_that_are_too_large(monkeypatch):
    monkeypatch.setitem(improvement.SIZES, "quick", SMALL)
    verdict = improvement.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setattr(improvement, "ALPHAS", (0.8, 0.9))
    assert improvement.run("quick").outcome == "fails"


def test_settings_hold_and_fail_where_the_difference_has_not_gone(monkeypatch):
    monkeypatch.setitem(settings.SIZES, "quick", SMALL)
    verdict = settings.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setattr(settings, "LARGE", 1000)  # below alpha = 1/4 the two still differ there
    assert settings.run("quick").outcome == "fails"


def test_limits_hold_and_fail_with_another_factor(monkeypatch):
    monkeypatch.setitem(limits.SIZES, "quick", ((60, 120), (150, 80)))
    verdict = limits.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    right = limits.limit
    monkeypatch.setattr(limits, "limit", lambda order: tuple(1.3 * x for x in right(order)))
    assert limits.run("quick").outcome == "fails"


def test_free_directions_equal_enormous_spikes():
    """Columns free of penalty, against a ridge fit with the same columns multiplied by 10^4."""
    n, seed = 60, 3
    setting = talk.experiment(n, 0.0, talk.setting_2(), activation=free.ACTIVATION)
    W, _ = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.readout_batch(setting))
    beta = talk.direction(setting, seed)
    g = X @ beta / np.linalg.norm(beta)
    F = np.asarray(setting.network.activation(X @ W.T))
    plain = gs.ridge(F, y, paired.PENALTY)
    spiked = gs.ridge(np.column_stack([F, 1e4 * g, 1e4 * g**2]), y, paired.PENALTY)
    objective = [f.train_error + paired.PENALTY * float(np.sum(f.coefficients**2)) for f in (plain, spiked)]
    assert objective[0] - objective[1] == pytest.approx(free.gains(n, seed)[1, 0], rel=1e-4)


def test_trend_holds_and_fails_without_the_lengthening_of_rows(monkeypatch):
    monkeypatch.setitem(trend.SIZES, "quick", ((100, SMALL[0]), (60, SMALL[1])))
    monkeypatch.setattr(trend, "LARGE", (10**3, 10**12))
    relu = lengths.networks()[:2]
    monkeypatch.setattr(lengths, "networks", lambda: relu)
    verdict = trend.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setattr(lengths, "lengthening", lambda network: 0.0)
    assert trend.run("quick").outcome == "fails"


def test_the_full_gradient_lengthens_the_rows_as_predicted():
    """||w_i||^2 - 1 = (1 + kappa) U^2 a_i^2 after the full gradient, U^2 a_i^2 after its rank-one part."""
    grown = []
    for network in lengths.networks()[:2]:
        setting = lengths.experiment(network, 1000)
        found = gs.simulate.train(setting, 0)
        a2 = found.second_layer**2
        grown.append(np.sum((np.sum(found.final[-1] ** 2, axis=1) - 1) * a2) / np.sum(a2**2))
    assert grown[0] / grown[1] == pytest.approx(1 + lengths.lengthening(lengths.networks()[0]), rel=0.05)


def test_universality_runs_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(universality.SIZES, "quick", (40, 3))
    monkeypatch.setattr(universality, "ACTIVATIONS", ("relu",))
    verdict = universality.judge("quick", universality.measure("quick"), universality.predict("quick"))
    assert len(verdict.rows) == 26 and picture(verdict)


def test_universality_is_open_when_a_missing_spike_is_not_seen():
    measured, predicted = kept.load(universality.UNIVERSALITY)
    relu = measured["relu"]
    blind = {**measured, "relu": {**relu, universality.SHORT: relu[universality.SPIKED]}}
    assert universality.judge("quick", blind, predicted).outcome == "inconclusive"
    short = {**measured, "relu": {**relu, universality.SPIKED: relu[universality.SHORT]}}
    assert universality.judge("quick", short, predicted).outcome == "fails"


def test_optimal_holds_and_fails_away_from_the_optimum(monkeypatch):
    monkeypatch.setitem(optimal.SIZES, "quick", SMALL)

    def known(eta, penalty, error):
        setting = talk.experiment(SMALL[0], 0.3, talk.setting_1())
        return lambda n: Optimum(setting, eta, penalty, error, 1.755, Status())

    monkeypatch.setattr(optimal, "predicted", known(10.67, 1.128, 1.4719))  # what gs.optimal says
    verdict = optimal.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setattr(optimal, "predicted", known(10.67, 0.1, 1.4719))
    assert optimal.run("quick").outcome == "fails"


def test_one_curve_holds_and_the_staircase_fails(monkeypatch):
    monkeypatch.setitem(one_curve.SIZES, "quick", SMALL)
    monkeypatch.setattr(one_curve, "ACTIVATIONS", ("relu",))
    monkeypatch.setattr(one_curve, "ALPHAS", (0.0, 0.1, 0.2, 0.3, 0.4, 0.6))
    verdict = one_curve.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setattr(paired, "predicted", lambda setting, regime="finite": gs.theory(setting, "limit"))
    assert one_curve.run("quick").outcome == "fails"
