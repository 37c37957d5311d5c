"""How far SGD on a given table can take a network's weights, known before training.

v = ||A||_F and w = ||(W, b)||_F. A step on a batch with r the mean of ||(x, 1)|| over it changes them by at most

    dv <= rate L1 min(S sqrt(p), L_sigma w r + |sigma(0)| sqrt(p)),     dw <= rate L1 L_sigma v r,     d||c|| <= rate L1

because the gradient of a batch is the mean of those of its rows. An epoch of K batches goes through every row once, so its
product of factors 1 + g r_k is at most (1 + g r)^K, r the mean over the table (concavity of the logarithm). After E epochs, with
g = rate L1 L_sigma and s = rate L1 |sigma(0)| sqrt(p),

    v + w <= (1 + g r)^(K E) (v_0 + w_0 + s K E)                                  any Lipschitz activation
    v <= v_0 + k rate L1 S sqrt(p),   w <= w_0 + g r K sum_epochs v(its end)        |sigma| <= S
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.experiment.layers import Layers
from giantstep.systems.bounds.lipschitz import extent, slopes_of


class WeightGrowth(NamedTuple):
    """Bounds after training: of ||A|| ||W||, and of ||f|| on the rows; and which way gave them."""

    product: float
    height: float
    way: str


def growth(
    network: Layers, X: Float[np.ndarray, "n d"], first: float, rate: float, epochs: int, batch: int
) -> WeightGrowth:
    """The bounds after so many epochs of SGD in batches, for a loss with the Lipschitz constant L1 = ``first``."""
    lengths = np.sqrt(1 + np.sum(X**2, axis=1))
    count = -(-len(X) // batch)
    # rows of the last batch, each of which weighs 1/last; at worst they are the longest
    last = len(X) - (count - 1) * batch
    extra = (1 / last - 1 / batch) * float(np.sum(np.sort(lengths)[len(X) - last :]))
    mean = (float(np.sum(lengths)) / batch + extra) / count
    slope = float(np.max(np.abs(slopes_of(network.activation))))
    peak = float(np.max(np.abs(extent(network.activation, slope=False))))
    v0, c0 = float(np.linalg.norm(network.A)), float(np.linalg.norm(network.c))
    w0 = float(np.hypot(np.linalg.norm(network.W), np.linalg.norm(network.b)))
    zero = abs(float(np.asarray(network.activation(np.zeros(1)))[0])) * network.p**0.5
    steps, gain = count * epochs, rate * first * slope
    with np.errstate(over="ignore"):
        total = float(np.exp(np.minimum(steps * np.log1p(gain * mean), 700.0))) * (
            v0 + w0 + rate * first * zero * steps
        )
        squared = float(np.square(total))
    ways = {"any Lipschitz activation": (squared / 4, total, total)}
    if np.isfinite(peak):
        each = rate * first * peak * network.p**0.5
        ends = v0 + each * count * np.arange(1, epochs + 1)
        v, w = v0 + each * steps, w0 + gain * mean * count * float(np.sum(ends))
        ways["a bounded activation"] = (v * w, v, w)
    way = min(ways, key=lambda name: ways[name][0])
    product, v, w = ways[way]
    inside = min(peak * network.p**0.5, slope * w * float(np.max(lengths)) + zero)
    return WeightGrowth(product, v * inside + c0 + rate * first * steps, way)
