"""Every claim can fail: the verdict flips when the formula or the data behind it is wrong."""

from dataclasses import replace

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from giantstep.claims import CLAIMS
from giantstep.claims.moniri import (
    alignment,
    bulk,
    linear_floor,
    onset,
    positions,
    predicted,
    rank_one,
    remainder,
    spikes,
    trap,
)


def test_alignment_holds_and_fails_on_a_wrong_limit(monkeypatch):
    monkeypatch.setitem(alignment.SIZES, "quick", (200, 12))
    verdict = alignment.run("quick")
    assert verdict.outcome == "holds" and "<svg" in verdict.figure
    right = alignment.limit
    monkeypatch.setattr(alignment, "limit", lambda target, phi: right(target, 1.3 * phi))
    assert alignment.run("quick").outcome == "fails"


def test_rank_one_holds_and_fails_when_the_remainder_stays(monkeypatch):
    monkeypatch.setitem(remainder.SIZES, "quick", ((200, 400, 800), 6))
    assert rank_one.run("quick").outcome == "holds"
    monkeypatch.setattr(
        remainder, "remainders", lambda n, seed, residual: (0.3 + 0.001 * seed, 0.3 + 0.001 * seed, 1.0)
    )
    assert rank_one.run("quick").outcome == "fails"


def test_the_trap_holds_and_fails_on_a_wrong_limit(monkeypatch):
    monkeypatch.setitem(remainder.SIZES, "quick", ((200, 400, 800), 10))
    assert trap.run("quick").outcome == "holds"
    right = trap.limit_along_labels()
    monkeypatch.setattr(trap, "limit_along_labels", lambda: 1.3 * right)
    assert trap.run("quick").outcome == "fails"


def test_spikes_fail_along_the_wrong_direction(monkeypatch):
    monkeypatch.setitem(spikes.SIZES, "quick", (1000, 1))
    assert spikes.run("quick").outcome == "holds"
    wrong = np.random.default_rng(0)
    monkeypatch.setattr(spikes.talk, "direction", lambda setting, seed: wrong.standard_normal(setting.d))
    assert spikes.run("quick").outcome == "fails"


def test_the_bulk_fails_on_a_wider_law_or_edge(monkeypatch):
    monkeypatch.setitem(bulk.SIZES, "quick", (500, 2))
    monkeypatch.setattr(bulk, "CASES", bulk.CASES[:1])
    with threadpool_limits(1):
        right = bulk.cases(500, 2)
    monkeypatch.setattr(bulk, "cases", lambda n, seeds: right)
    verdict = bulk.run("quick")
    assert verdict.outcome == "holds" and "<svg" in verdict.figure
    for wrong in (
        [c._replace(law=replace(c.law, edge=1.06 * c.law.edge)) for c in right],
        [c._replace(law=replace(c.law, density=1.06 * c.law.density)) for c in right],
    ):
        monkeypatch.setattr(bulk, "cases", lambda n, seeds, wrong=wrong: wrong)
        assert bulk.run("quick").outcome == "fails"


def test_the_onset_fails_where_the_limit_would_have_it(monkeypatch):
    monkeypatch.setitem(onset.SIZES, "quick", ((500,), 3))
    with threadpool_limits(1):
        seen = onset.counts(500, onset.ALPHAS["quick"], 3)
    monkeypatch.setattr(onset, "counts", lambda n, alphas, seeds: seen)
    verdict = onset.run("quick")
    assert verdict.outcome == "holds" and "<svg" in verdict.figure
    right = [row[3] for row in verdict.rows]
    monkeypatch.setattr(onset, "onset", lambda n, k: right[k - 1] + 0.06)
    assert onset.run("quick").outcome == "fails"
    monkeypatch.setattr(onset, "onset", lambda n, k: onset.LIMITS[k - 1])
    assert onset.run("quick").outcome == "fails"


def test_onsets_are_bracketed_by_the_majority():
    seen = np.array([[0, 1, 1, 2], [0, 0, 1, 2], [0, 1, 1, 1]])
    assert onset.bracket((0.1, 0.2, 0.3, 0.4), seen, 1) == (0.1, 0.2)
    assert onset.bracket((0.1, 0.2, 0.3, 0.4), seen, 2) == (0.3, 0.4)
    assert onset.bracket((0.1, 0.2, 0.3, 0.4), seen, 3) == (0.4, np.inf)


def test_positions_fail_elsewhere_or_along_something_else(monkeypatch):
    monkeypatch.setitem(positions.SIZES, "quick", (500, 5))
    monkeypatch.setitem(positions.VARIANTS, "quick", (("target", "rank1"),))
    verdict = positions.run("quick")
    assert verdict.outcome == "holds" and "<svg" in verdict.figure
    right = predicted.places
    for wrong in (
        lambda setting: right(setting) * [1.25, 1.0],
        lambda setting: right(setting) * [1.0, 0.8],
    ):
        monkeypatch.setattr(predicted, "places", wrong)
        assert positions.run("quick").outcome == "fails"


def test_the_floor_fails_for_a_linear_target(monkeypatch):
    """Random features do learn x1: with the floor of another target the verdict flips."""
    import giantstep as gs

    monkeypatch.setitem(linear_floor.SIZES, "quick", (40, 3))
    monkeypatch.setattr(linear_floor, "SAMPLES", (8.0,))
    monkeypatch.setattr(linear_floor, "WIDTHS", (4.0,))
    assert linear_floor.run("quick").outcome == "holds"
    target = gs.target("x1")
    assert linear_floor.floor(target) == pytest.approx(0)
    monkeypatch.setattr(linear_floor, "floor", lambda target: 3.0)
    assert linear_floor.run("quick").outcome == "fails"


def test_names_are_unique_and_grouped():
    names = [claim.name for claim in CLAIMS]
    assert len(set(names)) == len(names) and all(name.count("/") == 1 for name in names)
