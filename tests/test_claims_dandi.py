"""Claims on multi-index targets hold at a small size, and fail when what they say is made wrong."""

from giantstep.claims.dandi import narrow, reuse, staircase


def test_the_staircase_holds_and_fails_for_an_activation_that_is_blind(monkeypatch):
    """tanh sees no odd coupling: it cannot climb example 1, which the conjecture says is climbed."""
    monkeypatch.setitem(staircase.SIZES, "quick", ((300, 1200, 4800), 4))
    monkeypatch.setattr(staircase, "EXAMPLES", {"example 1": staircase.EXAMPLES["example 1"]})
    assert staircase.run("quick").outcome == "holds"
    blind = lambda *args, **more: narrow.experiment(*args, activation="tanh", **more)  # noqa: E731
    monkeypatch.setattr(staircase, "experiment", blind)
    assert staircase.run("quick").outcome == "fails"


def test_reuse_holds_and_fails_if_the_even_target_were_to_be_found(monkeypatch):
    monkeypatch.setitem(reuse.SIZES, "quick", ((500, 4000, 32_000), 16))
    assert reuse.run("quick").outcome == "holds"
    monkeypatch.setattr(reuse, "TARGETS", dict.fromkeys(reuse.TARGETS, True))
    assert reuse.run("quick").outcome == "fails"
