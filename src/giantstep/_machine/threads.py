"""How many threads BLAS takes.

OpenBLAS's threads wait by spinning: a small LAPACK call gains nothing from two of them, and takes many times as long when another
process wants the cores.
"""

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache

SMALL = 512  # matrices below this gain nothing from several BLAS threads


@lru_cache(maxsize=1)
def _blas():
    import scipy.linalg.cython_lapack  # noqa: F401  (the library that XLA calls must be loaded to be found)
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController().select(user_api="blas")


@contextmanager
def one_blas_thread(size: int = 0) -> Iterator[None]:
    """Run LAPACK calls on matrices of this size with one BLAS thread if they are small; results must be ready inside."""
    with _blas().limit(limits=1) if size < SMALL else nullcontext():
        yield
