"""JAX, configured once, before its backend starts: import ``jax`` and ``jnp`` from here and nowhere else.

- Float64 is on: the theory and the ridge fits need it. Float32 work asks for float32 arrays by name.
- The concurrency-optimised scheduler of XLA's CPU backend is off. On two cores, graphs with many small independent
  LAPACK calls under a ``while_loop`` were seen to hang for ever with it (jaxlib 0.10.0 and 0.10.2), never without it.
  ``tests/_machine/test_backend.py`` runs such a graph in fresh processes under a time limit. Processes started from this one
  inherit the flag through the environment. The same graph on all of several virtual CPU devices at once hangs even so:
  LAPACK runs on one device, also where a mesh shares the samples (``_mesh.alone``). The stacks of another
  program that hung show why it did: a LAPACK call on a batch shares it among the threads of XLA's pool and waits for them in
  one of these threads, so that as many such calls side by side as there are cores wait for ever. No two
  loops with batched LAPACK calls in a program may be independent (``arrays.in_turn``).
- Products on a GPU are those of cuBLAS. XLA would compile dozens of Triton candidates for every shape and try them all: the first
  fit of an estimator took 138 s with them and 33 s without on an H200, the second 0.8 s either way.
- Small LAPACK calls belong under ``one_blas_thread``. XLA takes LAPACK from SciPy's OpenBLAS, whose threads wait by
  spinning: when another process wants the cores, that same graph took 117 s instead of 3.8 s.
- One thread at a time runs programs (``alone``): two programs with small LAPACK calls in two threads of a process wait for each
  other for ever. A process that was forked from one with a running backend has lost its threads, so ``alone`` refuses there.
- Where there is one core, a program runs in the thread that calls it: handing it to another takes a tenth of the time.
- Compilations of more than a fiftieth of a second are kept in the user's cache folder: the second program that needs one
  loads it instead (a claim has some hundred of them, small ones that take a third of its time together).
  JAX_COMPILATION_CACHE_DIR moves the folder, JAX_ENABLE_COMPILATION_CACHE=0 stops it.
"""

import hashlib
import os
import platform
import threading
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from pathlib import Path

for _flag in ("xla_cpu_enable_concurrency_optimized_scheduler", "xla_gpu_enable_triton_gemm"):
    if _flag not in os.environ.get("XLA_FLAGS", ""):
        os.environ["XLA_FLAGS"] = f"{os.environ.get('XLA_FLAGS', '')} --{_flag}=false".strip()

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
import numpy as np  # noqa: E402

from giantstep._machine.threads import SMALL, cores, one_blas_thread  # noqa: E402
from giantstep.errors import InputError  # noqa: E402

jax.config.update("jax_enable_x64", True)
if len(cores()) == 1:
    jax.config.update("jax_cpu_enable_async_dispatch", False)


def _compilations() -> Path | None:
    """The cache folder for this kind of processor, or None where it cannot be written."""
    try:
        words = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        words = []
    kind = sorted({line for line in words if line.lower().startswith(("flags", "features", "model name"))})
    name = hashlib.sha256("\n".join([platform.machine(), platform.processor(), *kind]).encode()).hexdigest()[:12]
    try:
        folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "giantstep" / name
        folder.mkdir(parents=True, exist_ok=True)
    except (OSError, RuntimeError):
        return None
    return folder if os.access(folder, os.W_OK) else None


if not getattr(jax.config, "jax_compilation_cache_dir", None) and (folder := _compilations()):
    jax.config.update("jax_compilation_cache_dir", str(folder))
    if "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS" not in os.environ:
        jax.config.update("jax_persistent_cache_min_compile_time_secs", 0.02)


_turn = threading.RLock()
_forked = False


def _after_fork() -> None:
    """In the child of a fork: its lock is free, and a backend that was running is lost."""
    global _turn, _forked
    from jax._src import xla_bridge

    _turn, _forked = threading.RLock(), xla_bridge.backends_are_initialized()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@contextmanager
def alone() -> Iterator[None]:
    """Run programs of JAX while no other thread does; results must be ready inside."""
    if _forked:
        raise InputError(
            "JAX cannot run in a process that was forked from one that used it: start processes with "
            "multiprocessing.get_context('spawn'), or give workers= to gs.sweep"
        )
    with _turn:
        yield


@contextmanager
def on_host() -> Iterator[None]:
    """Run small solves, such as those of the theory, on the CPU with one BLAS thread, also where there is a GPU."""
    try:
        host = jax.local_devices(backend="cpu")[0]
    except RuntimeError:  # the user has left the CPU out of JAX_PLATFORMS
        host = None
    with one_blas_thread(), jax.default_device(host), np.errstate(all="ignore"):  # what is not finite is a status
        yield


def full_precision() -> AbstractContextManager:
    """Products of float32 with all of its digits: a GPU would round their factors to ten bits. On the CPU they have them."""
    return nullcontext() if jax.default_backend() == "cpu" else jax.default_matmul_precision("highest")


__all__ = ["SMALL", "alone", "full_precision", "jax", "jnp", "on_host", "one_blas_thread"]
