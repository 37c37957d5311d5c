"""Claims on the lab: what was measured is kept, a second run is instant, one that was stopped goes on."""

import numpy as np
import pytest
from test_sweep import base

import giantstep as gs
from giantstep._errors import InputError
from giantstep.lab import bench, record
from giantstep.lab.bench import Bench, Interrupted, Unmeasured
from giantstep.lab.check import check
from giantstep.lab.code import digest
from giantstep.lab.executor import Here
from giantstep.lab.row import ARRAYS, NUMBERS
from giantstep.lab.store import Store
from giantstep.lab.verdict import Claim, Verdict

CALLS: list[int] = []


def squares(k: int, scale: float) -> dict:
    """A measurement of one's own."""
    CALLS.append(k)
    return {"value": scale * k**2, "array": np.arange(k), "none": None}


@pytest.fixture
def kept(tmp_path):
    with Store.open(tmp_path / "kept.sqlite") as store:
        yield Bench(store, Here(), "code")


def test_simulations_on_a_bench_are_those_without_and_run_once(kept, monkeypatch):
    setting = base(eta=(0.5, 2.0), penalty=(0.01, 0.1))
    without = bench.simulate(setting, range(3), n_test=50, progress=False)
    with bench.on(kept):
        there = bench.simulate(setting, range(3), n_test=50, progress=False)
        assert len(kept.store) == 12
        monkeypatch.setattr(Here, "run", lambda self, tasks: iter(list(tasks) and pytest.fail("ran again")))
        again = bench.simulate(setting, range(3), n_test=50)
        one = bench.simulate(setting, 1, n_test=50)
    for name in (*NUMBERS, *ARRAYS):
        a, b, c = (getattr(each, name) for each in (without, there, again))
        assert (a is None) == (b is None) == (c is None), name
        if a is not None:
            np.testing.assert_allclose(b, a, rtol=1e-9, atol=1e-12)
            np.testing.assert_array_equal(b, c)
    assert again.axes == without.axes and again.eta == without.eta and again.status.ok
    assert one.axes == ("eta", "penalty") and one.test_error[1, 0] == again.test_error[1, 0, 1]


def test_equivalent_models_on_a_bench(kept):
    with bench.on(kept):
        found = bench.equivalent(base(), "spiked", range(2), n_test=50)
    np.testing.assert_allclose(
        found.test_error, gs.equivalent(base(), "spiked", range(2), n_test=50).test_error, rtol=1e-9
    )


def test_bad_settings_are_refused_on_a_bench_too(kept):
    with bench.on(kept), pytest.raises(InputError, match="no option 'colour'"):
        bench.simulate(base(), 0, colour="red")
    with bench.on(kept), pytest.raises(Unmeasured, match="degree"):
        bench.equivalent(base(), "gaussian", 0, degree=3)


@pytest.mark.parametrize("threads", [False, True])
def test_calls_are_kept_one_by_one(kept, threads):
    CALLS.clear()
    with bench.on(kept):
        first = bench.each(squares, [(2, 1.0), (3, 1.0)], threads=threads)
        second = bench.each(squares, [(3, 1.0), (4, 1.0), (3, 2.0)], threads=threads)
    assert sorted(CALLS) == [2, 3, 3, 4]
    assert [each["value"] for each in first + second] == [4.0, 9.0, 9.0, 16.0, 18.0]
    np.testing.assert_array_equal(second[0]["array"], np.arange(3))
    assert bench.each(squares, [(2, 1.0)])[0]["value"] == 4.0  # without a bench


def test_stopping_interrupts_and_the_next_run_goes_on(kept):
    CALLS.clear()
    with bench.on(kept):
        kept.where.stop()
        with pytest.raises(Interrupted):
            bench.each(squares, [(7, 1.0)])
        with pytest.raises(Interrupted):
            bench.simulate(base(), 9, n_test=50)
        kept.where.stopping.clear()
        assert bench.each(squares, [(7, 1.0)])[0]["value"] == 49.0


def claim(name: str, fails: bool = False) -> Claim:
    def measure(size):
        CALLS.append(1)
        if fails:
            raise ZeroDivisionError("no number")
        return {"rows": [(1, np.float64(2.0))], "array": np.ones(3)}

    def judge(size, measured, predicted):
        assert measured["rows"] == [[1, 2.0]] and predicted == {"value": 2.0}
        return Verdict(
            "holds", "Seen.", ("a", "b"), ((1, np.nan),), settings=("id",), caption="c", power="p", trend="t"
        )

    return Claim(name, "A statement.", "moniri", "here", "A test.", measure, judge, lambda size: {"value": 2.0})


def on_progress(told: list):
    """Note the claims that end."""
    return lambda now: None if now.latest is None else told.append(now.latest.claim.name)


def test_a_second_check_is_read_from_the_store(kept):
    CALLS.clear()
    told = []
    first, second = (check([claim("a/one"), claim("a/two")], "quick", kept, on_progress(told)) for _ in range(2))
    assert len(CALLS) == 2 and told == ["a/one", "a/two"]
    assert [r.stored for r in first] == [False, False] and [r.stored for r in second] == [True, True]
    b = second[0].verdict
    assert b.sentence == first[0].verdict.sentence
    assert b.rows[0][0] == 1 and np.isnan(b.rows[0][1]) and b.settings == ("id",) and b.power == "p"
    assert second[0].seconds == pytest.approx(first[0].seconds)
    other = check([claim("a/one")], "full", kept)
    assert len(CALLS) == 3 and not other[0].stored
    new_code = check([claim("a/one")], "quick", Bench(kept.store, kept.where, "newer"))
    assert len(CALLS) == 4 and not new_code[0].stored


def test_a_claim_that_breaks_is_not_kept(kept):
    CALLS.clear()
    for _ in range(2):
        (result,) = check([claim("a/bad", fails=True)], "quick", kept)
        assert result.error == "ZeroDivisionError: no number" and not result.passed
    assert len(CALLS) == 2


def test_the_digest_names_the_code():
    assert len(digest()) == 8 and digest() == digest() and int(digest(), 16) >= 0


def test_records_hold_plain_data_and_arrays_and_nothing_else():
    value = {
        "a": [1, 2.5, None, True, "text", float("inf")],
        "b": {"c": np.eye(2), "d": np.array(["x"])},
        "e": (1, (2,)),
    }
    again = record.loads(record.dumps(value))
    assert again["a"] == value["a"] and again["e"] == [1, [2]]
    np.testing.assert_array_equal(again["b"]["c"], np.eye(2))
    assert again["b"]["d"].tolist() == ["x"]
    for bad in ({1: 2}, object(), {"a": {1, 2}}):
        with pytest.raises(InputError, match="plain data"):
            record.dumps(bad)
    with pytest.raises(ValueError):
        record.dumps(np.array([object()]))
