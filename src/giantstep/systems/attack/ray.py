"""Rays: a network seen from inputs along its own gradient, towards the other sign.

    z = W x,   f(x) = s a.sigma(z),   grad f = s W^T (a o sigma'(z)),   u = -sign(f) grad f/||grad f||
    f(x + t u) = s a.sigma(z + t W u)

so after two products with W a point of the ray costs O(p), whatever d.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.experiment.network import Network

REACH = 8.0  # how far a ray is scanned, in first-order distances |f|/||grad f||
POINTS, TOGETHER = 64, 8  # of the scan, and how many of them at once
ROUNDS, EXACT = 60, 1e-12  # of false position in the bracket that the scan finds, and the relative step that ends it
AT_ONCE = 2**19  # preactivations held at a time


@dataclass(frozen=True)
class Rays:
    """The rays of n inputs.

    Attributes:
        output: f(x), (n,).
        gradient: grad f(x), (n, d).
        length: its norm, (n,).
        z: preactivations W x, (n, p).
        along: W u, their change with the distance, (n, p); zero where the gradient is.
        network: the network itself.
    """

    output: Float[np.ndarray, " n"]
    gradient: Float[np.ndarray, "n d"]
    length: Float[np.ndarray, " n"]
    z: Float[np.ndarray, "n p"]
    along: Float[np.ndarray, "n p"]
    network: Network

    def at(self, t: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n ..."]:
        """f(x + t u) at distances t (n,), or several for each input (n, T)."""
        if np.ndim(t) == 1:
            return _output(self.network, self.z + t[:, None] * self.along)
        return _output(self.network, self.z[:, None, :] + t[:, :, None] * self.along[:, None, :])

    def slopes_at(self, t: Float[np.ndarray, " n"]) -> Float[np.ndarray, "n p"]:
        """The activation's slopes at distance t, sigma'(W (x + t u)), (n, p)."""
        return np.asarray(self.network.activation.slope(self.z + np.asarray(t)[:, None] * self.along))

    @property
    def first_order(self) -> Float[np.ndarray, " n"]:
        """|f|/||grad f||: where the linear part of f vanishes; infinite without a gradient."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.length > 0, np.abs(self.output) / self.length, np.inf)

    def roots(self, reach: float = REACH) -> Float[np.ndarray, " n"]:
        """The distance of the first change of sign on a scan up to ``reach`` first-order distances; infinite where there is none.

        Two changes of sign between neighbours of the scan, an eighth of a first-order distance apart, go unseen.
        """
        far = np.where(np.isfinite(self.first_order), reach * self.first_order, 0.0)
        sign, low, high = np.where(self.output < 0, -1.0, 1.0), np.zeros_like(far), np.full_like(far, np.inf)
        above, below = np.abs(self.output), np.zeros_like(far)
        for start in range(1, POINTS + 1, TOGETHER):
            steps = far[:, None] * (np.arange(start, start + TOGETHER) / POINTS)
            values = sign[:, None] * self.at(steps)
            for t, value in zip(steps.T, values.T, strict=True):
                open_ = np.isinf(high)
                crossed = open_ & (value < 0)
                high, below = np.where(crossed, t, high), np.where(crossed, value, below)
                low, above = np.where(open_ & ~crossed, t, low), np.where(open_ & ~crossed, value, above)
            if np.all(np.isfinite(high)):
                break
        return self._between(sign, (low, above), (high, below))

    def _between(
        self,
        sign: Float[np.ndarray, " n"],
        start: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
        end: tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]],
    ) -> Float[np.ndarray, " n"]:
        """The root inside every bracket by false position, the end that stays halved in value; none stays infinite."""
        (low, above), (high, below) = start, end
        known = np.isfinite(high)
        low, high, above, below = (
            np.where(known, x, y) for x, y in ((low, 0.0), (high, 1.0), (above, 1.0), (below, -1.0))
        )
        root, last = high, np.zeros_like(high)
        for _ in range(ROUNDS):
            before, root = root, low + (high - low) * above / (above - below)
            value = np.where(known, sign * self.at(root), 0.0)
            over = value < 0
            above = np.where(over, np.where(last < 0, above / 2, above), value)
            below = np.where(over, value, np.where(last > 0, below / 2, below))
            low, high, last = np.where(over, low, root), np.where(over, root, high), np.where(over, -1.0, 1.0)
            if np.all((value == 0) | (np.abs(root - before) <= EXACT * root)):
                break
        return np.where(known, root, np.inf)


def _output(network: Network, z: Float[np.ndarray, "n ... p"]) -> Float[np.ndarray, "n ..."]:
    return network.factor * np.asarray(network.activation(z)) @ network.weights.a


def rays(network: Network, X: Float[np.ndarray, "n d"]) -> Rays:
    """The rays of the rows of X; the network has weights of its own."""
    W, a = network.weights.W, network.weights.a
    z = X @ W.T
    output = _output(network, z)
    gradient = network.factor * (np.asarray(network.activation.slope(z)) * a) @ W
    length = np.linalg.norm(gradient, axis=1)
    towards = np.where(output < 0, 1.0, -1.0) / np.where(length > 0, length, 1.0)
    return Rays(output, gradient, length, z, (towards[:, None] * gradient) @ W.T, network)


def chunks(network: Network, X: Float[np.ndarray, "n d"]) -> Iterator[Rays]:
    """Yield the rays of many inputs, as many rows at a time as fit in the cache."""
    rows = max(1, AT_ONCE // network.width)
    for start in range(0, len(X), rows):
        yield rays(network, X[start : start + rows])
