"""The claims on the experiments of Cui et al.: verdicts on kept measurements, and what they would be in other worlds."""

import kept
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.plot import style


@pytest.fixture(autouse=True)
def undrawn(monkeypatch):
    monkeypatch.setattr(style, "svg", lambda figure, **options: "")


def ruled(name, change=lambda measured: measured):
    (claim,) = select([name])
    measured, predicted = kept.load(claim)
    return rule(claim, "quick", change(measured), predicted)


def test_the_spiked_model_is_as_predicted_and_the_network_close():
    verdict = ruled("cui/test-error")
    assert (verdict.outcome, verdict.stated, verdict.limit, verdict.corrected) == ("holds", "holds", None, None)
    assert "spiked model" in verdict.sentence


@pytest.mark.parametrize("update", ["gradient", "rank1"])
def test_neither_may_be_a_fifth_off(update):
    def off(measured):
        numbers = measured[update].copy()
        numbers[:, :2] *= 1.2  # the risks; controls follow them
        return {**measured, update: numbers}

    assert ruled("cui/test-error", off).stated == "fails"


def test_the_gap_of_the_network_is_there_and_stays():
    verdict = ruled("giantstep/network-gap")
    assert (verdict.outcome, verdict.limit, verdict.corrected) == ("holds", None, None)


def test_no_gap_and_a_gap_that_vanishes_are_noticed():
    assert ruled("giantstep/network-gap", lambda m: {"gaps": 0.1 * m["gaps"]}).outcome == "contradicted"

    def vanishing(measured):
        gaps = 2 * measured["gaps"]
        gaps[:, -1] *= 0.05
        return {"gaps": gaps}

    assert ruled("giantstep/network-gap", vanishing).outcome == "contradicted"
