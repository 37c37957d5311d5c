"""Rows depend on (seed, stream, row) alone, and are standard normal."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from giantstep._machine import random
from giantstep._machine.random import keep_drawn, normals


@given(st.integers(0, 400), st.integers(0, 400), st.sampled_from([1, 7, 300, 70_000]))
def test_any_slice_is_a_slice_of_the_whole(i, j, columns):
    if columns > 1000:
        i, j = i % 6, j % 6
    start, stop = sorted((i, j))
    whole = normals(3, (5, 0), 0, stop, columns)
    np.testing.assert_array_equal(normals(3, (5, 0), start, stop, columns), whole[start:])


def test_streams_and_seeds_differ(seed):
    draws = [normals(seed + s, key, 0, 500, 40).ravel() for s in (0, 1) for key in ((0,), (1,), (16, 0), (16, 1))]
    correlations = np.corrcoef(draws) - np.eye(len(draws))
    assert np.max(np.abs(correlations)) < 5 / np.sqrt(draws[0].size)
    assert kstest(draws[0], "norm").pvalue > 1e-4


def test_float32_is_the_same_numbers_rounded():
    whole = normals(3, (7,), 5, 4000, 300)
    np.testing.assert_array_equal(normals(3, (7,), 5, 4000, 300, np.float32), whole.astype(np.float32))


@pytest.fixture
def kept(monkeypatch):
    """Blocks are kept during a test, and forgotten after it."""
    monkeypatch.setattr(random, "_last", random._LastBlocks())
    keep_drawn(3 * random.BLOCK)
    return random._last


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("columns", [1, 7, 300])
def test_kept_blocks_are_the_numbers_that_would_be_drawn(kept, columns, dtype):
    """Also where a block was asked for from another row on, or not as far."""
    places = [(0, 10), (0, 4000), (5, 20), (3990, 4000), (0, 4000)]
    found = [normals(3, (7,), *place, columns, dtype) for place in places]
    for numbers in found:
        if numbers.flags.writeable:  # what a caller does with its own rows changes no block
            numbers += 1.0
    again = [normals(3, (7,), *place, columns, dtype) for place in places]
    keep_drawn(0)
    for place, numbers in zip(places, again, strict=True):
        np.testing.assert_array_equal(numbers, normals(3, (7,), *place, columns, dtype))


def test_more_rows_of_a_kept_block_are_drawn_after_those_that_are_known(kept, monkeypatch):
    drawn = []
    monkeypatch.setattr(random, "generator", lambda *key, plain=random.generator: drawn.append(key) or plain(*key))
    for rows in (3, 50, 10, 800):
        normals(3, (7,), 0, rows, 300)
    assert drawn == [(3, 7, 0)]


def test_kept_vectors_are_those_that_would_be_drawn(kept):
    first = [random.HOST.vector(3, (1,), size, law) for law in ("normal", "sign") for size in (5, 900, 7)]
    for vector in first:
        vector *= 2.0  # changes nothing that is kept
    again = [random.HOST.vector(3, (1,), size, law) for law in ("normal", "sign") for size in (5, 900, 7)]
    keep_drawn(0)
    plain = [random.HOST.vector(3, (1,), size, law) for law in ("normal", "sign") for size in (5, 900, 7)]
    for kept_now, drawn in zip(again, plain, strict=True):
        np.testing.assert_array_equal(kept_now, drawn)


def test_nobody_can_change_a_kept_block(kept):
    for start in (0, 5):
        with pytest.raises(ValueError, match="read-only"):
            normals(3, (7,), start, 10, 300)[:] = 0.0


def test_no_more_blocks_are_kept_than_there_is_room_for(kept, monkeypatch):
    drawn = []
    monkeypatch.setattr(random, "generator", lambda *key, plain=random.generator: drawn.append(key) or plain(*key))
    rows = 2 * random.block_rows(100)
    for stream in (0, 0, 1, 0, 1):
        normals(3, (stream,), 0, rows, 100)
        assert sum(block.size for block, _ in kept._blocks.values()) <= 3 * random.BLOCK
    assert len(drawn) == 2 + 0 + 2 + 2 + 2  # two batches of two blocks do not fit together
    normals(3, (1,), rows // 2, rows, 100)
    assert len(drawn) == 8


def test_where_memory_is_short_less_is_kept(kept, monkeypatch):
    monkeypatch.setattr("giantstep._machine.memory.available", lambda: 8.0 * 1000 / random.SPARE)
    keep_drawn(3 * random.BLOCK)
    assert kept.room == 1000
    normals(3, (0,), 0, 9, 100)
    normals(3, (1,), 0, 11, 100)  # is too large
    assert sum(block.size for block, _ in kept._blocks.values()) == 900
