"""merge(target, sources): copy the rows of several stores into one."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store.file import explain_errors, transaction
from giantstep.lab.store.stored_row import NUMBERS

__all__ = ["Merged", "merge"]

ROUNDING = 1e-9  # relative difference of two test errors that may come from different machines' arithmetic

_COLUMNS = ", ".join(("ok", *NUMBERS, "seconds", "created", "nans", "notes"))
_MADE = ("version", "python", "jax", "numpy", "machine", "device")
# The keys of the source's rows in the target's tables.
_THERE = (
    "FROM source.trials t JOIN source.settings s ON s.key = t.setting JOIN settings s2 ON s2.id = s.id "
    "JOIN source.routes r ON r.key = t.route JOIN routes r2 ON r2.route = r.route "
    "JOIN trials t2 ON t2.setting = s2.key AND t2.seed = t.seed AND t2.route = r2.key"
)


@dataclass(frozen=True)
class Merged:
    """The counts of a merge: rows that were new, rows that were known already, and known rows with other numbers."""

    new: int
    known: int
    conflicts: int


def merge(target: str | Path, sources: Sequence[str | Path]) -> Merged:
    """Copy the rows of the sources into the target, which is created if it does not exist.

    A row that the target has already, perhaps from an earlier source, stays as it is. It counts as a conflict if its test error
    differs by more than rounding. The sources are not changed, except that an older version is upgraded. Each source is copied
    in one transaction.
    """
    total = Merged(0, 0, 0)
    for source in sources:
        if Path(source).exists() and Path(target).exists() and os.path.samefile(source, target):
            raise InputError(f"{source} is the store to merge into: name others as sources")
        Store.open(source, "read").close()  # a source that cannot be read is refused before anything is written
    with Store.open(target) as store:
        for source in sources:
            one = _merged(store, Path(source))
            total = Merged(total.new + one.new, total.known + one.known, total.conflicts + one.conflicts)
    return total


def _merged(store: Store, source: Path) -> Merged:
    run = store.connection.execute
    with Store.open(source, "read", timeout=store.timeout) as checked:
        address = checked.address
    with explain_errors(source, store.timeout):
        run("ATTACH ? AS source", (address,))
    try:
        with explain_errors(store.path, store.timeout), transaction(store.connection):
            return _copied(store)
    finally:
        run("DETACH source")


def _copied(store: Store) -> Merged:
    run = store.connection.execute
    _nouns(store)
    (last,) = run("SELECT coalesce(max(key), 0) FROM trials").fetchone()
    (conflicts,) = run(
        f"SELECT count(*) {_THERE} WHERE (t.test_error IS NULL) <> (t2.test_error IS NULL) "
        "OR abs(t.test_error - t2.test_error) > ? * max(abs(t.test_error), abs(t2.test_error))",
        (ROUNDING,),
    ).fetchone()
    same = " AND ".join(f"q.{name} = p.{name}" for name in _MADE)
    columns = ", ".join(f"t.{name}" for name in _COLUMNS.split(", "))
    new = run(
        f"INSERT OR IGNORE INTO trials (setting, seed, route, provenance, {_COLUMNS}) "
        f"SELECT s2.key, t.seed, r2.key, q.key, {columns} FROM source.trials t "
        "JOIN source.settings s ON s.key = t.setting JOIN settings s2 ON s2.id = s.id "
        "JOIN source.routes r ON r.key = t.route JOIN routes r2 ON r2.route = r.route "
        f"JOIN source.provenance p ON p.key = t.provenance JOIN provenance q ON {same} ORDER BY t.key"
    ).rowcount
    run(
        f"INSERT INTO arrays SELECT t2.key, a.name, a.data {_THERE} JOIN source.arrays a ON a.trial = t.key "
        "WHERE t2.key > ?",
        (last,),
    )
    run(
        "INSERT OR IGNORE INTO records SELECT c.key, c.data, c.seconds, c.created, q.key FROM source.records c "
        f"JOIN source.provenance p ON p.key = c.provenance JOIN provenance q ON {same}"
    )
    (rows,) = run("SELECT count(*) FROM source.trials").fetchone()
    return Merged(new, rows - new, conflicts)


def _nouns(store: Store) -> None:
    """Copy the routes, the provenance and the settings of the source, with their leaves."""
    run = store.connection.execute
    (last,) = run("SELECT coalesce(max(key), 0) FROM settings").fetchone()
    made = ", ".join(_MADE)
    run("INSERT OR IGNORE INTO routes (verb, route) SELECT verb, route FROM source.routes ORDER BY key")
    run(f"INSERT OR IGNORE INTO provenance ({made}) SELECT {made} FROM source.provenance ORDER BY key")
    run("INSERT OR IGNORE INTO paths (path) SELECT path FROM source.paths ORDER BY key")
    run("INSERT OR IGNORE INTO settings (id, plain) SELECT id, plain FROM source.settings ORDER BY key")
    run(
        "INSERT INTO leaves SELECT s2.key, p2.key, l.value FROM settings s2 JOIN source.settings s ON s.id = s2.id "
        "JOIN source.leaves l ON l.setting = s.key JOIN source.paths p ON p.key = l.path JOIN paths p2 ON p2.path = p.path "
        "WHERE s2.key > ?",
        (last,),
    )
