"""A store whose bytes were changed: every way of reading says so, and names the row; ``verify`` finds all of it."""

import json
import os
import shutil
import sqlite3
import struct
import tempfile
import tracemalloc
import zlib
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from experiments import base
from test_store import SETTING, pair, setting

import giantstep as gs
from giantstep import cli
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store import _schema as schema
from giantstep.lab.store._damage import DamagedStore
from giantstep.lab.store._packed import to_npy, unpacked
from giantstep.lab.store._repair import repair
from giantstep.lab.store.export import export
from giantstep.lab.store.merge import merge
from giantstep.lab.store.provenance import Provenance
from giantstep.results.outcome import Status

OTHER = setting(31)
RNG = np.random.default_rng(0)


def rows() -> list:
    """Six rows of two settings, each with arrays, notes and a number that is NaN."""
    values = {"risk": float("nan"), "outliers": 3, "train_error": 0.25, "status": Status(True, ("a note",))}
    made = [(SETTING, seed) for seed in range(4)] + [(OTHER, seed) for seed in range(2)]
    draws = [{"norms": RNG.random(40), "overlaps": RNG.random((40, 2))} for _ in made]
    return [
        pair(seed, each, test_error=(10 + k) / 100, **values, **arrays)
        for k, ((each, seed), arrays) in enumerate(zip(made, draws, strict=True))
    ]


@pytest.fixture
def path(tmp_path) -> Path:
    place = tmp_path / "results.db"
    with Store.open(place) as store:
        store.put(rows())
        store.put_record("a record", {"a": [1, 2.5], "b": np.arange(3.0)}, 0.5)
    return place


def changed(path: Path, sql: str, *values) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(sql, values)
        connection.commit()


