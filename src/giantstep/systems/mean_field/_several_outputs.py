"""Several outputs of a mean-field network: which output is asked for is one more input.

A neuron has one function theta for all K outputs and a constant of its own for each, in the place of the intercept:

    f_k(x) = int B sigma(<theta, x> + o_k) mu(d theta, d o),    o_k ~ N(0, spread^2) under the prior

So the outputs share their features, and a curve with K labels is K inputs (x, e_k). The problem is that of one output, with the
mean loss over curves and outputs, and has the same certificate (derived here).
"""

from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import as_numbers
from giantstep.errors import InputError


def columns(y: Any, curves: int) -> int | None:
    """The number of outputs of a table of labels, one row a curve; None for a list of labels."""
    table = as_numbers(y)
    if table is None or table.ndim != 2:
        return None  # what is no list of labels is refused with them
    rows, outputs = table.shape
    if rows != curves or outputs == 0:
        raise InputError(f"y must have {curves} rows, one a curve, and a column for each output")
    return outputs


def asked(X: Float[np.ndarray, "n J"], outputs: int) -> Float[np.ndarray, "rows J_and_K"]:
    """Rows (x, e_k), the outputs of a curve one after the other; the last column of X is the intercept, which they replace."""
    return np.column_stack([np.repeat(X[:, :-1], outputs, axis=0), np.tile(np.eye(outputs), (len(X), 1))])


def spreads(c: Float[np.ndarray, " J"], outputs: int) -> Float[np.ndarray, " J_and_K"]:
    """The prior's deviations, that of the intercept for every output."""
    return np.append(c[:-1], np.full(outputs, c[-1]))
