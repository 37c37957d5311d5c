"""The floor of a dense run: FLOPs of its matrix products over the measured GEMM rate, plus the other stages timed alone."""

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy.linalg import cho_factor

from giantstep._machine.backend import jax, jnp
from giantstep._machine.random import normals


def best(f: Callable[[], Any], repeats: int = 3) -> float:
    """Shortest of a few timings, after one to warm up."""
    f()
    times = []
    for _ in range(repeats):
        start = time.perf_counter()
        f()
        times.append(time.perf_counter() - start)
    return min(times)


def gemm_rate(n: int, d: int, p: int, dtype: str = "float64") -> float:
    """Operations a second of X W^T, the faster of NumPy and XLA (on its default device)."""
    rng = np.random.default_rng(0)
    X, W = rng.standard_normal((n, d)).astype(dtype), rng.standard_normal((p, d)).astype(dtype)
    device = jnp.asarray(X), jnp.asarray(W)
    product = jax.jit(lambda X, W: X @ W.T)
    fastest = min(best(lambda: X @ W.T), best(lambda: product(*device).block_until_ready()))
    return 2.0 * n * d * p / fastest


def floor(n: int, d: int, p: int, n_test: int) -> dict[str, float]:
    """Seconds of every stage of a one-step run with one penalty, n > p."""
    rate = gemm_rate(n, d, p)
    rng = np.random.default_rng(0)
    F = rng.standard_normal((n, p))
    gram = F.T @ F / n + np.eye(p)
    activation = jax.jit(lambda F: jnp.maximum(F, 0.0))
    rows = 2 * n + n_test
    stages = {
        "two gradient products": 4.0 * n * d * p / rate,
        "features": 2.0 * n * d * p / rate,
        "symmetric Gram": float(n) * p * p / rate,
        "test set": 2.0 * n_test * d * p / rate,
        "Cholesky": best(lambda: cho_factor(gram, lower=True)),
        "random numbers": best(lambda: normals(0, (9,), 0, rows + p, d), 1),
        "activation": 3 * best(lambda: activation(jnp.asarray(F)).block_until_ready()),
    }
    return {**stages, "GEMM rate (GFLOP/s)": rate / 1e9}
