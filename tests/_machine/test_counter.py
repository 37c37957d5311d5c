"""Numbers drawn on the device depend on (seed, stream, row, column) alone, and are standard normal."""

from functools import partial

import numpy as np
import pytest
from scipy.special import ndtri
from scipy.stats import kstest

from giantstep._machine import counter
from giantstep._machine.backend import jax, jnp
from giantstep._machine.counter import DEVICE


@partial(jax.jit, static_argnames=("stream", "rows", "columns", "dtype"))
def normals(seed, stream, start, rows, columns, dtype=np.float64):
    return DEVICE.normals(seed, stream, start, rows, columns, dtype)


def words(*numbers: int):
    return tuple(np.array([n], np.uint32) for n in numbers)


@pytest.mark.parametrize(
    ("key", "count", "answer"),
    [
        ((0, 0), (0, 0), (0x6B200159, 0x99BA4EFE)),
        ((0xFFFFFFFF, 0xFFFFFFFF), (0xFFFFFFFF, 0xFFFFFFFF), (0x1CB996FC, 0xBB002BE7)),
        ((0x13198A2E, 0x03707344), (0x243F6A88, 0x85A308D3), (0xC4923A9C, 0x483DF7A0)),
    ],
)
def test_the_answers_that_the_authors_of_threefry_publish(key, count, answer):
    found = counter.threefry(words(*key), words(*count))
    assert [int(x[0]) for x in found] == list(answer)


def test_the_same_as_the_cipher_of_jax(seed):
    from jax.extend.random import threefry_2x32

    rng = np.random.default_rng(seed)
    key, x, y = (rng.integers(0, 2**32, k, dtype=np.uint32) for k in (2, 50, 50))
    ours = counter.threefry((key[0], key[1]), (x, y))
    np.testing.assert_array_equal(np.concatenate(ours), threefry_2x32(jnp.asarray(key), np.concatenate([x, y])))


def test_any_slice_is_a_slice_of_the_whole_also_of_fewer_columns():
    whole = np.asarray(normals(3, (5, 0), 0, 60, 40))
    for start, rows, columns in ((0, 60, 7), (11, 30, 40), (59, 1, 1), (7, 8, 33)):
        part = np.asarray(normals(3, (5, 0), start, rows, columns))
        np.testing.assert_allclose(part, whole[start : start + rows, :columns], rtol=1e-13)


def test_streams_that_are_arguments_of_a_program_have_the_same_numbers(seed):
    @jax.jit
    def drawn(words):
        return counter.DeviceSource(words).normals(seed, (16, 1), 0, 30, 4)

    for stream in ((16,), (17,), (2,)):
        words = np.array([counter.stream_words((*stream, last)) for last in range(2)])
        np.testing.assert_array_equal(drawn(words), normals(seed, (*stream, 1), 0, 30, 4))
    assert drawn._cache_size() == 1  # pyright: ignore[reportAttributeAccessIssue]


def test_streams_and_seeds_differ(seed):
    keys = ((0,), (1,), (16, 0), (16, 1), (16,))
    draws = [np.asarray(normals(seed + s, key, 0, 200, 40)).ravel() for s in (0, 1, 2**40) for key in keys]
    correlations = np.corrcoef(draws) - np.eye(len(draws))
    assert np.max(np.abs(correlations)) < 5 / np.sqrt(draws[0].size)


def test_they_are_standard_normal(seed):
    x = np.asarray(normals(seed, (7,), 0, 1000, 300)).ravel()
    assert kstest(x, "norm").pvalue > 1e-4
    for power, moment in ((1, 0.0), (2, 1.0), (3, 0.0), (4, 3.0), (6, 15.0)):
        spread = np.std(x**power) / np.sqrt(x.size)
        assert abs(np.mean(x**power) - moment) < 5 * spread, power
    neighbours = x.reshape(1000, 300)
    for a, b in ((neighbours[:, 1:], neighbours[:, :-1]), (neighbours[1:], neighbours[:-1])):
        assert abs(np.mean(a * b)) < 5 / np.sqrt(a.size) and abs(np.mean((a**2 - 1) * (b**2 - 1))) < 10 / np.sqrt(
            a.size
        )


def test_the_ends_of_the_bits_are_finite_and_mirror_images():
    high, low = (jnp.asarray([0, 0xFFFFFFFF, 0x80000000, 0x7FFFFFFF], jnp.uint32) for _ in range(2))
    low = low.at[2:].set(jnp.asarray([0, 0xFFFFFFFF], jnp.uint32))
    uniform, normal = counter.to_uniform(high, low), np.asarray(counter.to_normal(high, low))
    np.testing.assert_array_equal(uniform, [-1 + 2.0**-52, 1 - 2.0**-52, 2.0**-52, -(2.0**-52)])
    assert np.all(np.isfinite(normal)) and abs(normal[0] - ndtri(2.0**-53)) < 1e-6 and normal[0] == -normal[1]
    assert 0 < normal[2] < 1e-15 and normal[2] == -normal[3]


def test_float32_is_the_same_numbers_rounded():
    whole = np.asarray(normals(3, (7,), 5, 400, 30))
    np.testing.assert_allclose(normals(3, (7,), 5, 400, 30, np.float32), whole, rtol=2.0**-23)


def test_signs_are_fair_and_vectors_normal(seed):
    vector = jax.jit(DEVICE.vector, static_argnums=(1, 2, 3))
    signs = np.asarray(vector(seed, (1,), 10_000, "sign"))
    assert set(signs.tolist()) == {-1.0, 1.0} and abs(signs.mean()) < 5 / 100
    assert kstest(np.asarray(vector(seed, (1,), 10_000, "normal")), "norm").pvalue > 1e-4
