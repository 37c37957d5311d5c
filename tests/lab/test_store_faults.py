"""Files that are no stores, or cannot be used, and stores of older versions: one sentence, nothing lost."""

import json
import os
import shutil
import sqlite3
import stat
import tempfile
from pathlib import Path

import numpy as np
import pytest
from test_store import SETTING, pair, setting

from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store import _schema as schema


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "results.db"


def damage(path: Path, kind: str) -> None:
    if kind == "folder":
        path.mkdir()
    elif kind == "text":
        path.write_text("seed,test_error\n0,0.5\n" * 200, encoding="utf-8")
    elif kind == "foreign":
        with sqlite3.connect(path) as other:
            other.execute("CREATE TABLE songs (name)")
        other.close()
    else:
        with Store.open(path) as store:
            store.put([pair(seed) for seed in range(300)])
            if kind == "newer":
                store.connection.execute("PRAGMA user_version = 99")
        if kind == "truncated":
            os.truncate(path, path.stat().st_size // 2)
        if kind == "torn":
            data = bytearray(path.read_bytes())
            data[4096:] = np.random.default_rng(0).bytes(len(data) - 4096)
            path.write_bytes(data)


@pytest.mark.parametrize("mode", ["write", "read"])
@pytest.mark.parametrize("kind", ["folder", "text", "foreign", "newer", "truncated", "torn"])
def test_what_is_no_store_is_told_in_one_sentence_and_left_as_it_is(path, kind, mode):
    damage(path, kind)
    before = None if path.is_dir() else path.read_bytes()
    with pytest.raises(InputError) as told:
        with Store.open(path, mode) as store:
            if mode == "write":
                store.put([pair(1000)])
            list(store.select())
    assert str(path) in str(told.value) and "\n" not in str(told.value)
    assert path.is_dir() or path.read_bytes() == before


def test_reading_needs_a_store_that_is_there(path):
    with pytest.raises(InputError, match="no store"):
        Store.open(path, "read")
    path.touch()
    with pytest.raises(InputError, match="empty"):
        Store.open(path, "read")
    with Store.open(path) as store:  # an empty file may become one
        assert len(store) == 0
    with pytest.raises(InputError, match="folder"):
        Store.open(path.parent / "absent" / "results.db")


def test_a_full_disk_is_told_and_loses_nothing(path):
    with Store.open(path) as store:
        store.put([pair(0)])
        (pages,) = store.connection.execute("PRAGMA page_count").fetchone()
        store.connection.execute(f"PRAGMA max_page_count = {pages + 2}")
        with pytest.raises(InputError, match="disk is full"):
            store.put([pair(seed, overlaps=np.random.default_rng(seed).normal(size=(500, 2))) for seed in range(1, 50)])
        assert len(store) == 1
    with Store.open(path) as store:
        assert store.put([pair(1)]) == 1


def test_a_store_locked_for_too_long_is_told(path):
    with Store.open(path) as store, Store.open(path, timeout=0.1) as other:
        store.connection.execute("BEGIN IMMEDIATE")
        with pytest.raises(InputError, match="locked"):
            other.put([pair(0)])
        assert len(other) == 0  # reading goes on
        store.connection.execute("ROLLBACK")
        assert other.put([pair(0)]) == 1


@pytest.mark.skipif(not hasattr(os, "seteuid"), reason="POSIX users")
def test_a_read_only_place_is_read_and_not_written():
    folder = Path(tempfile.mkdtemp())
    path = folder / "results.db"
    with Store.open(path) as store:
        store.put([pair(0)])
    user = os.geteuid()
    try:
        folder.chmod(0o555)
        path.chmod(0o444)
        if user == 0:
            os.seteuid(65534)  # root writes anywhere
        with Store.open(path, "read") as store:
            assert len(store) == 1
        with pytest.raises(InputError, match="read-only"):
            Store.open(path)
        with pytest.raises(InputError):
            Store.open(folder / "new.db")
    finally:
        os.seteuid(user)
        folder.chmod(stat.S_IRWXU)
        shutil.rmtree(folder)


# Older versions


def version_1(path: Path) -> None:
    """A store as version 1 made it: without leaves."""
    old = sqlite3.connect(path, isolation_level=None)
    schema.MIGRATIONS[0](old)
    for key, made in enumerate([SETTING, setting(31)], start=1):
        old.execute("INSERT INTO settings VALUES (?, ?, ?)", (key, made.id, json.dumps(made.to_plain())))
    old.execute("INSERT INTO routes VALUES (1, 'simulate', 'simulate')")
    old.execute("INSERT INTO provenance VALUES (1, '0.0.1', '3.11', '0.8', '2.0', 'abacus', 'cpu')")
    for key, (made, seed) in enumerate([(1, 0), (1, 1), (2, 0)], start=1):
        old.execute(
            "INSERT INTO trials (setting, seed, route, ok, test_error, seconds, created, provenance, notes) "
            f"VALUES ({made}, {seed}, 1, 1, 0.{key}, 1, 0, 1, NULL)"
        )
    old.execute(f"PRAGMA application_id = {schema.APPLICATION}")
    old.execute("PRAGMA user_version = 1")
    old.close()


@pytest.mark.parametrize("mode", ["write", "read"])
def test_a_store_of_version_1_becomes_the_newest(path, mode):
    version_1(path)
    with Store.open(path, mode) as store:
        assert store.connection.execute("PRAGMA user_version").fetchone() == (schema.VERSION,)
        assert store.count(["d=31"]) == 1 and store.count(["width=40"]) == 3 and len(store) == 3
        found = store.get(pair(1)[0])
        assert found is not None and found.test_error == 0.2
    with Store.open(path) as store:
        assert store.put([pair(1), pair(2)]) == 1


def test_a_migration_that_fails_changes_nothing(path):
    version_1(path)
    with sqlite3.connect(path) as old:
        old.execute("UPDATE settings SET plain = 'no json' WHERE key = 2")
    old.close()
    with pytest.raises(ValueError):
        Store.open(path)
    with sqlite3.connect(path) as old:
        assert old.execute("PRAGMA user_version").fetchone() == (1,)
        assert old.execute("SELECT count(*) FROM sqlite_master WHERE name = 'leaves'").fetchone() == (0,)
    old.close()
