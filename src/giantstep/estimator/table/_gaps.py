"""Gaps: missing values of a table (NaN), filled with means; a column that has some becomes two, the second says where."""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float, Int

__all__ = ["Gaps", "gaps"]


@dataclass(frozen=True)
class Gaps:
    """``means`` of the columns, and ``columns`` in which values are missing."""

    means: Float[np.ndarray, " d"]
    columns: Int[np.ndarray, " m"]

    def fill(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n v"]:
        """The table without gaps: v = d + m columns. In columns without gaps so far, a missing value only becomes the mean."""
        missing = np.isnan(X)
        if not len(self.columns) and not missing.any():
            return X
        filled = np.where(missing, self.means.astype(X.dtype), X)
        return np.concatenate([filled, missing[:, self.columns].astype(X.dtype)], axis=1)

    def names(self, names: list[str]) -> list[str]:
        return [*names, *(f"({names[j]} is missing)" for j in self.columns)]


def gaps(X: Float[np.ndarray, "n d"], weights: Float[np.ndarray, " n"]) -> Gaps:
    """The gaps of a table; a column that is missing altogether has mean zero."""
    missing = np.isnan(X)
    columns = np.flatnonzero(missing.any(axis=0))
    means = np.zeros(X.shape[1])
    if len(columns):
        there = weights[:, None] * ~missing[:, columns]
        shares = there / np.maximum(there.sum(axis=0), 1e-300)  # first, so that no sum of large numbers overflows
        means[columns] = (shares * np.where(missing[:, columns], 0.0, X[:, columns])).sum(axis=0)
    others = np.setdiff1d(np.arange(X.shape[1]), columns)
    means[others] = (weights[:, None] / weights.sum() * X[:, others]).sum(axis=0)
    return Gaps(means, columns)
