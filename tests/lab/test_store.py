"""The store: what is put comes back, once, whoever writes and whatever happens to them."""

import inspect
import math
import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from dataclasses import fields, replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as some

import giantstep as gs
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.store.trial import DEFAULTS, Route, Trial
from giantstep.results.outcome import Outcome, Status


def setting(d: int = 30, eta: float = 2.0):
    protocol = gs.Protocol((gs.GiantStep(90, eta),), gs.Ridge(70, 0.05))
    return gs.Setting(gs.Gaussian(d), gs.target("x1 + x1*x2", noise=0.3), gs.Network(40, "tanh"), protocol)


SETTING = setting()
LIMIT = 600  # seconds: ends a hang, and times nothing


def pair(seed: int = 0, made=SETTING, **values) -> tuple[Trial, Outcome]:
    values = {"test_error": 0.5, "captured": np.array([0.1, 0.2])} | values
    return Trial(made, seed, Route("simulate")), Outcome(made, "simulate", **values)


def same(one: Outcome | None, other: Outcome) -> None:
    assert one is not None and one.setting == other.setting
    for field in fields(Outcome):
        here, there = getattr(one, field.name), getattr(other, field.name)
        if field.name in ARRAYS and there is not None:
            assert here.dtype == there.dtype and here.shape == there.shape
            np.testing.assert_array_equal(here, there)
        elif field.name in NUMBERS and there is not None and math.isnan(there):
            assert here is not None and math.isnan(here)
        else:
            assert (type(here), here) == (type(there), there), field.name


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "results.db"


# Routes and trials


@pytest.mark.parametrize("verb", DEFAULTS)
def test_the_options_of_a_route_are_those_of_its_verb(verb):
    inner = getattr(getattr(gs, verb), verb)
    options = {name: p.default for name, p in inspect.signature(inner).parameters.items()}
    elsewhere = ("setting", "seed", "memory", "progress", "solver", "devices")  # where and how, not what
    known = {k: v for k, v in options.items() if k not in elsewhere}
    assert known.pop("random", "auto") == "auto"  # it depends on the machine; the key of a trial has what it was
    assert {k: v for k, v in DEFAULTS[verb].items() if k != "random"} == known
    assert DEFAULTS[verb].get("random", "host") == "host"


def test_options_at_their_default_are_dropped_and_the_rest_is_sorted():
    assert Route("simulate", {"n_test": 10_000, "method": "auto"}) == Route("simulate")
    route = Route("equivalent", (("n_test", 500), ("model", "spiked"), ("degree", 2), ("spectrum", True)))
    assert route.key == "equivalent(degree=2, model=spiked, n_test=500, spectrum=true)"
    assert Route.parse("equivalent(model=gaussian)").key == "equivalent"
    assert Route("theory", {"spectra": True}).key == "theory(spectrum=true)"


@given(some.sampled_from(["auto", "dense", "overlap"]), some.integers(2, 10**6), some.booleans())
def test_a_route_is_read_back_from_its_key(method, n_test, spectrum):
    route = Route("simulate", {"method": method, "n_test": n_test, "spectrum": spectrum})
    assert Route.parse(route.key) == route and Route.parse(f"  {route.key} ") == route


@pytest.mark.parametrize(
    "text",
    ["guess", "simulate(", "simulate(depth=3)", "simulate(n_test=x)", "simulate(method=a b)", "", "theory(spectrum=1)"],
)
def test_a_bad_route_is_one_sentence(text):
    with pytest.raises(InputError) as told:
        Route.parse(text)
    assert "\n" not in str(told.value)


def test_a_trial_has_one_step_size_one_penalty_and_the_seed_its_route_needs():
    lists = replace(SETTING, protocol=gs.Protocol((gs.GiantStep(90, (1.0, 2.0)),), gs.Ridge(70, 0.05)))
    path = replace(SETTING, protocol=gs.Protocol((), gs.Ridge(70, (0.05, 0.1))))
    bad = [(lists, 0, "simulate"), (path, 0, "simulate"), (SETTING, 0, "theory")]
    for made, seed, route in [*bad, (SETTING, None, "simulate"), (SETTING, -1, "simulate")]:
        with pytest.raises(InputError):
            Trial(made, seed, Route(route))
    assert Trial(SETTING, None, Route("theory")).key == (SETTING.id, None, "theory")


