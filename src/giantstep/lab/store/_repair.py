"""repair(source, target): write every row of a damaged store that can still be read into a new one."""

import json
import sqlite3
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.lab.store import Store, stored_row
from giantstep.lab.store import _checksum as checksum
from giantstep.lab.store._checksum import AFTER, FROM, MADE, SEALED
from giantstep.lab.store._damage import Damage
from giantstep.lab.store._schema import VERSION, unseal
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.stored_row import ARRAYS
from giantstep.lab.store.trial import Route, Trial

_ROW = f"SELECT {SEALED}, s.plain, s.checksum {FROM} WHERE t.key = ?"
# Of SQLite, of a checksum, of JSON, of a noun, of an array.
_BROKEN = (sqlite3.DatabaseError, Damage, ValueError, TypeError, KeyError)


@dataclass(frozen=True)
class Repaired:
    """How many rows were saved, and how many could not be read."""

    saved: int
    lost: int


def repair(source: str | Path, target: str | Path) -> Repaired:
    """Copy what can be read, row by row; the source is only read. The target must not exist."""
    if not Path(source).is_file():
        raise InputError(f"There is no store {source}.")
    if Path(target).exists():
        raise InputError(f"{target} exists already: name a new file for the rows that can be saved")
    damaged = sqlite3.connect(f"{Path(source).absolute().as_uri()}?mode=ro", uri=True)
    saved = lost = 0
    try:
        last = _last(damaged, Path(source))
        if damaged.execute("PRAGMA user_version").fetchone()[0] < VERSION:
            unseal(damaged)
        with Store.open(target) as store:
            for key in range(1, last + 1):
                try:
                    row = damaged.execute(_ROW, (key,)).fetchone()
                    if row is not None:
                        pair, made = _read(damaged, key, row)
                        saved += store.put([pair], made)
                except _BROKEN:
                    lost += 1
    finally:
        damaged.close()
    return Repaired(saved, lost)


def _last(damaged: sqlite3.Connection, path: Path) -> int:
    try:
        return damaged.execute("SELECT coalesce(max(key), 0) FROM trials").fetchone()[0]
    except sqlite3.DatabaseError as problem:
        raise InputError(f"{path} cannot be repaired: its table of trials is lost ({problem})") from None


def _read(damaged: sqlite3.Connection, key: int, row: tuple[Any, ...]) -> tuple[tuple[Trial, Any], Provenance]:
    """The trial of a row, its outcome and provenance; what is not as it was written is broken."""
    found = f"SELECT key, {', '.join(MADE)} FROM provenance WHERE key = ?"
    made = damaged.execute(found, (row[4],)).fetchall()
    checksum.check_row(row, {by: " ".join(texts) for by, *texts in made})
    _, name, seed, route = row[:4]
    checksum.check_setting(name, *row[AFTER:])
    setting = Setting.from_plain(json.loads(row[AFTER]))
    trial = Trial(setting, None if seed < 0 else seed, Route.parse(route))
    if trial.setting.id != name:
        raise Damage(f"the text of setting {name} is not the one that its id stands for")
    arrays = dict(damaged.execute("SELECT name, data FROM arrays WHERE trial = ?", (key,)))
    checksum.check_arrays(row, arrays, ARRAYS)
    outcome = stored_row.outcome(trial, *checksum.opened(row), arrays)
    return (trial, outcome), Provenance(*made[0][1:])
