"""Task: rows to learn from and rows to be judged on, the same for every contender."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace

import numpy as np

REGRESSION, CLASSES = "regression", "classes"


@dataclass(frozen=True, eq=False)
class Split:
    """Training rows and test rows; labels are numbers (n,) or (n, outputs), or whole numbers from 0 for classes."""

    X: np.ndarray = field(repr=False)
    y: np.ndarray = field(repr=False)
    X_test: np.ndarray = field(repr=False)
    y_test: np.ndarray = field(repr=False)

    def single(self) -> "Split":
        """Rows in single precision, in which xRFM works: for everyone alike."""
        return replace(self, X=self.X.astype(np.float32), X_test=self.X_test.astype(np.float32))


@dataclass(frozen=True)
class Task:
    """One row of the table.

    Attributes:
        name: what the command line calls it.
        group: the table it stands in.
        kind: "regression" or "classes".
        about: what is learned, in words or as a formula.
        rows: how many rows there are to learn from, of a table about as many.
        splits: how many splits there are: seeds of a law, or folds and draws of a table.
        load: the data of a split from 0; nothing is drawn or read before.
    """

    name: str
    group: str
    kind: str
    about: str
    rows: int
    splits: int
    load: Callable[[int], Split]


def error(kind: str, truth: np.ndarray, found: np.ndarray) -> float:
    """Share of wrong classes; or mean squared error over the variance of the test labels, averaged over outputs."""
    found = found.reshape(truth.shape)  # CatBoost predicts a column
    if kind == CLASSES:
        return float(np.mean(found != truth))
    residuals = (truth - found) ** 2
    return float(np.mean(residuals.mean(axis=0) / truth.var(axis=0)))
