"""Mean-field networks on a user's own curves: values on grids become coefficients, and a network is trained on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import at_least, given
from giantstep._given.plain import real
from giantstep.errors import InputError
from giantstep.systems.mean_field._several_outputs import asked, columns, spreads
from giantstep.systems.mean_field.curve_inputs import (
    CurveInputs,
    coefficients,
    described,
    deviations,
    own_grids,
    spanning,
)
from giantstep.systems.mean_field.training import Field, labels, recipe, train


@dataclass(frozen=True, repr=False, eq=False)
class FittedCurves:
    """A network fitted to curves.

    Attributes:
        field: the trained network, with its certificate.
        grid: that of the fit, or None where every curve had its own.
        inputs: how curves become coefficients.
        outputs: the number of outputs if the labels were a table, or None.
    """

    field: Field
    grid: Float[np.ndarray, " points"] | None
    inputs: CurveInputs
    outputs: int | None = None

    def predict(self, curves: Any, grid: Any = None) -> Float[np.ndarray, "curves ..."]:
        """f of curves on the grid of the fit, or on another, or each on its own; for labels of +1 and -1 its sign is the
        label. Several outputs are columns."""
        if grid is None and self.grid is None:
            raise InputError("the fit had a grid for every curve: predict needs grid as well")
        X = coefficients(self.inputs, curves, self.grid if grid is None else grid)
        if self.outputs is None:
            return self.field.outputs(X)
        return self.field.outputs(asked(X, self.outputs)).reshape(len(X), self.outputs)

    @property
    def gap(self) -> float:
        """The certificate: the objective is at most this much above the smallest possible one."""
        return self.field.gap

    def __repr__(self) -> str:
        return repr(self.field)


@given(bound=real, seed=at_least(0))
def fit(curves: Any, y: Any, grid: Any, *, bound: float | None = None, seed: int = 0, **options: Any) -> FittedCurves:
    """Train a mean-field network on curves that were sampled on a grid.

    Args:
        curves: one row a curve; a list when curves have grids of their own.
        y: labels; +1 and -1 with ``loss="logistic"``. A table, one row a curve, trains a network of several outputs that share
            their neurons (see ``several_outputs``).
        grid: where the values were taken; a list of grids, one a curve, when they differ.
        bound: the largest output; by default twice the largest label, and 4 with the logistic loss.
        seed: of the method.
        **options: the fields of ``CurveInputs`` (count, kind, gamma, spread, intercept, how, smooth, domain) and those of
            ``mean_field.training.Training`` (penalty, loss, method, particles, passes, ...).
    """
    inputs, training = described(options)
    inputs = spanning(inputs, grid)
    X = coefficients(inputs, curves, grid)
    c, outputs = deviations(inputs, X), columns(y, len(X))
    if outputs is not None:
        if not inputs.intercept:
            raise InputError("several outputs need intercept=True, by which a neuron tells them apart")
        X, c, y = asked(X, outputs), spreads(c, outputs), np.ravel(y)
    y = labels(y, len(X), training.get("loss", "square"))
    found = train(X, y, c, recipe(training, y, bound), seed)
    return FittedCurves(found, None if own_grids(grid) else np.asarray(grid, float), inputs, outputs)
