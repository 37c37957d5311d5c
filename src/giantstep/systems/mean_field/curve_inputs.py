"""CurveInputs: how curves become the inputs of a mean-field network, and the prior of its neurons along them."""

from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import as_numbers, flag, real, settle
from giantstep.errors import InputError
from giantstep.systems.mean_field.bases import project, smoothness


@dataclass(frozen=True)
class CurveInputs:
    """The basis of the curves and the prior of a neuron in it.

    Attributes:
        count: basis functions.
        kind: "cosine", "sine" or "fourier" (periodic curves).
        gamma: smoothness of the neurons, above 1/2.
        spread: standard deviation of ``<theta, x>`` under the prior, in the root mean square over the curves.
        intercept: add a constant to the inputs.
        how: "least_squares" or "quadrature".
        smooth: smooths the curves in least squares: see ``bases.project``.
        domain: the interval of the curves; by default that of the grids.
    """

    count: int = 16
    kind: str = "cosine"
    gamma: float = 1.0
    spread: float = 3.0
    intercept: bool = True
    how: str = "least_squares"
    smooth: float = 0.0
    domain: tuple[float, float] | None = None

    def __post_init__(self) -> None:
        settle(self, real, "gamma", "spread")
        settle(self, flag, "intercept")
        if self.gamma <= 0.5 or self.spread <= 0:
            raise InputError("gamma must be above 1/2 and spread above 0")


def described(options: dict[str, Any]) -> tuple[CurveInputs, dict[str, Any]]:
    """The inputs that these options describe, and the options that are left."""
    known = {field.name for field in fields(CurveInputs)}
    own = {name: value for name, value in options.items() if name in known}
    return CurveInputs(**own), {name: value for name, value in options.items() if name not in known}


def spanning(inputs: CurveInputs, grid: Any) -> CurveInputs:
    """The inputs with the interval of the grid, or of all grids, as their domain if they have none."""
    if inputs.domain is not None:
        return inputs
    every = as_numbers(np.concatenate([np.ravel(g) for g in grid]) if own_grids(grid) else grid)
    if every is None or not every.size:
        raise InputError("a grid must be at least two increasing finite numbers")
    return replace(inputs, domain=(float(np.min(every)), float(np.max(every))))


def own_grids(grid: Any) -> bool:
    """Whether every curve has a grid of its own."""
    one = as_numbers(grid[0]) if isinstance(grid, list | tuple) and grid else None
    return one is not None and one.ndim == 1


def coefficients(inputs: CurveInputs, curves: Any, grid: Any) -> Float[np.ndarray, "curves J"]:
    """Curves in the basis, one row a curve, and the constant 1 in the last column if there is an intercept."""
    X = project(
        curves, grid, inputs.count, inputs.kind, how=inputs.how, smooth=inputs.smooth, domain=inputs.domain
    )  # fmt: skip
    return np.column_stack([X, np.ones(len(X))]) if inputs.intercept else X


def deviations(inputs: CurveInputs, X: Float[np.ndarray, "curves J"]) -> Float[np.ndarray, " J"]:
    """Deviations j^-gamma, scaled so that ``<theta, x>`` has the variance spread^2 in the mean over the rows of coefficients.

    That of the intercept is spread.
    """
    x = X[:, :-1] if inputs.intercept else X
    c = smoothness(x.shape[1], inputs.gamma)
    root = float(np.mean(np.sum((x * c) ** 2, axis=1))) ** 0.5
    if root == 0:
        raise InputError("the curves are zero")
    c = c * inputs.spread / root
    return np.append(c, inputs.spread) if inputs.intercept else c
