"""Rays: a network seen from inputs along its own gradient, towards the other sign.

    z = W x,   f(x) = s a.sigma(z),   grad f = s W^T (a o sigma'(z)),   u = -sign(f) grad f/||grad f||
    f(x + t u) = s a.sigma(z + t W u)

so after two products with W a point of the ray costs O(p), whatever d.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.experiment.network import Network
from giantstep.systems.attack._crossing import first_crossing

REACH = 8.0  # how far a ray is scanned, in first-order distances |f|/||grad f||


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
        sign = np.where(self.output < 0, -1.0, 1.0)
        ahead = lambda t: (sign if np.ndim(t) == 1 else sign[:, None]) * self.at(t)  # noqa: E731
        return first_crossing(ahead, np.abs(self.output), far)


def _output(network: Network, z: Float[np.ndarray, "n ... p"]) -> Float[np.ndarray, "n ..."]:
    return network.factor * (np.asarray(network.activation(z)) @ network.weights.a)


def rays(network: Network, X: Float[np.ndarray, "n d"]) -> Rays:
    """The rays of the rows of X; the network has weights of its own."""
    W, a = network.weights.W, network.weights.a
    z = X @ W.T
    output = _output(network, z)
    gradient = (np.asarray(network.activation.slope(z)) * (network.factor * a)) @ W
    length = np.linalg.norm(gradient, axis=1)
    towards = np.where(output < 0, 1.0, -1.0) / np.where(length > 0, length, 1.0)
    return Rays(output, gradient, length, z, (towards[:, None] * gradient) @ W.T, network)
