"""The intrinsic dimension of a set of points, from the distances to their nearest neighbours.

Where the points fill a piece of dimension D, the distances T_1 < T_2 < ... < T_k from a point to its neighbours have

    E log(T_k/T_j) = (1/D) sum_{i=j}^{k-1} 1/i,      so   1/D = E (1/(k-1)) sum_{j<k} log(T_k/T_j)

(Levina and Bickel 2004; the mean over the points is of 1/D, as MacKay and Ghahramani 2005 propose; k = 2 is the estimator of
Facco, d'Errico, Rodriguez and Laio 2017). It sees the dimension at the scale of the k-th neighbour: noise adds its dimensions at
scales below its own size, and few points in many dimensions give values that are too small.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.declared import at_least, given
from giantstep._given.plain import numbers, whole
from giantstep.errors import InputError

MOST = 3000  # points that are used
BLOCK = 512  # of them at a time


@dataclass(frozen=True)
class IntrinsicDimension:
    """An estimate of the dimension that a set of points fills.

    Attributes:
        value: D.
        se: its standard error from the scatter over the points, as if they were independent.
        neighbours: k.
        points: how many points were used.
        scale: the mean distance to the k-th neighbour: D is the dimension at this scale.
    """

    value: float
    se: float
    neighbours: int
    points: int
    scale: float


@given(neighbours=at_least(2), most=whole, seed=at_least(0))
def intrinsic_dimension(
    X: npt.ArrayLike, neighbours: int = 10, *, most: int = MOST, seed: int = 0
) -> IntrinsicDimension:
    """Estimate the dimension of the rows of X, of at most ``most`` of them chosen at random by the seed.

    Examples:
        >>> import numpy as np
        >>> rng = np.random.default_rng(0)
        >>> plane = rng.standard_normal((500, 2)) @ rng.standard_normal((2, 20))  # in twenty dimensions
        >>> round(gs.measure.intrinsic_dimension(plane).value)
        2
    """
    rows = numbers(X, (None, None), "an intrinsic dimension needs a matrix of finite numbers, a point in every row")
    k = neighbours
    rows = np.unique(rows, axis=0)  # equal rows have no distance
    if len(rows) <= k + 1:
        raise InputError(f"{k} neighbours need at least {k + 2} different rows, and there are {len(rows)}")
    if len(rows) > whole(most, "most", least=k + 2):
        rows = rows[np.random.default_rng(seed).choice(len(rows), most, replace=False)]
    T = nearest(rows, k)
    inverse = np.mean(np.log(T[:, -1:] / T[:, :-1]), axis=1)
    mean, error = float(np.mean(inverse)), float(np.std(inverse, ddof=1) / len(rows) ** 0.5)
    if mean == 0:
        raise InputError(
            f"the {k} nearest neighbours of every row are at one distance, which says nothing of a dimension"
        )
    return IntrinsicDimension(1 / mean, error / mean**2, k, len(rows), float(np.mean(T[:, -1])))


def nearest(X: Float[np.ndarray, "n d"], k: int) -> Float[np.ndarray, "n k"]:
    """Distances of every row to its k nearest others, in increasing order."""
    squares, found = np.sum(X**2, axis=1), []
    for start in range(0, len(X), BLOCK):
        part = slice(start, start + BLOCK)
        distances = squares[part, None] + squares - 2 * X[part] @ X.T
        distances[np.arange(len(distances)), np.arange(start, start + len(distances))] = np.inf
        near = np.argpartition(distances, k, axis=1)[:, :k]
        # the differences themselves, without the cancellation of the product
        exact = np.linalg.norm(X[part][:, None, :] - X[near], axis=2)
        found.append(np.sort(exact, axis=1))
    return np.concatenate(found)
