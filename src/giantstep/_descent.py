"""SGD on rows of features, one sample after the other, for all seeds and rates at once.

    b_{t+1} = b_t + g_t r_t F_t,    r_t = y_t - <F_t, b_t>,    g_t = (rate / p) (t + 1)^-decay,    t = 0, ..., T - 1

Sample t is in T - 1 - t of the T iterates b_0, ..., b_{T-1}, so their mean is sum_t w_t g_t r_t F_t with w_t = 1 - (t + 1) / T: it
moves with b along the same row. A row of F is read once for all rates; b and the mean stay in the cache.
"""

from functools import partial

import numpy as np

from giantstep import _krylov as krylov
from giantstep._backend import jax, jnp

UNROLL = 4  # samples in one turn of the loop


@partial(jax.jit, static_argnames="average")
def _through(state, F, y, g, w, *, average):
    """b and the mean of the iterates, (S, L, p) each, after the rows of a piece; g (rows, L) and w (rows) are the samples' own."""

    def step(state, sample):
        b, mean = state
        f, label, g, w = sample
        f = f.astype(b.dtype)
        change = g * (label[:, None] - jnp.einsum("slp,sp->sl", b, f))
        b = b + change[..., None] * f[:, None]
        mean = mean + (w * change)[..., None] * f[:, None] if average else mean
        return (b, mean), None

    return jax.lax.scan(step, state, (jnp.moveaxis(F, 1, 0), y.T, g, w), unroll=UNROLL)[0]


@jax.jit
def _squares(F, y, b):
    """Sums of squares over rows of y - F b, (S, L), and of y in the last column."""
    rest = y[:, None].astype(b.dtype) - jnp.einsum("slp,stp->slt", b, F.astype(b.dtype))
    return jnp.concatenate([jnp.sum(rest**2, axis=2), jnp.sum(y**2, axis=1, dtype=b.dtype)[:, None]], axis=1)


def descend(
    pieces: krylov.Pieces, shape: tuple[int, int, int], rates: np.ndarray, decay: float, passes: int, average: bool
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Coefficients (S, L, p) of F (S, n, p), mean squared errors on its n rows, (S, L), and the labels' mean squares, (S)."""
    seeds, n, p = shape
    total, t = n * passes, 0
    state = (jnp.zeros((seeds, rates.size, p)), jnp.zeros((seeds, rates.size, p)))
    for _ in range(passes):
        for F, y in pieces():
            jax.block_until_ready(state)  # one piece at work while the next is made
            count = np.arange(t + 1.0, t + 1.0 + y.shape[1])
            g = jnp.asarray(rates / p * count[:, None] ** -decay)
            state = _through(state, F, y, g, jnp.asarray(1 - count / total), average=average)
            t += y.shape[1]
    b = state[1 if average else 0]
    squares = np.sum([np.asarray(_squares(F, y, b)) for F, y in pieces()], axis=0) / n
    return np.asarray(b), squares[:, :-1], squares[:, -1]
