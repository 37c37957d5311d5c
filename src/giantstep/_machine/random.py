"""Random numbers that depend on (seed, stream, row) alone: the same data whatever the chunking, device or threads.

Rows come in fixed blocks, each from a generator of its own keyed by (seed, stream, block). They are drawn on the host
in float64 (about 10 ns a number and core, several times faster than JAX's generator on a CPU) and blocks run in threads,
which also round them when float32 is asked for. A process may keep the blocks that it drew last (``keep_drawn``).
"""

import os
from collections import OrderedDict
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import IntEnum
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol, runtime_checkable

import numpy as np

from giantstep._machine.threads import cores

BLOCK = 2**18  # numbers in a block, about three milliseconds of work: smaller ones do not scale to many threads
SHARED = 4  # blocks from which threads share a draw
SPARE = 1 / 16  # of the free memory, the most that kept blocks may take


class Stream(IntEnum):
    """What a stream of random numbers is for; steps add their own number."""

    ROWS = 0
    SECOND_LAYER = 1
    TEST = 2
    READOUT = 3
    SKETCH = 4
    POPULATION = 5
    NULL = 6
    STEP = 16


def block_rows(columns: int) -> int:
    """Rows in a block."""
    return max(1, BLOCK // max(columns, 1))


def drawn_alone(rows: int, columns: int) -> bool:
    """Whether one thread draws that many rows."""
    return rows < SHARED * block_rows(columns)


def generator(seed: int, *key: int) -> np.random.Generator:
    """The generator of that seed and key."""
    return np.random.Generator(np.random.SFC64(np.random.SeedSequence(seed, spawn_key=key)))


@lru_cache(maxsize=1)
def _threads(process: int) -> ThreadPoolExecutor:
    """One pool a process: starting threads takes as long as a few blocks."""
    return ThreadPoolExecutor(len(cores()))


class _Block:
    """A block, drawn as far as it was asked for. One of a single column is long, and is read in many pieces or hardly at all."""

    def __init__(self, seed: int, key: tuple[int, ...], columns: int) -> None:
        self._draw, self._known, self._alone = generator(seed, *key), np.empty((0, columns)), Lock()

    @property
    def size(self) -> int:
        """How many numbers are known."""
        return self._known.size

    def head(self, rows: int) -> np.ndarray:
        """Its first rows, to be read only."""
        with self._alone:
            known, columns = self._known.shape
            more = rows - known
            if more > 0:
                more = max(more, known) if columns == 1 else more  # twice as many each time
                drawn = self._draw.standard_normal((more, columns))
                self._known = np.concatenate([self._known, drawn]) if known else drawn
                self._known.flags.writeable = False
            return self._known[:rows]


class _LastBlocks:
    """The blocks that were drawn last. Without room for numbers none is kept."""

    def __init__(self) -> None:
        self.room, self._size, self._alone = 0, 0, Lock()
        # each with the numbers that it had when it was asked last
        self._blocks: OrderedDict[tuple, tuple[_Block, int]] = OrderedDict()

    def head(self, seed: int, key: tuple[int, ...], rows: int, columns: int) -> np.ndarray:
        """The first rows of a block. Blocks that nobody has asked for the longest are dropped; a too large one is not kept."""
        name = (seed, key, columns)
        with self._alone:
            block, _ = self._blocks.get(name, (None, 0))
        block = block or _Block(seed, key, columns)
        found = block.head(rows)
        with self._alone:
            size = block.size
            self._size += size - self._blocks.pop(name, (None, 0))[1]
            self._blocks[name] = block, size
            if size > self.room:
                self._blocks.move_to_end(name, last=False)
            while self._size > self.room:
                self._size -= self._blocks.popitem(last=False)[1][1]
        return found


_last = _LastBlocks()


def keep_drawn(numbers: int) -> None:
    """Keep the last blocks of this process for whoever asks for them again: up to so many numbers in all (8 bytes each), and no
    more than a small share of the memory that is free, or that the task at work may take."""
    from giantstep._machine.memory import available  # here, because claims are listed without it

    _last.room = min(numbers, int(SPARE * available() / 8))


def kept_bytes() -> int:
    """The most that the kept blocks may take."""
    return 8 * _last.room


@lru_cache(maxsize=8)
def _column(seed: int, key: tuple[int, ...]) -> _Block:
    return _Block(seed, key, 1)


def _head(seed: int, key: tuple[int, ...], rows: int, columns: int) -> np.ndarray:
    """The first rows of a block, which is all that is drawn of it."""
    if _last.room:
        return _last.head(seed, key, rows, columns)
    return _column(seed, key).head(rows) if columns == 1 else generator(seed, *key).standard_normal((rows, columns))


def normals(
    seed: int, stream: tuple[int, ...], start: int, stop: int, columns: int, dtype: Any = np.float64
) -> np.ndarray:
    """Rows start..stop of the endless matrix of N(0, 1) numbers of that seed and stream, rounded to the dtype. A part of a block
    that is kept is given as it is, to be read only."""
    height = block_rows(columns)
    block, first = divmod(start, height)
    if _last.room and columns > 1 and dtype == np.float64 and start < stop <= (block + 1) * height:
        return _head(seed, (*stream, block), first + stop - start, columns)[first:]
    result = np.empty((stop - start, columns), dtype)

    def fill(block: int) -> None:
        first, last = block * height, (block + 1) * height
        lo, hi = max(first, start), min(last, stop)
        place = result[lo - start : hi - start]
        if (lo, hi) == (first, last) and result.dtype == np.float64 and not _last.room:
            generator(seed, *stream, block).standard_normal(out=place)
        else:
            place[:] = _head(seed, (*stream, block), hi - first, columns)[lo - first :]

    blocks = range(start // height, -(-stop // height))
    if len(blocks) < SHARED or len(cores()) == 1:
        for block in blocks:
            fill(block)
    else:
        list(_threads(os.getpid()).map(fill, blocks))
    return result


@runtime_checkable
class Source(Protocol):
    """Where random numbers come from: the host, or the device of the data (``counter.DeviceSource``)."""

    def normals(self, seed: Any, stream: tuple[int, ...], start: Any, rows: int, columns: int, dtype: Any = ...) -> Any:
        """So many rows, from ``start`` on, of the endless matrix of N(0, 1) numbers of that seed and stream."""
        ...

    def vector(self, seed: Any, stream: tuple[int, ...], size: int, law: str) -> Any:
        """So many numbers: "normal", or "sign" for -1 and 1 with equal probability."""
        ...


@dataclass(frozen=True)
class HostSource:
    """Draws on the host."""

    def normals(
        self, seed: int, stream: tuple[int, ...], start: int, rows: int, columns: int, dtype: Any = np.float64
    ) -> np.ndarray:
        return normals(seed, stream, start, start + rows, columns, dtype)

    def vector(self, seed: int, stream: tuple[int, ...], size: int, law: str) -> np.ndarray:
        if law == "normal" and _last.room:
            return _last.head(seed, stream, size, 1)[:, 0].copy()
        draw = generator(seed, *stream)
        return draw.standard_normal(size) if law == "normal" else np.where(draw.random(size) < 0.5, -1.0, 1.0)


HOST = HostSource()
