"""The schema of a store, and the migrations between versions: ``MIGRATIONS[k]`` takes version k to k + 1.

A new store runs all of them and an older one those it lacks, in one transaction. A released migration is never changed.
"""

import json
import sqlite3
from collections.abc import Iterator

from giantstep.errors import InputError, MissingData
from giantstep.experiment.setting import Setting
from giantstep.lab.store import _checksum as checksum
from giantstep.lab.store._setting_paths import flatten

APPLICATION = 0x67535470  # "gSTp", in the file's header: the mark of a store, which other SQLite files lack


def _tables(connection: sqlite3.Connection) -> None:
    """Version 1: settings, routes, provenance, trials and their arrays. Seed -1 stands for none."""
    connection.execute("CREATE TABLE settings (key INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, plain TEXT NOT NULL)")
    connection.execute("CREATE TABLE routes (key INTEGER PRIMARY KEY, verb TEXT NOT NULL, route TEXT NOT NULL UNIQUE)")
    connection.execute(
        "CREATE TABLE provenance (key INTEGER PRIMARY KEY, version TEXT NOT NULL, python TEXT NOT NULL, jax TEXT NOT NULL, "
        "numpy TEXT NOT NULL, machine TEXT NOT NULL, device TEXT NOT NULL, "
        "UNIQUE (version, python, jax, numpy, machine, device))"
    )
    connection.execute(
        "CREATE TABLE trials (key INTEGER PRIMARY KEY, "
        "setting INTEGER NOT NULL REFERENCES settings, seed INTEGER NOT NULL, route INTEGER NOT NULL REFERENCES routes, "
        "ok INTEGER NOT NULL, eta REAL, penalty REAL, test_error REAL, test_error_se REAL, risk REAL, risk_se REAL, "
        "train_error REAL, train_error_se REAL, train_objective REAL, train_objective_se REAL, null_level REAL, "
        "bulk_edge REAL, bulk_edge_se REAL, outliers, outliers_se REAL, "  # a count, or a mean of counts
        "seconds REAL NOT NULL, created REAL NOT NULL, provenance INTEGER NOT NULL REFERENCES provenance, "
        "nans TEXT, notes TEXT, "  # names of the columns that are NaN (SQLite has none); a JSON list of sentences
        "UNIQUE (setting, seed, route))"
    )
    connection.execute(
        "CREATE TABLE arrays (trial INTEGER NOT NULL REFERENCES trials, name TEXT NOT NULL, data BLOB NOT NULL, "
        "PRIMARY KEY (trial, name))"
    )


def _leaves(connection: sqlite3.Connection) -> None:
    """Version 2: the leaves of every setting, for conditions."""
    connection.execute("CREATE TABLE paths (key INTEGER PRIMARY KEY, path TEXT NOT NULL UNIQUE)")
    connection.execute(
        "CREATE TABLE leaves (setting INTEGER NOT NULL REFERENCES settings, path INTEGER NOT NULL REFERENCES paths, "
        "value, PRIMARY KEY (setting, path)) WITHOUT ROWID"
    )
    connection.execute("CREATE INDEX leaves_by_value ON leaves (path, value)")
    connection.execute("CREATE INDEX trials_by_route ON trials (route, ok)")
    for key, plain in connection.execute("SELECT key, plain FROM settings"):
        plant(connection, key, json.loads(plain))


def plant(connection: sqlite3.Connection, setting: int, plain: dict) -> None:
    """Write the leaves of one setting."""
    leaves = flatten(plain)
    connection.executemany("INSERT OR IGNORE INTO paths (path) VALUES (?)", [(path,) for path in leaves])
    connection.executemany(
        "INSERT INTO leaves SELECT ?, key, ? FROM paths WHERE path = ?",
        [(setting, value, path) for path, value in leaves.items()],
    )


def _records(connection: sqlite3.Connection) -> None:
    """Version 3: records, which are measurements that are not trials of a setting."""
    connection.execute(
        "CREATE TABLE records (key TEXT PRIMARY KEY, data BLOB NOT NULL, seconds REAL NOT NULL, created REAL NOT NULL, "
        "provenance INTEGER NOT NULL REFERENCES provenance) WITHOUT ROWID"
    )


