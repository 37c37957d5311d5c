"""Sweeps: axes and expressions, what is shared, what comes out."""

import csv
import json
import math

import numpy as np
import pytest
from experiments import base
from hypothesis import given
from hypothesis import strategies as st

import giantstep as gs
from giantstep.cli import run
from giantstep.errors import InputError
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS
from giantstep.lab.store.trial import Route
from giantstep.lab.sweep import _arithmetic as arithmetic
from giantstep.lab.sweep._averages import averages, text
from giantstep.lab.sweep.run import planned as all_blocks
from giantstep.lab.sweep.run import shard
from giantstep.lab.sweep.sweep import make
from giantstep.lab.sweep.toml import from_plain, read
from giantstep.lab.work.block import Block, blocks, join, members, split
from giantstep.lab.work.forecast import forecast, planned
from giantstep.results.table import within

FEW = Route("simulate", {"n_test": 50})  # type: ignore[arg-type]


number = st.floats(0.1, 5.0).map(lambda x: round(x, 3))


@given(st.recursive(
    st.one_of(number.map(str), st.sampled_from(["d", "n"])),
    lambda inner: st.one_of(
        st.tuples(inner, st.sampled_from("+-*/"), inner).map(lambda t: f"({t[0]} {t[1]} {t[2]})"),
        st.tuples(inner, st.sampled_from(["2", "0.5"])).map(lambda t: f"({t[0]})^{t[1]}"),
        inner.map(lambda t: f"-({t})"),
        inner.map(lambda t: f"max({t}, 2)"),
    ),
    max_leaves=6,
), number, number)  # fmt: skip
def test_expressions_are_worth_what_python_says(text, d, n):
    try:
        expected = eval(
            text.replace("^", "**"), {"max": max, "d": d, "n": n}
        )  # a formula that the test itself has made
    except (ZeroDivisionError, OverflowError):
        expected = math.nan
    if isinstance(expected, complex) or not math.isfinite(expected):
        with pytest.raises(InputError, match="not a finite number"):
            arithmetic.value(text, {"d": d, "n": n})
    else:
        assert arithmetic.value(text, {"d": d, "n": n}) == expected


@pytest.mark.parametrize("text", [
    "__import__('os')", "d.__class__", "[1]", "d if d else 1", "lambda: 1", "'a'", "d and 1", "d; 1", "open", "9^9^9^9^9", "1/0",
    "", "(", "d d", "x" * 300, "(-1)^0.5", "exp(1000)", "log(0)", "f(d)", "max()", "True", "1e400",
])  # fmt: skip
def test_what_is_no_arithmetic_is_refused_in_one_sentence(text):
    with pytest.raises(InputError) as refusal:
        arithmetic.value(text, {"d": 3.0})
    assert "\n" not in str(refusal.value)


def test_short_names_stand_for_every_field_that_they_end():
    found = make(base(), {"d": [20, 30], "n": "2*d", "p": "d^0.5*4", "alpha": [0.1, 0.2]})
    last = found.points[-1]
    assert found.shape == (2, 2) and last.values == {"d": 30, "alpha": 0.2, "n": 60, "p": 22}
    protocol = last.setting.protocol
    assert (protocol.steps[0].n, protocol.readout.n, last.setting.p) == (60, 60, 22)  # type: ignore[union-attr]
    one = make(base(), {"steps.0.n": [50]}).points[0].setting.protocol
    assert (one.steps[0].n, one.readout.n) == (50, 40)  # type: ignore[union-attr]


def test_axes_are_lists_spaces_groups_and_parameters_of_expressions():
    spaces = {"d": {"geomspace": [20, 45, 3]}, "penalty": {"logspace": [-2, 0, 3]}, "noise": {"linspace": [0, 1, 3]}}
    found = make(
        base(),
        {**spaces, "ratio": [1.0, 1.5], "n": "ratio*d"},
        zipped=[{"eta": [1, 2], "activation": ["relu", "tanh"]}],
    )
    assert found.shape == (3, 3, 3, 2, 2)
    assert {point.setting.d for point in found.points} == {20, 30, 45}
    assert found.axes[1].column("penalty") == (0.01, 0.1, 1)
    assert {(p.setting.protocol.steps[0].eta, p.setting.network.activation.name) for p in found.points} == {
        (1, "relu"),
        (2, "tanh"),
    }
    assert {p.setting.protocol.steps[0].n for p in found.points} == {20, 30, 45, 68}
    assert len({trial.key for trial in found.trials()}) == len(found) == 108


