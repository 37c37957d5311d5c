"""Units: powers of two by which extreme columns are divided, so that their squares neither overflow nor vanish."""

import numpy as np
from jaxtyping import Float

__all__ = ["Units", "units"]

MOST = {np.dtype(np.float64): 300, np.dtype(np.float32): 40}  # exponents of two up to which a column is left as it is


class Units:
    """``exponents[j]`` is that of column j, 0 for usual columns, which then keep every digit and their common unit."""

    def __init__(self, exponents: np.ndarray) -> None:
        self.exponents = exponents

    def divide(self, X: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
        return X if not self.exponents.any() else np.ldexp(X, -self.exponents)

    def multiply(self, X: Float[np.ndarray, "n m"]) -> Float[np.ndarray, "n m"]:
        """The inverse; what lies beyond the largest number becomes the largest number."""
        if not self.exponents.any():
            return X
        with np.errstate(over="ignore"):
            return np.clip(np.ldexp(X, self.exponents), np.finfo(X.dtype).min, np.finfo(X.dtype).max)


def units(X: Float[np.ndarray, "n m"]) -> Units:
    """The units of the columns of a table."""
    _, exponents = np.frexp(np.abs(X).max(axis=0))
    return Units(np.where(np.abs(exponents) > MOST[X.dtype], exponents, 0))