def _spectrum(connection: sqlite3.Connection) -> None:
    """Version 4: the option ``spectra`` of the theory is called ``spectrum``, as in the other routes."""
    connection.execute("UPDATE routes SET route = replace(route, 'spectra=', 'spectrum=') WHERE verb = 'theory'")


def _checksums(connection: sqlite3.Connection) -> None:
    """Version 5: a checksum in every row, and the checksums of a trial's arrays in its row."""
    connection.execute("ALTER TABLE settings ADD COLUMN checksum INTEGER")
    connection.execute("ALTER TABLE trials ADD COLUMN arrays TEXT")  # such as overlaps:0f1e2d3c norms:4b5a6978
    connection.execute("ALTER TABLE trials ADD COLUMN checksum INTEGER")
    connection.execute("ALTER TABLE records ADD COLUMN checksum INTEGER")
    seal(connection)


MIGRATIONS = (_tables, _leaves, _records, _spectrum, _checksums)
VERSION = len(MIGRATIONS)
READABLE = VERSION - 1  # the version that can be read as it is, through the tables of ``unseal``
_BATCH = 10_000


def seal(connection: sqlite3.Connection, setting: int = 0, trial: int = 0) -> None:
    """Write the checksums of the rows without one, from these keys on.

    A row that is no row, such as one with a text among its numbers, gets none: whoever reads it is
    told.
    """
    made, run = checksum.provenances(connection), connection.execute
    none = "FROM settings WHERE checksum IS NULL AND key > ?"
    sums = [
        (checksum.of_setting(name, plain), key)
        for key, name, plain in run(f"SELECT key, id, plain {none}", (setting,))
        if fits(name, plain)
    ]
    connection.executemany("UPDATE settings SET checksum = ? WHERE key = ?", sums)
    update = "UPDATE trials SET arrays = ?, checksum = ? WHERE key = ?"
    while batch := run(_UNSEALED, (trial, _BATCH)).fetchall():
        connection.executemany(update, _sealed(connection, batch, made))
        trial = batch[-1][checksum.AFTER]
    columns = "key, provenance, seconds, created, data"
    found = run(f"SELECT {columns} FROM records WHERE checksum IS NULL").fetchall()
    update = "UPDATE records SET checksum = ? WHERE key = ?"
    connection.executemany(update, _of_records(found, made))


_UNSEALED = (
    f"SELECT {checksum.SEALED}, t.key {checksum.FROM} WHERE t.checksum IS NULL AND t.key > ? ORDER BY t.key LIMIT ?"
)


def _sealed(connection: sqlite3.Connection, batch: list[tuple], made: dict[int, str]) -> Iterator[tuple[str, int, int]]:
    arrays = "SELECT name, data FROM arrays WHERE trial = ? ORDER BY rowid"
    for row in batch:
        key = row[checksum.AFTER]
        try:
            listed = checksum.of_arrays(connection.execute(arrays, (key,)).fetchall())
            _, setting, seed, route, by, _, *rest = row
            texts, numbers = (listed, *rest[:2]), rest[2 : 2 + len(checksum.DOUBLES)]
            yield listed, checksum.of_row(setting, seed, route, made[by], texts, numbers), key
        except checksum.WRONG:
            continue


def _of_records(found: list[tuple], made: dict[int, str]) -> Iterator[tuple[int, str]]:
    for key, by, seconds, created, data in found:
        try:
            yield checksum.of_record(key, made[by], seconds, created, data), key
        except checksum.WRONG:
            continue


def fits(name: str, plain: str) -> bool:
    """Whether the id of a setting is that of its text, as far as its data are on this machine."""
    try:
        return Setting.from_plain(json.loads(plain)).id == name
    except MissingData:
        return True
    except (InputError, *checksum.WRONG):
        return False


def unseal(connection: sqlite3.Connection) -> None:
    """Let a store of the version READABLE be read as one of this version, without checks of rows."""
    for table, more in (("settings", ""), ("trials", "NULL AS arrays, "), ("records", "")):
        columns = f"*, {more}{checksum.UNSEALED} AS checksum"
        connection.execute(f"CREATE TEMP VIEW {table} AS SELECT {columns} FROM main.{table}")


def migrate(connection: sqlite3.Connection) -> None:
    """Upgrade a store to the newest version in one transaction, unless another process has just done it."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        for step in MIGRATIONS[version:]:
            step(connection)
        if version < VERSION:
            connection.execute(f"PRAGMA application_id = {APPLICATION}")
            connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
