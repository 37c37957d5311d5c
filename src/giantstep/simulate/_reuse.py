"""A reused batch: what is known about it along directions on both sides, exactly and without its d columns.

X (n x d) is known on k right directions of R^d (its coordinates there are held) and on l left directions of R^n: X^T L has
no part outside the right directions. The rest, (1 - L L^T) X on the other d - k directions, is still N(0, 1) and independent
of everything computed so far. Every product C^T X reveals more of it; Gaussian conditioning as in Bolthausen (2014).
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import linalg

from giantstep._machine.random import generator, normals
from giantstep.experiment import draw
from giantstep.experiment.protocol import Protocol
from giantstep.simulate._projections import bartlett

NEGLIGIBLE = 1e-12  # share of C below which a direction is a rounding error


def held(protocol: Protocol, t: int) -> bool:
    """Whether the batch of step t must stay in memory, because it is reused or the step needs its linear part."""
    after = protocol.steps[t + 1] if t + 1 < len(protocol.steps) else protocol.readout
    again = after is not None and after.batch == "reuse"
    return again or protocol.steps[t].batch == "reuse" or protocol.steps[t].deflate > 1


@dataclass(frozen=True)
class Known:
    """Coordinates X (n, k) of a batch, its labels y (n), and orthonormal left directions (n, l)."""

    X: np.ndarray
    y: np.ndarray
    left: np.ndarray


def fresh_batch(X: np.ndarray, y: np.ndarray) -> Known:
    """A fresh batch, which is known on right directions only."""
    return Known(X, y, np.zeros((len(y), 0)))


def product(known: Known, C: np.ndarray, d: int, seed: int, key: draw.Key) -> tuple[Known, np.ndarray]:
    """C^T X in coordinates (q, k') for a C (n, q) computed from what is known, and what is known afterwards; k' - k <= q."""
    L, X = known.left, known.X
    new = _new_directions(C, L)
    # X^T Ln outside the right directions is (d - k) x q' and N(0, 1): U T^T with T triangular, U the new right directions
    T = bartlett(generator(seed, *key, draw.OUTSIDE), new.shape[1], d - X.shape[1])
    left = np.concatenate([L, new], axis=1)
    # X U = Ln T + (1 - La La^T) Xi: known on the left span, fresh off it
    Xi = normals(seed, (*key, draw.OUTSIDE_ROWS), 0, len(X), T.shape[1])
    outside = new @ T + Xi - left @ (left.T @ Xi)
    # C^T X = [C^T X on the old right directions, (C^T Ln) T on the new ones]
    result = np.concatenate([C.T @ X, (C.T @ new) @ T], axis=1)
    return Known(np.concatenate([X, outside], axis=1), known.y, left), result


def _new_directions(C: np.ndarray, L: np.ndarray) -> np.ndarray:
    """An orthonormal basis of the columns of C outside the span of L; it is empty if C has overflowed."""
    size = np.max(np.abs(C), initial=0.0)
    if not (np.isfinite(size) and size > 0):
        return np.zeros((len(C), 0))
    rest = C / size
    norm = np.linalg.norm(rest)
    for _ in range(2):  # twice is enough for orthogonality to rounding
        rest = rest - L @ (L.T @ rest)
    Q, R = np.linalg.qr(rest)
    turn, upper = _pivoted(R)  # on the small factor: pivoting is slow on long columns
    Q = Q @ turn[:, np.abs(np.diag(upper)) > NEGLIGIBLE * norm]
    return np.linalg.qr(Q - L @ (L.T @ Q))[0] if L.size else Q


def _pivoted(R: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    factors: Any = linalg.qr(R, mode="economic", pivoting=True)
    return factors[0], factors[1]


def deflated(known: Known, degree: int, d: int, seed: int, key: draw.Key) -> tuple[Known, np.ndarray]:
    """Labels without the plug-in estimates of their mean (degree 1) and linear part X (X^T y / n) (degree 2)."""
    y = known.y - (known.y.mean() if degree else 0.0)
    if degree < 2:
        return known, y
    known, beta = product(known, known.y[:, None] / len(y), d, seed, key)
    return known, y - known.X @ beta[0]
