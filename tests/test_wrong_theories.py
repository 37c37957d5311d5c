"""Every claim with a theory fails on a deliberately wrong one: on what was measured at quick size and kept, so at no cost."""

from collections.abc import Callable

import kept
import pytest

from giantstep.claims import CLAIMS
from giantstep.lab.verdict import Data

Wrong = Callable[[Data], Data]
WRONG: dict[str, tuple[Wrong, ...]] = {}  # a claim's name, and theories that its measurements contradict


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_verdict_on_what_was_kept(claim):
    verdict = claim.judge("quick", *kept.load(claim))
    assert verdict.outcome == "holds", verdict.sentence
    assert claim.test and verdict.power and verdict.caption
    assert "<svg" in verdict.figure


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.predict is not None], ids=lambda claim: claim.name)
def test_a_wrong_theory_fails(claim):
    measured, predicted = kept.load(claim)
    for wrong in WRONG[claim.name]:
        assert claim.judge("quick", measured, wrong(predicted)).outcome == "fails"
