"""The sentences of a decision: who agrees, in which grade, by how much, and what would have been noticed."""

from dataclasses import replace

import numpy as np
import pytest

from giantstep.checks.statistics import RATES, Count, Evidence, Tolerance, Tolerances, compare, decide, each_and_mean
from giantstep.checks.statistics._table import table
from giantstep.checks.verdict import Ruling

NOISE = np.linspace(-1, 1, 400)  # its mean is zero, and its interval about 0.12 wide
RARE = Count("misses", 3, 400, 0.02, 0.1)


def still(what, values, predicted=0.0, margin=1.0, **options):
    """Numbers without randomness."""
    return compare(what, values, predicted, within=Tolerance(margin, 2 * margin + 1), noisy=False, **options)


def noisy(what, shifts, **options):
    """Numbers with the same noise around these shifts; 0.2 is allowed, and 0.8 must be noticed."""
    return compare(what, [NOISE + shift for shift in shifts], within=Tolerance(0.2, 0.8), **options)


# --- how many agree ---


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ([0.0, 0.5], "Both numbers agree with the prediction, within the margin. "),
        ([0.0] * 10, "All ten numbers agree with the prediction, within the margin. "),
        ([0.0] * 13, "All 13 numbers agree with the prediction, within the margin. "),
        ([9.0] * 3, "All three numbers lie outside the margin. "),
        ([9.0] * 4 + [0.0] * 2, "Four of six numbers lie outside the margin. The other two agree with the prediction"),
        ([9.0, 0.0], "One of two numbers lies outside the margin. The other agrees with the prediction"),
    ],
)
def test_numbers_are_counted_in_words(values, words):
    assert decide([still("size", values)]).sentence.startswith(words)


def test_the_two_grades_of_agreement_are_told_apart():
    within, hidden = (0.0, "within the margin"), (0.2, "noise hides on which side of the margin it lies")
    sentence = decide([noisy("error", [0.0, 0.0, 0.2])]).sentence
    assert sentence.startswith(f"All three numbers agree with the prediction. For one of them {hidden[1]}. ")
    sentence = decide([noisy("error", [0.2, 0.2])]).sentence
    assert "Both numbers agree with the prediction. Noise hides on which side of the margin they lie. " in sentence
    assert within[1] in decide([noisy("error", [0.0, 0.0])]).sentence


def test_every_mark_has_its_words():
    loud = compare("error", [9 * NOISE], within=Tolerance(0.2, 0.8))
    words = decide([noisy("error", [0.0, 0.2, 5.0]), loud]).sentence
    assert words.startswith(
        "One of four numbers lies outside the margin. Two agree with the prediction. "
        "For one of them noise hides on which side of the margin it lies. The other is too noisy to tell. "
    )


def test_numbers_that_are_not_finite_decide_nothing():
    with np.errstate(invalid="ignore"):
        assert "not finite" in decide([still("size", [np.nan, 1.0])]).sentence


# --- the furthest number ---


def test_a_number_alone_is_the_subject():
    low = compare("exponent of n", [0.1 * NOISE - 0.08], -0.5, within=Tolerance(0.05, 0.2), side="below")
    assert decide([low]).sentence == (
        "The exponent of n lies outside the margin: −0.080 ± 0.011 measured, at most −0.5 predicted (0.05 more is allowed)."
    )


def test_the_largest_gap_is_named_with_what_is_allowed():
    made = compare(
        "edge",
        [NOISE / 10 + 1.45, NOISE / 10 + 1.46],
        1.45,
        within=Tolerance(0.03, 0.06),
        at=["ReLU", "tanh"],
        relative=True,
    )
    words = (
        "The largest gap is the edge for tanh: 1.46 measured, 1.45 predicted (off by 0.69 ± 0.79%; ± 3% is allowed)."
    )
    assert decide([made]).sentence.endswith(words)


def test_a_number_outside_its_margin_is_named_before_one_that_is_further_in_units_of_its_departure():
    outside = still("edge", [1.2])
    noisy_one = compare("error", [60 * NOISE + 2.4], within=Tolerance(0.2, 2.5))
    assert "The largest gap is the edge" in decide([noisy_one, outside]).sentence


