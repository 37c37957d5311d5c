"""The claims on two steps: the signal matrix at any width, and tiny live runs."""

import kept
import numpy as np
import pytest

import giantstep as gs
from giantstep.checks.verdict import rule
from giantstep.claims import select
from giantstep.claims._registry import loaded
from giantstep.theory import second_step
from giantstep.theory.two_steps.predict import SecondStep
from giantstep_papers.moniri_hassani import (
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


@pytest.mark.parametrize("claim", select(["moniri_hassani", "giantstep/signal-matrix"]), ids=lambda claim: claim.name)
def test_a_claim_runs(claim, tiny):
    seeds = range(4)
    size = next(iter(claim.seeds))
    predicted = {**(claim.predict(size) if claim.predict else {})}
    predicted |= claim.predict_draws(size, seeds) if claim.predict_draws else {}
    verdict = rule(claim, size, claim.measure(size, seeds), predicted)
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


def test_the_count_is_that_of_the_formula_as_far_as_double_precision_carries():
    """For alpha_2 = 0.4 and 1/2 - alpha_1 = 0.15 there are three in the limit; the fourth, 2.7 at 10^16, falls as N^-0.05."""
    assert limit.count(1e24, 0.35, 0.4) == 3
    assert limit.strengths(1e20, 0.35, 0.4)[3] == pytest.approx(2.71 * 1e4**-0.05, rel=0.01)
    assert np.allclose(limit.exponents(1e20, 0.35, 0.4, 4), [0.4, 0.25, 0.1, -0.05], atol=0.003)
    with pytest.raises(gs.InputError, match="take a smaller width"):
        limit.count(1e27, 0.4, 0.45)


def test_another_number_in_the_limit_contradicts_the_formula():
    measured, predicted = kept.load(loaded("moniri_hassani/phase-diagram"))
    claim = loaded("moniri_hassani/phase-diagram")
    assert rule(claim, "quick", measured, predicted).outcome == "holds in the limit"
    assert rule(claim, "quick", measured, {**predicted, "far": predicted["far"] + 1}).outcome == "contradicted"


def squares(where_learned: float, where_not: float) -> np.ndarray:
    """d m/(1 - m) as a power of d, with the noise of a seed of ten networks."""
    rng, d = np.random.default_rng(0), np.array(reuse.DIMENSIONS)[:, None]
    learned = np.array([[case[-1], False] for case in reuse.CASES.values()])[..., None, None]
    strength = 4 * (d / d[0]) ** np.where(learned, where_learned, where_not)
    mean = strength / (d + strength) * np.ones((1, 1, 1, 560))
    return np.maximum(mean * (1 + 0.35 * rng.standard_normal(mean.shape)), 0.0)


@pytest.mark.parametrize(
    ("where_learned", "where_not", "stated"), [(1.0, 0.0, "holds"), (0.8, 0.0, "fails"), (1.0, 0.2, "fails")]
)
def test_growth_on_fresh_batches_is_not_called_level_and_slow_growth_is_not_learning(where_learned, where_not, stated):
    measured = {"squares": squares(where_learned, where_not)}
    verdict = rule(loaded("moniri_hassani/reuse"), "full", measured, reuse.predict("full"))
    assert (verdict.stated, verdict.limit) == (stated, "holds")
    assert verdict.outcome == ("holds" if stated == "holds" else "holds in the limit")


def test_random_signs_do_not_hide_a_cosine():
    measured = {"squares": squares(1.0, 1.0)}
    assert rule(loaded("moniri_hassani/reuse"), "full", measured, reuse.predict("full")).stated == "fails"


def test_a_theory_in_which_fresh_batches_learn_contradicts_the_statement():
    predicted = reuse.predict("full")["far"]
    swapped = {"far": predicted[:, ::-1]}
    assert (
        rule(loaded("moniri_hassani/reuse"), "full", {"squares": squares(1.0, 0.0)}, swapped).outcome == "contradicted"
    )


def test_what_fresh_batches_learn_has_the_level_of_the_formula():
    """(E y^2 x^2/E y^2) (1 + (n/d) (E y x^2)^2/E y^2), by the moments of Hermite polynomials."""
    assert np.allclose([reuse.far(name, "fresh", 1e9) for name in reuse.CASES], [42.0, 7.0, 9.0], rtol=0.01)


def test_the_targets_have_information_exponents_above_one():
    assert [gs.target(case[0]).information_exponent for case in reuse.CASES.values()] == [2, 3, 4]


def test_what_is_learned_at_any_width_is_what_networks_learn():
    """h3 on one batch and on two, where the level is near that of the limit at a small d already."""
    d, name = 150, "h3"
    measured = [
        np.mean([reuse.cosine(name, batch, d, seed) ** 2 for seed in range(40)]) for batch in ("reuse", "fresh")
    ]
    found = d * np.array(measured) / (1 - np.array(measured))
    assert np.allclose(found, [reuse.far(name, batch, 5 * d / 4) for batch in ("reuse", "fresh")], rtol=0.6)


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
    assert rule(loaded("moniri_hassani/threshold"), "full", measured, predicted).stated == outcome
