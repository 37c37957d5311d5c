"""Verdicts on what was kept of moniri's claims and ours: open with wide error bars, and on wrong measurements they fail."""

import kept
import numpy as np
import pytest

from giantstep.claims import select
from giantstep.claims.moniri import onset, spikes
from giantstep.plot import style


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    """Figures are drawn elsewhere."""
    monkeypatch.setattr(style, "svg", lambda figure: "")


def judged(name, change):
    """The verdict on what was measured at quick size and then changed."""
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return claim.judge("quick", change(measured), predicted)


def spread(values, axis, by):
    """Deviations from the mean over seeds, ``by`` times as wide."""
    mean = values.mean(axis=axis, keepdims=True)
    return mean + by * (values - mean)


NOISY = {
    "moniri/rank-one": lambda m: {"norms": np.exp(spread(np.log(m["norms"]), 1, 8))},
    "moniri/normalisation-trap": lambda m: {"norms": np.exp(spread(np.log(m["norms"]), 1, 4))},
    "moniri/alignment": lambda m: {"cosines": spread(m["cosines"], -1, 4)},
    "moniri/bulk": lambda m: {name: values * [[0.9], [1.0], [1.1]] for name, values in m.items()},
    "moniri/positions": lambda m: {"leading": spread(m["leading"], -1, 4)},
    "moniri/linear-floor": lambda m: {"test_error": spread(m["test_error"], -1, 4)},
    "moniri/improvement": lambda m: {"gains": spread(m["gains"], -1, 4)},
    "moniri/limits": lambda m: {"gains": [spread(each, 0, 4) for each in m["gains"]]},
    "moniri/trend": lambda m: {"gains": [spread(each, -1, 4) for each in m["gains"]]},
    "moniri/settings": lambda m: {"errors": spread(m["errors"], -1, 4)},
    "giantstep/one-curve": lambda m: {"errors": spread(m["errors"], -1, 10)},
    "giantstep/optimal": lambda m: {**m, "test_error": spread(m["test_error"], -1, 20)},
}


@pytest.mark.parametrize("name", NOISY)
def test_wide_error_bars_decide_nothing(name):
    verdict = judged(name, NOISY[name])
    assert verdict.outcome == "inconclusive", verdict.sentence


def test_one_seed_decides_nothing():
    verdict = judged("moniri/alignment", lambda m: {"cosines": m["cosines"][..., :1]})
    assert verdict.outcome == "inconclusive" and "no stated power" in verdict.power


def test_onsets_that_differ_from_seed_to_seed_decide_nothing():
    def scatter(measured):
        seen = measured["outliers"].copy()
        seen[:, 0], seen[:, 1] = 2, 0  # one seed shows both spikes everywhere, one shows none
        return {"outliers": seen}

    assert judged("moniri/onset", scatter).outcome == "inconclusive"


def test_onsets_are_bracketed_seed_by_seed():
    alphas = (0.1, 0.2, 0.3, 0.4)
    assert onset.bracket(alphas, np.array([0, 1, 1, 2]), 1) == (0.1, 0.2)
    assert onset.bracket(alphas, np.array([1, 0, 1, 2]), 1) == (0.2, 0.3)
    assert onset.bracket(alphas, np.array([0, 1, 1, 2]), 3) == (0.4, 0.4)
    assert onset.bracket(alphas, np.array([1, 1, 1, 2]), 1) == (0.1, 0.1)


def changed(measured, activation, name, seed, step, value):
    """Spikes of one seed and step size, with others in place of what was found."""
    runs = [list(run) for run in measured[activation][name]]
    runs[seed][step] = np.asarray(value)
    return {**measured, activation: {**measured[activation], name: runs}}


def test_spikes_fail_along_another_direction_or_when_they_vanish():
    at = spikes.ALPHAS.index(0.37)
    first_two = (2, 1)  # the second spike first
    assert judged("moniri/spikes", lambda m: changed(m, "relu", "powers", 1, at, first_two)).outcome == "fails"
    assert judged("moniri/spikes", lambda m: changed(m, "relu", "cosines", 0, at, (0.9, 0.02))).outcome == "fails"

    def vanish(measured):
        for name in ("values", "cosines", "powers"):
            measured = changed(measured, "relu", name, 0, at, measured["relu"][name][0][at][:1])
        return measured

    assert judged("moniri/spikes", vanish).outcome == "fails"


def test_few_spikes_decide_nothing():
    def few(measured):
        return {
            a: {
                **found,
                **{name: [[x[:1] for x in run] for run in found[name]] for name in ("values", "cosines", "powers")},
            }
            for a, found in measured.items()
        }

    assert judged("moniri/spikes", few).outcome == "inconclusive"


def test_a_remainder_that_stays_fails():
    assert (
        judged(
            "moniri/rank-one", lambda m: {"norms": m["norms"] * np.array([1, 2**0.5, 2, 6**0.5])[:, None, None]}
        ).outcome
        == "fails"
    )


def test_negative_gains_fail():
    verdict = judged("moniri/improvement", lambda m: {"gains": -m["gains"]})
    assert verdict.outcome == "fails" and "24 negative" in verdict.sentence
