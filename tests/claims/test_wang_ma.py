"""The claims on the early stage: identities behind them, tiny live runs, and verdicts on kept measurements."""

import kept
import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep_papers.giantstep import early_time, late_loss
from giantstep_papers.wang_ma import convergence, early, partition, sgd


def test_the_chance_of_a_bare_sample_is_that_of_drawn_starts():
    drawn = np.mean([partition.widths(12, seed) for seed in range(20)], axis=0)
    np.testing.assert_allclose(drawn[1:], partition.bare(12), atol=0.04)


@pytest.mark.parametrize("module", [early_time, late_loss, sgd], ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, monkeypatch):
    if module is early_time:
        monkeypatch.setitem(early_time.WIDTHS, "quick", (4, 8))
        monkeypatch.setattr(
            early_time, "CASES", {"n = 10": (10, False), "n = 20": (20, False), "overlapping": (10, True)}
        )
        monkeypatch.setattr(early_time, "CONES", [10, 20])
    else:
        monkeypatch.setitem(module.SIZES, "quick", (12, 16, 4) if module is sgd else (10, 6))
    seeds = range(20) if module is sgd else range(3)
    measured = module.measure("quick", seeds)
    predicted = {
        **(module.predict("quick") if hasattr(module, "predict") else {}),
        **module.predict_draws("quick", seeds),
    }
    exact = {each.what: each for each in module.compare("quick", measured, predicted).stated}[
        "loss over the followed one"
    ]
    np.testing.assert_allclose(exact.samples, 1.0, rtol=1e-3)


def test_the_sourced_claims_run_at_a_tiny_size(monkeypatch):
    monkeypatch.setattr(early, "DATA", {"n = 10": (10, False)})
    monkeypatch.setattr(early, "WIDTHS", (4,))
    monkeypatch.setattr(early, "BATCHES", {"all samples": None})
    left = early.measure("quick", range(2))["left"]
    assert left.shape == (2, 1, 1, 1, len(early.KEPT), 2) and np.all(left[..., -1, :] < 1)
    monkeypatch.setitem(convergence.SIZES, "quick", (10, 6))
    assert convergence.measure("quick", range(2))["losses"].shape == (2, len(convergence.KEPT), 2)


def test_a_loss_that_levels_off_does_not_converge():
    (claim,) = select(["wang_ma/convergence"])
    measured, predicted = kept.load(claim)
    level = {"losses": measured["losses"] + 0.05 * measured["losses"][:, :1]}
    assert rule(claim, "quick", level, predicted).outcome == "contradicted"


NAMES = [f"wang_ma/{name}" for name in ("partition", "early", "convergence", "sgd")]


@pytest.mark.parametrize("name", [*NAMES, "giantstep/early-time", "giantstep/late-loss"])
def test_the_verdict_on_what_was_kept(name):
    (claim,) = select([name])
    verdict = rule(claim, "quick", *kept.load(claim))
    assert verdict.outcome == "holds", verdict.sentence
    assert "<svg" in verdict.figure and verdict.caption and verdict.power
