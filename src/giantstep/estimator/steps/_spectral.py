"""Directions from second moments of transformed labels, for targets that average gradients do not show.

A giant step sees directions along which the gradient of the target does not average to zero. Stein's identity of second order,

    S^{-1} E[T(y) (x x^T - S)] S^{-1} = E[Hessian of E[T(y) | x]],

shows those along which a transform T of the labels is curved. Label transforms lower the leap (generative exponents: Damian,
Pillaud-Vivien, Lee and Bruna, arXiv 2403.05529): x1 x2 x3 + x1 takes a leap of two from x1, while |y| is curved along several
directions at once. A transform may also contain a coordinate that is known, T = y u. Then the Hessian is that of the target given
u, and the leap becomes two small ones.
"""

from collections.abc import Sequence

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

from giantstep._machine.device import Arrays
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps.network import Table

CLIP = 3.0  # transformed labels are cut at this many deviations: their fourth moments are noise
MOST_CURVED = 8  # directions of each transform


def transforms(table: Table, known: Float[np.ndarray, "d m"]) -> list[Float[np.ndarray, " n"]]:
    """y, |y - mean| and y times a known coordinate, for every output; centred, of variance one and cut."""
    found = []
    U = table.X.astype(np.float64) @ known
    for y in table.Y.T:
        y = y - np.average(y, weights=table.weights)
        found += [y, np.abs(y), *(y * u for u in U.T)]
    return [_cut(t, table.weights) for t in found]


def _cut(t: Float[np.ndarray, " n"], weights: Float[np.ndarray, " n"]) -> Float[np.ndarray, " n"]:
    t = t - np.average(t, weights=weights)
    t = np.clip(t / max(np.sqrt(np.average(t**2, weights=weights)), 1e-300), -CLIP, CLIP)
    return t - np.average(t, weights=weights)


def curved(
    table: Table,
    labels: Sequence[Float[np.ndarray, " n"]],
    covariance: Float[Array, "d d"],
    rng: np.random.Generator,
    where: Arrays,
) -> Float[np.ndarray, "m d"]:
    """The directions above chance, one in a row, of the length |curvature| above chance in units of chance.

    Chance is the largest curvature of the same labels with random signs.
    """
    X, rows = where.put(table.X), []
    for t in labels:
        real, chance = (
            _hessian(X, table.weights * s, covariance, where) for s in (t, t * rng.choice([-1.0, 1.0], len(t)))
        )
        level = np.abs(eigh(chance, eigvals_only=True)).max()
        values, vectors = eigh(real)
        order = np.argsort(-np.abs(values))[:MOST_CURVED]
        above = np.abs(values[order]) / max(level, 1e-300) - 1.0
        rows.append((vectors[:, order] * np.maximum(above, 0.0)).T[above > 0])
    return np.concatenate(rows)


def _hessian(X: np.ndarray, t: np.ndarray, covariance: Float[Array, "d d"], where: Arrays) -> Float[np.ndarray, "d d"]:
    moment = where.double(X.T @ (X * where.put(t)[:, None].astype(X.dtype))) / len(X)
    half = where.linalg.cho_solve((covariance, False), moment)
    found = np.asarray(where.linalg.cho_solve((covariance, False), half.T))
    return (found + found.T) / 2