def test_the_store_imports_no_jax():
    code = "import sys, giantstep.lab.store, giantstep.lab.store.export, giantstep.lab.store.merge; print('jax' in sys.modules)"
    assert (
        subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True).stdout
        == "False\n"
    )


# Round trips


def test_every_field_of_an_outcome_is_kept():
    rest = {
        "setting",
        "route",
        "axes",
        "seeds",
        "status",
        "seconds",
        "rate",
        "regime",
    }  # a setting has its rate, a route its regime
    assert {f.name for f in fields(Outcome)} == {*NUMBERS, *ARRAYS, *rest}


def test_a_prediction_comes_back_with_its_regime(path, small):
    for regime in ("finite", "limit"):
        trial = Trial(small, None, Route("theory", {"regime": regime}))
        found = gs.theory(small, regime)
        with Store.open(path) as store:
            store.put([(trial, found)])
        with Store.open(path, "read") as store:
            kept = store.get(trial)
        assert kept is not None and kept.regime == found.regime == regime


def test_a_measured_outcome_comes_back(path, small):
    trial = Trial(small, 3, Route("simulate", {"n_test": 50, "spectrum": True}))
    found = gs.simulate(small, seed=3, n_test=50, spectrum=True)
    with Store.open(path) as store:
        assert store.put([(trial, found)]) == 1
    with Store.open(path, "read") as store:
        same(store.get(trial), found)


numbers = some.none() | some.floats(allow_nan=True, allow_infinity=True)
shapes = some.sampled_from([(0,), (3,), (2, 2), (5, 1)])


@pytest.fixture(scope="module")
def kept(tmp_path_factory):
    with Store.open(tmp_path_factory.mktemp("kept") / "results.db") as store:
        yield store


@given(
    some.fixed_dictionaries({name: numbers for name in NUMBERS}),
    shapes,
    some.lists(some.text(max_size=9)),
    some.booleans(),
)
def test_any_numbers_come_back(kept, values, shape, notes, ok):
    array = np.random.default_rng(0).normal(size=shape)
    outcome = Outcome(SETTING, "simulate", status=Status(ok, tuple(notes)), seconds=1.5, overlaps=array, **values)
    trial = Trial(SETTING, len(kept), Route("simulate"))
    kept.put([(trial, outcome)])
    same(kept.get(trial), outcome)


def test_the_first_writer_wins(path):
    with Store.open(path) as store:
        assert store.put([pair(0), pair(1)]) == 2
        assert store.put([pair(1, test_error=9.0), pair(2)]) == 1
        assert len(store) == 3
        same(store.get(pair(1)[0]), pair(1)[1])
        assert store.connection.execute("SELECT count(*) FROM arrays").fetchone() == (3,)
        assert store.connection.execute("SELECT count(*) FROM settings").fetchone() == (1,)
        assert store.get(pair(5)[0]) is None
        theory = Trial(SETTING, None, Route("theory"))
        for _ in range(2):
            store.put([(theory, Outcome(SETTING, "theory", test_error=0.4))])
        assert len(store) == 4


def test_missing_keeps_the_order_and_names_each_once(path):
    other = setting(31)
    wanted = [pair(seed, made)[0] for made in (other, SETTING) for seed in (3, 1, 2, 3)]
    with Store.open(path) as store:
        assert store.missing(wanted) == [wanted[i] for i in (0, 1, 2, 4, 5, 6)]
        store.put([pair(1), pair(3, other)])
        assert [t.key for t in store.missing(wanted)] == [wanted[i].key for i in (1, 2, 4, 6)]
        assert store.missing([]) == []
    with Store.open(path, "read") as store:
        assert len(store.missing(wanted)) == 4
        with pytest.raises(InputError, match="open for reading"):
            store.put([pair(9)])
    assert [each.name for each in path.parent.iterdir()] == [path.name]  # no log is left behind


def test_a_hundred_thousand_are_looked_up_at_once(path):  # benchmarks.store says how fast
    with Store.open(path) as store:
        store.put([pair(seed) for seed in range(1000)])
        wanted = [Trial(SETTING, seed, Route("simulate")) for seed in range(100_000)]
        assert len(store.missing(wanted)) == 99_000


