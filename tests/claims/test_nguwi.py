"""The claims on generalisation bounds: tiny live runs, and verdicts on kept measurements."""

import kept
import numpy as np
import pytest

from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.systems.bounds.theory import on_fresh, trivial
from giantstep_papers.nguwi import amounts, trainings


def test_the_bound_passes_the_error_of_predicting_zero_where_it_is_said():
    for case in trainings.CASES:
        b = trainings.bounds(case, rate=amounts.passed(case) / trainings.STEPS)
        assert on_fresh(b, amounts.N) == pytest.approx(trivial(b), rel=1e-6)


def test_they_measure_at_tiny_sizes(monkeypatch):
    monkeypatch.setattr(trainings, "STEPS", 10)
    gaps = trainings.fresh("tanh", 2, (25, 100), 1000, 0)
    assert gaps.shape == (3,) and gaps[1] < gaps[0] and gaps[2] > 1
    assert np.all(trainings.training(2, 25, 1000, 0) > 0)
    found = trainings.learned("tanh", 0.1, 1000, 0)
    assert found.shape == (4,) and np.all(found > 0)
    assert trainings.apart(2, 1.0, 40, 0) < trainings.apart(2, 1.0, 10, 0)


OUTCOMES = {  # a bound of the source, a bound of ours, and what can be computed
    "fresh": "a bound, respected",
    "training": "a bound, respected",
    "wasserstein": "holds",
    "before-training": "holds",
}


@pytest.mark.parametrize("name", OUTCOMES)
def test_a_bound_is_respected_on_what_was_kept(name):
    (claim,) = select([f"nguwi/{name}"])
    verdict = rule(claim, "quick", *kept.load(claim))
    assert verdict.outcome == OUTCOMES[name], verdict.sentence
    assert verdict.looseness is not None and verdict.looseness > 1
    assert "<svg" in verdict.figure and verdict.caption and verdict.power


@pytest.mark.parametrize(("name", "axis"), [("fresh", -2), ("training", 1), ("wasserstein", 1)])
def test_a_faster_fall_is_no_contradiction_and_a_slower_one_is(name, axis):
    """The gap times a power of n: less is still a bound, more is not."""
    (claim,) = select([f"nguwi/{name}"])
    measured, predicted = kept.load(claim)
    (key, values), out = next(iter(measured.items())), []
    for power in (-0.5, 0.8):
        steps = np.arange(values.shape[axis])
        shape = [-1 if k == axis % values.ndim else 1 for k in range(values.ndim)]
        changed = values * 2.0 ** (power * steps.reshape(shape))
        out.append(rule(claim, "quick", {key: changed}, predicted).outcome)
    assert out == [OUTCOMES[name], "contradicted"]


def test_our_own_question_on_what_was_kept():
    (claim,) = select(["giantstep/bound-informative"])
    verdict = rule(claim, "quick", *kept.load(claim))
    assert verdict.outcome == "holds" and claim.of == "giantstep", verdict.sentence
    assert "<svg" in verdict.figure and verdict.caption and verdict.power
