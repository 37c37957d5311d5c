"""What can be read off weights, features and spectra. Everything takes and returns NumPy arrays."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Bool, Float, Int, Shaped
from scipy import linalg

from giantstep.errors import InputError
from giantstep.functions.named import Array, namespace
from giantstep.measure.intrinsic_dimension import IntrinsicDimension as IntrinsicDimension
from giantstep.measure.intrinsic_dimension import intrinsic_dimension as intrinsic_dimension
from giantstep.measure.kernel_modes import KernelModes as KernelModes
from giantstep.measure.kernel_modes import kernel as kernel

LEARNED = 5.0  # null levels from which a direction counts as learned
FEWEST = 40  # singular values from which a bulk edge can be read off


def mean_and_error(
    samples: Shaped[np.ndarray, "..."] | Sequence[Any], axis: int = -1
) -> tuple[Float[np.ndarray, "..."], Float[np.ndarray, "..."]]:
    """Mean and its standard error along an axis (NaN error for a single sample).

    Examples:
        >>> mean, error = gs.measure.mean_and_error([1.0, 2.0, 3.0])
        >>> float(mean), round(float(error), 3)
        (2.0, 0.577)
    """
    samples = np.asarray(samples, dtype=float)
    mean, count = np.asarray(samples.mean(axis=axis)), samples.shape[axis]
    spread = np.asarray(samples.std(axis=axis, ddof=1)) if count > 1 else np.full(mean.shape, np.nan)
    return mean, np.asarray(spread / np.sqrt(count))


@dataclass(frozen=True)
class Spectrum:
    """Singular values in decreasing order with the leading left and right vectors as columns."""

    values: Float[np.ndarray, " m"]
    left: Float[np.ndarray, "n k"]
    right: Float[np.ndarray, "p k"]


def spectrum(A: Float[np.ndarray, "n p"], vectors: int = 0) -> Spectrum:
    """Singular values of A and its leading ``vectors`` singular vectors.

    Through the smaller Gram matrix (several times cheaper than an SVD): values below 1e-8 of the largest are rounding.
    Use it on W, on the gradient, and on ``F / sqrt(n)``.

    Examples:
        >>> import numpy as np
        >>> found = gs.measure.spectrum(np.diag([3.0, 1.0]), vectors=1)
        >>> found.values.round(2)
        array([3., 1.])
    """
    A = np.asarray(A, dtype=float)
    if A.ndim != 2 or A.size == 0 or not np.all(np.isfinite(A)):
        raise InputError("a spectrum needs a matrix of finite numbers")
    m = min(A.shape)
    wide = A.shape[0] < A.shape[1]
    gram = A @ A.T if wide else A.T @ A
    if vectors == 0:
        values = np.sqrt(np.maximum(linalg.eigvalsh(gram)[::-1], 0.0))
        return Spectrum(values, np.zeros((A.shape[0], 0)), np.zeros((A.shape[1], 0)))
    squares, small = linalg.eigh(gram)
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    k = min(vectors, m)
    near = small[:, ::-1][:, :k]
    far = (A.T if wide else A) @ near / np.maximum(values[:k], np.finfo(float).tiny)
    return Spectrum(values, near, far) if wide else Spectrum(values, far, near)


def operator_norm(A: Float[np.ndarray, "n p"]) -> float:
    """Largest singular value, by Lanczos iterations when the matrix is large.

    Examples:
        >>> import numpy as np
        >>> gs.measure.operator_norm(np.diag([3.0, 1.0]))
        3.0
    """
    if min(A.shape) < 100:
        return float(np.linalg.norm(A, 2))
    from scipy.sparse.linalg import svds  # here, like all that takes long to import and is seldom needed

    start = np.random.default_rng(0).standard_normal(min(A.shape))
    return float(np.max(svds(A, k=1, v0=start, return_singular_vectors=False)))  # type: ignore[arg-type]


def bulk_edge(values: Float[np.ndarray, " m"]) -> float:
    """Upper edge of the bulk, read off the singular values alone.

    Near a square-root edge the k-th largest bulk value is ``edge - C k^(2/3)``; the line through the values between the top
    3% and 12% ranks is followed back to k = 0. Outliers (a few ranks) hardly move that line.

    Examples:
        >>> import numpy as np
        >>> values = np.linalg.svd(np.random.default_rng(0).standard_normal((800, 400)) / 800**0.5, compute_uv=False)
        >>> bool(abs(gs.measure.bulk_edge(values) - (1 + 0.5**0.5)) < 0.05)  # the edge of Marchenko and Pastur
        True
    """
    ordered = np.sort(np.asarray(values))[::-1]
    if ordered.size < FEWEST:
        raise InputError(f"the bulk edge needs at least {FEWEST} singular values, not {ordered.size}")
    ranks = np.arange(max(2, int(0.03 * ordered.size)), max(8, int(0.12 * ordered.size)))
    slope, edge = np.polyfit((ranks + 0.5) ** (2 / 3), ordered[ranks], 1)
    return float(max(edge, ordered[ranks[0]]))


def outliers(values: Float[np.ndarray, " m"], edge: float | None = None) -> Float[np.ndarray, " k"]:
    """Singular values above the bulk edge by more than its finite-size fluctuation: ``edge * (1 + max(4 m^(-2/3), 0.02))``.

    Examples:
        >>> import numpy as np
        >>> gs.measure.outliers(np.append(np.linspace(0, 1, 200), 3.0))
        array([3.])
    """
    values = np.asarray(values)
    edge = bulk_edge(values) if edge is None else edge
    return np.sort(values[values > edge * (1 + margin(values.size))])[::-1]


def margin(count: int) -> float:
    """The relative distance above the bulk edge from which one of ``count`` singular values counts as an outlier.

    Examples:
        >>> round(gs.measure.margin(1000), 4)
        0.04
    """
    return max(4 * count ** (-2 / 3), 0.02)


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
    whole = spectrum(W, vectors=most)
    values, factor, out = whole.values, 1 + layer_margin(whole.values.size), 0
    while out < most and values.size - out > FEWEST and values[out] > factor * bulk_edge(values[out + 1 :]):
        out += 1
    edge = bulk_edge(values[out:])
    count = int(np.sum(values[:most] > edge * factor))
    right = whole.right[:, :count]
    return LayerSpectrum(whole.values, edge, whole.left[:, :count], right, alignments(right, np.asarray(directions).T))


def layer_margin(count: int) -> float:
    """By how much of itself the edge of a layer's bulk may be passed: count^(-2/3), four standard deviations of the top singular
    value of a matrix of independent numbers with p = 4d.

    Examples:
        >>> round(gs.measure.layer_margin(1000), 4)
        0.01
    """
    return float(count ** (-2 / 3))


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


def gram_schmidt_powers(g: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, "n k"]:
    """Columns ``g, g^2, ..., g^count`` made orthonormal in that order (no constant): the limits of spikes' left vectors.

    Examples:
        >>> import numpy as np
        >>> basis = gs.measure.gram_schmidt_powers(np.arange(1.0, 6.0), 2)
        >>> bool(np.allclose(basis.T @ basis, np.eye(2)))
        True
    """
    unit = np.asarray(g) / np.sqrt(np.mean(np.asarray(g) ** 2))
    basis, triangle = np.linalg.qr(np.stack([unit**k for k in range(1, count + 1)], axis=1))
    return basis * np.where(np.diag(triangle) < 0, -1.0, 1.0)  # g^k itself has a positive product with column k


def powers(g: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, "n k"]:
    """Unit columns ``g, g^2, ..., g^count``, not orthogonalised.

    Examples:
        >>> import numpy as np
        >>> gs.measure.powers(np.array([3.0, 4.0]), 1).round(2)
        array([[0.6],
               [0.8]])
    """
    columns = np.stack([np.asarray(g) ** k for k in range(1, count + 1)], axis=1)
    return columns / np.linalg.norm(columns, axis=0)


def alignments(vectors: Float[np.ndarray, "n j"], basis: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "j k"]:
    """``cos^2`` of every vector with every unit column of a basis.

    Examples:
        >>> import numpy as np
        >>> gs.measure.alignments(np.array([[3.0], [4.0]]), np.eye(2)).round(2)
        array([[0.36, 0.64]])
    """
    unit = vectors / np.linalg.norm(vectors, axis=0)
    return (unit.T @ basis) ** 2


def cosine(u: Float[np.ndarray, " d"], v: Float[np.ndarray, " d"]) -> float:
    """cos of the angle between two vectors.

    Examples:
        >>> import numpy as np
        >>> gs.measure.cosine(np.array([1.0, 0.0]), np.array([3.0, 4.0]))
        0.6
    """
    return float(u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))


# The next ones also take JAX arrays, so that large weights need not leave the device.


def overlaps(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "p r"]:
    """The overlaps of neurons and directions, M = W W*^T, p x r.

    Examples:
        >>> import numpy as np
        >>> gs.measure.overlaps(np.eye(3), np.array([[0.0, 1.0, 0.0]])).ravel()
        array([0., 1., 0.])
    """
    return W @ directions.T


def _unit_rows(W: Float[Array, "p d"]) -> Float[Array, "p d"]:
    """Rows of length one, without overflow on the way; a zero row stays zero."""
    xp = namespace(W)
    largest = xp.max(xp.abs(W), axis=1, keepdims=True)
    scaled = W / xp.where(largest > 0, largest, 1.0)
    return scaled / xp.maximum(xp.sqrt(xp.sum(scaled**2, axis=1, keepdims=True)), 1e-30)


def captured_by_neuron(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "p r"]:
    """cos^2(w_i, w*_k), p x r: the share of each neuron along each direction.

    Examples:
        >>> import numpy as np
        >>> gs.measure.captured_by_neuron(np.array([[3.0, 4.0]]), np.eye(2)).round(2)
        array([[0.36, 0.64]])
    """
    return (_unit_rows(W) @ _unit_rows(directions).T) ** 2


def learned(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "r r"]:
    """(1/p) sum_i pi_i pi_i^T, r x r, with pi_i the cosines of neuron i with orthonormal directions.

    Its eigenvectors are what the network has learned; a direction it has not has an eigenvalue near ``null_level``.

    Examples:
        >>> import numpy as np
        >>> W = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])  # one of two neurons lies along the first direction
        >>> gs.measure.learned(W, np.eye(3)[:2])
        array([[0.5, 0. ],
               [0. , 0. ]])
    """
    cosines = _unit_rows(W) @ directions.T
    return cosines.T @ cosines / W.shape[0]


def learned_rank(
    matrix: Float[Array, "*seeds r r"], null: Float[Array, "*seeds"] | float
) -> Int[np.ndarray, "*seeds"] | np.integer:
    """How many directions were learned: eigenvalues above 5 null levels (unlearned ones were seen up to 2.7).

    Examples:
        >>> import numpy as np
        >>> int(gs.measure.learned_rank(np.diag([0.5, 0.02]), 0.01))
        1
    """
    return np.sum(np.linalg.eigvalsh(matrix) > LEARNED * np.asarray(null)[..., None], axis=-1)


def in_subspace(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, " p"]:
    """The share of every neuron inside the span of the directions, ||P w_i||^2 / ||w_i||^2.

    Examples:
        >>> import numpy as np
        >>> gs.measure.in_subspace(np.array([[3.0, 4.0, 0.0]]), np.eye(3)[:1]).round(2)
        array([0.36])
    """
    return share_inside(W, span(directions))


def span(directions: Float[Array, "r d"]) -> Float[np.ndarray, "d k"]:
    """Orthonormal columns that span the directions.

    Examples:
        >>> import numpy as np
        >>> gs.measure.span(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])).shape
        (3, 2)
    """
    return linalg.orth(np.asarray(directions).T)


def share_inside(W: Float[Array, "p d"], basis: Float[Array, "d k"]) -> Float[Array, " p"]:
    """||P w_i||^2 / ||w_i||^2 with P the projection on orthonormal columns.

    Examples:
        >>> import numpy as np
        >>> gs.measure.share_inside(np.array([[3.0, 4.0, 0.0]]), np.eye(3)[:, :1]).round(2)
        array([0.36])
    """
    return namespace(W).sum((_unit_rows(W) @ basis) ** 2, axis=1)


def null_level(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> float:
    """What an unlearned direction captures: the mean share of a neuron outside the span, over d - r.

    Examples:
        >>> import numpy as np
        >>> float(gs.measure.null_level(np.ones((4, 5)), np.eye(5)[:1]))  # a fifth along each of five axes
        0.2
    """
    r, d = directions.shape
    return float(np.mean(1 - np.asarray(in_subspace(W, directions))) / max(d - r, 1))


def principal_angles(A: Float[np.ndarray, "j d"], B: Float[np.ndarray, "k d"]) -> Float[np.ndarray, " m"]:
    """Angles in radians, in decreasing order, between the row spaces of A and B.

    Examples:
        >>> import numpy as np
        >>> gs.measure.principal_angles(np.eye(3)[:1], np.eye(3)[1:2]).round(3)
        array([1.571])
    """
    return linalg.subspace_angles(np.asarray(A, dtype=float).T, np.asarray(B, dtype=float).T)


def partition(
    active: Bool[np.ndarray, "n m"], y: Float[np.ndarray, " n"], a: Float[np.ndarray, " m"]
) -> Float[np.ndarray, "2 4"]:
    """True-living, false-living, true-dead and false-dead neurons of a sample, in the mean over class + and over class -, (2, 4).

    Neuron k is true for sample i where a_k y_i > 0, and living where it is active (Wang and Ma 2022).

    Examples:
        >>> import numpy as np
        >>> active = np.array([[True, True, False], [False, True, True]])  # samples, neurons
        >>> gs.measure.partition(active, y=np.array([1.0, -1.0]), a=np.array([1.0, -1.0, 1.0]))
        array([[1., 1., 1., 0.],
               [1., 1., 0., 1.]])
    """
    true = np.outer(y, a) > 0
    kinds = (true & active, ~true & active, true & ~active, ~true & ~active)
    return np.array([[kind[y * sign > 0].sum(axis=1).mean() for kind in kinds] for sign in (1, -1)])
