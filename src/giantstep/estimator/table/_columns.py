"""Tables as they come: the column that is no column of numbers is named."""

from collections import Counter
from collections.abc import Hashable
from typing import Any

import numpy as np
from sklearn.utils.validation import validate_data

from giantstep._given.plain import quoted
from giantstep.errors import InputError


def validated(estimator: Any, X: Any, *y: Any, **options: Any) -> Any:
    """What scikit-learn makes of a table, ``validate_data``; its refusals name the column."""
    columns = getattr(X, "columns", None)
    twice = [] if columns is None else [name for name, n in Counter(columns).items() if n > 1]
    if twice:
        raise InputError(f"the table has two columns of the name {quoted(twice[0])}: give each its own")
    try:
        return validate_data(estimator, X, *y, **options)
    except (TypeError, ValueError) as problem:
        found = _culprit(X, columns, isinstance(problem, ValueError))
        if found is None:
            raise
        name, key, words = found
        raise InputError(f"the column {name} has entries that are no numbers{_cure(key, words)}") from None


def _cure(key: str, words: bool) -> str:
    """What to do with a column of words, and with dates and the like, which have no few values to encode."""
    if not words:
        return ": turn it into numbers, or leave it out"
    return (
        ": encode it with a ColumnTransformer, such as make_column_transformer((OneHotEncoder(sparse_output=False), "
        f"[{key}]), remainder='passthrough') in a pipeline before this estimator, or leave it out"
    )


def _culprit(X: Any, columns: Any, mixed: bool) -> tuple[str, str, bool] | None:
    """The first column of texts, dates or the like, by its name or its place, how to select it, and whether it has words.

    ``mixed`` looks at lists and arrays of objects, too.
    """
    if columns is not None:
        parts = [(quoted(name), quoted(name), X[name]) for name in columns]
    else:
        table = _as_array(X, mixed)
        if table is None:
            return None
        parts = [(f"X[:, {j}]", str(j), table[:, j]) for j in range(table.shape[1])]
    for name, key, entries in parts:
        array = np.asarray(entries)
        if array.dtype.kind in "fiub":
            continue
        try:
            if array.dtype.kind not in "OUS":
                return name, key, False
            array.astype(float)
        except (TypeError, ValueError):
            return name, key, all(isinstance(each, Hashable) for each in array.tolist())
    return None


def _as_array(X: Any, mixed: bool) -> np.ndarray | None:
    """A table without names of columns, if some of its columns may be no numbers."""
    if mixed and isinstance(X, list | tuple):
        try:
            X = np.array(X, dtype=object)
        except ValueError:  # rows of different lengths
            return None
    kinds = "USMmO" if mixed else "USMm"
    return X if isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in kinds else None
