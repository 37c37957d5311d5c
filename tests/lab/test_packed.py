"""Arrays as bytes: read back by NumPy and zlib alone, whoever wrote them, and noticed when they are damaged."""

import io
import zlib

import numpy as np
import pytest
from experiments import base

import giantstep as gs
from giantstep.lab.store import Store
from giantstep.lab.store._packed import SMALL, packed, unpacked

RNG = np.random.default_rng(0)
ARRAYS = {
    "matrix": RNG.random((300, 2)),
    "columns first": np.asfortranarray(RNG.random((5, 3))),
    "every other": RNG.random((8, 6))[::2, 1::2],
    "whole numbers": np.arange(7, dtype=np.int32),
    "no axes": np.array(1.5),
    "empty": np.zeros((0, 3)),
    "as large as small may be": RNG.random(SMALL // 8),
    "large digits": RNG.random(SMALL),
    "large zeros": np.zeros(SMALL),
}


@pytest.mark.parametrize("name", ARRAYS)
def test_numpy_and_zlib_read_what_is_written(name):
    array = ARRAYS[name]
    for found in (unpacked(packed(array)), np.load(io.BytesIO(zlib.decompress(packed(array))))):
        assert found.dtype == array.dtype and found.shape == array.shape
        np.testing.assert_array_equal(found, array)


@pytest.mark.parametrize("name", ["matrix", "columns first"])
def test_what_was_compressed_before_is_read(name):
    file = io.BytesIO()
    np.save(file, ARRAYS[name])
    for level in (0, 1, 9):
        np.testing.assert_array_equal(unpacked(zlib.compress(file.getvalue(), level)), ARRAYS[name])


def test_a_changed_byte_is_noticed_wherever_it_is():
    data = packed(RNG.random((3, 2)))
    for place in range(len(data)):
        damaged = bytearray(data)
        damaged[place] ^= 1
        with pytest.raises((zlib.error, ValueError, TypeError)):
            unpacked(bytes(damaged))
    with pytest.raises((zlib.error, ValueError)):
        unpacked(data[:-1])


def test_large_zeros_are_compressed_and_objects_are_refused():
    assert len(packed(ARRAYS["large zeros"])) < SMALL
    with pytest.raises(ValueError, match="Python objects"):
        packed(np.array([None, "a"], dtype=object))


def test_a_store_has_every_array_and_a_sweep_without_one_those_it_returns(tmp_path):
    options = {
        "seeds": range(2),
        "routes": "simulate(n_test=50)",
        "measures": ["test_error", "captured"],
        "progress": False,
    }
    path = tmp_path / "kept.db"
    kept, gone = gs.sweep(base(), store=path, **options), gs.sweep(base(), **options)
    for name in ("test_error", "captured", "ok", "stored"):
        np.testing.assert_array_equal(kept[name], gone[name])
    assert np.all(np.isfinite(gone.captured)) and bool(gone.stored.all())
    with Store.open(path, "read") as store:
        names = {name for (name,) in store.connection.execute("SELECT DISTINCT name FROM arrays")}
        (row, *_) = store.select(["seed=1"])
        outcome = store.get(row.trial)
    assert {"overlaps", "norms", "captured"} <= names
    assert outcome is not None and outcome.test_error == float(kept.test_error[0, 1])
    np.testing.assert_array_equal(outcome.captured, kept.captured[0, 1])
