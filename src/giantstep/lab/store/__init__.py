"""Store: the rows of many trials in one SQLite file, safe under several processes and sudden ends.

Every trial has one row, and the first writer wins: a trial that is computed twice is stored once. ``put`` is one transaction. The
file is for one machine; workers on other machines send their outcomes to the process that writes.
"""

import json
import sqlite3
import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from operator import itemgetter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from giantstep._given.declared import a, a_path, at_least, given, list_of, number, one_of, text
from giantstep._given.plain import several
from giantstep.errors import InputError, quoted
from giantstep.lab.store import _checksum as checksum
from giantstep.lab.store import _condition as condition
from giantstep.lab.store import _presence as presence
from giantstep.lab.store import _serialise as serialise
from giantstep.lab.store import stored_row
from giantstep.lab.store._checksum import AFTER, DOUBLES, MADE, SEALED, TEXTS
from giantstep.lab.store._file import TIMEOUT, connect, explain_errors, transaction
from giantstep.lab.store._schema import plant
from giantstep.lab.store._setting_paths import default
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.stored_row import ARRAYS, NUMBERS, StoredRow
from giantstep.lab.store.trial import Trial
from giantstep.results.outcome import Outcome

if TYPE_CHECKING:
    from giantstep.lab.store._verify import Verified

__all__ = ["Store"]

