"""The claims on adversarial steps run at tiny sizes, and stay open where their error bars are wide."""

import json

import kept
import numpy as np
import pytest

from giantstep.claims.bubeck import flips, linearity, rate, width
from giantstep.claims.giantstep import flip_distance

TINY = {
    flips: (12, 3, 4),
    rate: ((6, 12), 3, 5),
    linearity: ((6, 12, 24), (0.5, 2.0), 3, 3),
    width: (6, (1, 4), 3, 4),
    flip_distance: (10, 3, 4),
}


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, monkeypatch):
    monkeypatch.setitem(module.SIZES, "quick", TINY[module])
    monkeypatch.setattr(flips, "LINE", (0.5, 1.0, 2.0, 3.0))
    measured, predicted = module.measure("quick"), module.predict("quick")
    verdict = module.judge("quick", measured, predicted)
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption
    plain = [kept._back(json.loads(json.dumps(kept._plain(x)))) for x in (measured, predicted)]
    assert module.judge("quick", *plain).outcome == verdict.outcome


@pytest.mark.parametrize("module", [flips, linearity, width], ids=lambda module: module.__name__.split(".")[-1])
def test_wide_error_bars_leave_it_open(module):
    measured, predicted = kept.load(module.CLAIM)
    ((name, found),) = measured.items()
    signs = np.where(np.arange(found.shape[-1]) % 2, 1, -1)
    wide = found + 0.4 * signs * np.mean(found, axis=-1, keepdims=True)
    assert module.judge("quick", {name: wide}, predicted).outcome == "inconclusive"
