"""A store whose file is deleted or replaced while it is open: that is told, and its rows are saved."""

import os
import sys
from pathlib import Path

import pytest
from experiments import base
from test_store import pair

import giantstep as gs
from giantstep import cli
from giantstep.errors import InputError
from giantstep.lab.store import Store
from giantstep.lab.store._atomic import atomic
from giantstep.lab.sweep import run as sweeps

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows does not delete open files")


@pytest.fixture
def path(tmp_path) -> Path:
    return tmp_path / "results.db"


def delete(path: Path) -> None:
    path.unlink()


def replace(path: Path) -> None:
    with Store.open(path.with_name("other.db")) as other:
        other.put([pair(7)])
    os.replace(path.with_name("other.db"), path)


def overwrite(path: Path) -> None:
    path.write_bytes(b"garbage " * 4096)


def saved(path: Path) -> Path:
    (found,) = path.parent.glob("results-saved-*.db")
    return found


@pytest.mark.parametrize("harm", [delete, replace])
def test_the_next_write_tells_and_saves_what_was_written(path, harm):
    with pytest.raises(InputError, match="deleted or replaced.*saved in") as told:
        with Store.open(path) as store:
            store.put([pair(0)])
            harm(path)
            store.put([pair(1)])
    assert str(saved(path)) in str(told.value) and "\n" not in str(told.value)
    with Store.open(saved(path), "read") as store:
        assert len(store) == 2 and store.verify().ok


@pytest.mark.parametrize("harm", [delete, replace, overwrite])
def test_the_end_tells(path, harm):
    with pytest.raises(InputError, match="deleted or replaced"):
        with Store.open(path) as store:
            store.put([pair(seed) for seed in range(20)])
            harm(path)


def test_another_error_is_not_hidden(path):
    with pytest.raises(ZeroDivisionError), Store.open(path) as store:
        store.put([pair(0)])
        path.unlink()
        raise ZeroDivisionError


def test_another_folder_another_writer_and_reading_are_not_told(path, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "elsewhere").mkdir()
    with Store.open("results.db") as store:
        store.put([pair(0)])
        with Store.open(path) as other:
            other.put([pair(1)])
        os.chdir("elsewhere")
        store.put([pair(2)])
    with Store.open(path, "read") as store:
        assert len(store) == 3
        path.unlink()


def test_a_sweep_and_the_command_line_tell(path, monkeypatch, capsys):
    real = sweeps.missing

    def deleting(every, store):
        found = real(every, store)
        path.unlink(missing_ok=True)
        return found

    monkeypatch.setattr(sweeps, "missing", deleting)
    options = {"routes": "simulate(n_test=50)", "progress": False}
    with pytest.raises(InputError, match="deleted or replaced"):
        gs.sweep(base(), store=path, **options)
    with Store.open(saved(path), "read") as store:
        assert len(store) == 1
    file = path.with_name("sweep.json")
    base().save(path.with_name("setting.json"))
    file.write_text('{"setting": "setting.json", "routes": "simulate(n_test=50)"}', encoding="utf-8")
    assert cli.run(["sweep", str(file), "--store", str(path)]) == 2
    assert "deleted or replaced" in capsys.readouterr().err


def test_a_file_is_written_under_the_mask_of_the_process_which_stays(tmp_path, monkeypatch):
    before = os.umask(0o027)
    try:
        with monkeypatch.context() as patched:
            patched.setattr(os, "umask", None)  # another thread would create files under it
            with atomic(tmp_path / "page.html") as unfinished:
                assert unfinished.stat().st_mode & 0o777 == 0o640
                unfinished.write_text("page", encoding="utf-8")
    finally:
        os.umask(before)
    assert (tmp_path / "page.html").stat().st_mode & 0o777 == 0o640
    assert [each.name for each in tmp_path.iterdir()] == ["page.html"]
