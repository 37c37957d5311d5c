"""verify(store): read everything that a store has, and say in a sentence each what is damaged."""

import json
import sqlite3
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from giantstep.lab.store import _checksum as checksum
from giantstep.lab.store._checksum import AFTER, FROM, SEALED
from giantstep.lab.store._damage import Damage, row_named
from giantstep.lab.store._schema import fits
from giantstep.lab.store._setting_paths import flatten
from giantstep.lab.store.stored_row import ARRAYS, array

if TYPE_CHECKING:
    from giantstep.lab.store import Store

__all__ = ["Verified", "verify"]

PAGES = 100  # findings of SQLite at most
Found = Iterator[str]  # sentences


@dataclass(frozen=True)
class Verified:
    """How much was read, and a sentence for everything that is damaged."""

    rows: int
    arrays: int
    settings: int
    records: int
    damage: tuple[str, ...]

    @property
    def ok(self) -> bool:
        """Whether nothing is damaged."""
        return not self.damage


def verify(store: "Store") -> Verified:
    """Read the pages of the file, the settings, rows, arrays and records, all at one moment."""
    counts = {"rows": 0, "arrays": 0, "settings": 0, "records": 0}
    parts: tuple[Callable[..., Found], ...] = (_pages, _settings, _rows, _strays, _records)
    with store.reading():
        damage = [sentence for part in parts for sentence in _told(part(store.connection, counts))]
    return Verified(**counts, damage=tuple(dict.fromkeys(damage)))


def _told(sentences: Found) -> Found:
    """The sentences of a part; where SQLite cannot go on, that is the last of them."""
    try:
        yield from sentences
    except sqlite3.DatabaseError as error:
        yield f"SQLite cannot read on: {error}"


def _pages(connection: sqlite3.Connection, counts: dict[str, int]) -> Found:
    """What SQLite finds: broken pages, and indices and links that do not fit their tables."""
    for (found,) in connection.execute(f"PRAGMA main.integrity_check({PAGES})"):
        if found != "ok":
            yield " ".join(str(found).split())
    for table, row, parent, _ in connection.execute("PRAGMA main.foreign_key_check"):
        yield f"row {row} of the table {table} belongs to none of {parent}"


def _settings(connection: sqlite3.Connection, counts: dict[str, int]) -> Found:
    """The texts of the settings, their ids, and their leaves, which conditions are looked up in."""
    of = "FROM leaves l LEFT JOIN paths p ON p.key = l.path WHERE l.setting = ?"
    texts = connection.execute("SELECT key, id, plain, checksum FROM settings ORDER BY key")
    for key, name, plain, stored in texts:
        counts["settings"] += 1
        try:
            checksum.check_setting(name, plain, stored)
            if not fits(name, plain):
                raise Damage(f"the text of setting {name} is not the one that its id stands for")
            leaves = dict(connection.execute(f"SELECT p.path, l.value {of}", (key,)).fetchall())
            if leaves != flatten(json.loads(plain)):
                raise Damage(f"the leaves of setting {name}, by which it is found, are not its own")
        except Damage as damage:
            yield str(damage)


def _rows(connection: sqlite3.Connection, counts: dict[str, int]) -> Found:
    """The rows with their arrays."""
    made = checksum.provenances(connection)
    table = FROM.replace("trials t", "trials t NOT INDEXED")
    for row in connection.execute(f"SELECT {SEALED}, t.key {table} ORDER BY t.key"):
        counts["rows"] += 1
        try:
            checksum.check_row(row, made)
            checksum.opened(row)
        except (Damage, json.JSONDecodeError) as damage:
            yield f"{damage}" if isinstance(damage, Damage) else f"{row_named(*row[1:4])} has no notes"
            continue
        found = connection.execute("SELECT name, data FROM arrays WHERE trial = ?", row[AFTER:])
        arrays = dict(found.fetchall())
        counts["arrays"] += len(arrays)
        try:
            checksum.check_arrays(row, arrays, ARRAYS)
            for name, data in arrays.items():
                array(name, data)
        except Damage as damage:
            yield f"{damage} ({row_named(*row[1:4])})"


def _strays(connection: sqlite3.Connection, counts: dict[str, int]) -> Found:
    """Arrays that belong to no row."""
    alone = "SELECT trial, name FROM arrays WHERE trial NOT IN (SELECT key FROM trials)"
    for trial, name in connection.execute(alone):
        yield f"the array {str(name)[:60]!r} belongs to row {trial}, which is not there"


def _records(connection: sqlite3.Connection, counts: dict[str, int]) -> Found:
    """The records."""
    made = checksum.provenances(connection)
    for key, data, seconds, created, by, stored in connection.execute(
        "SELECT key, data, seconds, created, provenance, checksum FROM records ORDER BY key"
    ):
        counts["records"] += 1
        try:
            checksum.check_record(key, data, seconds, created, made.get(by), stored)
            checksum.record(key, data)
        except Damage as damage:
            yield str(damage)
