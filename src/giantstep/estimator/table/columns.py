"""Tables as they come: the column that is no column of numbers is named."""

from collections import Counter
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
    except (TypeError, ValueError):
        name = _culprit(X, columns)
        if name is None:
            raise
        raise InputError(f"the column {name} has entries that are no numbers: encode it, or leave it out") from None


def _culprit(X: Any, columns: Any) -> str | None:
    """The first column of texts, dates or the like, by its name or its place."""
    if columns is not None:
        parts = [(quoted(name), X[name]) for name in columns]
    elif isinstance(X, np.ndarray) and X.ndim == 2 and X.dtype.kind in "USMm":
        parts = [(f"X[:, {j}]", X[:, j]) for j in range(X.shape[1])]
    else:
        return None
    for name, entries in parts:
        array = np.asarray(entries)
        if array.dtype.kind in "fiub":
            continue
        try:
            if array.dtype.kind not in "OUS":
                return name
            array.astype(float)
        except (TypeError, ValueError):
            return name
    return None
