"""The plain script that giantstep is measured against: what a researcher writes in JAX in twenty lines.

One step on a ReLU network with its mean subtracted, a ridge fit on fresh samples, and the mean squared error on test samples.
Everything is drawn on the device and held whole; nothing is shared between step sizes.
"""

from functools import partial

from giantstep._machine.backend import jax, jnp

MEAN = (2 * jnp.pi) ** -0.5  # of the ReLU of a N(0, 1) number


def target(X):
    return X[:, 0] + (X[:, 0] ** 2 - 1) / 2**0.5


@partial(jax.jit, static_argnames=("d", "n", "p", "n_test", "dtype"))
def errors(key, eta, penalties, *, d, n, p, n_test, dtype="float64"):
    """The test errors at one step size and some penalties."""
    keys = jax.random.split(key, 7)
    normal = partial(jax.random.normal, dtype=jnp.dtype(dtype))
    W, a = normal(keys[0], (p, d)), normal(keys[1], (p,))
    W = W / jnp.linalg.norm(W, axis=1, keepdims=True)
    X = normal(keys[2], (n, d))
    y = target(X) + 0.5 * normal(keys[3], (n,))
    H = X @ W.T
    W = W + (eta / (n * p**0.5)).astype(W.dtype) * ((y[:, None] * a) * (H > 0)).T @ X
    X = normal(keys[4], (n, d))
    y = target(X) + 0.5 * normal(keys[5], (n,))
    F = jnp.maximum(X @ W.T, 0.0) - MEAN
    A, c = F.T @ F / n, F.T @ y / n
    X = normal(keys[6], (n_test, d))
    y, F = target(X), jnp.maximum(X @ W.T, 0.0) - MEAN
    factors = [jax.scipy.linalg.cho_factor(A + lam * jnp.eye(p, dtype=A.dtype)) for lam in penalties]
    return jnp.stack([jnp.mean((y - F @ jax.scipy.linalg.cho_solve(factor, c)) ** 2) for factor in factors])