def test_on_the_right_side_of_a_bound_the_closest_is_named():
    made = still("gap", [0.1, 0.7, 0.3], 1.0, 0.0, side="below", at=["n = 1", "n = 2", "n = 3"])
    words = "The closest to its bound is the gap for n = 2: 0.7 computed, at most 1 predicted."
    assert decide([made]).sentence.endswith(words)


def test_a_quantity_with_a_comma_ends_with_one():
    made = still("gain, in units of the error", [0.0], at=["n = 9"])
    words = "The gain, in units of the error, for n = 9 agrees with the prediction, within the margin: "
    assert decide([made]).sentence == f"{words}0 computed, 0 predicted (± 1 is allowed)."
    assert decide([still("cos(β, β*)", [0.0], at=["n = 9"])]).sentence.startswith("The cos(β, β*) for n = 9 agrees")


def test_counts_are_told_as_counts():
    assert decide([RARE]).sentence == (
        "The number of misses agrees with the prediction, within the margin: 3 of 400 measured, 2% allowed."
    )
    assert decide([replace(RARE, exceptions=12)]).sentence.endswith("Noise hides on which side of the margin it lies.")


def test_several_decisions_are_opened_by_what_they_decide():
    good, bad = still("size", [0.0, 0.0]), still("size", [9.0, 9.0])
    assert Ruling.on(Evidence((bad,), (good,))).sentence.startswith("As worded, both numbers lie outside the margin. ")
    sentence = Ruling.on(Evidence((bad,), (good,), (good,))).sentence
    assert sentence.startswith("At the sizes at hand, both numbers lie outside the margin. ")
    assert " In the limit, both numbers agree " in sentence and " With the correction, both numbers agree " in sentence


# --- what would have been noticed ---


def test_power_is_one_short_line():
    made = compare("exponent of n", [0.1 * NOISE[::20]], within=Tolerance(0.05, 0.2))
    assert decide([made]).power == "20 seeds; would have noticed 0.14 in the exponent of n."


def test_kinds_of_number_are_joined_and_their_mean_is_no_kind():
    within = Tolerances(Tolerance(0.2, 0.8), Tolerance(0.1, 0.4))
    errors = each_and_mean("cos(β, β*)", [NOISE + 9, 2 * NOISE + 9], 9.0, within=within, relative=True)
    line = decide([*errors, noisy("slope", [0.0])]).power
    assert line == "400 seeds; would have noticed 13 to 24% in the cos(β, β*) and 0.39 in the slope."


def test_what_has_no_noise_is_not_listed_beside_what_has():
    assert "size" not in decide([still("size", [0.0]), noisy("slope", [0.0])]).power
    assert decide([still("size", [0.0])]).power == "No randomness; would have noticed 1 in the size."


def test_numbers_that_are_compared_twice_are_told_once():
    exponent = compare("exponent", [NOISE + 1], 1.0, within=Tolerance(0.2, 0.8))
    limit = compare("trend", [NOISE + 1], 0.5, within=Tolerance(0.2, 0.8), side="above")
    assert "trend" not in Ruling.on(Evidence((exponent,), (), (limit,))).power


def test_the_power_of_counts():
    assert decide([RARE]).power == "400 trials; would have noticed 10% of misses."
    assert decide([replace(RARE, trials=20, exceptions=0)]).power == "20 trials; too few to notice a departure."


def test_several_decisions_have_one_line_and_a_page_has_the_rates():
    both = Ruling.on(Evidence((noisy("slope", [0.0]),), (noisy("slope", [5.0]),)))
    assert both.power.count("seeds") == 1 and both.power.count("slope") == 1
    assert "one of 5000 checks" in RATES and "one of 100 checks" in RATES


def test_a_row_names_per_cent_where_its_values_are_in_per_cent():
    """Measured and predicted stay in their own unit."""
    made = compare("error", [1.52], [1.48], within=Tolerance(0.05, 0.1), relative=True, noisy=False)
    ((what, _, measured, predicted, difference, _, margin, *_),) = table([decide([made])])[1]
    assert (measured, predicted, margin) == (1.52, 1.48, 5.0) and difference == pytest.approx(2.7027, rel=1e-4)
    assert what == "error, difference in %"
