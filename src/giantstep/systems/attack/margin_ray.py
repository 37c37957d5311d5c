"""Margin rays: a user's own network seen from inputs along the gradient of its margin, towards another decision.

The decision on x is the sign of f for one output, and the class k of the largest f_k for several. The margin is |f|, or
min_l (f_k - f_l) over the others l, and its ray leads towards the class that is nearest to first order,

    l = argmin_l (f_k - f_l)/||grad (f_k - f_l)||,     u = -grad (f_k - f_l)/||grad (f_k - f_l)||

(the first step of Moosavi-Dezfooli, Fawzi and Frossard 2016, arXiv 1511.04599). Along it all outputs are
A sigma(z + t W u) + c, so a point costs O(p q), whatever d.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

from giantstep.experiment.layers import Layers
from giantstep.systems.attack._crossing import first_crossing
from giantstep.systems.attack.ray import REACH

AT_ONCE = 2**19  # preactivations held at a time


@dataclass(frozen=True)
class MarginRays:
    """The rays of n inputs.

    Attributes:
        outputs: f(x), (n, q).
        decision: the class of every input; 0 and 1 are the signs - and + of one output.
        margin: to the class that the ray leads to, (n,).
        gradient: of this margin, (n, d).
        z: preactivations W x + b, (n, p).
        along: W u, (n, p); zero where the gradient is.
        network: the network itself.
    """

    outputs: Float[np.ndarray, "n q"]
    decision: Int[np.ndarray, " n"]
    margin: Float[np.ndarray, " n"]
    gradient: Float[np.ndarray, "n d"]
    z: Float[np.ndarray, "n p"]
    along: Float[np.ndarray, "n p"]
    network: Layers

    @property
    def length(self) -> Float[np.ndarray, " n"]:
        """The length of the gradient of the margin."""
        return np.linalg.norm(self.gradient, axis=1)

    def outputs_at(self, t: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n ... q"]:
        """f(x + t u) at distances t (n,), or several for each input (n, T)."""
        wide = np.ndim(t) == 2
        z, along = (self.z[:, None], self.along[:, None]) if wide else (self.z, self.along)
        return (
            np.asarray(self.network.activation(z + np.asarray(t)[..., None] * along)) @ self.network.A.T
            + self.network.c
        )

    def at(self, t: Float[np.ndarray, "n ..."]) -> Float[np.ndarray, "n ..."]:
        """How much the decision is ahead of all others at distances t; below zero it has changed."""
        f = self.outputs_at(t)
        own = self.decision if np.ndim(t) == 1 else self.decision[:, None]
        if self.network.outputs == 1:
            return np.where(own == 1, 1.0, -1.0) * f[..., 0]
        mine = np.arange(f.shape[-1]) == own[..., None]
        return np.sum(np.where(mine, f, 0.0), axis=-1) - np.max(np.where(mine, -np.inf, f), axis=-1)

    @property
    def first_order(self) -> Float[np.ndarray, " n"]:
        """margin/||grad||: where the linear part of the margin vanishes; infinite without a gradient."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return np.where(self.length > 0, self.margin / self.length, np.inf)

    def roots(self, reach: float = REACH) -> Float[np.ndarray, " n"]:
        """The distance at which the decision first changes, within ``reach`` first-order distances."""
        far = np.where(np.isfinite(self.first_order), reach * self.first_order, 0.0)
        return first_crossing(self.at, self.margin, far)


def margin_rays(network: Layers, X: Float[np.ndarray, "n d"]) -> MarginRays:
    """The rays of the rows of X."""
    z = X @ network.W.T + network.b
    slope = np.asarray(network.activation.slope(z))
    f = np.asarray(network.activation(z)) @ network.A.T + network.c
    if network.outputs == 1:
        decision = (f[:, 0] >= 0).astype(int)
        sign = np.where(decision == 1, 1.0, -1.0)
        margin, gradient = np.abs(f[:, 0]), sign[:, None] * (slope * network.A[0]) @ network.W
    else:
        decision = np.argmax(f, axis=1)
        margin, gradient = _nearest(network, f, decision, slope)
    length = np.linalg.norm(gradient, axis=1)
    along = -(gradient / np.where(length > 0, length, 1.0)[:, None]) @ network.W.T
    return MarginRays(f, decision, margin, gradient, z, along, network)


def _nearest(
    network: Layers, f: Float[np.ndarray, "n q"], decision: Int[np.ndarray, " n"], slope: Float[np.ndarray, "n p"]
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, "n d"]]:
    """The margin to the class that is nearest to first order, and its gradient."""
    rows = np.arange(len(f))
    margin, gradient, nearest = np.full(len(f), np.inf), np.zeros((len(f), network.d)), np.full(len(f), np.inf)
    for other in range(network.outputs):
        ahead = f[rows, decision] - f[:, other]
        own = (slope * (network.A[decision] - network.A[other])) @ network.W
        with np.errstate(divide="ignore", invalid="ignore"):
            distance = ahead / np.linalg.norm(own, axis=1)
        # a class whose margin has no gradient counts only where no other has one
        distance = np.where(np.isnan(distance) | (decision == other), np.inf, distance)
        closer = (distance < nearest) | (np.isinf(margin) & (decision != other))
        margin, nearest = np.where(closer, ahead, margin), np.where(closer, distance, nearest)
        gradient[closer] = own[closer]
    return margin, gradient


def margin_chunks(network: Layers, X: Float[np.ndarray, "n d"]) -> Iterator[MarginRays]:
    """Yield the rays of many inputs, as many rows at a time as fit in the cache."""
    rows = max(1, AT_ONCE // (network.p + network.d))
    for start in range(0, len(X), rows):
        yield margin_rays(network, X[start : start + rows])
