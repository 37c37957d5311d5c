"""Claims on the lab: what was measured is kept, a second run is instant, one that was stopped goes on."""

import numpy as np
import pytest
import toys
from experiments import base

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks._check import check
from giantstep.checks.cache import Bench, Interrupted, Unmeasured
from giantstep.checks.claim import Claim
from giantstep.checks.verdict import Verdict
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store import _serialise as serialise
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.work.executor import Here

CALLS: list[int] = []


def squares(k: int, scale: float) -> dict:
    """A measurement of one's own."""
    CALLS.append(k)
    return {"value": scale * k**2, "array": np.arange(k), "none": None}


@pytest.fixture
def kept(tmp_path):
    with Store.open(tmp_path / "kept.sqlite") as store:
        yield Bench(store, Here())


def test_simulations_on_a_bench_are_those_without_and_run_once(kept, monkeypatch):
    setting = base(eta=(0.5, 2.0), penalty=(0.01, 0.1))
    without = cache.simulate(setting, range(3), n_test=50, progress=False)
    with cache.on(kept):
        there = cache.simulate(setting, range(3), n_test=50, progress=False)
        assert len(kept.store) == 12
        monkeypatch.setattr(Here, "run", lambda self, tasks: iter(list(tasks) and pytest.fail("ran again")))
        again = cache.simulate(setting, range(3), n_test=50)
        one = cache.simulate(setting, 1, n_test=50)
    for name in (*NUMBERS, *ARRAYS):
        a, b, c = (getattr(each, name) for each in (without, there, again))
        assert (a is None) == (b is None) == (c is None), name
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(b, c)
    assert again.axes == without.axes and again.eta == without.eta and again.status.ok
    assert one.axes == ("eta", "penalty") and one.test_error[1, 0] == again.test_error[1, 0, 1]


def test_equivalent_models_on_a_bench(kept):
    with cache.on(kept):
        found = cache.equivalent(base(), "spiked", range(2), n_test=50)
    np.testing.assert_allclose(
        found.test_error, gs.equivalent(base(), "spiked", range(2), n_test=50).test_error, rtol=1e-9
    )


def test_bad_settings_are_refused_on_a_bench_too(kept):
    with cache.on(kept), pytest.raises(InputError, match="no option 'colour'"):
        cache.simulate(base(), 0, colour="red")
    with cache.on(kept), pytest.raises(Unmeasured, match="degree"):
        cache.equivalent(base(), "gaussian", 0, degree=3)


@pytest.mark.parametrize("threads", [False, True])
def test_calls_are_kept_one_by_one(kept, threads):
    CALLS.clear()
    with cache.on(kept):
        first = cache.each(squares, [(2, 1.0), (3, 1.0)], threads=threads)
        second = cache.each(squares, [(3, 1.0), (4, 1.0), (3, 2.0)], threads=threads)
    assert sorted(CALLS) == [2, 3, 3, 4]
    assert [each["value"] for each in first + second] == [4.0, 9.0, 9.0, 16.0, 18.0]
    np.testing.assert_array_equal(second[0]["array"], np.arange(3))
    assert cache.each(squares, [(2, 1.0)])[0]["value"] == 4.0  # without a bench


def test_calls_are_made_again_for_a_new_version_of_their_function(kept, monkeypatch):
    CALLS.clear()
    with cache.on(kept):
        cache.each(squares, [(2, 1.0)])
        monkeypatch.setattr(cache, "calling", lambda function: f"new {function}")
        cache.each(squares, [(2, 1.0)])
    assert CALLS == [2, 2]


@pytest.mark.parametrize(("cases", "axes"), [((2,), ()), ([(2,), (3,)], (2,)), ([[(2,), (3,)]] * 4, (4, 2))])
def test_seeds_are_the_last_axis_after_those_of_the_cases_and_of_one_result(cases, axes):
    found = cache.over(lambda case, seed: np.array([case, seed, 0]), cases, range(5, 9))
    assert found.shape == (*axes, 3, 4)
    assert np.all(found[..., 1, :] == np.arange(5, 9))
    assert found[(0,) * len(axes)][0, 0] == 2 and found[(-1,) * len(axes)][0, 0] == (3 if axes else 2)


