"""Stored results: filtered, exported, merged, and listed by the command line."""

import csv
import json
import sqlite3
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep import cli
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store._setting_paths import default, filled, flatten
from giantstep.lab.store.export import HEAD, export, to_dataset
from giantstep.lab.store.merge import Merged, merge
from giantstep.lab.store.trial import Route, Trial
from giantstep.results.outcome import Outcome, Status


def setting(d: int, activation: str = "tanh", penalty: float | str = 0.05, **network):
    protocol = gs.Protocol((gs.GiantStep(90, 2.0),), gs.Ridge(70, penalty))
    return gs.Setting(
        gs.Gaussian(d), gs.target("x1 + x1*x2", noise=0.3), gs.Network(40, activation, **network), protocol
    )


SETTINGS = (setting(30), setting(100, symmetric=True), setting(1000, "relu", "gcv"))


def fill(path: Path) -> Path:
    """Three settings: five seeds simulated, one with NaN; and a prediction that did not converge."""
    with Store.open(path) as store:
        for made in SETTINGS:
            for seed in range(5):
                error = float("nan") if seed == 4 else 0.1 * (seed + 1)
                found = Outcome(made, "simulate", eta=2.0, test_error=error, captured=np.array([0.25, seed]))
                store.put([(Trial(made, seed, Route("simulate", {"n_test": 500})), found)])
            bad = Outcome(made, "theory", eta=2.0, test_error=0.15, status=Status(False, ("not converged, sorry",)))
            store.put([(Trial(made, None, Route("theory")), bad)])
    return path


@pytest.fixture
def path(tmp_path) -> Path:
    return fill(tmp_path / "results.db")


# Conditions


@pytest.mark.parametrize(
    ("where", "count"),
    [
        ([], 18),
        (["d=1000"], 6),
        (["data.d>=100"], 12),
        (["d > 100"], 6),
        (["d!=30", "seed<2"], 4),  # a seed of none is no number
        (["seed!=2"], 12),
        (["seed!=none"], 15),
        (["route=simulate"], 0),
        (["route=simulate(n_test=500)"], 15),
        (["route=simulate(n_test=500, method=auto)"], 15),
        (["verb=simulate"], 15),
        (["seed=none"], 3),
        (["ok=false"], 3),
        (["ok=true", "test_error<0.25"], 6),
        (["test_error<0.2", "d=30"], 2),
        (["test_error=none"], 3),
        (["test_error!=none"], 15),
        (["activation=relu"], 6),
        (["activation=no such thing"], 0),
        (["symmetric=true"], 6),
        (["symmetric=false"], 12),  # a default, which no setting spells out
        (["rows=sphere"], 18),
        (["rows!=sphere"], 0),
        (["network.scale=1/sqrt(p)"], 18),
        (["steps.0.deflate<1"], 18),
        (["penalty=gcv"], None),  # the column of the same name holds numbers
        (["readout.penalty=gcv"], 6),
        (["readout.penalty>0.01"], 12),  # a text is no number
        (["readout.penalty<zzz"], 6),
        (["p=40"], 18),
        (["eta<3"], 18),
        (["steps.0.eta>=3"], 0),
        (["formula=x1 + x1*x2"], 18),
        (["noise==0.3"], 18),
        ([f"setting={SETTINGS[0].id}"], 6),
    ],
)
def test_conditions(path, where, count):
    with Store.open(path, "read") as store:
        if count is None:
            with pytest.raises(InputError, match="number"):
                store.count(where)
            return
        rows = list(store.select(where))
        assert len(rows) == store.count(where) == count
        assert len(list(store.select(where, 2))) == min(count, 2)


@pytest.mark.parametrize(
    "bad", ["n=70", "colour=blue", "d", "=3", "d=", "d~3", "test_error<low", "ok=maybe", "test_error<none", "route=x"]
)
def test_a_bad_condition_is_one_sentence(path, bad):
    with Store.open(path, "read") as store, pytest.raises(InputError) as told:
        store.select([bad])
    assert "\n" not in str(told.value)
    if bad == "n=70":
        assert "protocol.steps.0.n, protocol.readout.n" in str(told.value)


@pytest.mark.parametrize(
    "text",
    [
        "activation=relu' OR '1'='1",
        "formula='; DROP TABLE trials; --",
        "d=30 OR 1=1",
        "d;DROP TABLE trials=1",
        "d) OR (1=1",
    ],
)
def test_conditions_never_become_sql(path, text):
    with Store.open(path) as store:
        try:
            assert store.count([text]) == 0
        except InputError:
            pass
        assert len(store) == 18


