"""Rows depend on (seed, stream, row) alone, and are standard normal."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import kstest

from giantstep._machine.random import normals


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
