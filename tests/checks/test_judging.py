"""A judge declares a margin and a departure once: comparisons, tolerances and words are made from it."""

import re

import numpy as np
import pytest

from giantstep.checks import EXPONENT, Claim, Judge, Seeds, judging, statistics
from giantstep.checks._intervals import intervals
from giantstep.claims import TEXTS

ERROR = Judge("error", margin=(0.04, 0.02), departure=(0.1, 0.05), because="terms of order 1/d", relative=True)
SLOPE = Judge("slope", margin=EXPONENT, departure=0.2, side="below")
MEAN = Judge("ratio", margin=0.06, departure=0.2, mean=((0.04, 0.015), (0.1, 0.04)), percent=True)
BOUND = Judge("gain", margin=0.0, departure=0.3, side="above")
CLAIM = Claim(statement="It is so.", where="", how="We compare.", judges=(ERROR, SLOPE, MEAN, BOUND), seeds={})


def test_words_come_from_the_numbers():
    assert ERROR.words() == (
        "The error may be off by 4% (full size 2%), because of terms of order 1/d. "
        "A difference of 10% (full size 5%) must be noticed."
    )
    assert SLOPE.words() == "The slope may lie higher by 0.05. A difference of 0.2 must be noticed."
    assert MEAN.words().endswith(
        "Their mean may be off by 4% (full size 1.5%), and there 10% (full size 4%) must be noticed."
    )
    assert BOUND.words() == "The gain has no margin. A difference of 0.3 must be noticed."
    assert CLAIM.test.startswith("We compare. The error may be off")
    assert ", for the same reason. " in ERROR.words(["terms of order 1/d"])


def test_a_margin_in_words_is_given_where_numbers_are_compared():
    law = Judge("distance", margin="eight over the number", departure=0.1, side="below")
    claim = Claim(statement="It is so.", where="", how="We compare.", judges=(law, SLOPE), seeds={})
    assert "may lie higher by eight over the number. A difference of 0.1" in claim.test
    judge = judging(claim, "quick")
    assert judge("distance", [0.1, 0.2], margin=[0.01, 0.02], noisy=False).margin.tolist() == [0.01, 0.02]
    with pytest.raises(ValueError, match="if and only if"):
        judge("distance", [0.1, 0.2], noisy=False)
    with pytest.raises(ValueError, match="if and only if"):
        judge("slope", [0.1], margin=0.2, noisy=False)


@pytest.mark.parametrize(("size", "margin", "departure"), [("quick", 0.04, 0.1), ("full", 0.02, 0.05)])
def test_a_comparison_takes_the_margin_of_its_size(size, margin, departure):
    made = judging(CLAIM, size)("error", [[1.0, 1.1], [2.0, 2.1]], [1.0, 2.0], at=["a", "b"])
    wanted = statistics.compare(
        "error",
        [[1.0, 1.1], [2.0, 2.1]],
        [1.0, 2.0],
        at=["a", "b"],
        relative=True,
        within=statistics.Tolerance(margin, departure),
    )
    assert made.what == wanted.what and made.at == wanted.at and made.relative and made.side == "both"
    assert np.array_equal(made.margin, wanted.margin) and np.array_equal(made.departure, wanted.departure)
    assert np.array_equal(made.samples, wanted.samples)


def test_a_comparison_may_have_another_name_and_another_side():
    judge = judging(CLAIM, "quick")
    made = judge("slope at d = 3", [1.0], by="slope", noisy=False)
    assert (made.what, made.side, made.margin.tolist()) == ("slope at d = 3", "below", [EXPONENT])
    assert judge("slope", [1.0], side="above", noisy=False).side == "above"


def test_each_and_mean_and_a_count():
    judge = judging(CLAIM, "full")
    every, mean = judge.each_and_mean("ratio", [[1.0, 1.1], [0.9, 1.0]], 1.0)
    assert (
        every.margin.tolist() == [0.06, 0.06] and mean.margin.tolist() == [0.015] and mean.departure.tolist() == [0.04]
    )
    counted = judge.count("strays", 1, 30, by="ratio")
    assert (counted.what, counted.allowed, counted.departure) == ("strays", 0.06, 0.2)
    with pytest.raises(ValueError, match="no margin of the mean"):
        judge.each_and_mean("error", [[1.0, 1.1]], 1.0)


def test_an_unknown_judge_is_named():
    with pytest.raises(KeyError, match="judges 'error', 'slope', 'ratio', 'gain', not 'eror'"):
        judging(CLAIM, "quick")("eror", [1.0], noisy=False)


@pytest.mark.parametrize("seeds", [(1, 5), (5, 4), (2, 20_000)])
def test_odd_numbers_of_seeds_are_refused(seeds):
    with pytest.raises(ValueError, match="at least 2 seeds"):
        Seeds(*seeds)


def test_a_claim_without_a_figure_gets_its_intervals_unless_it_only_counts():
    judge = judging(CLAIM, "quick")
    many = judge("slope", np.zeros((30, 2)) + [0.0, 0.1], at=[f"d = {k}" for k in range(30)])
    bound = judge("gain", [[1.0, 2.0]], at=["here"])
    shown = intervals([statistics.decide([bound, many])])
    assert "<svg" in shown
    assert intervals([statistics.decide([judge.count("strays", 0, 30, by="ratio")])]) == ""


# What the claims of this library declare


def said(judge: Judge) -> set[str]:
    """The numbers of a judge as a text would write them: 0.04, and 4%."""
    values = [judge.margin, judge.departure, *(judge.mean or ())]
    flat = {
        x
        for value in values
        if not isinstance(value, str)
        for x in (value if isinstance(value, tuple) else (value,))
        if x
    }
    return {f"{x:g}" for x in flat} | {f"{100 * x:g}%" for x in flat}


@pytest.mark.parametrize("claim", TEXTS, ids=lambda each: each.name)
def test_every_claim_declares_what_it_judges(claim):
    assert claim.judges, claim.name
    names = [each.what for each in claim.judges]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("claim", TEXTS, ids=lambda each: each.name)
def test_no_number_of_a_judge_stands_in_prose(claim):
    told = set(re.findall(r"\d+(?:\.\d+)?%?", claim.how))
    declared = {number for each in claim.judges for number in said(each)}
    assert not told & {each for each in declared if "." in each or "%" in each}, claim.name
    assert not re.search("must be noticed|is allowed", claim.how), claim.name
