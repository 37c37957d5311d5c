"""Random numbers drawn on the device: every number is a function of (seed, stream, row, column) and of nothing else.

The counter (row, column) is encrypted under a key made from the seed and the stream, by Threefry-2x32 with 20 rounds (Salmon,
Moraes, Dror and Shaw 2011, "Parallel random numbers: as easy as 1, 2, 3"). The numbers are therefore the same whatever the
chunking and the number of devices. XLA makes one kernel of a draw, which writes the numbers and nothing else; JAX's own primitive
of the same cipher would first write its counters, keys and bits, three times as many bytes. ``to_normal`` is the one place that
turns bits into N(0, 1) numbers.
"""

import hashlib
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np

from giantstep._machine.arrays import xp
from giantstep._machine.backend import jax, jnp

Array = Any
Pair = tuple[Array, ...]  # two words of 32 bits

ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def threefry(key: Pair, counter: Pair) -> Pair:
    """The counter encrypted under the key, both two words of 32 bits: five times four rounds, with the key added in between."""
    words = (key[0], key[1], key[0] ^ key[1] ^ PARITY)
    x, y = counter[0] + words[0], counter[1] + words[1]
    for i in range(5):
        for turn in ROTATIONS[i % 2]:
            x = x + y
            y = ((y << np.uint32(turn)) | (y >> np.uint32(32 - turn))) ^ x
        x, y = x + words[(i + 1) % 3], y + words[(i + 2) % 3] + np.uint32(i + 1)
    return x, y


def stream_key(seed: Array, words: Pair) -> Pair:
    """The key of a stream of a seed: its 64 bits, with those that the words of the stream say turned over. Different keys give
    independent numbers however alike they are, which is what the cipher is for."""
    seed, (first, second) = jnp.asarray(seed, jnp.uint64), words
    low, high = (seed & np.uint64(0xFFFFFFFF)).astype(jnp.uint32), (seed >> np.uint64(32)).astype(jnp.uint32)
    return low ^ first, high ^ second


@cache
def stream_words(stream: tuple[int, ...]) -> tuple[np.uint32, np.uint32]:
    """The first 64 bits of the digest of a stream."""
    text = ",".join(str(int(entry)) for entry in stream)
    return tuple(np.frombuffer(hashlib.sha256(text.encode()).digest()[:8], "<u4").astype(np.uint32))


def bits(seed: Array, words: Pair, start: Array | int, rows: int, columns: int) -> Pair:
    """Two random words for every place of the rows from ``start`` on; a start may be traced."""
    row = (jnp.asarray(start, jnp.uint32) + jnp.arange(rows, dtype=jnp.uint32))[:, None]
    return threefry(stream_key(seed, words), (row, jnp.arange(columns, dtype=jnp.uint32)[None, :]))


def to_uniform(high: Array, low: Array) -> Array:
    """Numbers in (-1, 1), symmetric about 0 and never 0: (2 k + 1) / 2^52 - 1 for the 52 bits k, exactly."""
    k = (high.astype(jnp.uint64) << np.uint64(20)) | (low >> np.uint32(12)).astype(jnp.uint64)
    return k.astype(jnp.float64) * 2.0**-51 + (2.0**-52 - 1.0)


def to_normal(high: Array, low: Array) -> Array:
    """N(0, 1) numbers by the inverse of their distribution function: sqrt(2) erf^-1(u)."""
    return np.sqrt(2.0) * jax.lax.erf_inv(to_uniform(high, low))


@dataclass(frozen=True)
class DeviceSource:
    """Draws on the device, as ``random.HostSource`` does on the host; seeds and starts may be traced. Numbers are drawn in
    float64 and then rounded, so that every precision has the same data.

    Attributes:
        words: those of the streams that the source is asked for, (streams, 2), in the order of their last entries. They may be
            traced: one program then serves all streams. Without them they are computed.
    """

    words: Array = None

    def _words(self, stream: tuple[int, ...]) -> Pair:
        return stream_words(stream) if self.words is None else tuple(self.words[stream[-1]])

    def normals(
        self, seed: Array, stream: tuple[int, ...], start: Array | int, rows: int, columns: int, dtype: Any = np.float64
    ) -> Array:
        """So many rows, from ``start`` on, of the endless matrix of N(0, 1) numbers of that seed and stream."""
        numbers = to_normal(*bits(seed, self._words(stream), start, rows, columns)).astype(dtype)
        return jax.lax.optimization_barrier(numbers)  # they are drawn once, and not again where they are used

    def vector(self, seed: Array, stream: tuple[int, ...], size: int, law: str) -> Array:
        """So many numbers: "normal", or "sign" for -1 and 1 with equal probability."""
        words = bits(seed, self._words(stream), 0, size, 1)
        normal = to_normal(*words) if law == "normal" else xp.where(to_uniform(*words) < 0, -1.0, 1.0)
        return jax.lax.optimization_barrier(normal[:, 0])


DEVICE = DeviceSource()