@pytest.mark.parametrize(("axes", "said"), [
    ({"dd": [1]}, "no field 'dd'"),
    ({"d": "2*n", "n": "d"}, "need each other"),
    ({"penalty": [0.1, 0.1]}, "the same value twice"),
    ({"d": [20.5]}, "whole number"),
    ({"d": []}, "no values"),
    ({"d": 3}, "needs a list"),
    ({"d": {"logspace": [1, 2]}}, "needs \\[from, to, count\\]"),
    ({"d": {"geomspace": [0, 2, 3]}}, "the same sign"),
    ({"d": {"cubes": [0, 2, 3]}}, "linspace, logspace, geomspace"),
    ({"penalty": {"linspace": [0, 1, 10**9]}}, "at most"),
    ({"eta": [1, 2], "alpha": [0.1]}, "both set"),
    ({"n": [40, 50], "steps.0.n": [40]}, "both set"),
    ({"width": [0]}, "at width = 0"),
    ({"d": [1, "many"]}, "d = many"),
    ({"penalty": [float("nan")]}, "finite"),
    ({"d": {"linspace": [20, 21, 5]}}, "the same setting"),
    ({"penalty": "unknown*2"}, "neither an axis nor a number"),
])  # fmt: skip
def test_bad_axes_get_one_sentence(axes, said):
    with pytest.raises(InputError, match=said) as refusal:
        make(base(), axes)
    assert "\n" not in str(refusal.value)


@pytest.mark.parametrize(("more", "said"), [
    ({"routes": ["magic"]}, "route"), ({"routes": []}, "at least one route"), ({"measures": ["beauty"]}, "measure"),
    ({"seeds": [0, 0]}, "list of different ones"), ({"seeds": [-1]}, "at least 0"), ({"zipped": [{"d": [1]}]}, "at least two"),
    ({"zipped": [{"d": [1, 2], "noise": [0.1]}]}, "the same length"),
])  # fmt: skip
def test_bad_seeds_routes_measures_and_groups(more, said):
    with pytest.raises(InputError, match=said):
        make(base(), {"penalty": [0.1]}, **more)


def test_lists_in_the_base_setting_are_refused():
    with pytest.raises(InputError, match="one step size in each step"):
        make(base(eta=(1.0, 2.0)), {"noise": [0.1, 0.2]})


values = st.lists(st.sampled_from([0.01, 0.1, 0.5, 1.0, 2.0]), min_size=1, max_size=3, unique=True)


@given(
    values, values, st.lists(st.sampled_from([20, 30]), min_size=1, unique=True), st.integers(1, 7), st.integers(1, 4)
)
def test_blocks_have_every_trial_once_and_share_what_can_be_shared(etas, penalties, sizes, seeds, together):
    found = make(
        base(), {"eta": etas, "d": sizes, "penalty": penalties}, seeds=range(seeds), routes=["simulate", "theory"]
    )
    every = list(blocks([p.setting for p in found.points], found.seeds, found.routes, lambda setting, route: together))
    keys = [trial.key for block in every for trial in block.trials]
    assert sorted(keys, key=str) == sorted((trial.key for trial in found.trials()), key=str)
    assert len(every) == len(sizes) * (math.ceil(seeds / together) + 1)
    assert all(members(block.setting) == block.members for block in every)
    parts = [shard(every, (i, 3)) for i in (1, 2, 3)]
    assert sorted(map(id, every)) == sorted(id(block) for part in parts for block in part)


def test_ragged_grids_are_split_where_penalties_differ():
    some = [base(eta=1.0), base(eta=2.0), base(eta=1.0, penalty=0.5), base(eta=3.0, penalty="gcv")]
    every = list(blocks(some, [0], [FEW]))
    assert sorted(len(block.trials) for block in every) == [1, 1, 2]


