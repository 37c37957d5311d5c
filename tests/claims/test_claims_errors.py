"""Claims about the errors of equivalent models: the verdict on what was kept, and its code at a tiny size."""

import kept

from giantstep.claims.hu_lu import universality


def picture(verdict) -> bool:
    return verdict.figure.lstrip().startswith("<?xml") and "<svg" in verdict.figure


def test_universality_runs_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(universality.SIZES, "quick", (40, 3))
    monkeypatch.setattr(universality, "ACTIVATIONS", ("relu",))
    verdict = universality.judge("quick", universality.measure("quick"), universality.predict("quick"))
    assert len(verdict.rows) == 26 and picture(verdict)


def test_universality_is_open_when_a_missing_spike_is_not_seen():
    measured, predicted = kept.load(universality.CLAIM)
    relu = measured["relu"]
    blind = {**measured, "relu": {**relu, universality.SHORT: relu[universality.SPIKED]}}
    assert universality.judge("quick", blind, predicted).outcome == "inconclusive"
    short = {**measured, "relu": {**relu, universality.SPIKED: relu[universality.SHORT]}}
    assert universality.judge("quick", short, predicted).outcome == "fails"