def test_what_does_not_belong_to_the_trial_is_refused(path):
    trial, outcome = pair()
    bad = [
        replace(outcome, axes=("seed",), seeds=(0,), test_error=np.array([0.5])),
        replace(outcome, route="theory"),
        replace(outcome, setting=setting(31)),
        replace(outcome, test_error=np.array([0.5])),
    ]
    with Store.open(path) as store:
        for each in bad:
            with pytest.raises(InputError):
                store.put([pair(8), (trial, each)])
        assert len(store) == 0


def test_provenance_names_versions_and_no_host(path):
    other = Provenance("9", "3", "1", "2", "abacus", "gpu")
    with Store.open(path) as store:
        store.put([pair(0)])
        store.put([pair(1)], other)
        store.put([pair(2)], other)
        rows = store.connection.execute("SELECT * FROM provenance ORDER BY key").fetchall()
        assert len(rows) == 2 and rows[0][1] == gs.__version__ and rows[1][1:] == ("9", "3", "1", "2", "abacus", "gpu")
        assert store.count(["device=gpu"]) == 2
        assert os.uname().nodename not in " ".join(map(str, rows[0])) if hasattr(os, "uname") else True


# Several processes, and their sudden end

WRITER = """
import sys
sys.path[:0] = sys.argv[3:]
import test_store as t
path, first = sys.argv[1], int(sys.argv[2])
print("ready", flush=True)
sys.stdin.readline()
new = 0
with t.Store.open(path) as store:
    for seed in range(first, first + 1000, 20):
        new += store.put([t.pair(seed + k, overlaps=t.np.full((40, 2), float(seed + k))) for k in range(20)])
print(new, flush=True)
"""


def writer(path: Path, first: int = 0) -> subprocess.Popen:
    command = [sys.executable, "-P", "-c", WRITER, str(path), str(first), str(Path(__file__).parent)]
    run = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert run.stdout is not None and run.stdout.readline() == "ready\n"
    return run


def written(path: Path) -> int:
    """Rows that another process has written so far."""
    if not path.exists():
        return 0
    with closing(sqlite3.connect(path)) as look:
        try:
            return look.execute("SELECT count(*) FROM trials").fetchone()[0]
        except sqlite3.OperationalError:  # no table yet, or locked for a moment
            return 0


def test_two_processes_write_the_same_rows_at_once(path):
    runs = [writer(path), writer(path)]
    for run in runs:
        assert run.stdin is not None
        run.stdin.write("\n")
        run.stdin.flush()
    ends = [run.communicate(timeout=LIMIT) for run in runs]
    assert [run.returncode for run in runs] == [0, 0], ends
    assert sum(int(out) for out, _ in ends) == 1000  # each row was new to exactly one of them
    with Store.open(path, "read") as store:
        assert len(store) == 1000
        assert store.connection.execute("SELECT count(*) FROM arrays").fetchone() == (2000,)


@pytest.mark.skipif(sys.platform == "win32", reason="POSIX signals")
def test_a_writer_that_is_killed_leaves_only_whole_rows(path):
    run = writer(path)
    assert run.stdin is not None
    run.stdin.write("\n")
    run.stdin.flush()
    end = time.monotonic() + LIMIT
    while time.monotonic() < end and written(path) <= 100:
        time.sleep(0.02)
    run.send_signal(signal.SIGKILL)
    run.communicate()
    with Store.open(path) as store:
        count = len(store)
        assert count > 100 and count % 20 == 0
        assert store.connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        assert store.connection.execute("SELECT count(*) FROM arrays").fetchone() == (2 * count,)
        for seed in range(count):
            same(store.get(pair(seed)[0]), pair(seed, overlaps=np.full((40, 2), float(seed)))[1])
        assert store.put([pair(count)]) == 1


def test_a_search_may_be_left_in_the_middle_and_two_may_go_on_at_once(path):
    with Store.open(path) as store:
        store.put([pair(seed) for seed in range(4)])
        trials = [pair(seed)[0] for seed in range(4)]
        one, other = store.find(trials), store.find(reversed(trials), ARRAYS)
        assert [next(one)[0].seed, next(other)[0].seed, next(one)[0].seed, next(other)[0].seed] == [0, 3, 1, 2]
        assert store.put([pair(9)]) == 1
