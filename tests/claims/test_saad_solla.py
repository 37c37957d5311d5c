"""One-pass SGD: overlaps that are 5% wrong fail, and a tiny live run."""

import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.claims._registry import loaded
from giantstep_papers.saad_solla import one_pass


def arrays(factor):
    """Overlaps that differ from the equations by chance of order d^(-1/2), times a factor."""
    rng, seeds = np.random.default_rng(0), 30
    predicted, measured = one_pass.predict("quick"), {}
    for case in one_pass.CASES:
        predicted[case], measured[case] = {}, {}
        for d in one_pass.dimensions(case, "quick"):
            overlaps = rng.uniform(0.5, 1.0, (one_pass.RECORDS, 18, seeds))
            size = 0.3 * d**-0.5 * np.exp(0.1 * rng.standard_normal(seeds))
            chance = size * rng.standard_normal(overlaps.shape)
            predicted[case][str(d)] = {"overlaps": overlaps, "risk": np.ones((one_pass.RECORDS, seeds))}
            risk = 1 + 0.02 * rng.standard_normal((one_pass.RECORDS, seeds))
            measured[case][str(d)] = {"overlaps": factor * overlaps + chance, "risk": risk}
    return measured, predicted


@pytest.mark.parametrize(("factor", "outcome"), [(1.0, "holds"), (1.05, "fails"), (0.95, "fails")])
def test_overlaps_that_are_five_per_cent_wrong_fail(factor, outcome):
    (claim,) = select(["saad_solla/one-pass"])
    assert rule(claim, "quick", *arrays(factor)).stated == outcome


def test_it_runs_at_a_tiny_size(monkeypatch):
    monkeypatch.setitem(one_pass.SIZES, "quick", (20, 40))
    monkeypatch.setattr(one_pass, "CASES", {"erf": one_pass.CASES["erf"]})
    predicted = {**one_pass.predict("quick"), **one_pass.predict_draws("quick", range(4))}
    verdict = rule(loaded("saad_solla/one-pass"), "quick", one_pass.measure("quick", range(4)), predicted)
    assert verdict.rows and "<svg" in verdict.figure