def test_blocks_split_into_what_single_calls_give_and_join_again():
    setting = base(eta=(0.5, 2.0), penalty=(0.01, 0.1))
    block = Block(setting, members(setting), (3, 5), Route("simulate", {"n_test": 50, "spectrum": True}))
    whole = gs.simulate(setting, (3, 5), n_test=50, spectrum=True)
    pairs = split(block, whole)
    trial, one = pairs[5]
    assert trial.seed is not None
    alone = gs.simulate(trial.setting, trial.seed, n_test=50, spectrum=True)
    for name in (*NUMBERS, *ARRAYS):
        a, b = getattr(one, name), getattr(alone, name)
        assert (a is None) == (b is None), name
        if a is not None:
            np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12, err_msg=name)
    again = join(block, pairs, several=True)
    assert again.axes == whole.axes and again.eta == whole.eta and again.seeds == whole.seeds
    for name in (*NUMBERS, *ARRAYS):
        if getattr(whole, name) is not None:
            np.testing.assert_array_equal(getattr(again, name), getattr(whole, name), err_msg=name)


def test_overflow_is_told_where_it_is():
    setting = base(eta=(0.5, 1e300))
    block = Block(setting, members(setting), (0,), FEW)
    (_, good), (_, bad) = split(block, gs.simulate(setting, (0,), n_test=50))
    assert good.status.ok and np.isfinite(good.test_error)
    assert not bad.status.ok and "not finite" in str(bad.status)


def test_the_plan_counts_the_work_before_it_is_done():
    found = make(base(), {"eta": [0.5, 1.0], "d": [20, 30]}, seeds=range(4), routes=[FEW])
    every = all_blocks(found)
    ahead = forecast(every, every, workers=2)
    assert (ahead.trials, ahead.missing, ahead.blocks) == (16, 16, len(every))
    assert ahead.work == pytest.approx(sum(planned(b.setting, FEW).work * len(b.seeds) for b in every))
    assert ahead.bytes > 0 and ahead.seconds > 0 and "16 trials, all to run" in str(ahead)
    assert "nothing is left" in str(forecast(every, []))
    with pytest.raises(InputError, match="GiB of memory"):
        forecast(every, every, memory=0.002)


def test_a_dataset_has_a_dimension_for_each_axis_for_routes_and_seeds(tmp_path):
    kept = tmp_path / "s.sqlite"
    routes = ["simulate(n_test=50)", "equivalent(n_test=50)", "theory"]
    found = gs.sweep(
        base(), {"d": [20, 24], "eta": [0.5, 1.0], "n": "2*d"}, seeds=[2, 4, 6], routes=routes, store=kept,
        measures=["test_error", "captured"],
    )  # fmt: skip
    assert found.test_error.dims == ("route", "d", "eta", "seed") and found.test_error.shape == (3, 2, 2, 3)
    assert found.route.values.tolist() == ["simulate(n_test=50)", "equivalent(n_test=50)", "theory"]
    assert found.n.dims == ("d",) and found.n.values.tolist() == [40, 48]
    assert bool(found.ok[:2].all()) and found.captured.dims[-1] == "direction"
    one = found.test_error.sel(route="simulate(n_test=50)", d=24, eta=1.0, seed=4)
    setting = gs.Setting(
        gs.Gaussian(24), base().target, base().network, gs.Protocol((gs.GiantStep(48, 1.0),), gs.Ridge(48, 0.1))
    )
    assert float(one) == pytest.approx(gs.simulate(setting, 4, n_test=50).test_error, rel=1e-9)
    theory = found.test_error.sel(route="theory", d=24, eta=1.0)
    assert np.ptp(theory.values) == 0 and float(theory[0]) == pytest.approx(gs.theory(setting).test_error, rel=1e-9)
    before = kept.stat().st_mtime_ns
    again = gs.sweep(base(), {"d": [24]}, seeds=[4], routes=["simulate(n_test=50)"])  # nothing kept: other sizes of n
    assert again.attrs["sweep"] != found.attrs["sweep"] and kept.stat().st_mtime_ns == before


