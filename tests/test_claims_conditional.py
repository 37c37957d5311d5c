"""The claim on conditional features holds at a small size, and fails when the condition is dropped."""

from giantstep.claims.dandi import conditional


def test_the_conditional_equivalent_holds_and_fails_without_its_directions(monkeypatch):
    monkeypatch.setitem(conditional.SIZES, "quick", ((60, 100), (), 12))
    monkeypatch.setattr(conditional, "CASES", ((conditional.SQUARES, "relu", 2),))
    monkeypatch.setattr(conditional, "_figure", lambda rows: "")
    verdict = conditional.run("quick")
    assert verdict.outcome != "fails" and all(len(row) == len(verdict.header) for row in verdict.rows)
    monkeypatch.setitem(conditional.MODELS, conditional.GIVEN, {"directions": 0})
    assert conditional.run("quick").outcome == "fails"