_PUT = ("key", "setting", "seed", "route", "provenance", *TEXTS, *DOUBLES, "checksum")
_INSERT = f"INSERT OR IGNORE INTO trials ({', '.join(_PUT)}) VALUES ({', '.join('?' * len(_PUT))})"
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
    place: Path = Path()  # the path from the root: the folder of the process may change
    identity: presence.Identity | None = None
    last: list[int] = field(default_factory=list)  # the key of the row written last

    @staticmethod
    @given(path=a_path, mode=one_of("write", "read"), timeout=number(0.0))
    def open(path: str | Path, mode: str = "write", *, timeout: float = TIMEOUT) -> "Store":
        """Open a store.

        Args:
            path: the file; mode "write" creates it if it does not exist. A file that is not a store is not changed.
            mode: "write", or "read", which changes nothing except that a store of an older version is upgraded.
            timeout: seconds to wait for another process that is writing.
        """
        near = Path(path)
        connection, address = connect(near, mode, timeout)
        place = near.absolute()
        return Store(near, connection, address, mode, timeout, place, presence.identity(place))

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
        try:
            if problem[0] is None and self.mode == "write":
                self._present(*self.last)
        finally:
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
        made = provenance or Provenance.here()
        words, now = " ".join(_texts(made)), time.time()
        rows = [(trial.key, *self._row(trial, outcome, arrays, words, now)) for trial, outcome in trials]
        plains = {trial.key[0]: trial.setting for trial, _ in trials}
        texts = {name: setting.to_plain() for name, setting in plains.items()}
        verbs = {trial.key[2]: trial.route.verb for trial, _ in trials}
        run = self.connection.execute
        with self._explain_errors(), transaction(self.connection):
            settings = {name: self._setting(name, plain) for name, plain in texts.items()}
            routes = {route: self._route(route, verb) for route, verb in verbs.items()}
            by = self._provenance(made)
            (last,) = run("SELECT coalesce(max(key), 0) FROM trials").fetchone()  # nobody else writes meanwhile
            self.connection.executemany(
                _INSERT,
                (
                    (key, settings[setting], -1 if seed is None else seed, routes[route], by, *values)
                    for key, ((setting, seed, route), values, _) in enumerate(rows, start=last + 1)
                ),
            )
            new = [key for (key,) in run("SELECT key FROM trials WHERE key > ?", (last,))]
            known = ((key, name, data) for key in new for name, data in rows[key - last - 1][2])
            self.connection.executemany("INSERT INTO arrays VALUES (?, ?, ?)", known)
        self.last[:] = new[-1:] or self.last
        self._present()
        return len(new)

    def _row(self, trial: Trial, result: Outcome, names: Sequence[str], made: str, now: float) -> tuple[Any, Any]:
        """The columns TEXTS, DOUBLES and checksum of a row, and its arrays."""
        setting, seed, route = trial.key
        doubles, words = stored_row.columns(trial, result)
        arrays = stored_row.arrays(result, names)
        texts, numbers = (checksum.of_arrays(arrays), *words), (now, *doubles)
        seal = checksum.of_row(setting, -1 if seed is None else seed, route, made, texts, numbers)
        return (*texts, *numbers, seal), arrays

    @given(trials=_trials)
    def missing(self, trials: Iterable[Trial]) -> list[Trial]:
        """The trials that the store lacks, in their order, each once; the others are checked."""
        with self._wanted(trials) as wanted:
            known = {row[AFTER] for row in self._checked(f"SELECT {SEALED}, w.place {_THERE}")}
        return [trial for place, trial in enumerate(wanted) if place not in known]

    @given(trials=_trials, arrays=list_of(one_of(*ARRAYS), "names"))
    def find(self, trials: Iterable[Trial], arrays: Sequence[str] = ()) -> Iterator[tuple[Trial, Outcome]]:
        """The trials that the store has, with their numbers and the arrays asked for, all read at one moment."""
        stored = f"SELECT name, data FROM arrays WHERE trial = ? AND name IN ({', '.join('?' * len(arrays))})"
        run = self.connection.execute
        with self._wanted(trials) as wanted:  # closed before the first is yielded, because a caller may stop anywhere
            rows = list(self._checked(f"SELECT {SEALED}, w.place, t.key {_THERE} ORDER BY w.place"))
            asked = rows if arrays else []
            data = {row[AFTER]: dict(run(stored, (row[-1], *arrays))) for row in asked}
        for row in rows:
            place = row[AFTER]
            yield wanted[place], self._outcome(wanted[place], row, data.get(place, {}), arrays)

    @given(trials=_trials, names=list_of(one_of(*NUMBERS), "names"))
    def numbers(self, trials: Iterable[Trial], names: Sequence[str]) -> list[tuple[Any, ...]]:
        """For every trial that the store has: its place among the trials, whether it is ok, and the numbers of these names."""
        picked = itemgetter(AFTER, *(checksum.AT[name] for name in ("ok", *names)))
        with self._wanted(trials):
            return [picked(row) for row in self._checked(f"SELECT {SEALED}, w.place {_THERE}")]

    def _checked(self, sql: str, parameters: Sequence[Any] = ()) -> Iterator[tuple[Any, ...]]:
        """The rows of a query that begins with SEALED, each checked."""
        made = checksum.provenances(self.connection)
        with closing(self.connection.execute(sql, parameters)) as cursor:
            for row in cursor:
                checksum.check_row(row, made)
                yield row

    def _outcome(self, trial: Trial, row: tuple, data: dict[str, bytes], asked: Sequence[str]) -> Outcome:
        """The outcome of a checked row with these arrays."""
        with self._explain_errors():
            checksum.check_arrays(row, data, asked)
            return stored_row.outcome(trial, *checksum.opened(row), data)

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
            rows = list(
                self._checked(
                    f"SELECT {SEALED}, t.key FROM settings s JOIN routes r "
                    "JOIN trials t ON t.setting = s.key AND t.route = r.key WHERE s.id = ? AND t.seed = ? AND r.route = ?",
                    (setting, -1 if seed is None else seed, route),
                )
            )
            if not rows:
                return None
            data = dict(self.connection.execute("SELECT name, data FROM arrays WHERE trial = ?", rows[0][AFTER:]))
        return self._outcome(trial, rows[0], data, ARRAYS)

    @given(where=_conditions, limit=at_least(0))
    def select(self, where: Sequence[str] = (), limit: int | None = None) -> Iterator[StoredRow]:
        """Yield the rows that meet every condition, without holding them all in memory.

        Conditions are text: ``d=1000``, ``network.width>=100``, ``route=simulate``, ``seed<5``, ``ok=false``,
        ``activation=relu``. A name is a column (seed, route, verb, ok, test_error, ...) or a leaf of the setting: its dotted
        path, or the end of that path if it is unambiguous.
        """
        with self._explain_errors():
            clause, parameters, leaves = self._where(where)
        count = -1 if limit is None else limit
        order = "ORDER BY t.setting, t.seed, t.route LIMIT ?"
        sql = f"SELECT {SEALED}, s.plain, s.checksum {checksum.FROM} {clause} {order}"
        return self._rows(sql, [*parameters, count], leaves)

    @given(where=_conditions)
    def tally(self, where: Sequence[str] = ()) -> dict[tuple[str, bool], int]:
        """How many rows meet the conditions, by route and by whether their numbers can be trusted."""
        with self._explain_errors():
            clause, parameters, _ = self._where(where)
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
            clause, parameters, _ = self._where(where)
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
        data, now = serialise.dumps(value), time.time()
        made = provenance or Provenance.here()
        seal = checksum.of_record(key, " ".join(_texts(made)), seconds, now, data)
        with self._explain_errors(), transaction(self.connection):
            self.connection.execute(
                "INSERT OR IGNORE INTO records (key, data, seconds, created, provenance, checksum) VALUES (?, ?, ?, ?, ?, ?)",
                (key, data, seconds, now, self._provenance(made), seal),
            )
        self._present()

    @given(key=text)
    def get_record(self, key: str) -> tuple[Any, float] | None:
        """A stored record and the seconds that it took, or None."""
        with self._explain_errors():
            columns = "data, seconds, created, provenance, checksum"
            row = self.connection.execute(f"SELECT {columns} FROM records WHERE key = ?", (key,)).fetchone()
            if row is None:
                return None
            data, seconds, created, by, stored = row
            checksum.check_record(key, data, seconds, created, checksum.provenances(self.connection).get(by), stored)
            return checksum.record(key, data), seconds

    def verify(self) -> "Verified":
        """Read all pages, settings, rows, arrays and records, and say what is damaged."""
        from giantstep.lab.store._verify import verify

        return verify(self)

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

    def _rows(self, sql: str, parameters: list[Any], leaves: condition.OnLeaves) -> Iterator[StoredRow]:
        last, plain = "", {}
        with self._explain_errors():
            for row in self._checked(sql, parameters):
                (_, name, seed, route), (text, seal) = row[:4], row[AFTER:]
                if name != last:
                    checksum.check_setting(name, text, seal)
                    last, plain = name, json.loads(text)
                    condition.check_leaves(name, plain, leaves)
                ok, known, notes, seconds = checksum.opened(row)
                created = row[checksum.AT["created"]]
                yield StoredRow(name, None if seed < 0 else seed, route, ok, known, notes, seconds, created, plain)

    def _where(self, where: Sequence[str]) -> tuple[str, list[Any], condition.OnLeaves]:
        return condition.where_sql([condition.parse(each) for each in where], self.connection)

    def _setting(self, name: str, plain: dict[str, Any]) -> int:
        """The key of a setting; a new setting is written with its leaves."""
        row = self.connection.execute("SELECT key FROM settings WHERE id = ?", (name,)).fetchone()
        if row is not None:
            return row[0]
        text = json.dumps(plain, sort_keys=True, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
        insert = "INSERT INTO settings (id, plain, checksum) VALUES (?, ?, ?)"
        key = self.connection.execute(insert, (name, text, checksum.of_setting(name, text))).lastrowid
        assert key is not None
        plant(self.connection, key, plain)
        return key

    def _route(self, route: str, verb: str) -> int:
        self.connection.execute("INSERT OR IGNORE INTO routes (verb, route) VALUES (?, ?)", (verb, route))
        return self.connection.execute("SELECT key FROM routes WHERE route = ?", (route,)).fetchone()[0]

    def _provenance(self, made: Provenance) -> int:
        values = _texts(made)
        find = f"SELECT key FROM provenance WHERE ({', '.join(MADE)}) = ({', '.join('?' * len(MADE))})"
        row = self.connection.execute(find, values).fetchone()
        if row is not None:
            return row[0]
        put = f"INSERT INTO provenance ({', '.join(MADE)}) VALUES ({', '.join('?' * len(MADE))})"
        key = self.connection.execute(put, values).lastrowid
        assert key is not None
        return key

    def _present(self, last: int | None = None) -> None:
        """Raise an InputError if the file is gone or another, or lacks the row of this key."""
        presence.check(self.place, self.address, self.identity, self.connection, last)

    def _explain_errors(self) -> Any:
        return explain_errors(self.path, self.timeout)


def _texts(made: Provenance) -> tuple[str, ...]:
    return tuple(getattr(made, name) for name in MADE)
