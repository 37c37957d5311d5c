"""The claims on two steps: the signal matrix at any width, and tiny live runs."""

import numpy as np
import pytest

from giantstep.checks.statistics import Seeds
from giantstep.claims import select
from giantstep.claims.moniri_hassani import degenerate, exponents, layers, limit, outliers, phase_diagram, reuse
from giantstep.theory import second_step
from giantstep.theory.two_steps.predict import SecondStep


@pytest.fixture
def tiny(monkeypatch):
    """Sizes that say nothing."""
    for claim, size in (
        (outliers, 50),
        (phase_diagram, 50),
        (degenerate, 50),
        (exponents, (45, 50)),
        (reuse, (24, 48)),
    ):
        monkeypatch.setitem(claim.DIMENSIONS, "quick", size)
    monkeypatch.setitem(phase_diagram.ALPHAS1, "quick", (0.0, 0.4))
    monkeypatch.setitem(phase_diagram.ALPHAS2, "quick", (0.1, 0.4))


@pytest.mark.parametrize("claim", select(["moniri_hassani"]), ids=lambda claim: claim.name)
def test_a_claim_runs(claim, tiny):
    seeds = range(Seeds(3, 3).pilot)
    predicted = {**(claim.predict("quick") if claim.predict else {})}
    predicted |= claim.predict_draws("quick", seeds) if claim.predict_draws else {}
    verdict = claim.rule("quick", claim.measure("quick", seeds), predicted)
    assert verdict.sentence and verdict.rows and "<svg" in verdict.figure and verdict.power


def test_the_signal_matrix_at_any_width_is_that_of_the_draws():
    drawn = []
    for seed in range(3):
        predicted = second_step(layers.experiment(150, 0.35, 0.4, "fresh"), seed)
        assert isinstance(predicted, SecondStep)
        drawn.append(predicted.signal.strengths[:2])
    assert np.allclose(np.mean(drawn, axis=0), limit.strengths(600, 0.35, 0.4)[:2], rtol=0.15)


def test_it_reaches_the_exponents_and_the_number_of_the_limit():
    assert np.allclose(limit.exponents(1e12, 0.35, 0.4, 3), [0.4, 0.25, 0.1], atol=0.02)
    assert limit.count(1e12, 0.0, 0.45) == 1 and limit.count(1e12, 0.3, 0.45) == 3


def test_random_signs_do_not_hide_a_cosine():
    squares = np.full((1, 2, 2, 60), 0.16) * np.random.default_rng(0).uniform(0.9, 1.1, (1, 2, 2, 60))
    assert reuse.CLAIM.rule("quick", {"squares": squares}, {}).as_stated == "fails"
