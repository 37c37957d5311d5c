"""Threads: how many BLAS and OpenMP take, and work that several share.

OpenBLAS's threads wait by spinning: a small LAPACK call gains nothing from two of them, and takes many times as long when another
process wants the cores. NumPy's other functions take one thread, and let others run meanwhile.
"""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Any, TypeVar

import numpy as np

Item = TypeVar("Item")
Result = TypeVar("Result")
SMALL = 512  # matrices below this gain nothing from several BLAS threads
FEW_ROWS = 8192  # with fewer, thousands of small products and histograms wait for their threads longer than they work


def cores() -> list[int]:
    """The cores that this process may use."""
    return sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))


@lru_cache(maxsize=1)
def _blas():
    import scipy.linalg.cython_lapack  # noqa: F401  (the library that XLA calls must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@lru_cache(maxsize=1)
def _openmp():
    import sklearn.utils  # noqa: F401  (its OpenMP library must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="openmp")


class _Limit:
    """The limit of one thread, which belongs to the whole process: the first who asks sets it, and the last lifts it."""

    def __init__(self, libraries: Callable[[], Any]) -> None:
        self._libraries = libraries
        self._count, self._lock, self._set = 0, threading.Lock(), None

    def set(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._set: Any = self._libraries().limit(limits=1)

    def lift(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._set.restore_original_limits()


_LIMIT = _Limit(lambda: _blas())
_TREES = _Limit(lambda: _openmp())


@contextmanager
def _held(limits: tuple[_Limit, ...]) -> Iterator[None]:
    for limit in limits:
        limit.set()
    try:
        yield
    finally:
        for limit in limits:
            limit.lift()


def one_blas_thread(size: int = 0) -> AbstractContextManager[None]:
    """Run LAPACK calls on matrices of this size with one BLAS thread if they are small; results must be ready inside."""
    return _held((_LIMIT,) if size < SMALL else ())


def one_thread(rows: int) -> AbstractContextManager[None]:
    """Fit a table with one thread of BLAS and of OpenMP, in which scikit-learn grows trees, if it has few rows."""
    return _held((_LIMIT, _TREES) if rows < FEW_ROWS else ())


FREED = 2**25 - 2**16  # bytes, a little below the most that glibc adapts to


@lru_cache(maxsize=1)
def _pool(process: int) -> ThreadPoolExecutor:
    """One pool a process, apart from the one that draws: a task may wait for random numbers, never for another task.

    glibc returns arrays of more than 128 KiB to the system and asks for them anew, page by page, until one of that size was
    freed; this frees one.
    """
    np.empty(FREED, np.uint8)
    return ThreadPoolExecutor(len(cores()))


def ahead(make: Callable[[Item], Result], items: Iterable[Item], count: int | None = None) -> Iterator[Result]:
    """``make(item)`` of every item, in order. Threads make the next ones, ``count`` or one a core, while the caller works; on one
    core they would only take it from the caller, so there are none."""
    if len(cores()) == 1:
        yield from map(make, items)
        return
    pool, waiting = _pool(os.getpid()), deque[Future[Result]]()
    for item in items:
        waiting.append(pool.submit(make, item))
        if len(waiting) > (count or len(cores())):
            yield waiting.popleft().result()
    while waiting:
        yield waiting.popleft().result()
