"""python -m benchmarks.gpu.kernels [--small] [--limit S]: which products are slow, and which options of the compiler help.

On an H200, half of the products of the row `large` ran at 26 to 30 TFLOP/s and the other half, of the same sizes, at 59. cuBLAS
has several kernels for a product, and XLA takes the first that cuBLAS names unless its autotuner measures a better one. What may
make the difference is tried here: each product of a run alone, in the ways in which it can be written (with and without the axis
of one seed, added to a sum, transposed, a chunk or a whole batch), and the whole program of a row, under several options. One
line of JSON each: seconds, TFLOP/s and the seconds to compile; after the limit nothing new is begun.
"""

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from typing import Any

os.environ.setdefault("XLA_PYTHON_CLIENT_PREALLOCATE", "false")

from benchmarks.gpu.job import Contest, best, tasks  # noqa: E402
from giantstep._machine.backend import full_precision, jax, jnp  # noqa: E402
from giantstep._training import whole  # noqa: E402
from giantstep._training.form import arguments, bare, formed  # noqa: E402
from giantstep._training.plan import make_plan  # noqa: E402
from giantstep.ridge._resolvent import gram, gram_in_blocks  # noqa: E402

LIMIT = 145.0  # seconds
OPTIONS: dict[str, dict[str, Any]] = {
    "as now": {},
    "cublasLt": {"xla_gpu_enable_cublaslt": True},
    "not tuned": {"xla_gpu_autotune_level": 0},
    "cublasLt, not tuned": {"xla_gpu_enable_cublaslt": True, "xla_gpu_autotune_level": 0},
    "tuned, not checked": {"xla_gpu_autotune_level": 1},
    "in parallel": {
        "xla_gpu_enable_llvm_module_compilation_parallelism": True,
        "xla_gpu_force_compilation_parallelism": 16,
    },
    "Triton too": {"xla_gpu_enable_triton_gemm": True, "xla_gpu_cublas_fallback": True},
}
FIRST = ("as now", "cublasLt", "not tuned")  # of the products alone


def products(
    d: int, n: int, p: int, chunk: int
) -> Iterator[tuple[str, float, Callable[..., Any], tuple[tuple[int, ...], ...]]]:
    """The products of a run: a name, its operations, the function, and the shapes of its arguments."""
    once, edge = 2.0 * d * p, 7 * p // 8
    yield "X W^T of a chunk", once * chunk, lambda X, W: X @ W.T, ((chunk, d), (p, d))
    seeds = lambda X, W: jnp.einsum("snd,spd->snp", X, W)  # noqa: E731
    yield "X W^T with an axis of one seed", once * chunk, seeds, ((1, chunk, d), (1, p, d))
    yield "(W X^T)^T of a chunk", once * chunk, lambda X, W: (W @ X.T).T, ((chunk, d), (p, d))
    yield "X W^T of the batch", once * n, lambda X, W: X @ W.T, ((n, d), (p, d))
    yield "C^T X of a chunk", once * chunk, lambda C, X: C.T @ X, ((chunk, p), (chunk, d))
    yield "C^T X added to a sum", once * chunk, lambda S, C, X: S + C.T @ X, ((p, d), (chunk, p), (chunk, d))
    yield "C^T X of the batch", once * n, lambda C, X: C.T @ X, ((n, p), (n, d))
    yield "last block of a Gram matrix", 2.0 * chunk * p * (p - edge), lambda F: F[:, edge:].T @ F, ((chunk, p),)
    yield "Gram matrix of a chunk", 1.0 * chunk * p * p, gram, ((chunk, p),)
    yield "Gram matrix in blocks", 1.0 * chunk * p * p, lambda F: gram_in_blocks(F, 8), ((chunk, p),)


def compiled(program: Any, options: dict[str, Any], *given: Any, **static: Any) -> tuple[Callable[[], Any], float]:
    """A call of the program compiled under the options, and the seconds to compile it."""
    start = time.perf_counter()
    executable = program.lower(*given, **static).compile(compiler_options=options or None)
    return lambda: jax.block_until_ready(executable(*given)), time.perf_counter() - start


def report(
    line: dict[str, Any], operations: float, program: Any, options: dict[str, Any], *given: Any, **static: Any
) -> None:
    try:
        run, took = compiled(program, options, *given, **static)
        run()
        seconds = best(run, 1.0)
        line |= {"seconds": seconds, "TFLOP/s": operations / seconds / 1e12, "compile": took}
    except Exception as problem:  # an option that this version does not know, or no memory
        line |= {"errors": str(problem).splitlines()[0][:200]}
    print(json.dumps(line), flush=True)


def alone(task: Contest, chunk: int, choice: str, over: Callable[[], bool]) -> None:
    """Every product of a run under one choice of options."""
    for name, operations, function, shapes in products(task.d, task.n, task.p, chunk):
        if over():
            return
        keys = jax.random.split(jax.random.key(0), len(shapes))
        given = [jax.random.normal(key, shape, jnp.dtype(task.dtype)) for key, shape in zip(keys, shapes, strict=True)]
        line: dict[str, Any] = {"product": name, "row": task.name, "options": choice}
        report(line, operations, jax.jit(function), OPTIONS[choice], *given)


def together(task: Contest, choice: str) -> None:
    """The whole program of a row under one choice of options."""
    plan = make_plan(task.setting, task.seeds, task.n_test, jnp.dtype(task.dtype).itemsize, None)
    form, _ = formed(task.setting, task.seeds, task.n_test, task.dtype, None, plan.work)
    assert form.setting == bare(task.setting)
    given = [jnp.arange(task.seeds, dtype=jnp.uint64), *map(jnp.asarray, arguments(task.setting))]
    line: dict[str, Any] = {"row": task.name, "rows of a chunk": form.rows, "options": choice}
    runs = task.seeds * len(task.etas)
    report(line, task.operations * runs, whole.program, OPTIONS[choice], *given, form=form)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.gpu.kernels")
    parser.add_argument("--small", action="store_true", help="tiny sizes, for a machine without an accelerator")
    parser.add_argument("--limit", type=float, default=LIMIT, help="seconds after which nothing new is begun")
    given = parser.parse_args()
    start, every = time.perf_counter(), tasks(given.small)
    over = lambda: time.perf_counter() - start > given.limit  # noqa: E731
    jax.config.update("jax_enable_compilation_cache", False)  # the seconds to compile are those of a first run
    large = every["small" if given.small else "large"]
    chunk = large.n // 4
    with full_precision():
        for choice in FIRST:
            alone(large, chunk, choice, over)
        for name in ("small", "grid") if given.small else ("large", "middle", "small", "grid"):
            for choice in OPTIONS if name == large.name else FIRST:
                if not over():
                    together(every[name], choice)


if __name__ == "__main__":
    main()
