"""A store that was written when all modules lay in one folder: a sweep goes on from it, and its results are those of today."""

import sqlite3
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

import giantstep as gs
from giantstep.lab.store import Store
from giantstep.lab.store.trial import Route

DUMP = Path(__file__).parents[1] / "frozen/store-3.sql"
BASE = gs.Setting(
    gs.Gaussian(12),
    gs.target("x1 + H2(x1)/2", noise=0.1),
    gs.Network(6, "relu"),
    gs.Protocol((gs.GiantStep(20, gs.power(0.3)),), gs.Ridge(20, 0.1)),
)


@pytest.fixture
def old(tmp_path) -> Path:
    path = tmp_path / "old.sqlite"
    connection = sqlite3.connect(path)
    connection.executescript(DUMP.read_text(encoding="utf-8"))
    connection.close()
    return path


def row(path: Path, query: str) -> tuple:
    """The first row of an answer, by SQLite alone."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query).fetchone()


def sweep(path: Path):
    axes = {"penalty": [0.1, 1.0]}
    return gs.sweep(
        BASE, axes, seeds=range(2), routes=["simulate", "theory"], measures=["test_error", "captured"], store=path
    )


def test_its_results_are_todays(old, tmp_path):
    stored, new = sweep(old), sweep(tmp_path / "new.sqlite")
    simulated = {"route": 0}  # the theory has more values of a today, and its share a term of order 1/d more
    for name in ("test_error", "captured"):
        np.testing.assert_allclose(stored[name][simulated].values, new[name][simulated].values, rtol=1e-9)
    np.testing.assert_allclose(stored["test_error"].values, new["test_error"].values, rtol=1e-5)


def test_nothing_is_computed_again(old, monkeypatch):
    monkeypatch.setattr("giantstep.lab.work._perform.perform", None)
    before = row(old, "SELECT count(*) FROM trials")
    sweep(old)
    assert row(old, "SELECT count(*) FROM trials") == before == (6,)


def test_the_theorys_option_has_its_new_name(old):
    connection = sqlite3.connect(old)
    connection.execute("INSERT INTO routes VALUES (9, 'theory', 'theory(regime=limit, spectra=true)')")
    connection.commit()
    connection.close()
    with Store.open(old):
        pass
    (route,) = row(old, "SELECT route FROM routes WHERE key = 9")
    assert Route.parse(route).key == route == "theory(regime=limit, spectrum=true)"
    assert Route.parse("theory(spectra=true)") == Route("theory", {"spectrum": True})  # in a file written before
