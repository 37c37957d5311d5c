"""JAX, configured once, before its backend starts: import ``jax`` and ``jnp`` from here and nowhere else.

- Float64 is on: the theory and the ridge fits need it. Float32 work asks for float32 arrays by name.
- The concurrency-optimised scheduler of XLA's CPU backend is off. On two cores, graphs with many small independent
  LAPACK calls under a ``while_loop`` were seen to hang for ever with it (jaxlib 0.10.0 and 0.10.2), never without it.
  ``tests/test_backend.py`` runs such a graph in fresh processes under a time limit. Processes started from this one
  inherit the flag through the environment.
- Small LAPACK calls belong under ``one_blas_thread``. XLA takes LAPACK from SciPy's OpenBLAS, whose threads wait by
  spinning: when another process wants the cores, that same graph took 117 s instead of 3.8 s.
"""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import lru_cache

_NO_HANG = "--xla_cpu_enable_concurrency_optimized_scheduler=false"

if "xla_cpu_enable_concurrency_optimized_scheduler" not in os.environ.get("XLA_FLAGS", ""):
    os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} {_NO_HANG}".strip()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)

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


__all__ = ["SMALL", "jax", "jnp", "one_blas_thread"]
