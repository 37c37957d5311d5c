"""Rows of inputs with a class each, or with a real number each."""

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep._given.plain import as_numbers
from giantstep.errors import InputError


@dataclass(frozen=True, eq=False)
class LabelledRows:
    """Inputs X (N x d) with whole-number labels (N), frozen. Regression data have ``values`` (N), and all labels are 0."""

    X: Float[np.ndarray, "N d"] = field(repr=False)
    labels: Int[np.ndarray, " N"] = field(repr=False)
    values: Float[np.ndarray, " N"] | None = field(repr=False, default=None)
    _hash: int = field(init=False, repr=False, default=0)

    def __post_init__(self) -> None:
        X, labels = _numbers(self.X), _numbers(self.labels)
        values = None if self.values is None else _numbers(self.values)
        if X.ndim != 2 or X.size == 0 or not np.all(np.isfinite(X)):
            raise InputError("the inputs of a dataset must be a matrix of finite numbers, N x d")
        if labels.shape != X.shape[:1]:
            raise InputError(f"a dataset of {len(X)} inputs needs {len(X)} labels, not {labels.size}")
        if not np.all(np.isfinite(labels)) or np.any(labels != np.round(labels)) or np.max(np.abs(labels)) > 2**31:
            raise InputError("the labels of a dataset must be whole numbers, its classes, or finite real numbers")
        if values is not None and (values.shape != X.shape[:1] or not np.all(np.isfinite(values))):
            raise InputError(f"a dataset of {len(X)} inputs needs {len(X)} finite values")
        for name, array in (("X", X), ("labels", labels.astype(int)), ("values", values)):
            if array is not None:
                array.setflags(write=False)
            object.__setattr__(self, name, array)
        content = (self.X.shape, self.X.tobytes(), self.labels.tobytes())
        object.__setattr__(self, "_hash", hash(content if values is None else (*content, values.tobytes())))

    @staticmethod
    def of(X: Any, labels: Any, *, real: bool = False) -> "LabelledRows":
        """Rows with the labels as classes if all are whole numbers, and with values otherwise or if ``real`` says so."""
        given = _numbers(labels)
        whole = not real and bool(np.all(given == np.round(given)))
        return LabelledRows(X, labels) if whole else LabelledRows(X, np.zeros(given.shape), given)  # type: ignore[arg-type]

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, LabelledRows) and np.array_equal(self.X, other.X)
        if not same or not np.array_equal(self.labels, other.labels):  # type: ignore[union-attr]
            return False
        if self.values is None or other.values is None:  # type: ignore[union-attr]
            return self.values is other.values  # type: ignore[union-attr]
        return np.array_equal(self.values, other.values)  # type: ignore[union-attr]

    def __hash__(self) -> int:
        return self._hash

    def to_plain(self) -> dict[str, Any]:
        rows = {"X": self.X.tolist(), "labels": self.labels.tolist()}
        return rows if self.values is None else {**rows, "values": self.values.tolist()}


def _numbers(given: Any) -> Float[np.ndarray, "..."]:
    array = as_numbers(given)
    if array is None:
        raise InputError("a dataset is a pair of arrays of numbers: X of shape (N, d) and labels of shape (N,)")
    return np.array(array, dtype=float)