def test_rows_stream_and_know_their_trial(path):
    with Store.open(path) as store:
        for row in store.select(["verb=simulate", "d=100"]):
            found = store.get(row.trial)  # while the cursor is open
            assert found is not None and found.captured[1] == row.seed and row.leaves["network.symmetric"] == "true"
            error = row.numbers["test_error"]
            assert error is not None and (np.isnan(error) if row.seed == 4 else error == found.test_error)
        (row,) = store.select(["verb=theory", "d=30"])
        assert (row.ok, row.seed, row.notes) == (False, None, ("not converged, sorry",))
        with pytest.raises(InputError, match="list"):
            store.select("d=30")
        assert store.varying() == {
            "data.d": "integer", "network.activation": "text", "protocol.readout.penalty": "text", "network.symmetric": "text",
        }  # fmt: skip


def test_defaults_of_leaves_are_those_of_the_nouns():
    leaves = flatten(SETTINGS[0].to_plain())
    assert gs.Network(3, "relu", rows=default("network.rows"), scale=default("network.scale")) == gs.Network(3, "relu")  # type: ignore[arg-type]
    assert filled(leaves)["protocol.steps.0.residual"] == "target" and "protocol.steps.1.residual" not in filled(leaves)
    assert set(leaves) < set(filled(leaves))


def test_an_array_is_one_leaf():
    own = gs.Network(2, "tanh", weights=(np.eye(2, 30), np.ones(2)))
    leaves = flatten(replace(SETTINGS[0], network=own).to_plain())
    assert leaves["network.weights.W"] != leaves["network.weights.a"] and len(leaves) < 15


# Exports


def test_csv(path, tmp_path):
    with Store.open(path, "read") as store:
        assert export(store, tmp_path / "rows.csv") == 18
        assert export(store, tmp_path / "few.csv", ["d=30", "verb=simulate"]) == 5
    rows = list(csv.DictReader((tmp_path / "rows.csv").read_text(encoding="utf-8").splitlines()))
    assert len(rows) == 18 and list(rows[0])[: len(HEAD)] == list(HEAD)
    assert {row["data.d"] for row in rows} == {"30", "100", "1000"} and "target.noise" not in rows[0]
    assert {row["network.symmetric"] for row in rows} == {"true", "false"}
    assert sum(row["test_error"] == "nan" for row in rows) == 3 and sum(row["seed"] == "" for row in rows) == 3
    few = (tmp_path / "few.csv").read_text(encoding="utf-8").splitlines()
    assert few[0] == ",".join(HEAD)  # nothing varies


def test_netcdf(path, tmp_path):
    import xarray as xr

    with Store.open(path, "read") as store:
        assert export(store, tmp_path / "rows.nc") == 18
        live = to_dataset(store.select())
    with xr.open_dataset(tmp_path / "rows.nc") as data:
        for each in (data, live):
            assert dict(each.sizes) == {"trial": 18} and each.attrs["target.noise"] == 0.3
            assert each["data.d"].dtype.kind == "i" and set(each["network.activation"].values) == {"tanh", "relu"}
            assert int(np.isnan(each.test_error).sum()) == 3 and "rows" not in each


def test_parquet(path, tmp_path, monkeypatch):
    with Store.open(path, "read") as store:
        with monkeypatch.context() as without:
            without.setitem(sys.modules, "pyarrow", None)
            with pytest.raises(InputError, match=r"giantstep\[lab\]"):
                export(store, tmp_path / "rows.parquet")
        assert list(tmp_path.glob("*rows*")) == []
        parquet = pytest.importorskip("pyarrow.parquet")
        assert export(store, tmp_path / "rows.parquet") == 18
    table = parquet.read_table(tmp_path / "rows.parquet")
    assert table.num_rows == 18 and str(table.schema.field("data.d").type) == "int64"
    assert table.column("protocol.readout.penalty").to_pylist().count("gcv") == 6


def test_an_export_is_whole_or_not_there_and_overwrites_only_by_force(path, tmp_path, monkeypatch):
    out = tmp_path / "rows.csv"
    out.write_text("mine", encoding="utf-8")
    with Store.open(path, "read") as store:
        for place in (out, tmp_path / "rows.xlsx", tmp_path / "no" / "rows.csv", tmp_path):
            with pytest.raises(InputError):
                export(store, place)

        def broken(*arguments):
            raise OSError(28, "No space left on device")

        monkeypatch.setattr(csv, "writer", broken)
        with pytest.raises(InputError, match="No space left"):
            export(store, out, force=True)
        monkeypatch.undo()
        assert out.read_text(encoding="utf-8") == "mine" and len(list(tmp_path.glob(".rows*"))) == 0
        export(store, out, force=True)
        assert out.read_text(encoding="utf-8").startswith("setting,")
        assert export(store, tmp_path / "none.nc", ["d=7"]) == export(store, tmp_path / "none.csv", ["d=7"]) == 0


