"""The claim on conditional features holds at a small size, and fails when the condition is dropped."""

from giantstep.claims.dandi import conditional


def test_the_conditional_equivalent_holds_and_fails_without_its_directions(monkeypatch):
    monkeypatch.setitem(conditional.SIZES, "quick", ((40, 80), 12))
    monkeypatch.setattr(conditional, "CASES", ((conditional.SQUARES, "relu", 2),))
    monkeypatch.setattr(conditional, "_figure", lambda rows: "")
    rows = conditional.measured("quick")
    verdict = conditional.judged("quick", rows)
    assert verdict.outcome != "fails" and all(len(row) == len(verdict.header) for row in verdict.rows)
    plain = [r for r in rows if r.model == conditional.PLAIN]
    without = [r._replace(model=conditional.GIVEN) for r in plain]
    assert conditional.judged("quick", [r for r in rows if r.d < 80] + plain + without).outcome == "fails"
