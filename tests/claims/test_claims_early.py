"""The claims on the early stage, run at tiny sizes."""

import json

import kept
import pytest

from giantstep.claims.wang_ma import convergence, early, partition, sgd

TINY = {
    partition: (12, 6, 3, 50),  # n, width, seeds, draws of the patterns
    early: ((4, 8), 3),  # widths, seeds
    convergence: (10, 6, 2),  # n, width, seeds
    sgd: (12, 16, 4, 8),  # n, width, batch, seeds of the square loss
}


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, monkeypatch):
    monkeypatch.setitem(module.SIZES, "quick", TINY[module])
    monkeypatch.setattr(partition, "SAMPLES", (8, 12, 20))
    measured, predicted = module.measure("quick"), module.predict("quick")
    verdict = module.judge("quick", measured, predicted)
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption
    plain = [kept._back(json.loads(json.dumps(kept._plain(x)))) for x in (measured, predicted)]
    assert module.judge("quick", *plain).outcome == verdict.outcome
