"""Every claim notices the departure that it declares: on what was measured and kept, so at no cost."""

from dataclasses import replace

import kept
import numpy as np
import pytest

from giantstep.checks.statistics import ComparedNumbers, Count, Evidence, decide
from giantstep.claims import CLAIMS


def evidence(claim) -> Evidence:
    measured, predicted = kept.load(claim)
    return claim.compare(kept.least(claim), measured, predicted)


def statements(claim) -> dict[str, tuple[ComparedNumbers | Count, ...]]:
    """The comparisons of what holds: of the statement, of its limit, of its correction."""
    made = evidence(claim)
    every = {"as stated": made.stated, "in the limit": made.limit, "as corrected": made.corrected}
    return {name: each for name, each in every.items() if each and decide(each).outcome == "holds"}


def off(comparison: ComparedNumbers, by: float, sign: float, index: int | None = None) -> ComparedNumbers:
    """The same noise around a difference of ``by`` departures on one side, for all numbers or for one."""
    unit = np.abs(comparison.predicted) if comparison.relative else np.ones(comparison.count)
    chosen = np.arange(comparison.count) == index if index is not None else np.ones(comparison.count, bool)
    centre = comparison.predicted + sign * by * comparison.departure * unit
    moved = comparison.samples - comparison.samples.mean(axis=1, keepdims=True) + centre[:, None]
    return replace(comparison, samples=np.where(chosen[:, None], moved, comparison.samples))


def sides(comparison: ComparedNumbers) -> tuple[float, ...]:
    return {"both": (-1.0, 1.0), "below": (1.0,), "above": (-1.0,)}[comparison.side]


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_statement_holds_and_a_departure_of_every_kind_of_number_fails(claim):
    found = statements(claim)
    assert found, f"Neither the statement nor its limit or correction holds: {decide(evidence(claim).stated).sentence}"
    for comparisons in found.values():
        for i, each in enumerate(comparisons):
            if isinstance(each, Count):
                many = replace(each, exceptions=int(np.ceil(min(1.0, 1.5 * each.departure) * each.trials)))
                assert decide([*comparisons[:i], many, *comparisons[i + 1 :]]).outcome == "fails", each.what
                continue
            for sign in sides(each):
                wrong = off(each, 1.0, sign)
                assert decide([*comparisons[:i], wrong, *comparisons[i + 1 :]]).outcome == "fails", each.what


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_one_number_alone_is_enough_to_fail(claim):
    for comparisons in statements(claim).values():
        for i, each in enumerate(comparisons):
            if isinstance(each, ComparedNumbers):
                for k in range(each.count):
                    wrong = off(each, 1.3, sides(each)[0], k)
                    outcome = decide([*comparisons[:i], wrong, *comparisons[i + 1 :]]).outcome
                    assert outcome == "fails", (each.what, each.at[k])


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_margin_leaves_room_below_what_must_be_noticed(claim):
    made = evidence(claim)
    for each in (*made.stated, *made.limit, *made.corrected):
        if isinstance(each, ComparedNumbers):
            assert np.all(each.margin < each.departure) and np.all(each.margin >= 0)
