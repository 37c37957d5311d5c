"""The claims on SGD readouts: what they measure is what ``simulate`` measures, and what they exclude is seen."""

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.claims import select
from giantstep.claims.liu import bias_variance, runs, test_error, threshold
from giantstep.simulate.bias_variance import halves


def test_no_descent_and_a_second_peak_are_seen():
    """Measurements that the statements exclude: a bias that rises, a variance with two peaks, a peak of one pass at p = n."""
    claim = select(["liu/bias-variance"])[0]
    measured, predicted = kept.load(claim)
    for part, factor in ((0, 1.5), (1, 1.8)):  # at the widest
        data = np.array(measured["sin(1.5*x)"])
        data[:, part, -1] *= factor
        assert claim.judge("quick", {**measured, "sin(1.5*x)": data}, predicted).outcome == "fails"
    claim = select(["liu/threshold"])[0]
    measured, predicted = kept.load(claim)
    data = np.array(measured["errors"])
    data[:, 0, threshold.AT] *= 1.15
    assert claim.judge("quick", {"errors": data}, predicted).outcome == "fails"


def test_what_a_claim_measures_is_what_simulate_measures():
    d, n = 12, 40
    setting = runs.experiment(d, n, 0.5, decay=0.25)
    readout = setting.protocol.readout
    assert isinstance(readout, gs.SGD)
    data = runs.features(d, n, (0, 1), runs.ACTIVATION)
    found = runs.risks(data, 20, readout, data["signal"] + data["noise"], data["truth"])
    expected = gs.simulate(setting, range(2), n_test=runs.N_TEST)
    np.testing.assert_allclose(found, expected.risk, rtol=1e-10)
    bias, variance = (gs.simulate(s, 1, n_test=runs.N_TEST).risk for s in halves(setting))
    assert bias == pytest.approx(runs.risks(data, 20, readout, data["signal"], data["truth"])[1])
    none = 0 * data["truth"]
    assert variance == pytest.approx(runs.risks(data, 20, readout, data["noise"], none)[1])


@pytest.mark.parametrize("module", [test_error, bias_variance, threshold])
def test_a_claim_runs(module, monkeypatch):
    monkeypatch.setitem(module.SIZES, "quick", (12, 40, 3))
    if module is threshold:
        monkeypatch.setitem(module.PASSES, "quick", (1, 3))
    (claim,) = (c for c in select(["liu"]) if c.measure.__module__ == module.__name__)
    assert claim.predict is not None
    verdict = claim.judge("quick", claim.measure("quick"), claim.predict("quick"))
    assert verdict.sentence and verdict.caption and verdict.power
