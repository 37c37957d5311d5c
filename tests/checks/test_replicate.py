"""Sets of seeds: how many seeds a claim takes, which ones, and how often each verdict comes."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import toys

import giantstep as gs
from giantstep.checks import statistics
from giantstep.checks._check import check
from giantstep.checks._replicate import replicate
from giantstep.checks.cache import Bench, each
from giantstep.checks.claim import Claim, Seeds
from giantstep.checks.statistics import Evidence, Tolerance
from giantstep.checks.verdict import Verdict
from giantstep.lab.store import Store
from giantstep.lab.work.executor import Here

DRAWN: list[int] = []


def draw(seed: int) -> float:
    """One number of a seed, of mean zero and spread one."""
    DRAWN.append(seed)
    return float(np.random.default_rng(seed).standard_normal())


def noisy(name: str, spread: float, most: int = 200, mean: float = 0.0, quick: bool = True) -> Claim:
    """A claim that numbers of this spread have mean zero within 1; a mean of 3 must be noticed."""

    def measure(size, seeds):
        return {"numbers": mean + spread * np.array(each(draw, [(seed,) for seed in seeds]))}

    def compare(size, measured, predicted):
        return Evidence((statistics.compare("number", [measured["numbers"]], within=Tolerance(1.0, 3.0)),))

    sizes = {"full": Seeds(6, most)} | ({"quick": Seeds(6, most)} if quick else {})
    return toys.claim(
        name, Verdict("holds"), measure=measure, compare=compare, describe=lambda *_: Verdict(), seeds=sizes
    )


def count(seeds: str) -> int:
    first, last = map(int, seeds.split("-"))
    return last - first + 1


def test_more_noise_takes_more_seeds_and_nothing_is_drawn_twice():
    DRAWN.clear()
    quiet, loud = check([noisy("a/quiet", 0.1), noisy("a/loud", 2.0)], "quick")
    assert count(quiet.verdict.seeds) == 6 < count(loud.verdict.seeds) <= 200
    assert quiet.verdict.stated == loud.verdict.stated == "holds"
    assert sorted(DRAWN) == sorted([*range(6), *range(count(loud.verdict.seeds))])


def test_the_mean_does_not_change_the_number_of_seeds():
    true, false = check([noisy("a/true", 2.0), noisy("a/false", 2.0, mean=5.0)], "quick")
    assert true.verdict.seeds == false.verdict.seeds
    assert (true.verdict.stated, false.verdict.stated) == ("holds", "fails")


def test_a_budget_that_is_too_small_decides_nothing():
    (result,) = check([noisy("a/loud", 20.0, most=10)], "quick")
    assert (result.verdict.stated, result.verdict.seeds) == ("inconclusive", "0-9")


def test_a_size_that_is_too_small_is_not_run_and_quotes_full_size():
    claim = replace(noisy("a/large", 1.0, quick=False), full_verdict="At full size it holds.")
    (result,) = check([claim], "quick")
    assert result.verdict.outcome == "not run" and result.passed and result.error is None
    told = "Quick runs are too noisy for this test, so it runs at full size only. At full size it holds."
    assert result.verdict.sentence == told


def test_sets_share_no_seed_and_are_counted(tmp_path):
    DRAWN.clear()
    with Store.open(tmp_path / "store") as store:
        bench = Bench(store, Here())
        told: list = []
        claims = [noisy("a/true", 1.0), noisy("a/false", 1.0, mean=5.0)]
        true, false = replicate(claims, "quick", 3, bench, told.append, 50)
        again = replicate(claims, "quick", 3, bench, None, 50)
    assert true.times == {"holds": 3} and false.times == {"contradicted": 3} and not false.passed
    firsts = [int(each.seeds.split("-")[0]) for each in (true.verdict, *true.replicated)]
    assert firsts == [50, 10050, 20050]
    drawn = sum(count(each.seeds) for each in (true.verdict, *true.replicated))
    assert len(DRAWN) == drawn  # both claims share the draws, and the second time is free
    assert {(now.set_number, now.sets) for now in told} == {(0, 3), (1, 3), (2, 3)}
    assert again[0].verdict.sentence == true.verdict.sentence
    plain: dict[str, Any] = true.to_dict()
    assert plain["times"] == {"holds": 3} and [each["outcome"] for each in plain["replicated"]] == ["holds", "holds"]


@pytest.mark.parametrize("wrong", [{"replicate": 0}, {"first_seed": -1}, {"size": "huge"}, {"claims": "nobody"}])
def test_bad_input_is_one_sentence(wrong):
    with pytest.raises(gs.InputError):
        gs.check(**({"claims": "moniri/alignment"} | wrong))


QUOTED = {"quote": "It is so.", "place": "Theorem 1"}


@pytest.mark.parametrize(
    ("kind", "stated", "limit", "corrected", "outcome"),
    [
        ("ours", "holds", None, None, "holds"),
        ("ours", "fails", None, None, "contradicted"),
        ("ours", "fails", None, "holds", "contradicted, holds with a correction"),
        ("ours", "fails", None, "fails", "contradicted"),
        ("figure", "fails", None, "inconclusive", "contradicted"),
        ("theorem", "inconclusive", None, "holds", "undecided at these sizes"),
        ("theorem", "holds", None, None, "holds"),
        ("theorem", "fails", None, None, "undecided at these sizes"),  # one size contradicts no limit
        ("theorem", "fails", "holds", None, "holds in the limit"),
        ("theorem", "inconclusive", "holds", None, "holds in the limit"),
        ("theorem", "holds", "holds", None, "holds"),
        ("theorem", "holds", "fails", None, "contradicted"),  # and none saves it
        ("theorem", "fails", "fails", "holds", "contradicted, holds with a correction"),
        ("theorem", "holds", "inconclusive", None, "undecided at these sizes"),
        ("upper bound", "holds", None, None, "a bound, respected"),
        ("lower bound", "fails", None, None, "contradicted"),
    ],
)
def test_what_is_concluded_from_the_decisions(kind, stated, limit, corrected, outcome):
    texts = {} if kind == "ours" else {"kind": kind, **QUOTED}
    made = Verdict(stated=stated, limit=limit, corrected=corrected)
    (result,) = check([toys.claim("a/one", made, **texts)], "quick")
    verdict = result.verdict
    assert (verdict.stated, verdict.limit, verdict.corrected, verdict.outcome) == (stated, limit, corrected, outcome)
    assert result.passed == (outcome != "contradicted")


def test_a_correction_needs_evidence_and_evidence_a_correction():
    claim = toys.claim("a/one", Verdict(stated="fails", corrected="holds"), correction="")
    (result,) = check([claim], "quick")
    assert "correction" in (result.error or "")
