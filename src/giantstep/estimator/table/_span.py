"""Span: the coordinates of rows in the span of a table with more columns than rows.

A ridge fit, the gradients of the first layer and all directions lie in the span of the rows, so that nothing is lost there: what
was a problem of d columns is one of at most n. This is the dual problem of ridge regression, written as a rotation.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

RANK = 1e-10  # eigenvalues below this share of the largest are rounding


@dataclass(frozen=True)
class Span:
    """``scaler`` scales columns; ``basis`` has orthonormal columns that span the scaled rows, or is None for all of space."""

    scaler: Any
    basis: Float[np.ndarray, "d r"] | None = None

    def transform(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n r"]:
        scaled = self.scaler.transform(X)
        return scaled if self.basis is None else scaled @ self.basis

    def back(self, rows: Float[np.ndarray, "m r"]) -> Float[np.ndarray, "m d"]:
        """Directions in the scaled columns from their coordinates."""
        return rows if self.basis is None else rows @ self.basis.T


def span(scaler: Any, X: Float[np.ndarray, "n d"]) -> Span:
    """The span of the scaled rows if they are fewer than their columns."""
    if X.shape[1] <= len(X):
        return Span(scaler)
    scaled = scaler.transform(X)
    squares, vectors = eigh(scaled.astype(np.float64) @ scaled.T)
    known = squares > RANK * max(squares[-1], 0.0)
    if not known.any():  # all rows are equal: any direction will do
        return Span(scaler, np.eye(X.shape[1], 1, dtype=scaled.dtype))
    basis = scaled.T @ (vectors[:, known] / np.sqrt(squares[known]))
    return Span(scaler, basis.astype(scaled.dtype, copy=False))
