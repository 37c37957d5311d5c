"""Every claim can fail: the verdict flips when the formula or the data behind it is wrong."""

import numpy as np
import pytest

from giantstep.claims import CLAIMS
from giantstep.claims.moniri import alignment, linear_floor, rank_one, remainder, spikes, trap


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
