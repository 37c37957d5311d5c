"""One array code for the host and for a GPU: NumPy with SciPy, or JAX's twins of the two."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, fields
from functools import cache
from typing import Any

import numpy as np
import scipy.linalg

from giantstep.errors import InputError

Array = Any
_NOUNS: list[tuple[type, tuple[str, ...]]] = []  # those that JAX has not heard of


def noun(*choices: str) -> Callable[[type], type]:
    """A class of frozen data that programs take and return. The fields named are part of a program; the others are arrays."""

    def listed(kind: type) -> type:
        _NOUNS.append((kind, choices))
        return kind

    return listed


@cache
def _program(function: Callable, choices: tuple[str, ...]) -> Callable:
    from giantstep._machine.backend import jax

    while _NOUNS:
        kind, static = _NOUNS.pop()
        data = [each.name for each in fields(kind) if each.name not in static]
        jax.tree_util.register_dataclass(kind, data, list(static))
    return jax.jit(function, static_argnames=choices)


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

    def zeros(self, *shape: int) -> Array:
        """An array of zeros where the work is done."""
        return self.put(np.zeros(shape))

    def run(self, function: Callable, *args: Any, **choices: Any) -> Any:
        """``function(*args, **choices)``. On a GPU it is one compiled program, and the choices are part of it."""
        if self.gpu is None:
            return function(*args, **choices)
        return _program(function, tuple(choices))(*args, **choices)

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