RECIPE = """
seeds = "0-2"
routes = ["simulate(n_test=50)"]
measure = ["test_error", "captured"]
setting = "setting.toml"

[axes]
eta = [0.5, 1.0, 2.0]
ratio = [2, 3]
n = "ratio*d"

[[zip]]
penalty = [0.1, 0.2]
noise = [0.0, 0.5]
"""


@pytest.fixture
def recipe(tmp_path):
    base().save(tmp_path / "setting.toml")
    (tmp_path / "sweep.toml").write_text(RECIPE)
    return tmp_path / "sweep.toml"


def test_the_command_plans_runs_draws_and_runs_nothing_twice(recipe, capsys):
    assert run(["sweep", str(recipe), "--dry-run", "--json"]) == 0
    plan = json.loads(capsys.readouterr().out)
    assert plan["plan"]["trials"] == plan["plan"]["missing"] == 36 and plan["axes"] == {
        "eta": 3,
        "ratio": 2,
        "penalty": 2,
    }
    assert not recipe.with_suffix(".sqlite").exists()
    assert run(["sweep", str(recipe)]) == 0
    out = capsys.readouterr()
    assert "36 trials, all to run" in out.err and "test_error" in out.out
    assert "<svg" in recipe.with_suffix(".svg").read_text()
    rows = list(csv.DictReader(recipe.with_suffix(".csv").read_text().splitlines()))
    assert len(rows) == 12 and {
        "eta",
        "ratio",
        "n",
        "penalty",
        "noise",
        "test_error",
        "test_error_se",
        "captured_1",
    } <= set(rows[0])
    assert run(["sweep", str(recipe), "--json"]) == 0
    again = json.loads(capsys.readouterr().out)
    assert again["new"] == again["left"] == again["plan"]["missing"] == 0
    assert float(rows[3]["test_error"]) == again["rows"][3]["test_error"]


def test_shards_merge_into_the_whole(recipe, tmp_path, capsys):
    parts = [str(tmp_path / f"part{i}.sqlite") for i in (1, 2)]
    for i, part in enumerate(parts, start=1):
        assert run(["sweep", str(recipe), "--shard", f"{i}/2", "--store", part]) == 0
    assert run(["results", "merge", str(recipe.with_suffix(".sqlite")), *parts]) == 0
    assert run(["sweep", str(recipe), "--json"]) == 0
    answer = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert answer["plan"]["missing"] == 0 and len(answer["rows"]) == 12


@pytest.mark.parametrize(("text", "said"), [
    ("axes = 3", "lacks the field 'setting'"), ("colour = 1", "unknown field 'colour'"), ("seeds = [", "not valid TOML"),
    ('setting = "none.toml"', "cannot read"), ('setting = "setting.toml"\nzip = 3', "zip groups"),
    ('setting = "setting.toml"\nseeds = "a-b"', "seeds"), ('setting = "setting.toml"\nroutes = [3]', "list of texts"),
    ('setting = "setting.toml"\naxes = [1]', "table of names"),
])  # fmt: skip
def test_bad_recipes_get_one_sentence_and_exit_code_two(recipe, capsys, text, said):
    recipe.write_text(text)
    assert run(["sweep", str(recipe)]) == 2
    error = capsys.readouterr().err
    assert said in error and "Traceback" not in error and error.count("\n") == 1


def test_bad_options_of_the_command(recipe, capsys):
    for options in (
        ["--shard", "3/2"],
        ["--shard", "x"],
        ["--workers", "0"],
        ["--workers", "2", "--scheduler", "tcp://x:1"],
    ):
        assert run(["sweep", str(recipe), *options]) == 2
        assert capsys.readouterr().err.strip().count("\n") <= 2
    assert run(["sweep", str(recipe.with_name("no.toml"))]) == 2
    recipe.with_suffix(".sqlite").write_text("something else")
    assert run(["sweep", str(recipe)]) == 2
    assert "not a store" in capsys.readouterr().err and recipe.with_suffix(".sqlite").read_text() == "something else"


