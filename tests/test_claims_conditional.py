"""The claim on conditional features holds on numbers like those it measures, and fails when the condition is dropped."""

from giantstep.claims.dandi import conditional
from giantstep.claims.dandi.conditional import GIVEN, PLAIN, Row

# differences in % and their standard errors, of test and training error: of the size seen for gelu, here the same for every case
TYPICAL = {
    (GIVEN, 60): ((-1.0, 1.5), (6.8, 1.5)),
    (GIVEN, 200): ((-0.5, 1.1), (-1.3, 1.1)),
    (PLAIN, 200): ((13.1, 1.3), (16.0, 1.5)),
}


def rows(values):
    return [
        Row(*case, model, what, d, 3.0, mean, error)
        for (model, d), pairs in values.items()
        for case in conditional.CASES
        for what, (mean, error) in zip(conditional.ERRORS.values(), pairs, strict=True)
    ]


def test_the_conditional_equivalent_holds_and_fails_without_its_directions():
    verdict = conditional.judged("quick", rows(TYPICAL))
    assert verdict.outcome == "holds" and all(len(row) == len(verdict.header) for row in verdict.rows)
    without = TYPICAL | {(GIVEN, 200): TYPICAL[PLAIN, 200]}
    assert conditional.judged("quick", rows(without)).outcome == "fails"
    wide = TYPICAL | {(GIVEN, 200): ((-0.5, 2.0), (-1.3, 2.0))}
    assert conditional.judged("quick", rows(wide)).outcome == "inconclusive"


def test_it_runs(monkeypatch):
    monkeypatch.setitem(conditional.SIZES, "quick", ((20, 40), 2))
    monkeypatch.setattr(conditional, "CASES", conditional.CASES[:1])
    found = conditional.measured("quick")
    assert len(found) == 6 and all(r.error > 0 for r in found)
