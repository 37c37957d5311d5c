"""The claims on generalisation bounds: tiny live runs, and verdicts on kept measurements."""

import kept
import numpy as np
import pytest

from giantstep.claims import select
from giantstep.claims.nguwi import trainings, vacuity
from giantstep.systems.bounds.theory import on_fresh, trivial


def test_the_bound_passes_the_error_of_predicting_zero_where_it_is_said():
    for case in trainings.CASES:
        b = trainings.bounds(case, rate=vacuity.passed(case) / trainings.STEPS)
        assert on_fresh(b, vacuity.N) == pytest.approx(trivial(b), rel=1e-6)


def test_they_measure_at_tiny_sizes(monkeypatch):
    monkeypatch.setattr(trainings, "STEPS", 10)
    gaps = trainings.fresh("tanh", 2, (25, 100), 1000, 0)
    assert gaps.shape == (3,) and gaps[1] < gaps[0] and gaps[2] > 1
    assert np.all(trainings.training(2, 25, 1000, 0) > 0)
    assert trainings.learned("tanh", 0.1, 1000, 0)[0] > 0
    assert trainings.apart(2, 1.0, 40, 0) < trainings.apart(2, 1.0, 10, 0)


@pytest.mark.parametrize(
    ("name", "outcome"),
    [
        ("fresh", "holds as corrected"),
        ("training", "holds as corrected"),
        ("wasserstein", "holds"),
        ("vacuity", "holds as corrected"),
    ],
)
def test_the_verdict_on_what_was_kept(name, outcome):
    (claim,) = select([f"nguwi/{name}"])
    verdict = claim.rule("quick", *kept.load(claim))
    assert verdict.outcome == outcome, verdict.sentence
    assert "<svg" in verdict.figure and verdict.caption and verdict.power
