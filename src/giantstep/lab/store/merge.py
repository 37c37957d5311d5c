"""merge(target, sources): copy the rows of several stores into one."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store._checksum import DOUBLES, MADE
from giantstep.lab.store._damage import DamagedStore
from giantstep.lab.store._file import explain_errors, transaction
from giantstep.lab.store._schema import READABLE, seal

__all__ = ["Merged", "merge"]

ROUNDING = 1e-9  # relative difference of two test errors that may come from different machines' arithmetic

_COLUMNS = (*DOUBLES, "nans", "notes")
_CHECKED = ("arrays", "checksum")  # not in a source that cannot be upgraded
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
    differs by more than rounding. The sources are not changed, except that an older version is upgraded.
    A source is read from end to end first, and a damaged one is refused. Each source is copied in one
    transaction.
    """
    total = Merged(0, 0, 0)
    for source in sources:
        if Path(source).exists() and Path(target).exists() and os.path.samefile(source, target):
            raise InputError(f"{source} is the store to merge into: name others as sources")
        _check(Path(source))  # a source that cannot be read is refused before anything is written
    with Store.open(target) as store:
        for source in sources:
            one = _merged(store, Path(source))
            total = Merged(total.new + one.new, total.known + one.known, total.conflicts + one.conflicts)
    return total


def _check(source: Path) -> None:
    """Refuse a source that is damaged."""
    with Store.open(source, "read") as store:
        found = store.verify().damage
    if len(found) > 0:
        more = f", and {len(found) - 1} more" if len(found) > 1 else ""
        cure = "Merge what 'giantstep results repair' saves of it."
        raise DamagedStore(f"{source} is damaged: {found[0]}{more}. {cure}")


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
    (version,) = run("PRAGMA source.user_version").fetchone()
    own: tuple[str, ...] = _CHECKED if version > READABLE else ()
    (last_setting,) = run("SELECT coalesce(max(key), 0) FROM settings").fetchone()
    _nouns(store, ("id", "plain", *own[1:]))
    (last,) = run("SELECT coalesce(max(key), 0) FROM trials").fetchone()
    (conflicts,) = run(
        f"SELECT count(*) {_THERE} WHERE (t.test_error IS NULL) <> (t2.test_error IS NULL) "
        "OR abs(t.test_error - t2.test_error) > ? * max(abs(t.test_error), abs(t2.test_error))",
        (ROUNDING,),
    ).fetchone()
    same = " AND ".join(f"q.{name} = p.{name}" for name in MADE)
    names = (*_COLUMNS, *own)
    read = ", ".join(f"t.{name}" for name in names)
    new = run(
        f"INSERT OR IGNORE INTO trials (setting, seed, route, provenance, {', '.join(names)}) "
        f"SELECT s2.key, t.seed, r2.key, q.key, {read} FROM source.trials t "
        "JOIN source.settings s ON s.key = t.setting JOIN settings s2 ON s2.id = s.id "
        "JOIN source.routes r ON r.key = t.route JOIN routes r2 ON r2.route = r.route "
        f"JOIN source.provenance p ON p.key = t.provenance JOIN provenance q ON {same} ORDER BY t.key"
    ).rowcount
    run(
        f"INSERT INTO arrays SELECT t2.key, a.name, a.data {_THERE} JOIN source.arrays a ON a.trial = t.key "
        "WHERE t2.key > ?",
        (last,),
    )
    more = "".join(f", {name}" for name in own[1:])
    run(
        f"INSERT OR IGNORE INTO records (key, data, seconds, created, provenance{more}) "
        f"SELECT c.key, c.data, c.seconds, c.created, q.key{more} FROM source.records c "
        f"JOIN source.provenance p ON p.key = c.provenance JOIN provenance q ON {same}"
    )
    if not own:
        seal(store.connection, last_setting, last)
    (rows,) = run("SELECT count(*) FROM source.trials").fetchone()
    return Merged(new, rows - new, conflicts)


def _nouns(store: Store, columns: Sequence[str]) -> None:
    """Copy the routes, the provenance and the settings of the source, with their leaves."""
    run = store.connection.execute
    (last,) = run("SELECT coalesce(max(key), 0) FROM settings").fetchone()
    made, own = ", ".join(MADE), ", ".join(columns)
    run("INSERT OR IGNORE INTO routes (verb, route) SELECT verb, route FROM source.routes ORDER BY key")
    run(f"INSERT OR IGNORE INTO provenance ({made}) SELECT {made} FROM source.provenance ORDER BY key")
    run("INSERT OR IGNORE INTO paths (path) SELECT path FROM source.paths ORDER BY key")
    run(f"INSERT OR IGNORE INTO settings ({own}) SELECT {own} FROM source.settings ORDER BY key")
    run(
        "INSERT INTO leaves SELECT s2.key, p2.key, l.value FROM settings s2 JOIN source.settings s ON s.id = s2.id "
        "JOIN source.leaves l ON l.setting = s.key JOIN source.paths p ON p.key = l.path JOIN paths p2 ON p2.path = p.path "
        "WHERE s2.key > ?",
        (last,),
    )