# Merging


def test_merge(path, tmp_path):
    target, other = tmp_path / "all.db", tmp_path / "other.db"
    made = setting(31)
    changed = Trial(SETTINGS[0], 0, Route("simulate", {"n_test": 500}))
    with Store.open(other) as store:
        store.put([(Trial(made, 0, Route("simulate")), Outcome(made, "simulate", overlaps=np.ones((40, 2))))])
        store.put([(changed, Outcome(SETTINGS[0], "simulate", test_error=7.0))])
    before = path.read_bytes()
    assert merge(target, [path, other]) == Merged(19, 1, 1)
    assert merge(target, [other, path]) == Merged(0, 20, 1)
    assert path.read_bytes() == before
    with Store.open(target, "read") as store:
        assert len(store) == 19 and store.count(["d=31"]) == 1 and store.count(["symmetric=false"]) == 13
        found = store.get(Trial(made, 0, Route("simulate")))
        assert found is not None and found.overlaps.shape == (40, 2)
        first = store.get(changed)
        assert first is not None and first.test_error == 0.1 and first.captured is not None
        assert store.connection.execute("SELECT count(*) FROM arrays").fetchone() == (16,)


def test_merge_refuses_itself_and_what_is_no_store_before_writing(path, tmp_path):
    (tmp_path / "text.db").write_text("no store " * 100, encoding="utf-8")
    for sources in ([path, tmp_path / "text.db"], [tmp_path / "absent.db"]):
        with pytest.raises(InputError):
            merge(tmp_path / "all.db", sources)
        assert not (tmp_path / "all.db").exists()
    with pytest.raises(InputError, match="merge into"):
        merge(path, [path])


# The command line


def called(capsys, *arguments: object) -> tuple[int, str, str]:
    code = cli.run(["results", *map(str, arguments)])
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_results_lists_rows_and_counts(path, capsys):
    code, out, _ = called(capsys, path, "--where", "d>=100", "--where", "verb=simulate", "--limit", "3")
    assert code == 0 and "10 by simulate(n_test=500)" in out and "10 in all, 3 shown" in out
    code, out, _ = called(capsys, path)
    assert "3 by theory, NOT ok" in out and "activation" in out and "relu" in out
    code, out, _ = called(capsys, "list", path, "--columns", "p, seed,test_error", "--limit", "1")
    assert code == 0 and out.split()[:3] == ["width", "seed", "test_error"]
    code, out, _ = called(capsys, path, "--where", "d=7")
    assert (code, out) == (0, "0 in all, 0 shown\n")


def test_results_as_json(path, capsys):
    code, out, _ = called(capsys, path, "--json", "--where", "d=30", "--columns", "d,test_error", "--limit", "9")
    found = json.loads(out)
    assert code == 0 and found["count"] == 6 and {"route": "theory", "ok": False, "rows": 1} in found["counts"]
    assert found["rows"][-1] == {"data.d": 30, "test_error": None}  # JSON has no NaN


def test_results_export_and_merge(path, tmp_path, capsys):
    out = tmp_path / "rows.csv"
    assert called(capsys, path, "--export", out, "--json")[:2] == (0, json.dumps({"rows": 18, "file": str(out)}) + "\n")
    assert called(capsys, path, "--export", out)[0] == 2
    assert called(capsys, path, "--export", out, "--force")[0] == 0
    code, said, _ = called(capsys, "merge", tmp_path / "all.db", path, "--json")
    assert (code, json.loads(said)) == (0, {"new": 18, "known": 0, "conflicts": 0})
    assert "18 were there already" in called(capsys, "merge", tmp_path / "all.db", path)[1]


def test_results_of_bad_input_is_one_sentence(path, tmp_path, capsys):
    sqlite3.connect(tmp_path / "empty.db").close()
    (tmp_path / "text.db").write_text("no store " * 100, encoding="utf-8")
    bad = [["absent.db"], [tmp_path], [tmp_path / "text.db"], [path, "--where", "n=3"], [path, "--limit", "-1"]]
    bad += [[path, "--columns", "colour"], [path, "--export", "x.doc"], ["merge", path, path], ["merge", path], []]
    for arguments in bad:
        code, _, err = called(capsys, *arguments)
        if arguments:
            assert code == 2 and len(err.strip().splitlines()) == 1, arguments
            assert "Traceback" not in err
