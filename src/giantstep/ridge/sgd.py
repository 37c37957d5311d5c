"""SGD on rows of features, one sample after the other, for all seeds and rates at once.

    b_{t+1} = b_t + g_t r_t F_t,    r_t = y_t - <F_t, b_t>,    g_t = (rate / p) (t + 1)^-decay,    t = 0, ..., T - 1

Sample t is in T - 1 - t of the T iterates b_0, ..., b_{T-1}: their mean is sum_t w_t g_t r_t F_t with w_t = 1 - (t + 1) / T, and
moves with b along the same row. A row of F is read once for all rates; b and the mean stay in the cache.
"""

from dataclasses import dataclass
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array
from giantstep._machine.backend import jax, jnp
from giantstep.ridge import _conjugate_gradients as krylov


@partial(jax.jit, static_argnames="average")
def _through(
    state: tuple[Array, ...],
    F: Float[Array, "S n p"],
    y: Float[Array, "S n"],
    rates: Float[Array, " L"],
    decay,
    total,
    times,
    *,
    average,
) -> tuple[Array, ...]:
    """b and the mean of the iterates, (S, L, p) each, and t, after the rows of a piece have been gone through so many times."""
    rows = jnp.moveaxis(F, 1, 0), y.T

    def step(state, sample):
        b, mean, t = state
        f, label = sample
        f, t = f.astype(b.dtype), t + 1.0
        # b <- b + g_t r_t F_t, the mean of b_0, ..., b_{T-1} <- mean + w_t g_t r_t F_t
        change = rates / b.shape[2] * t**-decay * (label[:, None] - jnp.einsum("slp,sp->sl", b, f))
        b = b + change[..., None] * f[:, None]
        mean = mean + ((1 - t / total) * change)[..., None] * f[:, None] if average else mean
        return (b, mean, t), None

    return jax.lax.fori_loop(0, times, lambda _, state: jax.lax.scan(step, state, rows)[0], state)


@jax.jit
def _squares(F: Float[Array, "S n p"], y: Float[Array, "S n"], b: Float[Array, "S L p"]) -> Float[Array, "S columns"]:
    """Sums over rows of the squares of y - F b, (S, L), and in two more columns of y and of the mean feature."""
    F = F.astype(b.dtype)
    rest = y[:, None].astype(b.dtype) - jnp.einsum("slp,stp->slt", b, F)
    own = [jnp.sum(y.astype(b.dtype) ** 2, axis=1), jnp.sum(F**2, axis=(1, 2)) / F.shape[2]]
    return jnp.concatenate([jnp.sum(rest**2, axis=2), jnp.stack(own, axis=1)], axis=1)


@dataclass(frozen=True)
class Descended:
    """Coefficients (S, L, p), mean squared errors on the rows (S, L), and mean squares of labels and of features, (S) each."""

    coefficients: Float[np.ndarray, "S L p"]
    error: Float[np.ndarray, "S L"]
    label: Float[np.ndarray, " S"]
    feature: Float[np.ndarray, " S"]


def descend(
    pieces: krylov.Pieces,
    shape: tuple[int, int, int],
    rates: Float[np.ndarray, " L"],
    decay: float,
    passes: int,
    average: bool,
) -> Descended:
    """Run SGD on F (S, n, p), which arrives in pieces of rows."""
    seeds, n, p = shape
    zero = jnp.zeros((seeds, rates.size, p))
    state, done = (zero, zero, jnp.zeros(())), 0
    while done < passes:
        times = 1
        for F, y in pieces():
            jax.block_until_ready(state)  # one piece at work while the next is made
            times = passes if y.shape[1] == n else 1  # a piece that is all of it
            state = _through(state, F, y, jnp.asarray(rates), decay, float(n * passes), times, average=average)
        done += times
    b = state[1 if average else 0]
    means = np.sum([np.asarray(_squares(F, y, b)) for F, y in pieces()], axis=0) / n
    return Descended(np.asarray(b), means[:, :-2], means[:, -2], means[:, -1])
