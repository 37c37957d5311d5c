"""The leave-one-out residuals of a small ridge fit at every penalty, from one eigendecomposition.

With A = U diag(s) U^T, all that depends on the penalty lam is diagonal:

    f(x) = mean_y + g^T U (U^T B) / (s + lam),      h = (weight / n) (1 + sum_j (g^T u_j)^2 / (s_j + lam)),      g = f - mean.

A Cholesky factor for every penalty is faster for large matrices (``network.left_out``). For small ones most of its time is spent
in calls.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import eigh

from giantstep.estimator.steps.network import Normal, TablePiece

__all__ = ["MOST_FEATURES", "PenaltyPath", "penalty_path"]

MOST_FEATURES = 128


@dataclass(frozen=True)
class PenaltyPath:
    """``values`` s, ``turned`` G U and ``solution`` U^T B; ``centred`` labels, ``shares`` weight / n of the rows."""

    values: Float[np.ndarray, " q"]
    turned: Float[np.ndarray, "m q"]
    solution: Float[np.ndarray, "q k"]
    centred: Float[np.ndarray, "m k"]
    shares: Float[np.ndarray, " m"]

    def left_out(self, penalty: float) -> Float[np.ndarray, "m k"]:
        """The residuals at a penalty; NaN if A + lam is not positive definite in floating point."""
        s = self.values + penalty
        if not s.min() > 0:
            return np.full(self.centred.shape, np.nan)
        scaled = self.turned / s
        leverage = self.shares * (1 + (scaled * self.turned).sum(axis=1))
        return (self.centred - scaled @ self.solution) / (1 - leverage)[:, None]


def penalty_path(equations: Normal, rows: Iterable[TablePiece]) -> PenaltyPath:
    """The path for rows of the fit, on the host."""
    e, pieces = equations, list(rows)
    finite = bool(np.all(np.isfinite(e.A)))
    values, U = eigh(e.A, check_finite=False) if finite else (np.full(len(e.A), np.nan), np.eye(len(e.A)))
    away = np.concatenate([piece.features.astype(np.float64) for piece in pieces]) - e.mean
    centred = np.concatenate([piece.Y for piece in pieces]) - e.mean_y
    shares = np.concatenate([piece.weights for piece in pieces]) / e.weight
    return PenaltyPath(values, away @ U, U.T @ e.B, centred, shares)
