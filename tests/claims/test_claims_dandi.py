"""Claims on multi-index targets: verdicts on what was kept and falsified, and measuring and predicting at tiny sizes."""

import kept
import numpy as np
import pytest

from giantstep.claims import growth, select
from giantstep.claims.dandi import floors, one_step, ranks, reuse, scaling, second_layer, staircase, threshold
from giantstep.claims.saad_solla import one_pass

TINY = {
    one_step: ((64, 128), (16, 24), 2),
    second_layer: ((64, 128), 2),
    reuse: ((100, 200), 3),
    staircase: ((600, 1200), 3),
    threshold: ({1: (2**6, 2**8), 2: (2**4, 2**5), 3: (2**3, 2**4)}, 3, 2**12),
    scaling: ({1: (2**6, 2**8), 2: (2**3, 2**4), 3: (6, 8)}, 3),
    floors: ({"d": (16, 24), "d^2": (6, 8), "d^2 d^2": (4, 6)}, 2, 500),
    one_pass: ((20, 40), 2),
}


def claim(name):
    (found,) = select([name])
    return found, *kept.load(found)


@pytest.mark.parametrize("module", TINY, ids=lambda module: module.__name__.split(".")[-1])
def test_it_runs_at_a_tiny_size(module, monkeypatch):
    """Something is said of what was measured, whatever it is, and measured and predicted can be kept as text."""
    monkeypatch.setitem(module.SIZES, "quick", TINY[module])
    for where, name, few in (
        (staircase, "STEPS", 2),
        (staircase, "EXAMPLES", {"example 1": staircase.EXAMPLES["example 1"]}),
        (floors, "REGIMES", floors.REGIMES[4:]),
        (one_pass, "CASES", {"erf": one_pass.CASES["erf"]}),
    ):
        monkeypatch.setattr(where, name, few)
    found = module.measure("quick"), module.predict("quick")
    verdict = module.judge("quick", *found)
    assert verdict.rows and "<svg" in verdict.figure and verdict.power and verdict.caption
    again = [kept._back(kept._plain(part)) for part in found]
    assert module.judge("quick", *again).outcome == verdict.outcome


@pytest.mark.parametrize("name", ["dandi/one-step", "dandi/second-layer"])
def test_ranks_are_open_when_seeds_scatter(name):
    """The exponents of half of the seeds plus one, of the others minus one: the same mean, no verdict."""
    this, measured, predicted = claim(name)
    case = next(iter(measured))
    d = np.arange(len(measured[case]))[:, None, None]
    signs = np.where(np.arange(measured[case].shape[1]) % 2, 1, -1)[None, :, None]
    wide = {**measured, case: measured[case] * np.exp(3.0 * signs * (d - d.mean()))}
    assert this.judge("quick", wide, predicted).outcome == "inconclusive"


def test_the_threshold_fails_for_another_order_and_is_open_when_seeds_scatter():
    this, measured, predicted = claim("dandi/threshold")
    # l = 2 at the largest d as if with four times the samples
    other = [*measured["shares"]]
    other[5] = np.concatenate([measured["shares"][5][1:], measured["shares"][5][-1:] * 1.1])
    assert this.judge("quick", {**measured, "shares": other}, predicted).outcome == "fails"
    rng = np.random.default_rng(0)
    noisy = [s + 1.5 * rng.standard_normal(s.shape) for s in measured["shares"]]
    assert this.judge("quick", {**measured, "shares": noisy}, predicted).outcome != "holds"


def test_reuse_is_open_in_between():
    this, measured, predicted = claim("dandi/reuse")
    d = np.array(reuse.SIZES["quick"][0])[:, None] / 500
    fresh = measured["fresh"].copy()
    fresh[0] *= d**0.4
    assert this.judge("quick", {**measured, "fresh": fresh}, predicted).outcome == "inconclusive"
    fresh[0] *= d**0.6
    assert this.judge("quick", {**measured, "fresh": fresh}, predicted).outcome == "fails"


def test_the_staircase_is_open_in_between_and_fails_on_what_stays():
    this, measured, predicted = claim("dandi/staircase")
    d = np.array(staircase.SIZES["quick"][0])[None, :, None, None, None] / 500
    apart = np.array([[1, -1], [-1, 1]]) / 2  # projects on w1 - w2, which example 2 never learns
    outcomes = []
    for power in (0.5, 1.0):
        grown = measured["example 2"] + (d**power - 1) * (apart @ measured["example 2"] @ apart)
        outcomes.append(this.judge("quick", {**measured, "example 2": grown}, predicted).outcome)
    assert outcomes == ["inconclusive", "fails"]


def test_floors_are_open_when_the_wide_network_is_no_better_or_seeds_scatter():
    this, measured, predicted = claim("dandi/floors")
    wide, narrow = "n ~ d, p ~ d, two terms", "n ~ d, p ~ 1, two terms"
    assert this.judge("quick", {**measured, wide: measured[narrow]}, predicted).outcome != "holds"
    rough = [x + 3 * np.where(np.arange(len(x)) % 2, 1, -1)[:, None] * np.eye(x.shape[1])[0] for x in measured[narrow]]
    assert this.judge("quick", {**measured, narrow: rough}, predicted).outcome == "inconclusive"


def test_scaling_and_one_pass_are_open_when_seeds_scatter():
    this, measured, predicted = claim("dandi/scaling")
    rough = [x * (1 + 0.3 * np.where(np.arange(len(x)) % 2, 1, -1)[:, None]) for x in measured["lengths"]]
    assert this.judge("quick", {**measured, "lengths": rough}, predicted).outcome != "holds"
    this, measured, predicted = claim("saad_solla/one-pass")
    far = {d: dict(path) for d, path in measured["erf"].items()}
    signs = np.where(np.arange(6) % 2, 1, -1)[:, None, None]
    for (d, path), factor in zip(far.items(), (1.0, 3.0, 9.0), strict=True):
        gap = path["overlaps"] - predicted["erf"][d]["overlaps"]
        path["overlaps"] = predicted["erf"][d]["overlaps"] + gap * factor**signs
    assert this.judge("quick", {**measured, "erf": far}, predicted).outcome == "inconclusive"


def test_exponents_and_lines():
    d = np.array([10, 100, 1000])
    values = np.stack([2.0 * d**0.5, 3.0 * d**0.7], axis=1)
    assert growth.growth(d, values) == (pytest.approx(0.6), pytest.approx(0.1))  # type: ignore[arg-type]
    assert growth.line(1 / d, 2 + 3 / d, np.ones(3))[::2] == (pytest.approx(2), pytest.approx(3))
    assert [growth.as_said((0.9, 0.1), said, ranks.FLAT) for said in (True, False)] == [True, False]
    assert growth.as_said((0.7, 0.1), True, ranks.FLAT) is None
    assert growth.outcome([True, None, False]) == "fails" and growth.outcome([True, None]) == "inconclusive"