def test_dicts_of_results_give_a_dict_of_arrays():
    found = cache.over(lambda case, seed: {"sum": case + seed, "pair": [case, seed]}, [(10,), (20,)], range(3))
    assert found["sum"].tolist() == [[10, 11, 12], [20, 21, 22]] and found["pair"].shape == (2, 2, 3)


def test_stopping_interrupts_and_the_next_run_goes_on(kept):
    CALLS.clear()
    with cache.on(kept):
        kept.where.stop()
        with pytest.raises(Interrupted):
            cache.each(squares, [(7, 1.0)])
        with pytest.raises(Interrupted):
            cache.simulate(base(), 9, n_test=50)
        kept.where.stopping.clear()
        assert cache.each(squares, [(7, 1.0)])[0]["value"] == 49.0


def claim(name: str, fails: bool = False) -> Claim:
    def measure(size, seeds):
        CALLS.append(1)
        if fails:
            raise ZeroDivisionError("no number")
        return {"rows": [(1, np.float64(2.0))], "array": np.ones(3), "seeds": list(seeds)}

    def describe(size, measured, predicted, ruling):
        assert measured["rows"] == [[1, 2.0]] and predicted == {"value": 2.0}
        return Verdict(
            sentence="Seen.", header=("a", "b"), rows=((1, np.nan),), settings=("id",), caption="c", trend="t"
        )

    return toys.claim(name, Verdict("holds"), measure=measure, describe=describe, predict=lambda size: {"value": 2.0})


def on_progress(told: list):
    """Note the claims that end."""
    return lambda now: None if now.latest is None else told.append(now.latest.claim.name)


def test_a_second_check_is_read_from_the_store(kept, monkeypatch):
    CALLS.clear()
    told = []
    first, second = (check([claim("a/one"), claim("a/two")], "quick", kept, on_progress(told)) for _ in range(2))
    assert len(CALLS) == 2 and told == ["a/one", "a/two"]
    assert [r.stored for r in first] == [False, False] and [r.stored for r in second] == [True, True]
    b = second[0].verdict
    assert b.sentence == first[0].verdict.sentence
    assert b.rows[0][0] == 1 and np.isnan(b.rows[0][1]) and b.settings == ("id",) and b.seeds == "0-1"
    assert second[0].seconds == pytest.approx(first[0].seconds)
    other = check([claim("a/one")], "full", kept)
    assert len(CALLS) == 3 and not other[0].stored
    elsewhere = check([claim("a/one")], "quick", kept, first_seed=7)
    assert len(CALLS) == 4 and not elsewhere[0].stored and elsewhere[0].verdict.seeds == "7-8"
    monkeypatch.setattr("giantstep.checks._check.judging", lambda module: "newer")
    judged = check([claim("a/one")], "quick", kept)
    assert len(CALLS) == 4 and not judged[0].stored  # from the same measurement
    monkeypatch.setattr("giantstep.checks._check.measuring", lambda module: "newer")
    monkeypatch.setattr("giantstep.checks._check.judging", lambda module: "newest")
    new_code = check([claim("a/one")], "quick", kept)
    assert len(CALLS) == 5 and not new_code[0].stored


def test_a_claim_that_breaks_is_not_kept(kept):
    CALLS.clear()
    for _ in range(2):
        (result,) = check([claim("a/bad", fails=True)], "quick", kept)
        assert result.error == "ZeroDivisionError: no number" and not result.passed
    assert len(CALLS) == 2


def test_records_hold_plain_data_and_arrays_and_nothing_else():
    value = {
        "a": [1, 2.5, None, True, "text", float("inf")],
        "b": {"c": np.eye(2), "d": np.array(["x"])},
        "e": (1, (2,)),
    }
    again = serialise.loads(serialise.dumps(value))
    assert again["a"] == value["a"] and again["e"] == [1, [2]]
    np.testing.assert_array_equal(again["b"]["c"], np.eye(2))
    assert again["b"]["d"].tolist() == ["x"]
    for bad in ({1: 2}, object(), {"a": {1, 2}}):
        with pytest.raises(InputError, match="plain data"):
            serialise.dumps(bad)
    with pytest.raises(ValueError):
        serialise.dumps(np.array([object()]))
