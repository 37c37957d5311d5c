"""The target's directions in the rows of a first layer: overlaps, captured shares, the learned subspace.

These functions also take JAX arrays, so that large weights need not leave the device.
"""

import numpy as np
from jaxtyping import Float, Int
from scipy import linalg

from giantstep._given.arrays import FINITE
from giantstep._given.declared import given
from giantstep.functions._named import Array, namespace

LEARNED = 5.0  # null levels from which a direction counts as learned


@given()
def overlaps(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "p r"]:
    """The overlaps of neurons and directions, M = W W*^T, p x r.

    Examples:
        >>> import numpy as np
        >>> gs.measure.overlaps(np.eye(3), np.array([[0.0, 1.0, 0.0]])).ravel()
        array([0., 1., 0.])
    """
    return W @ directions.T


def _scaled(W: Float[Array, "p d"]) -> tuple[Float[Array, "p d"], Float[Array, "p 1"]]:
    """Rows at a scale at which nothing overflows on the way, and their lengths there; a zero row stays zero."""
    xp = namespace(W)
    if xp is np and np.issubdtype(W.dtype, np.floating):  # a quarter of the time where no row needs another scale
        with np.errstate(over="ignore", under="ignore"):
            lengths = np.sqrt(np.einsum("pd,pd->p", W, W))[:, None]
        of = np.finfo(lengths.dtype)
        if np.all((lengths > np.sqrt(of.tiny) / of.eps) & (lengths < np.inf)):
            return W, lengths
    largest = xp.maximum(xp.max(W, axis=1, keepdims=True), -xp.min(W, axis=1, keepdims=True))
    scaled = W / xp.where(largest > 0, largest, 1.0)
    return scaled, xp.maximum(xp.sqrt(xp.einsum("pd,pd->p", scaled, scaled))[:, None], 1e-30)


def _cosines(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "p r"]:
    """<w_i, v_k> / ||w_i||."""
    scaled, lengths = _scaled(W)
    return (scaled @ directions.T) / lengths


@given()
def captured_by_neuron(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, "p r"]:
    """cos^2(w_i, w*_k), p x r: the share of each neuron along each direction.

    Examples:
        >>> import numpy as np
        >>> gs.measure.captured_by_neuron(np.array([[3.0, 4.0]]), np.eye(2)).round(2)
        array([[0.36, 0.64]])
    """
    scaled, lengths = _scaled(directions)
    return _cosines(W, scaled / lengths) ** 2


@given()
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
    cosines = _cosines(W, directions)
    return cosines.T @ cosines / W.shape[0]


@given(matrix=FINITE)
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


@given()
def in_subspace(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> Float[Array, " p"]:
    """The share of every neuron inside the span of the directions, ||P w_i||^2 / ||w_i||^2.

    Examples:
        >>> import numpy as np
        >>> gs.measure.in_subspace(np.array([[3.0, 4.0, 0.0]]), np.eye(3)[:1]).round(2)
        array([0.36])
    """
    return share_inside(W, span(directions))


@given(directions=FINITE)
def span(directions: Float[Array, "r d"]) -> Float[np.ndarray, "d k"]:
    """Orthonormal columns that span the directions.

    Examples:
        >>> import numpy as np
        >>> gs.measure.span(np.array([[1.0, 0.0, 0.0], [1.0, 1.0, 0.0]])).shape
        (3, 2)
    """
    return linalg.orth(np.asarray(directions).T)


@given()
def share_inside(W: Float[Array, "p d"], basis: Float[Array, "d k"]) -> Float[Array, " p"]:
    """||P w_i||^2 / ||w_i||^2 with P the projection on orthonormal columns.

    Examples:
        >>> import numpy as np
        >>> gs.measure.share_inside(np.array([[3.0, 4.0, 0.0]]), np.eye(3)[:, :1]).round(2)
        array([0.36])
    """
    return namespace(W).sum(_cosines(W, basis.T) ** 2, axis=1)


@given()
def null_level(W: Float[Array, "p d"], directions: Float[Array, "r d"]) -> float:
    """What an unlearned direction captures: the mean share of a neuron outside the span, over d - r.

    Examples:
        >>> import numpy as np
        >>> float(gs.measure.null_level(np.ones((4, 5)), np.eye(5)[:1]))  # a fifth along each of five axes
        0.2
    """
    r, d = directions.shape
    return float(np.mean(1 - np.asarray(in_subspace(W, directions))) / max(d - r, 1))


@given(A=FINITE, B=FINITE)
def principal_angles(A: Float[np.ndarray, "j d"], B: Float[np.ndarray, "k d"]) -> Float[np.ndarray, " m"]:
    """Angles in radians, in decreasing order, between the row spaces of A and B.

    Examples:
        >>> import numpy as np
        >>> gs.measure.principal_angles(np.eye(3)[:1], np.eye(3)[1:2]).round(3)
        array([1.571])
    """
    return linalg.subspace_angles(np.asarray(A, dtype=float).T, np.asarray(B, dtype=float).T)
