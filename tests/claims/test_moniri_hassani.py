"""The claims on two steps: the signal matrix at any width, and tiny live runs."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.checks.statistics import Seeds
from giantstep.claims import select
from giantstep.claims.claim import checked_by
from giantstep.claims.moniri_hassani import (
    alignments,
    degenerate,
    exponents,
    layers,
    limit,
    outliers,
    phase_diagram,
    reuse,
    threshold,
)
from giantstep.theory import second_step
from giantstep.theory.two_steps.predict import SecondStep


@pytest.fixture
def tiny(monkeypatch):
    """Sizes that say nothing."""
    for claim, size in (
        (outliers, 50),
        (alignments, 50),
        (phase_diagram, 50),
        (degenerate, 50),
        (exponents, (45, 50)),
    ):
        monkeypatch.setitem(claim.DIMENSIONS, "quick", size)
    monkeypatch.setattr(reuse, "DIMENSIONS", (24, 48))
    monkeypatch.setattr(reuse, "NETWORKS", 2)
    monkeypatch.setattr(threshold, "DIMENSIONS", (24, 48))
    monkeypatch.setitem(phase_diagram.ALPHAS1, "quick", (0.0, 0.4))
    monkeypatch.setitem(phase_diagram.ALPHAS2, "quick", (0.1, 0.4))


@pytest.mark.parametrize("claim", select(["moniri_hassani"]), ids=lambda claim: claim.name)
def test_a_claim_runs(claim, tiny):
    seeds = range(Seeds(3, 3).pilot)
    size = next(iter(claim.seeds))
    predicted = {**(claim.predict(size) if claim.predict else {})}
    predicted |= claim.predict_draws(size, seeds) if claim.predict_draws else {}
    verdict = claim.rule(size, claim.measure(size, seeds), predicted)
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
    shape = len(reuse.CASES), len(reuse.BATCHES), len(reuse.DIMENSIONS), 60
    squares = np.full(shape, 0.16) * np.random.default_rng(0).uniform(0.9, 1.1, shape)
    assert checked_by(reuse).rule("full", {"squares": squares}, {}).as_stated == "fails"


def test_exponents_a_tenth_beyond_the_half_fail():
    """d m/(1 - m) as a power of d, with the noise of a seed of ten networks, on the right sides of 1/2 and on the wrong ones."""
    rng, d = np.random.default_rng(0), np.array(reuse.DIMENSIONS)[:, None]
    learned = np.array([[case[-1], False] for case in reuse.CASES.values()])[..., None, None]

    def outcome(where_learned, where_not):
        strength = 4 * (d / d[0]) ** np.where(learned, where_learned, where_not)
        mean = strength / (d + strength) * np.ones((1, 1, 1, 560))
        squares = np.maximum(mean * (1 + 0.35 * rng.standard_normal(mean.shape)), 0.0)
        return checked_by(reuse).rule("full", {"squares": squares}, {}).as_stated

    assert outcome(0.65, 0.35) == "holds"
    assert outcome(0.4, 0.35) == "fails" and outcome(0.65, 0.6) == "fails"


def test_no_two_seeds_share_a_network(monkeypatch):
    seen = []
    monkeypatch.setattr(reuse, "cosine", lambda name, batch, d, seed: seen.append(seed) or 0.5)
    assert reuse.square("h3", "fresh", 24, 3) == reuse.square("h3", "fresh", 24, 4) == 0.25
    assert len(set(seen)) == len(seen) == 2 * reuse.NETWORKS


def test_the_target_of_the_threshold_has_information_exponent_three_and_a_square_with_a_linear_part():
    made = gs.target(threshold.target())
    assert made.information_exponent == 3 and np.isclose(made.power, 1.0)
    x = np.random.default_rng(0).standard_normal(400_000)
    assert np.isclose(np.mean(made(x[None]) ** 2 * x), threshold._pull(), atol=0.05) and threshold._pull() > 1


@pytest.mark.parametrize(
    ("more", "cosine", "outcome"),
    [(0.0, 0.0, "holds"), (0.2, 0.0, "fails"), (-0.2, 0.0, "fails"), (0.0, 0.2, "fails")],
    ids=["as stated", "steeper", "flatter", "fresh batches learn"],
)
def test_the_threshold_notices_another_exponent_and_what_fresh_batches_learn(more, cosine, outcome):
    rng, sizes, seeds = np.random.default_rng(1), np.array(threshold.DIMENSIONS), 600
    predicted = threshold.predict("full")
    mean = sizes ** (predicted["exponents"] + more)[..., None]
    strengths = mean[..., None] * (1 + 0.2 * rng.standard_normal((*mean.shape, seeds)))
    squares = cosine + rng.chisquare(1, strengths.shape) / sizes[:, None]
    controls = rng.standard_normal((len(mean), len(sizes), 5, seeds))
    measured = {"reuse strength": strengths, "reuse controls": controls, "fresh square": np.minimum(squares, 0.9)}
    assert checked_by(threshold).rule("full", measured, predicted).as_stated == outcome
