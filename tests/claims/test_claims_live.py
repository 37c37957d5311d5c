"""What moniri's claims and ours measure and predict, run at tiny sizes, and the identities behind it."""

import json

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.claims import paired, select
from giantstep.claims.giantstep import mixtures, one_curve, optimal
from giantstep.claims.moniri import (
    alignment,
    bulk,
    free,
    improvement,
    lengths,
    limits,
    linear_floor,
    onset,
    positions,
    remainder,
    settings,
    spikes,
    talk,
    trend,
)
from giantstep.experiment import draw
from giantstep.results.outcome import Status
from giantstep.theory import Optimum

SMALL = (100, 3)  # n and seeds: the same everywhere, so that compiled programs are shared

RELU = lengths.networks()[:2]


@pytest.fixture
def tiny(monkeypatch):
    """Every claim at sizes that say nothing."""
    for claim, size in (
        (remainder, ((60, 120), 2)),
        (alignment, (30, 3)),
        (spikes, (150, 2)),
        (bulk, (100, 2)),
        (onset, ((100,), 2)),
        (positions, (100, 2)),
        (linear_floor, (20, 3)),
        (improvement, SMALL),
        (limits, ((20, 30), (4, 3))),
        (trend, tuple((each,) for each in SMALL)),
        (settings, SMALL),
        (one_curve, SMALL),
        (optimal, SMALL),
        (mixtures, (30, 3)),
    ):
        monkeypatch.setitem(claim.SIZES, "quick", size)
    monkeypatch.setattr(alignment, "SAMPLES_PER_DIMENSION", (1.0, 4.0))
    monkeypatch.setattr(bulk, "CASES", bulk.CASES[:1])
    monkeypatch.delitem(bulk.TITLES, "W")
    monkeypatch.setattr(linear_floor, "WIDTHS", (1.0,))
    monkeypatch.setattr(linear_floor, "SAMPLES", (2.0,))
    monkeypatch.setattr(one_curve, "ACTIVATIONS", ("relu",))
    monkeypatch.setattr(one_curve, "CASES", tuple(("relu", update) for update in one_curve.UPDATES))
    setting = talk.experiment(SMALL[0], 0.3, talk.setting_1())
    monkeypatch.setattr(optimal, "best", lambda n: Optimum(setting, 8.6, 1.2, 1.5, 1.8, Status()))  # found elsewhere
    monkeypatch.setattr(mixtures, "limits", lambda setting: [0.2, 0.1])  # dear, and tested elsewhere
    monkeypatch.setitem(onset.ALPHAS, "quick", (0.1, 0.3))
    monkeypatch.setitem(positions.VARIANTS, "quick", (("target", "rank1"),))
    monkeypatch.setattr(trend, "LARGE", (10**3, 10**12))
    monkeypatch.setattr(lengths, "networks", lambda: RELU)


def plain(data):
    """What the store and the suite can keep."""
    return json.loads(json.dumps(kept._plain(data)))


ELSEWHERE = {"giantstep/fitted"}  # needs images: test_claims_equivalences.py


@pytest.mark.parametrize(
    "claim", [c for c in select(["moniri", "giantstep"]) if c.name not in ELSEWHERE], ids=lambda claim: claim.name
)
def test_a_claim_runs(claim, tiny):
    measured, predicted = claim.measure("quick"), claim.predict("quick") if claim.predict else {}
    verdict = claim.judge("quick", measured, predicted)
    again = claim.judge("quick", kept._back(plain(measured)), kept._back(plain(predicted)))
    assert again.outcome == verdict.outcome and again.header == verdict.header
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure


def test_a_claim_measures_what_simulate_measures(tiny):
    found = improvement.measure("quick")["gains"]
    for gains, target in zip(found, (talk.setting_1(), talk.setting_2()), strict=True):
        setting = paired.experiment(SMALL[0], improvement.ALPHAS, target)
        outcome = gs.simulate(setting, range(SMALL[1]), n_test=paired.N_TEST, dtype="float32")
        np.testing.assert_array_equal(gains[0], outcome.test_error[0] - outcome.test_error[1:])
        np.testing.assert_array_equal(gains[1], outcome.train_objective[0] - outcome.train_objective[1:])


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


def test_the_full_gradient_lengthens_the_rows_as_predicted():
    """||w_i||^2 - 1 = (1 + kappa) U^2 a_i^2 after the full gradient, U^2 a_i^2 after its rank-one part."""
    grown = []
    for network in lengths.networks()[:2]:
        setting = lengths.experiment(network, 1000)
        found = gs.simulate.train(setting, 0)
        a2 = found.second_layer**2
        grown.append(np.sum((np.sum(found.final[-1] ** 2, axis=1) - 1) * a2) / np.sum(a2**2))
    assert grown[0] / grown[1] == pytest.approx(1 + lengths.lengthening(lengths.networks()[0]), rel=0.05)
