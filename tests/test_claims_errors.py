"""Claims about training and test errors: each holds at a small size, and fails when the formula or the data is wrong."""

from giantstep.claims.hu_lu import universality

SMALL = (200, 24)  # n and seeds: the same everywhere, so that compiled programs are shared


def picture(verdict) -> bool:
    return verdict.figure.lstrip().startswith("<?xml") and "<svg" in verdict.figure


def test_universality_holds_and_fails_when_a_spike_is_left_out(monkeypatch):
    monkeypatch.setitem(universality.SIZES, "quick", SMALL)
    monkeypatch.setattr(universality, "ACTIVATIONS", ("relu",))
    monkeypatch.setattr(universality, "ALPHAS", (0.1, 0.35))
    verdict = universality.run("quick")
    assert verdict.outcome == "holds" and picture(verdict)
    monkeypatch.setitem(universality.MODELS, universality.SPIKED, {"degree": 0})
    assert universality.run("quick").outcome == "fails"
