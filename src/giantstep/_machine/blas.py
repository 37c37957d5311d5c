"""Large products of one seed by NumPy's BLAS where XLA would run them on the CPU: they take three quarters of its time there.

Threads of OpenBLAS wait for the next product by spinning, and would keep XLA's from the cores between two of them: the package
asks for a short wait when it is imported, which has an effect if it comes before NumPy.
"""

from typing import Any

import numpy as np

from giantstep._machine.arrays import is_jax, is_traced
from giantstep._machine.backend import jax, jnp

Array = Any


LARGE = 256  # columns from which NumPy's product is the faster one


def on_host(samples: Array, columns: int) -> bool:
    """Whether products of these samples (S, rows, ...) with that many columns go to NumPy: one seed, on the CPU itself."""
    if not is_jax(samples) or is_traced(samples):
        return False  # they are NumPy's already, or part of a compiled program
    large = samples.shape[0] == 1 and columns >= LARGE and jax.default_backend() == "cpu"
    return large and samples.devices() == {jax.local_devices()[0]}  # several virtual devices share rows by XLA


def product(X: Array, W: Array) -> Array:
    """X W^T for every seed, (S, rows, p)."""
    if not is_jax((X, W)):
        return X @ np.swapaxes(W, 1, 2)
    if not on_host(X, min(W.shape[1:])):
        return _product(X, W)
    return jax.dlpack.from_dlpack((np.asarray(X)[0] @ np.asarray(W)[0].T)[None])


@jax.jit
def _product(X, W):
    # XLA would merge a ReLU into the product, for which cuBLAS has only kernels of half the speed
    return jax.lax.optimization_barrier(jnp.einsum("snd,spd->snp", X, W))