def flip(path: Path, number: float, bit: int) -> None:
    """Flip a bit of a number where it lies in the file."""
    data, known = bytearray(path.read_bytes()), struct.pack(">d", number)
    assert data.count(known) == 1
    data[data.find(known) + bit // 8] ^= 1 << bit % 8
    path.write_bytes(data)


def get(store: Store, folder: Path) -> None:
    for trial, _ in rows():
        store.get(trial)


def find(store: Store, folder: Path) -> None:
    list(store.find([trial for trial, _ in rows()], ("norms",)))


def select(store: Store, folder: Path) -> None:
    list(store.select(["d>=30"]))


def numbers(store: Store, folder: Path) -> None:
    store.numbers([trial for trial, _ in rows()], ["risk"])


def missing(store: Store, folder: Path) -> None:
    store.missing([trial for trial, _ in rows()])


def exported(store: Store, folder: Path) -> None:
    export(store, folder / "rows.csv")


def merged(store: Store, folder: Path) -> None:
    merge(folder / "all.db", [store.path])


READERS = (get, find, select, numbers, missing, exported, merged)


@pytest.mark.parametrize("read", READERS)
@pytest.mark.parametrize("bit", [0, 7, 17, 63])
def test_a_flipped_bit_of_a_number_is_told_by_every_reader(path, tmp_path, read, bit):
    flip(path, 0.12, bit)  # the test error of seed 2
    with pytest.raises(
        InputError, match=f"setting {SETTING.id}, seed 2 and route simulate.*giantstep results repair"
    ) as told:
        with Store.open(path, "read") as store:
            read(store, tmp_path)
    assert str(path) in str(told.value) and "\n" not in str(told.value)


EDITS = {
    "a number": "UPDATE trials SET test_error = -5 WHERE key = 3",
    "a text among the numbers": "UPDATE trials SET test_error = 'x' WHERE key = 3",
    "no number": "UPDATE trials SET test_error = NULL WHERE key = 3",
    "the status": "UPDATE trials SET ok = 0 WHERE key = 3",
    "the seed": "UPDATE trials SET seed = 9 WHERE key = 3",
    "the setting": "UPDATE trials SET setting = 2, seed = 7 WHERE key = 3",
    "a setting that is not there": "UPDATE trials SET setting = 8 WHERE key = 3",
    "the notes": "UPDATE trials SET notes = 5 WHERE key = 3",
    "notes that are no list": "UPDATE trials SET notes = '7' WHERE key = 3",
    "the names that are NaN": "UPDATE trials SET nans = 'train_error' WHERE key = 3",
    "the seconds": "UPDATE trials SET seconds = 1e9 WHERE key = 3",
    "the time": "UPDATE trials SET created = created + 1 WHERE key = 3",
    "the provenance": "UPDATE provenance SET device = 'gpu'",
    "the checksum": "UPDATE trials SET checksum = NULL WHERE key = 3",
    "the text of a setting": "UPDATE settings SET plain = replace(plain, '0.3', '0.1')",
    "the name of an array": "UPDATE arrays SET name = 'normS' WHERE name = 'norms' AND trial = 3",
    "no array": "DELETE FROM arrays WHERE name = 'norms' AND trial = 3",
    "the array of another row": "UPDATE arrays SET data = (SELECT data FROM arrays WHERE trial = 2 AND name = 'norms') "
    "WHERE trial = 3 AND name = 'norms'",
}
LOST = {"the provenance": 6, "the text of a setting": 6}  # rows, of six; of the others one


@pytest.mark.parametrize("what", EDITS)
def test_what_is_changed_by_hand_is_told_and_not_saved(path, tmp_path, what, capsys):
    changed(path, EDITS[what])
    with pytest.raises(DamagedStore) as told, Store.open(path, "read") as store:
        list(store.select())
        for trial, _ in rows():
            store.get(trial)
    assert "\n" not in str(told.value) and "repair" in str(told.value)
    assert cli.run(["store", "verify", str(path), "--json"]) == 1
    found = json.loads(capsys.readouterr().out)
    assert not found["ok"] and found["damage"] and all("\n" not in each for each in found["damage"])
    saved = repair(path, tmp_path / "new.db")
    assert saved.lost == LOST.get(what, 1)
    assert cli.run(["results", "verify", str(tmp_path / "new.db")]) == 0


@pytest.mark.parametrize(
    "sql",
    [
        "UPDATE records SET data = substr(data, 1, length(data) - 1)",
        "UPDATE records SET data = 7",
        "UPDATE records SET seconds = 1e9",
        "UPDATE records SET checksum = NULL",
    ],
)
def test_a_changed_record_is_told(path, sql):
    changed(path, sql)
    with Store.open(path, "read") as store:
        with pytest.raises(DamagedStore, match="'a record'"):
            store.get_record("a record")
        (sentence,) = store.verify().damage
    assert "'a record'" in sentence


def test_a_sweep_that_goes_on_tells_before_it_computes(tmp_path, monkeypatch):
    place, options = tmp_path / "s.db", {"routes": "simulate(n_test=50)", "progress": False}
    gs.sweep(base(), store=place, seeds=range(2), **options)
    changed(place, "UPDATE trials SET test_error = -5 WHERE seed = 1")
    monkeypatch.setattr("giantstep.lab.work._perform.perform", None)
    with pytest.raises(DamagedStore, match="seed 1"):
        gs.sweep(base(), store=place, seeds=range(3), **options)


# Verification


def test_a_whole_store_is_verified(path, capsys):
    with Store.open(path, "read") as store:
        found = store.verify()
    assert found.ok and (found.rows, found.settings, found.records) == (6, 2, 1) and found.arrays == 18
    before = path.read_bytes()
    assert cli.run(["results", "verify", str(path)]) == 0 and "is whole: 6 rows" in capsys.readouterr().out
    assert path.read_bytes() == before


@pytest.mark.parametrize(
    ("sql", "word"),
    [
        ("UPDATE leaves SET value = 32 WHERE value = 31", f"setting {OTHER.id}"),
        ("UPDATE paths SET path = 'data.e' WHERE path = 'data.d'", "leaves"),
        ("INSERT INTO arrays VALUES (99, 'norms', x'00')", "99"),
        ("DELETE FROM routes", "routes"),
        ("UPDATE settings SET plain = replace(plain, '0.3', '0.1'), checksum = NULL", "id"),
    ],
)
def test_what_no_reader_would_notice_is_verified(path, sql, word):
    changed(path, sql)
    with Store.open(path, "read") as store:
        assert any(word in sentence for sentence in store.verify().damage)


def test_verification_has_exit_codes(path, tmp_path, capsys):
    (tmp_path / "text.db").write_text("no store " * 100, encoding="utf-8")
    assert cli.run(["store", "verify", str(tmp_path / "text.db")]) == 2
    assert cli.run(["store", "verify", str(tmp_path / "absent.db")]) == 2
    os.truncate(path, path.stat().st_size // 2)
    assert cli.run(["store", "verify", str(path)]) == 1 and "damaged" in capsys.readouterr().out


def test_broken_pages_are_verified(path):
    data = bytearray(path.read_bytes())
    data[4096 * 3 :] = np.random.default_rng(0).bytes(len(data) - 4096 * 3)
    path.write_bytes(data)
    assert cli.run(["store", "verify", str(path)]) == 1


# Stores without checksums


def version_4(path: Path) -> None:
    """The store as the version before wrote it."""
    with closing(sqlite3.connect(path)) as old:
        for table, column in (
            ("settings", "checksum"),
            ("trials", "checksum"),
            ("trials", "arrays"),
            ("records", "checksum"),
        ):
            old.execute(f"ALTER TABLE {table} DROP COLUMN {column}")
        old.execute("PRAGMA user_version = 4")
        old.commit()


@pytest.mark.parametrize("mode", ["write", "read"])
def test_an_older_store_gets_its_checksums_when_it_is_opened(path, tmp_path, mode):
    version_4(path)
    with Store.open(path, mode) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert store.verify().ok and store.get(rows()[0][0]).test_error == 0.1  # type: ignore[union-attr]
    changed(path, "UPDATE trials SET risk = 3 WHERE key = 3")
    with pytest.raises(DamagedStore, match="seed 2"), Store.open(path) as store:
        select(store, tmp_path)


def test_an_upgrade_gives_no_checksum_to_what_is_no_row(path, tmp_path):
    version_4(path)
    changed(path, "UPDATE trials SET test_error = 'x' WHERE key = 3")
    changed(path, "UPDATE settings SET plain = replace(plain, '0.3', '0.1') WHERE key = 2")
    with Store.open(path) as store:
        assert store.get(rows()[0][0]).test_error == 0.1  # type: ignore[union-attr]
        for where, word in (["seed=2"], "seed 2"), (["d=31"], OTHER.id):
            with pytest.raises(DamagedStore, match=word):
                list(store.select(where))
        assert len(store.verify().damage) == 2


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="POSIX users")
def test_an_older_store_that_cannot_be_written_is_read_as_it_is(path):
    version_4(path)
    folder = Path(tempfile.mkdtemp())
    place, user = folder / "old.db", os.geteuid()
    shutil.copy(path, place)
    try:
        place.chmod(0o444)
        folder.chmod(0o555)
        if user == 0:
            os.seteuid(65534)  # root writes anywhere
        with Store.open(place, "read") as store:
            assert len(list(store.select(["d=30"]))) == 4 and store.verify().ok
            found = store.get(rows()[1][0])
            assert found is not None and found.test_error == 0.11 and found.norms.shape == (40,)
            assert store.get_record("a record")[1] == 0.5  # type: ignore[index]
        os.seteuid(user)
        merge(path.parent / "all.db", [place])
    finally:
        os.seteuid(user)
        folder.chmod(0o755)
        shutil.rmtree(folder)
    with Store.open(path.parent / "all.db", "read") as store:
        assert store.verify().ok and len(store) == 6


# The checksum is what docs/store.md says it is


def test_the_checksum_is_that_of_the_docs(path):
    with closing(sqlite3.connect(path)) as connection:
        connection.row_factory = sqlite3.Row
        row = dict(
            connection.execute(
                "SELECT s.id, r.route, p.version || ' ' || p.python || ' ' || p.jax || ' ' || p.numpy || ' ' || p.machine "
                "|| ' ' || p.device AS made, t.* FROM trials t JOIN settings s ON s.key = t.setting "
                "JOIN routes r ON r.key = t.route JOIN provenance p ON p.key = t.provenance WHERE t.key = 5"
            ).fetchone()
        )
        plain = dict(connection.execute("SELECT * FROM settings WHERE id = ?", (row["id"],)).fetchone())
    names = (
        "created ok eta penalty test_error test_error_se risk risk_se train_error train_error_se train_objective "
        "train_objective_se null_level bulk_edge bulk_edge_se outliers outliers_se seconds"
    ).split()
    doubles = struct.pack("<18d", *(float("nan") if row[name] is None else row[name] for name in names))
    texts = [row[name] for name in ("id", "seed", "route", "made", "arrays", "nans", "notes")]
    text = "\n".join("" if each is None else str(each) for each in texts)
    assert row["checksum"] == zlib.crc32(doubles + text.encode())
    assert plain["checksum"] == zlib.crc32(f"{plain['id']}\n{plain['plain']}".encode())


def test_a_filter_that_finds_another_setting_is_told(path):
    changed(path, "UPDATE leaves SET value = 31 WHERE value = 30")
    with Store.open(path, "read") as store:
        with pytest.raises(DamagedStore, match=rf"data\.d for setting {SETTING.id}"):
            list(store.select(["d=31"]))
        with pytest.raises(DamagedStore, match="varies|another"):
            list(store.select(["d>=31"]))


def test_conditions_of_every_kind_are_met_by_the_text_too(path):
    wanted = ["d>=30", "p=40", "activation=tanh", "rows=sphere", "residual!=full", "noise<0.5", "formula=x1 + x1*x2"]
    wanted += ["steps.0.n=90", "symmetric=false", "readout.n<100", "readout.penalty=0.05"]
    with Store.open(path, "read") as store:
        assert all(len(list(store.select([each]))) == store.count([each]) == 6 for each in wanted)


def test_a_number_that_sqlite_writes_otherwise_is_read(tmp_path):
    """SQLite has no -0 and no NaN, and keeps 2.0 as 2."""
    values = {"eta": -0.0, "test_error": float("nan"), "risk": 2.0, "outliers": 2.5}
    with Store.open(tmp_path / "s.db") as store:
        store.put([pair(0, SETTING, **values)], replace(Provenance.here(), machine="ein Gerät"))
        (row,) = store.select()
        assert row.numbers["risk"] == 2.0 and row.numbers["eta"] == 0.0 and store.verify().ok


# Decompression


def test_a_stream_that_holds_more_than_its_head_says_is_not_expanded():
    bomb = zlib.compress(to_npy(np.zeros(9)) + bytes(300 * 2**20), 9)
    assert len(bomb) < 2**19
    promises = zlib.compress(to_npy(np.zeros(40_000)).replace(b"(40000,), }  ", b"(40000000000000,), }")[: 2**18], 9)
    tracemalloc.start()
    try:
        for data, words in ((bomb, "length"), (promises, "GiB")):
            with pytest.raises(ValueError, match=words):
                unpacked(data)
        assert tracemalloc.get_traced_memory()[1] < 8 * 2**20
    finally:
        tracemalloc.stop()


def test_a_record_that_expands_too_far_is_told(path, monkeypatch):
    monkeypatch.setattr("giantstep.lab.store._serialise.MOST", 2**20)
    bomb = zlib.compress(b'"' + bytes(2**24) + b'"', 9)
    changed(path, "UPDATE records SET data = ?, checksum = -1", bomb)
    with pytest.raises(DamagedStore, match="'a record' cannot be read"), Store.open(path, "read") as store:
        store.get_record("a record")
    with pytest.raises(InputError, match="at most"), Store.open(path) as store:
        store.put_record("large", "x" * 2**21)
