"""A store of every schema version has the rows, arrays and records that it had."""

import shutil

import pytest

from tests.frozen import stores, written


@pytest.fixture(params=stores.VERSIONS)
def version(request) -> int:
    assert stores.dump(request.param).exists(), "python -m tests.frozen makes this dump"
    return request.param


@pytest.mark.parametrize("mode", ["read", "write"])
def test_what_is_read_is_what_was_written(version, mode, tmp_path):
    path = tmp_path / "store.sqlite"
    stores.make(version, path)
    frozen = written.read("stores")[str(version)]
    for _ in ("upgraded", "as it then is"):
        written.assert_same(frozen, stores.content(path, mode))


def test_an_upgraded_store_is_whole_and_can_be_merged(version, tmp_path):
    from giantstep.lab.store import Store
    from giantstep.lab.store.merge import merge

    path, copy = tmp_path / "store.sqlite", tmp_path / "copy.sqlite"
    stores.make(version, path)
    with Store.open(path) as store:
        assert store.verify().ok
    shutil.copy(path, copy)
    merge(tmp_path / "all.sqlite", [path, copy])
    frozen = written.read("stores")[str(version)]
    written.assert_same(frozen, stores.content(tmp_path / "all.sqlite"))


def test_dumps_are_small_and_have_their_version():
    frozen = written.read("stores")
    assert list(frozen) == [str(version) for version in stores.VERSIONS]
    for version in stores.VERSIONS:
        text = stores.dump(version).read_text(encoding="utf-8")
        assert len(text) < 30_000 and f"PRAGMA user_version = {version};" in text
