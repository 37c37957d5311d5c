"""One array code for the host and for a GPU: NumPy with SciPy, or JAX's twins of the two."""

from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg

from giantstep.errors import InputError

Array = Any


@dataclass(frozen=True)
class Arrays:
    """``xp`` (NumPy) and ``linalg`` (SciPy) wherever the arrays lie; ``gpu`` is the device of JAX, None for the host."""

    xp: Any
    linalg: Any
    gpu: Any = None

    def put(self, x: np.ndarray) -> Array:
        """The array where the work is done."""
        if self.gpu is None:
            return x
        from giantstep._machine.backend import jax

        return jax.device_put(x, self.gpu)

    def exact(self) -> AbstractContextManager:
        """Products in single precision without the shortcuts of a GPU, whose errors of 1e-3 no normal equations bear."""
        if self.gpu is None:
            return nullcontext()
        from giantstep._machine.backend import jax

        return jax.default_matmul_precision("highest")

    def double(self, x: Array) -> Array:
        """In double precision."""
        return x.astype(self.xp.float64) if x.dtype != self.xp.float64 else x

    def squares(self, F: Array) -> Array:
        """F^T F: NumPy sees the two factors as one and computes half of it."""
        return F.T @ F


HOST = Arrays(np, scipy.linalg)


def arrays(device: str) -> Arrays:
    """The host for "cpu", the first GPU of JAX for "gpu", and for "auto" a GPU where there is one."""
    if device not in ("auto", "cpu", "gpu"):
        raise InputError(f'device is "auto", "cpu" or "gpu", not {device!r}')
    if device == "cpu":
        return HOST
    from giantstep._machine.backend import jax, jnp

    gpus = [d for d in jax.devices() if d.platform in ("gpu", "cuda", "rocm")]
    if not gpus and device == "gpu":
        raise InputError(
            'device="gpu" needs a GPU that JAX can see, and there is none; device="cpu" runs on this machine'
        )
    return Arrays(jnp, jax.scipy.linalg, gpus[0]) if gpus else HOST
