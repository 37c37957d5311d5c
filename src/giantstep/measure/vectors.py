"""Vectors beside each other: cosines, and the powers of a vector as a basis."""

import numpy as np
from jaxtyping import Float

from giantstep._given.arrays import FINITE, OR_NONE
from giantstep._given.declared import at_least, given
from giantstep.errors import InputError

MOST = 1000  # powers of a vector


@given(g=FINITE, count=at_least(1, MOST))
def gram_schmidt_powers(g: Float[np.ndarray, " n"], count: int) -> Float[np.ndarray, "n k"]:
    """Columns ``g, g^2, ..., g^count`` made orthonormal in that order (no constant): the limits of spikes' left vectors.

    Examples:
        >>> import numpy as np
        >>> basis = gs.measure.gram_schmidt_powers(np.arange(1.0, 6.0), 2)
        >>> bool(np.allclose(basis.T @ basis, np.eye(2)))
        True
    """
    if count > len(g):
        raise InputError(f"a vector of {len(g)} entries has at most {len(g)} orthonormal powers, not {count}")
    unit = np.asarray(g) / np.sqrt(np.mean(np.asarray(g) ** 2))
    basis, triangle = np.linalg.qr(np.stack([unit**k for k in range(1, count + 1)], axis=1))
    return basis * np.where(np.diag(triangle) < 0, -1.0, 1.0)  # g^k itself has a positive product with column k


@given(count=at_least(1, MOST))
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


@given(vectors=OR_NONE, basis=OR_NONE)
def alignments(vectors: Float[np.ndarray, "n j"], basis: Float[np.ndarray, "n k"]) -> Float[np.ndarray, "j k"]:
    """``cos^2`` of every vector with every unit column of a basis.

    Examples:
        >>> import numpy as np
        >>> gs.measure.alignments(np.array([[3.0], [4.0]]), np.eye(2)).round(2)
        array([[0.36, 0.64]])
    """
    unit = vectors / np.linalg.norm(vectors, axis=0)
    return (unit.T @ basis) ** 2


@given()
def cosine(u: Float[np.ndarray, " d"], v: Float[np.ndarray, " d"]) -> float:
    """cos of the angle between two vectors.

    Examples:
        >>> import numpy as np
        >>> gs.measure.cosine(np.array([1.0, 0.0]), np.array([3.0, 4.0]))
        0.6
    """
    return float(u @ v / (np.linalg.norm(u) * np.linalg.norm(v)))