def test_what_theory_does_not_cover_is_told_and_the_rest_goes_on(tmp_path, capsys):
    plain = {
        "setting": {**base().to_plain(), "data": gs.Gaussian(60).to_plain()},
        "axes": {"deflate": [0, 2]},
        "routes": ["simulate(n_test=50)", "theory"],
    }
    (tmp_path / "s.json").write_text(json.dumps(plain))
    assert run(["sweep", str(tmp_path / "s.json"), "--json"]) == 1
    out = capsys.readouterr()
    assert "1 trials could not be run" in out.err
    rows = json.loads(out.out)["rows"]
    assert [row["seeds"] for row in rows] == [1, 1, 1, 0]


def test_recipes_are_read_from_json_too(recipe, tmp_path):
    plain = {"setting": base().to_plain(), "axes": {"eta": [0.5]}, "seeds": 3}
    (tmp_path / "s.json").write_text(json.dumps(plain))
    assert read(tmp_path / "s.json") == from_plain(plain) and read(recipe).seeds == (0, 1, 2)


def test_the_table_of_a_sweep_shows_predictions_with_the_digits_of_their_bands():
    protocol = gs.Protocol((gs.GiantStep(80, 1.0),), gs.Ridge(80, 0.1))
    s = gs.Setting(gs.Gaussian(40), gs.target("x1"), gs.Network(60, "relu"), protocol)
    grid = make(s, {"n": [60, 80]}, seeds=range(2), routes=["simulate", "theory"])
    data = gs.sweep(grid)
    rows = averages(grid, data)
    ends = data.test_error_band.sel(route="theory", n=80).isel(seed=0).values
    assert [rows[-1][f"test_error_{end}"] for end in ("low", "high")] == ends.tolist()
    assert rows[0]["test_error_low"] is None and "_low" not in text(rows)
    assert text(rows).splitlines()[len(rows)].split()[-1] == within(rows[-1]["test_error"], *ends)


def batches(setting):
    return setting.protocol.sizes()[0], setting.protocol.readout_size


def test_a_ratio_is_an_axis():
    swept = make(base(), {"n/d": [1, 2.5], "d": [20, 30], "p/n": [0.5]})
    sizes = [(p.setting.d, p.setting.p, *batches(p.setting)) for p in swept.points]
    assert swept.shape == (2, 2, 1)
    assert sizes == [(20, 10, 20, 20), (30, 15, 30, 30), (20, 25, 50, 50), (30, 38, 75, 75)]
    own = make(base(), {"steps.0.n / d": [3], "d": [20]}).points[0].setting
    assert batches(own) == (60, batches(base())[1])
    together = make(base(), {}, zipped=[{"n/d": [1, 2], "eta": [1.0, 3.0]}])
    assert [p.setting.protocol.steps[0].n for p in together.points] == [base().d, 2 * base().d]


def test_a_ratio_is_a_dimension_that_is_drawn():
    found = gs.sweep(base(), {"n/d": [1, 2, 3]}, routes=FEW.key, progress=False)
    assert found.test_error.dims == ("route", "n/d", "seed")
    assert found.n.dims == ("n/d",) and found.n.values.tolist() == [base().d * k for k in (1, 2, 3)]
    assert gs.plot(found).axes[0].get_xlabel() == "n/d"


@pytest.mark.parametrize(
    ("axes", "words"),
    [
        ({"n/d": [1], "n": [50]}, "'n' is given twice"),
        ({"m/d": [1]}, "no field 'm'"),
        ({"n/m": [1]}, "uses 'm', which is neither an axis nor a number"),
        ({"ratio": [1]}, r'an expression is a text, as in {"d": \[40, 60\], "n": "2\*d"}, or a ratio, as in {"n/d"'),
    ],
)
def test_bad_ratios_are_refused(axes, words):
    with pytest.raises(InputError, match=words):
        make(base(), axes)


def test_expressions_follow_the_width_by_either_name():
    for name, other in (("width", "p"), ("p", "width")):
        points = make(base(), {name: [10, 20], "n": f"2*{other}"}).points
        assert [p.setting.protocol.steps[0].n for p in points] == [20, 40]
