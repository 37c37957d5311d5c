"""The spectrum of a first layer: its bulk, its outliers, and what the layer moved along."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep._given.arrays import FINITE
from giantstep._given.declared import given
from giantstep._given.plain import whole
from giantstep.measure.singular_values import FEWEST, bulk_edge, spectrum
from giantstep.measure.vectors import alignments, gram_schmidt_powers


@dataclass(frozen=True)
class LayerSpectrum:
    """Spectrum of a first layer W: the singular values, the upper edge of their bulk, and of every outlier its left and right
    vectors (columns) and its cos^2 with every orthonormal direction given (rows are outliers)."""

    values: Float[np.ndarray, " m"]
    edge: float
    left: Float[np.ndarray, "p k"]
    right: Float[np.ndarray, "d k"]
    alignment: Float[np.ndarray, "k r"]

    @property
    def count(self) -> int:
        return self.right.shape[1]

    @property
    def positions(self) -> Float[np.ndarray, " k"]:
        """Singular values of the outliers."""
        return self.values[: self.count]

    @property
    def threshold(self) -> float:
        """Values above this are outliers."""
        return self.edge * (1 + layer_margin(self.values.size))


@given(W=FINITE, directions=FINITE, most=whole)
def layer(W: Float[np.ndarray, "p d"], directions: Float[np.ndarray, "r d"], most: int = 12) -> LayerSpectrum:
    """The bulk edge and up to ``most`` outliers of W, all read off W alone; the directions are orthonormal rows.

    The largest value left is taken out as long as it passes the edge of what is below it: a bulk edge that outliers hardly move.

    Examples:
        >>> import numpy as np
        >>> W = np.random.default_rng(0).standard_normal((200, 50)) / 50**0.5
        >>> W[:, 0] += 2.0  # every neuron moves along the first axis
        >>> gs.measure.layer(W, np.eye(50)[:1]).count
        1
    """
    full = spectrum(W, vectors=most)
    values, factor, out = full.values, 1 + layer_margin(full.values.size), 0
    while out < most and values.size - out > FEWEST and values[out] > factor * bulk_edge(values[out + 1 :]):
        out += 1
    edge = bulk_edge(values[out:])
    count = int(np.sum(values[:most] > edge * factor))
    right = full.right[:, :count]
    return LayerSpectrum(full.values, edge, full.left[:, :count], right, alignments(right, np.asarray(directions).T))


@given(count=whole)
def layer_margin(count: int) -> float:
    """By how much of itself the edge of a layer's bulk may be passed: count^(-2/3), four standard deviations of the top singular
    value of a matrix of independent numbers with p = 4d.

    Examples:
        >>> round(gs.measure.layer_margin(1000), 4)
        0.01
    """
    return float(count ** (-2 / 3))


@given(count=whole)
def moved(change: Float[np.ndarray, "p d"], a: Float[np.ndarray, " p"], count: int) -> Float[np.ndarray, "d k"]:
    """(W - W0)^T p_k for p_k = a, a^2, ..., a^count made orthonormal: what the layer moved along, power by power.

    Examples:
        >>> import numpy as np
        >>> a, beta = np.array([1.0, -1.0, 2.0]), np.array([3.0, 4.0])
        >>> change = np.outer(a, beta)  # a rank-one step moves along beta, and by the first power of a alone
        >>> (gs.measure.moved(change, a, 2) / np.linalg.norm(a)).round(2) + 0.0
        array([[3., 0.],
               [4., 0.]])
    """
    return np.asarray(change).T @ gram_schmidt_powers(a, count)
