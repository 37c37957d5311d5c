"""Every claim with a theory fails on a deliberately wrong one: on what was measured at quick size and kept, so at no cost."""

from collections.abc import Callable
from typing import Any

import kept
import numpy as np
import pytest

from giantstep import canvas
from giantstep.claims import CLAIMS
from giantstep.claims.moniri import onset
from giantstep.lab.verdict import Data

Wrong = Callable[[Data], Data]


def scaled(data: Data, key: str, factor: Any) -> Data:
    """The prediction with one entry multiplied by a factor, or by an array of factors."""
    return {**data, key: data[key] * factor}


def of_laws(key: str, factor: float) -> Wrong:
    """The same for every law of a spectrum."""
    return lambda p: {name: scaled(law, key, factor) for name, law in p.items()}


def where(data: Data, key: str, index: Any, factor: float) -> Data:
    """The prediction with one part of an entry multiplied by a factor."""
    array = np.array(data[key])
    array[index] *= factor
    return {**data, key: array}


MONIRI: dict[str, tuple[Wrong, ...]] = {
    "moniri/rank-one": (lambda p: scaled(p, "rate", 1.4),),  # n^-0.7
    "moniri/normalisation-trap": (lambda p: scaled(p, "limit", 1.1), lambda p: scaled(p, "rate", 1.4)),
    "moniri/alignment": (lambda p: scaled(p, "limits", 1.02), lambda p: where(p, "limits", (1, 2), 0.97)),
    "moniri/bulk": (of_laws("edge", 1.02), of_laws("density", 0.985)),
    "moniri/onset": (
        lambda p: {"onsets": p["onsets"] + 0.04},
        lambda p: {"onsets": np.broadcast_to(onset.LIMITS, p["onsets"].shape)},
    ),
    "moniri/positions": (lambda p: scaled(p, "lines", [1.15, 1.0]), lambda p: scaled(p, "lines", [1.0, 0.97])),
    "moniri/linear-floor": (lambda p: scaled(p, "test_error", 1.15), lambda p: scaled(p, "floor", 1.5)),
    "moniri/improvement": (lambda p: scaled(p, "gains", 1.25), lambda p: where(p, "gains", (0, 0), 0.8)),
    "moniri/limits": (lambda p: scaled(p, "limits", 1.1), lambda p: where(p, "limits", (2, 1), 0.85)),
    "moniri/trend": (
        lambda p: {**p, "ours": p["published"]},  # rows that do not lengthen
        lambda p: scaled(p, "small", 1.3),
        lambda p: where(p, "large", (slice(None), -1), 0.95),
    ),
    "moniri/settings": (
        lambda p: scaled(p, "apart", 1.8),
        lambda p: where(p, "stays", (slice(None), slice(5)), 100.0),  # what stays below the threshold
    ),
    "giantstep/one-curve": (
        lambda p: scaled(p, "errors", 1.06),
        lambda p: where(p, "errors", (2, 0), 0.94),
    ),
    "giantstep/optimal": (
        lambda p: scaled(p, "test_error", 1.05),
        lambda p: scaled(p, "eta", 2.0),
        lambda p: scaled(p, "penalty", 0.5),
    ),
}
REST: dict[str, tuple[Wrong, ...]] = {}
WRONG = {**MONIRI, **REST}  # a claim's name, and theories that its measurements contradict


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_the_verdict_on_what_was_kept(claim):
    verdict = claim.judge("quick", *kept.load(claim))
    assert verdict.outcome == "holds", verdict.sentence
    assert claim.test and verdict.power and verdict.caption
    assert "<svg" in verdict.figure


@pytest.mark.parametrize("claim", [c for c in CLAIMS if c.predict is not None], ids=lambda claim: claim.name)
def test_a_wrong_theory_fails(claim, monkeypatch):
    monkeypatch.setattr(canvas, "svg", lambda figure: "")  # no figure
    measured, predicted = kept.load(claim)
    for wrong in WRONG[claim.name]:
        verdict = claim.judge("quick", measured, wrong(predicted))
        assert verdict.outcome == "fails", verdict.sentence
