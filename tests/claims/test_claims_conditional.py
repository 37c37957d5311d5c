"""The claim on conditional features fails when the condition is dropped, and stays open when its error bars are wide."""

import kept
import numpy as np
import pytest

from giantstep.claims.dandi import conditional
from giantstep.claims.dandi.conditional import CLAIM, ERRORS, GIVEN, PLAIN


@pytest.fixture(scope="module")
def found():
    return kept.load(CLAIM)


def replaced(measured, model, change):
    """What was measured with the errors of a model at the largest d changed, given the network's."""
    d = conditional.SIZES["quick"][0][-1]
    key, own = f"{model}, d = {d}", f"network, d = {d}"
    return {name: {**values, key: change(name, values[own], values[key])} for name, values in measured.items()}


def test_it_fails_without_its_directions(found):
    measured, predicted = found
    d = conditional.SIZES["quick"][0][-1]
    without = replaced(measured, GIVEN, lambda name, network, model: measured[name][f"{PLAIN}, d = {d}"])
    assert CLAIM.judge("quick", without, predicted).outcome == "fails"


def test_it_stays_open_when_nothing_can_be_seen(found):
    measured, predicted = found
    signs = np.where(
        np.arange(measured["test_error"][f"network, d = {conditional.SIZES['quick'][0][0]}"].shape[1]) % 2, 1, -1
    )
    wide = replaced(measured, GIVEN, lambda name, network, model: network * (1 + 0.1 * signs))
    assert CLAIM.judge("quick", wide, predicted).outcome == "inconclusive"
    same = replaced(measured, PLAIN, lambda name, network, model: network)
    assert CLAIM.judge("quick", same, predicted).outcome == "inconclusive"


def test_several_sizes_show_a_trend(found, monkeypatch):
    measured, predicted = found
    monkeypatch.setitem(conditional.SIZES, "quick", ((100, 200), 12))
    both = {name: {**v, **{k.replace("200", "100"): x for k, x in v.items()}} for name, v in measured.items()}
    verdict = CLAIM.judge("quick", both, predicted)
    assert "6 of 6 differences fitted by A + B/d" in verdict.trend and "<svg" in verdict.figure


def test_it_runs(monkeypatch, coarse):
    monkeypatch.setitem(conditional.SIZES, "quick", ((30,), 2))
    monkeypatch.setattr(conditional, "CASES", conditional.CASES[:1])
    measured = conditional.measure("quick")
    assert {name: len(values) for name, values in measured.items()} == dict.fromkeys(ERRORS, 3)
    assert len(conditional.judge("quick", measured, conditional.predict("quick")).rows) == 4
