"""A store of every schema version as the SQL that makes it, and what is read from it.

Versions 2 to 4 were written by giantstep of their time; version 1 is version 2 without its leaves.
No dump is ever written again: a new version gets a dump of its own.
"""

import sqlite3
from contextlib import closing
from dataclasses import fields
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.lab.store import Store
from giantstep.lab.store._schema import VERSION
from giantstep.lab.store.provenance import Provenance
from giantstep.lab.store.stored_row import StoredRow
from giantstep.lab.store.trial import Route, Trial
from giantstep.results.outcome import Outcome, Status
from tests.frozen import written

VERSIONS = range(1, VERSION + 1)
RECORDS = ("a record", "some key")
COLUMNS = ("setting_id", "seed", "route", "ok", "numbers", "notes", "seconds", "created", "plain")


def dump(version: int) -> Path:
    """The file with the SQL of a version."""
    return written.FOLDER / f"store-{version}.sql"


def make(version: int, path: Path) -> None:
    """Make the store of a version."""
    with closing(sqlite3.connect(path)) as connection:
        connection.executescript(dump(version).read_text(encoding="utf-8"))


def content(path: Path, mode: str = "read") -> dict[str, Any]:
    """All rows, arrays and records of a store, as JSON has them."""
    with Store.open(path, mode) as store:
        stored = list(store.select())
        rows = [{**_columns(row), "arrays": _arrays(store.get(row.trial))} for row in stored]
        records = {key: store.get_record(key) for key in RECORDS}
    return {
        "rows": sorted(rows, key=repr),
        "records": {key: _record(*found) for key, found in records.items() if found is not None},
    }


def _columns(row: StoredRow) -> dict[str, Any]:
    return {name: _plain(getattr(row, name)) for name in COLUMNS}


def _arrays(outcome: Outcome | None) -> dict[str, Any]:
    """The arrays of a row, by name."""
    assert outcome is not None, "a row that is listed cannot be got"
    values = {each.name: getattr(outcome, each.name) for each in fields(outcome)}
    return {name: _plain(value) for name, value in values.items() if isinstance(value, np.ndarray)}


def _record(value: Any, seconds: float) -> dict[str, Any]:
    return {"value": _plain(value), "seconds": seconds}


def _plain(value: Any) -> Any:
    """Data as JSON has them; an array has its type and its shape, and NaN is a text."""
    if isinstance(value, np.ndarray):
        return {
            "dtype": value.dtype.str,
            "shape": list(value.shape),
            "array": value.ravel().tolist(),
        }
    if hasattr(value, "items"):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    return "nan" if value != value else value


def write() -> None:
    """Dump a store of the present version if there is none, and freeze what all dumps hold."""
    with TemporaryDirectory() as folder:
        if not dump(VERSION).exists():
            path = Path(folder) / "new.sqlite"
            _fill(path)
            dump(VERSION).write_text(dumped(path), encoding="utf-8")
        for version in VERSIONS:
            make(version, Path(folder) / f"{version}.sqlite")
        found = {str(version): content(Path(folder) / f"{version}.sqlite") for version in VERSIONS}
    written.write("stores", found)


def dumped(path: Path) -> str:
    """The SQL that makes a store, the marks of its file included."""
    with closing(sqlite3.connect(path)) as connection:
        lines = list(connection.iterdump())
        for mark in ("user_version", "application_id"):
            (value,) = connection.execute(f"PRAGMA {mark}").fetchone()
            lines.append(f"PRAGMA {mark} = {value};")
    return "\n".join(lines) + "\n"


def _fill(path: Path) -> None:
    """A store with every kind of row, array and record."""
    here = Provenance("0.2.0", "3.11.7", "0.10.2", "2.4.6", "x86_64", "cpu")
    there = Provenance("0.2.0", "3.12.1", "0.10.2", "2.4.6", "aarch64", "gpu")
    record = {"a": [1, 2.5, None, True, "text"], "b": np.arange(6.0).reshape(2, 3) / 7}
    with Store.open(path) as store:
        store.put(_rows()[:3], here)
        store.put(_rows()[3:], there)
        store.put_record("a record", record, 0.5, there)


def _rows() -> list[tuple[Trial, Outcome]]:
    one = gs.Setting(
        gs.Gaussian(12),
        gs.target("x1 + H2(x1)/2", noise=0.1),
        gs.Network(4, "relu"),
        gs.Protocol((gs.GiantStep(20, gs.power(0.3)),), gs.Ridge(20, 0.1)),
    )
    plain = gs.Network(3, "tanh", rows="gaussian", scale="1/p")
    two = gs.Setting(
        gs.Gaussian(9), gs.target("x1*x2"), plain, gs.Protocol((), gs.Ridge(15, "gcv"))
    )
    mixture = gs.Mixture(
        9, (gs.Component(0.5, (gs.Spike(2.0, "x1"),)), gs.Component(0.5, mean="u"))
    )
    three = gs.Setting(mixture, gs.target("1 | -1"), plain, gs.Protocol((), gs.SGD(15, 0.5)))
    many = {
        "eta": 2.5,
        "penalty": 0.1,
        "test_error": 1.25,
        "test_error_se": 0.015625,
        "risk": float("nan"),
        "train_error": 0.1 + 0.2,
        "null_level": 1 / 11,
        "overlaps": np.arange(4.0).reshape(4, 1) / 3,
        "norms": np.array([1.0, 0.5, 0.25, 0.125]),
        "captured": np.array([1 / 3]),
        "learned": np.array([[1 / 7]]),
    }
    band = np.array([0.5, 1.0])
    doubts = Status(False, ("The step overflows.", "Second: 2 < 3."))
    return [
        _row(one, 0, "simulate", **many),
        _row(one, 1, "simulate", test_error=1e300, status=doubts),
        _row(
            one,
            None,
            "theory(spectrum=true)",
            test_error=0.75,
            test_error_band=band,
            bulk_edge=2.0,
            outliers=1,
        ),
        _row(
            two,
            3,
            "equivalent(model=spiked, n_test=50)",
            outliers=2.5,
            singular_values=np.arange(3.0, 0.0, -1.0) / 3,
        ),
        _row(three, 0, "simulate", rate=0.5, test_error=0.5, seconds=0.125),
    ]


def _row(setting: gs.Setting, seed: int | None, route: str, **values: Any) -> tuple[Trial, Outcome]:
    trial = Trial(setting, seed, Route.parse(route))
    seeds = None if seed is None else (seed,)
    return trial, Outcome(setting, trial.route.verb, seeds=seeds, **values)
