"""Rows of inputs with a class each."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError


@dataclass(frozen=True, eq=False)
class Samples:
    """Inputs X (N x d) with whole-number labels (N), frozen."""

    X: Float[np.ndarray, "N d"] = field(repr=False)
    labels: Int[np.ndarray, " N"] = field(repr=False)
    _hash: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        try:
            X, labels = np.array(self.X, dtype=float), np.array(self.labels, dtype=float)
        except (TypeError, ValueError):
            raise InputError(
                "a dataset is a pair of arrays of numbers: X of shape (N, d) and labels of shape (N,)"
            ) from None
        if X.ndim != 2 or X.size == 0 or not np.all(np.isfinite(X)):
            raise InputError("the inputs of a dataset must be a matrix of finite numbers, N x d")
        if labels.shape != X.shape[:1]:
            raise InputError(f"a dataset of {len(X)} inputs needs {len(X)} labels, not {labels.size}")
        if not np.all(np.isfinite(labels)) or np.any(labels != np.round(labels)) or np.max(np.abs(labels)) > 2**31:
            raise InputError("the labels of a dataset must be whole numbers, its classes")
        for name, array in (("X", X), ("labels", labels.astype(int))):
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        object.__setattr__(self, "_hash", hash((self.X.shape, self.X.tobytes(), self.labels.tobytes())))

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Samples) and np.array_equal(self.X, other.X)
        return same and np.array_equal(self.labels, other.labels)  # type: ignore[union-attr]

    def __hash__(self) -> int:
        return self._hash

    def to_plain(self) -> dict[str, Any]:
        return {"X": self.X.tolist(), "labels": self.labels.tolist()}
