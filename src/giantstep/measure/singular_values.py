"""Singular values of a matrix, the edge of their bulk, and the outliers above it."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy import linalg

from giantstep._given.arrays import FINITE
from giantstep._given.declared import at_least, given
from giantstep._given.plain import real, whole
from giantstep.errors import InputError

FEWEST = 40  # singular values from which a bulk edge can be read off
CLOSE = 1e-6  # residual at which the iterations for an operator norm end: the error of the norm is about its square


@dataclass(frozen=True)
class Spectrum:
    """Singular values in decreasing order with the leading left and right vectors as columns."""

    values: Float[np.ndarray, " m"]
    left: Float[np.ndarray, "n k"]
    right: Float[np.ndarray, "p k"]


@given(A=FINITE, vectors=at_least(0))
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
    m = min(A.shape)
    wide = A.shape[0] < A.shape[1]
    gram = A @ A.T if wide else A.T @ A
    if vectors == 0:
        values = np.sqrt(np.maximum(linalg.eigvalsh(gram)[::-1], 0.0))
        return Spectrum(values, np.zeros((A.shape[0], 0)), np.zeros((A.shape[1], 0)))
    k = min(vectors, m)
    squares, near = _leading(gram, k)
    values = np.sqrt(np.maximum(squares, 0.0))
    far = (A.T if wide else A) @ near / np.maximum(values[:k], np.finfo(float).tiny)
    return Spectrum(values, near, far) if wide else Spectrum(values, far, near)


def _leading(gram: Float[np.ndarray, "m m"], k: int) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "m k"]]:
    """All eigenvalues in decreasing order and the first k eigenvectors: gram = Q T Q^T, T tridiagonal, and Q meets k vectors of T
    alone. With all vectors it takes twice as long."""
    if len(gram) == 1:
        return gram[0], np.ones((1, 1))
    reduce, room, rotate = linalg.get_lapack_funcs(("sytrd", "sytrd_lwork", "ormqr"), dtype=float)
    last, size = len(gram) - 1, int(room(len(gram), lower=1)[0])
    packed, diagonal, below, taus, _ = reduce(
        gram.T, lower=1, lwork=size
    )  # Q = diag(1, H_1 H_2 ...) by Householder vectors
    values = np.asarray(linalg.eigvalsh_tridiagonal(diagonal, below))
    _, inside = linalg.eigh_tridiagonal(
        diagonal, below, select="i", select_range=(last - k + 1, last), lapack_driver="stemr"
    )
    turned = rotate("L", "N", packed[1:, :-1], taus, inside[1:], size)[0]
    return values[::-1], np.concatenate([inside[:1], turned])[:, ::-1]


@given(A=FINITE)
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
    return float(np.max(svds(A, k=1, v0=start, tol=CLOSE, return_singular_vectors=False)))  # type: ignore[arg-type]


@given(values=FINITE)
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


@given(values=FINITE, edge=real)
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


@given(count=whole)
def margin(count: int) -> float:
    """The relative distance above the bulk edge from which one of ``count`` singular values counts as an outlier.

    Examples:
        >>> round(gs.measure.margin(1000), 4)
        0.04
    """
    return max(4 * count ** (-2 / 3), 0.02)
