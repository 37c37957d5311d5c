"""Store: the rows of many trials in one SQLite file, safe under several processes and sudden ends.

Every trial has one row, and the first writer wins: a trial that is computed twice is stored once. ``put`` is one transaction. The
file is for one machine; workers on other machines send their outcomes to the process that writes.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from giantstep._given.declared import a, a_path, at_least, given, list_of, number, one_of, text
from giantstep._given.plain import several
from giantstep.errors import InputError, quoted
from giantstep.lab.store import condition, serialise, stored_row
from giantstep.lab.store.file import TIMEOUT, connect, explain_errors, transaction
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.schema import plant
from giantstep.lab.store.setting_paths import default
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS, StoredRow
from giantstep.lab.store.trial import Trial
from giantstep.results.outcome import Outcome

__all__ = ["Store"]

_FOUND = ("ok", *NUMBERS, "seconds", "nans", "notes")  # what ``stored_row.columns`` makes
_PUT = ("key", "setting", "seed", "route", *_FOUND, "created", "provenance")
_INSERT = f"INSERT OR IGNORE INTO trials ({', '.join(_PUT)}) VALUES ({', '.join('?' * len(_PUT))})"
_MADE = tuple(each.name for each in fields(Provenance))
_FROM = "FROM trials t CROSS JOIN settings s ON s.key = t.setting CROSS JOIN routes r ON r.key = t.route"
_SELECT = f"SELECT s.id, t.seed, r.route, s.plain, t.created, {', '.join(f't.{name}' for name in _FOUND)} {_FROM}"
_THERE = (  # trials that are among those wanted
    "FROM wanted w CROSS JOIN settings s ON s.id = w.setting CROSS JOIN routes r ON r.route = w.route "
    "CROSS JOIN trials t ON t.setting = s.key AND t.seed = w.seed AND t.route = r.key"
)

_trials, _conditions = list_of(a(Trial), "trials"), list_of(text, "texts")


def _pair(value: Any, what: str) -> tuple[Trial, Outcome]:
    """A trial and what came of it."""
    pair = several(value, what)
    if pair is None or len(pair) != 2 or not isinstance(pair[0], Trial) or not isinstance(pair[1], Outcome):
        raise InputError(f"{what} must be a pair of a Trial and its Outcome, not {quoted(value)}")
    return pair


@dataclass(frozen=True)
class Store:
    """An open store, made by ``Store.open(path)``. Use it in a ``with`` statement, or ``close`` it."""

    path: Path
    connection: sqlite3.Connection
    address: str
    mode: str = "write"
    timeout: float = TIMEOUT

    @staticmethod
    @given(path=a_path, mode=one_of("write", "read"), timeout=number(0.0))
    def open(path: str | Path, mode: str = "write", *, timeout: float = TIMEOUT) -> "Store":
        """Open a store.

        Args:
            path: the file; mode "write" creates it if it does not exist. A file that is not a store is not changed.
            mode: "write", or "read", which changes nothing except that a store of an older version is upgraded.
            timeout: seconds to wait for another process that is writing.
        """
        place = Path(path)
        connection, address = connect(place, mode, timeout)
        return Store(place, connection, address, mode, timeout)

    @staticmethod
    @contextmanager
    def at(path: str | Path | None) -> "Iterator[Store]":
        """The store at a path, or one that lasts as long as the ``with`` statement."""
        with TemporaryDirectory() as folder, Store.open(path or Path(folder) / "store.sqlite") as opened:
            yield opened

    def close(self) -> None:
        """Close the file."""
        self.connection.close()

    def __enter__(self) -> "Store":
        return self

    def __exit__(self, *problem: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._explain_errors():
            return self.connection.execute("SELECT count(*) FROM trials").fetchone()[0]

    def __bool__(self) -> bool:
        return True  # an empty store is a store

    @given(
        trials=list_of(_pair, "trials with their outcomes"),
        provenance=a(Provenance),
        arrays=list_of(one_of(*ARRAYS), "names"),
    )
    def put(
        self,
        trials: Sequence[tuple[Trial, Outcome]],
        provenance: Provenance | None = None,
        arrays: Sequence[str] = ARRAYS,
    ) -> int:
        """Write outcomes in one transaction and return how many were new; trials that are stored already stay as they are.

        ``provenance`` says which versions made them; by default those of this process. ``arrays`` are the array fields to write.
        """
        if self.mode != "write":
            raise InputError(f"{self.path} is open for reading: open it with mode 'write' to put rows into it")
        rows = [
            (trial.key, stored_row.columns(trial, outcome), stored_row.arrays(outcome, arrays))
            for trial, outcome in trials
        ]
        plains = {trial.key[0]: trial.setting for trial, _ in trials}
        texts = {name: setting.to_plain() for name, setting in plains.items()}
        verbs = {trial.key[2]: trial.route.verb for trial, _ in trials}
        now, run = time.time(), self.connection.execute
        with self._explain_errors(), transaction(self.connection):
            settings = {name: self._setting(name, plain) for name, plain in texts.items()}
            routes = {route: self._route(route, verb) for route, verb in verbs.items()}
            made = self._provenance(provenance or Provenance.here())
            (last,) = run("SELECT coalesce(max(key), 0) FROM trials").fetchone()  # nobody else writes meanwhile
            self.connection.executemany(
                _INSERT,
                (
                    (key, settings[setting], -1 if seed is None else seed, routes[route], *values, now, made)
                    for key, ((setting, seed, route), values, _) in enumerate(rows, start=last + 1)
                ),
            )
            new = [key for (key,) in run("SELECT key FROM trials WHERE key > ?", (last,))]
            known = ((key, name, data) for key in new for name, data in rows[key - last - 1][2])
            self.connection.executemany("INSERT INTO arrays VALUES (?, ?, ?)", known)
        return len(new)

    @given(trials=_trials)
    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """The trials that the store lacks, in their order, each once."""
        with self._wanted(trials) as wanted:
            known = {place for (place,) in self.connection.execute(f"SELECT w.place {_THERE}")}
        return [trial for place, trial in enumerate(wanted) if place not in known]

    @given(trials=_trials, arrays=list_of(one_of(*ARRAYS), "names"))
    def find(self, trials: Iterable[Trial], arrays: Sequence[str] = ()) -> Iterator[tuple[Trial, Outcome]]:
        """The trials that the store has, with their numbers and the arrays asked for, all read at one moment."""
        columns = f"w.place, t.key, {', '.join(f't.{name}' for name in _FOUND)}"
        stored = f"SELECT name, data FROM arrays WHERE trial = ? AND name IN ({', '.join('?' * len(arrays))})"
        run = self.connection.execute
        with self._wanted(trials) as wanted:  # closed before the first is yielded, because a caller may stop anywhere
            rows = run(f"SELECT {columns} {_THERE} ORDER BY w.place").fetchall()
            data = {key: dict(run(stored, (key, *arrays))) for _, key, *_ in rows} if arrays else {}
        for place, key, *values in rows:
            yield wanted[place], stored_row.outcome(wanted[place], tuple(values), data.get(key, {}))

    @given(trials=_trials, names=list_of(one_of(*NUMBERS), "names"))
    def numbers(self, trials: Iterable[Trial], names: Sequence[str]) -> list[tuple[Any, ...]]:
        """For every trial that the store has: its place among the trials, whether it is ok, and the numbers of these names."""
        columns = ["w.place", "t.ok", *(f"t.{name}" for name in names)]
        with self._wanted(trials):
            return self.connection.execute(f"SELECT {', '.join(columns)} {_THERE}").fetchall()

    @contextmanager
    def _wanted(self, trials: Iterable[Trial]) -> Iterator[list[Trial]]:
        """The trials, each once, with their keys in a temporary table."""
        wanted = {trial.key: trial for trial in trials}
        keys = ((place, key[0], -1 if key[1] is None else key[1], key[2]) for place, key in enumerate(wanted))
        columns = "place INTEGER PRIMARY KEY, setting TEXT, seed INTEGER, route TEXT"
        with self._explain_errors(), transaction(self.connection, "DEFERRED"):
            self.connection.execute(f"CREATE TEMP TABLE IF NOT EXISTS wanted ({columns})")
            self.connection.execute("DELETE FROM wanted")
            self.connection.executemany("INSERT INTO wanted VALUES (?, ?, ?, ?)", keys)
            yield list(wanted.values())
            self.connection.execute("DELETE FROM wanted")

    @given(trial=a(Trial))
    def get(self, trial: Trial) -> Outcome | None:
        """The stored outcome of a trial, or None."""
        setting, seed, route = trial.key
        with self._explain_errors(), transaction(self.connection, "DEFERRED"):
            row = self.connection.execute(
                f"SELECT t.key, {', '.join(f't.{name}' for name in _FOUND)} FROM settings s JOIN routes r "
                "JOIN trials t ON t.setting = s.key AND t.route = r.key WHERE s.id = ? AND t.seed = ? AND r.route = ?",
                (setting, -1 if seed is None else seed, route),
            ).fetchone()
            if row is None:
                return None
            arrays = dict(self.connection.execute("SELECT name, data FROM arrays WHERE trial = ?", row[:1]))
        return stored_row.outcome(trial, row[1:], arrays)

    @given(where=_conditions, limit=at_least(0))
    def select(self, where: Sequence[str] = (), limit: int | None = None) -> Iterator[StoredRow]:
        """Yield the rows that meet every condition, without holding them all in memory.

        Conditions are text: ``d=1000``, ``network.width>=100``, ``route=simulate``, ``seed<5``, ``ok=false``,
        ``activation=relu``. A name is a column (seed, route, verb, ok, test_error, ...) or a leaf of the setting: its dotted
        path, or the end of that path if it is unambiguous.
        """
        with self._explain_errors():
            clause, parameters = self._where(where)
        count = -1 if limit is None else limit
        order = "ORDER BY t.setting, t.seed, t.route LIMIT ?"
        return self._rows(f"{_SELECT} {clause} {order}", [*parameters, count])

    @given(where=_conditions)
    def tally(self, where: Sequence[str] = ()) -> dict[tuple[str, bool], int]:
        """How many rows meet the conditions, by route and by whether their numbers can be trusted."""
        with self._explain_errors():
            clause, parameters = self._where(where)
            counted = f"SELECT t.route, t.ok, count(*) AS rows FROM trials t {clause} GROUP BY t.route, t.ok"
            counts = self.connection.execute(
                f"SELECT r.route, c.ok, c.rows FROM ({counted}) c JOIN routes r ON r.key = c.route ORDER BY 1, 2",
                parameters,
            )
            return {(route, bool(ok)): rows for route, ok, rows in counts}

    @given(where=_conditions)
    def count(self, where: Sequence[str] = ()) -> int:
        """How many rows meet the conditions."""
        return sum(self.tally(where).values())

    @given(where=_conditions)
    def varying(self, where: Sequence[str] = ()) -> dict[str, str]:
        """The leaves that differ among the settings of such rows, as path and kind: "text", "real" or "integer"."""
        with self._explain_errors():
            clause, parameters = self._where(where)
            chosen = f"(SELECT DISTINCT t.setting FROM trials t {clause})"
            (settings,) = self.connection.execute(f"SELECT count(*) FROM {chosen}", parameters).fetchone()
            leaves = self.connection.execute(
                "SELECT path, text, real FROM paths JOIN (SELECT path AS leaf, min(value) AS low, max(value) AS high, "
                "count(*) AS times, max(typeof(value) = 'text') AS text, max(typeof(value) = 'real') AS real "
                f"FROM leaves WHERE setting IN {chosen} GROUP BY path) ON key = leaf "
                "WHERE times < ? OR low IS NOT high ORDER BY key",
                [*parameters, settings],
            )
            kinds = {path: "text" if text else "real" if real else "integer" for path, text, real in leaves}
        usual = {str: "text", float: "real"}  # a setting that leaves the field out has its default
        return {path: usual.get(type(default(path)), kind) if kind != "text" else kind for path, kind in kinds.items()}

    @given(key=text)
    def put_record(self, key: str, value: Any, seconds: float = 0.0, provenance: Provenance | None = None) -> None:
        """Write a record, which is plain data with arrays; a record that is stored already stays as it is."""
        data = serialise.dumps(value)
        with self._explain_errors(), transaction(self.connection):
            made = self._provenance(provenance or Provenance.here())
            self.connection.execute(
                "INSERT OR IGNORE INTO records VALUES (?, ?, ?, ?, ?)", (key, data, seconds, time.time(), made)
            )

    @given(key=text)
    def get_record(self, key: str) -> tuple[Any, float] | None:
        """A stored record and the seconds that it took, or None."""
        with self._explain_errors():
            row = self.connection.execute("SELECT data, seconds FROM records WHERE key = ?", (key,)).fetchone()
        return None if row is None else (serialise.loads(row[0]), row[1])

    @contextmanager
    def reading(self) -> Iterator[None]:
        """Everything read inside comes from one moment, whatever other processes write meanwhile."""
        with self._explain_errors(), transaction(self.connection, "DEFERRED"):
            yield

    @given(name=text)
    def resolve(self, name: str) -> str:
        """The column, or the full path of the leaf, that a name stands for."""
        with self._explain_errors():
            return condition.resolve(name, condition.known_paths(self.connection))

    def _rows(self, sql: str, parameters: list[Any]) -> Iterator[StoredRow]:
        last, plain = "", {}
        with self._explain_errors(), closing(self.connection.execute(sql, parameters)) as cursor:
            for name, seed, route, text, created, ok, *values, seconds, nans, notes in cursor:
                if name != last:
                    last, plain = name, json.loads(text)
                sentences = tuple(json.loads(notes)) if notes else ()
                known = stored_row.numbers(tuple(values), nans)
                yield StoredRow(
                    name, None if seed < 0 else seed, route, bool(ok), known, sentences, seconds, created, plain
                )

    def _where(self, where: Sequence[str]) -> tuple[str, list[Any]]:
        return condition.where_sql([condition.parse(each) for each in where], self.connection)

    def _setting(self, name: str, plain: dict[str, Any]) -> int:
        """The key of a setting; a new setting is written with its leaves."""
        row = self.connection.execute("SELECT key FROM settings WHERE id = ?", (name,)).fetchone()
        if row is not None:
            return row[0]
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        key = self.connection.execute("INSERT INTO settings (id, plain) VALUES (?, ?)", (name, text)).lastrowid
        assert key is not None
        plant(self.connection, key, plain)
        return key

    def _route(self, route: str, verb: str) -> int:
        self.connection.execute("INSERT OR IGNORE INTO routes (verb, route) VALUES (?, ?)", (verb, route))
        return self.connection.execute("SELECT key FROM routes WHERE route = ?", (route,)).fetchone()[0]

    def _provenance(self, made: Provenance) -> int:
        values = tuple(getattr(made, name) for name in _MADE)
        find = f"SELECT key FROM provenance WHERE ({', '.join(_MADE)}) = ({', '.join('?' * len(_MADE))})"
        row = self.connection.execute(find, values).fetchone()
        if row is not None:
            return row[0]
        put = f"INSERT INTO provenance ({', '.join(_MADE)}) VALUES ({', '.join('?' * len(_MADE))})"
        key = self.connection.execute(put, values).lastrowid
        assert key is not None
        return key

    def _explain_errors(self) -> Any:
        return explain_errors(self.path, self.timeout)
