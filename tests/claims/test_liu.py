"""The claims on SGD over random features: verdicts on kept measurements, and the theory at large widths behind one."""

from dataclasses import replace

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep_papers.liu import runs
from giantstep_papers.liu.bias_variance import GRID, SINE, TANH, around_the_maximum, second

NAMES = ("liu/test-error", "liu/bias-variance", "liu/threshold", "giantstep/sgd-variance", "giantstep/one-pass")


@pytest.mark.parametrize("name", NAMES)
def test_the_verdict_on_what_was_kept(name):
    (claim,) = select([name])
    verdict = rule(claim, "quick", *kept.load(claim))
    assert verdict.outcome == "holds", verdict.sentence
    assert "<svg" in verdict.figure and verdict.caption and verdict.power


def test_features_of_the_limit_have_the_moments_of_drawn_ones():
    d, n = 60, 240
    readout = gs.SGD(n, runs.rate(SINE))
    for width in (0.2, 1.0, 3.0):
        theirs = [runs.predicted(runs.moments(d, n, width, seed), readout, n) for seed in range(4)]
        ours = runs.predicted(runs.proportional(d, n, width, SINE), readout, n)
        np.testing.assert_allclose(ours, np.mean(theirs, axis=0), rtol=0.1)  # of order 1/d


def test_one_maximum_is_told_from_two_and_from_none():
    one, none, two = np.array([0.0, 1.0, 2.0, 1.5]), np.array([0.0, 1.0, 2.0, 2.1]), np.array([0.0, 2.0, 1.0, 1.5])
    assert around_the_maximum(one) == (2.0, 0.5) and around_the_maximum(none)[1] == 0
    assert second(one) < 0 and second(none) < 0 and second(two) == 0.5


def test_the_limit_decides_on_one_maximum():
    """A variance that only rises in the limit contradicts the statement, whatever is measured."""
    (claim,) = select(["liu/bias-variance"])
    measured, predicted = kept.load(claim)
    assert predicted[f"large {SINE}"].shape == (3, 2, len(GRID))
    only_rises = {**predicted, f"large {SINE}": predicted[f"large {TANH}"]}
    assert rule(claim, "quick", measured, only_rises).outcome == "contradicted"
    without = replace(claim.compare("quick", measured, predicted), limit=())
    assert len(without.stated) == 4


def test_one_pass_alone_has_no_double_descent():
    (claim,) = select(["liu/threshold"])
    measured, predicted = kept.load(claim)
    errors = measured["errors"].copy()
    errors[-2] = errors[0]  # the most passes are one
    assert rule(claim, "quick", {"errors": errors}, predicted).stated == "fails"
