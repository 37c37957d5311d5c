"""How many threads BLAS takes.

OpenBLAS's threads wait by spinning: a small LAPACK call gains nothing from two of them, and takes many times as long when another
process wants the cores.
"""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

SMALL = 512  # matrices below this gain nothing from several BLAS threads


@lru_cache(maxsize=1)
def _blas():
    import scipy.linalg.cython_lapack  # noqa: F401  (the library that XLA calls must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


class _Limit:
    """The limit of one thread, which belongs to the whole process: the first who asks sets it, and the last lifts it."""

    def __init__(self) -> None:
        self._count, self._lock, self._set = 0, threading.Lock(), None

    def set(self) -> None:
        with self._lock:
            self._count += 1
            if self._count == 1:
                self._set: Any = _blas().limit(limits=1)

    def lift(self) -> None:
        with self._lock:
            self._count -= 1
            if self._count == 0:
                self._set.restore_original_limits()


_LIMIT = _Limit()


@contextmanager
def one_blas_thread(size: int = 0) -> Iterator[None]:
    """Run LAPACK calls on matrices of this size with one BLAS thread if they are small; results must be ready inside."""
    if size >= SMALL:
        yield
        return
    _LIMIT.set()
    try:
        yield
    finally:
        _LIMIT.lift()
