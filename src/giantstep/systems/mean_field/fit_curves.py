"""Mean-field networks on a user's own curves: values on grids become coefficients, and a network is trained on them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._machine.plain import flag, real
from giantstep.errors import InputError
from giantstep.systems.mean_field.bases import project, smoothness
from giantstep.systems.mean_field.training import Field, labels, recipe, train


@dataclass(frozen=True, repr=False, eq=False)
class FittedCurves:
    """A network fitted to curves: how they become coefficients, and the trained ``field`` with its certificate."""

    field: Field
    grid: Float[np.ndarray, " points"] | None
    count: int
    kind: str
    how: str
    smooth: float
    domain: tuple[float, float]
    intercept: bool

    def predict(self, curves: Any, grid: Any = None) -> Float[np.ndarray, " curves"]:
        """f of curves on the grid of the fit, or on another, or each on its own; for labels of +1 and -1 its sign is the "
        "label."""
        if grid is None and self.grid is None:
            raise InputError("the fit had a grid for every curve: predict needs grid as well")
        X = project(
            curves, self.grid if grid is None else grid, self.count, self.kind, how=self.how, smooth=self.smooth,
            domain=self.domain,
        )  # fmt: skip
        return self.field.outputs(np.column_stack([X, np.ones(len(X))]) if self.intercept else X)

    @property
    def gap(self) -> float:
        """The certificate: the objective is at most this much above the smallest possible one."""
        return self.field.gap

    def __repr__(self) -> str:
        return repr(self.field)


def fit(
    curves: Any,
    y: Any,
    grid: Any,
    *,
    count: int = 16,
    kind: str = "cosine",
    gamma: float = 1.0,
    spread: float = 3.0,
    bound: float | None = None,
    intercept: bool = True,
    how: str = "least_squares",
    smooth: float = 0.0,
    domain: tuple[float, float] | None = None,
    seed: int = 0,
    **training: Any,
) -> FittedCurves:
    """Train a mean-field network on curves that were sampled on a grid.

    Args:
        curves: one row a curve; a list when curves have grids of their own.
        y: labels; +1 and -1 with ``loss="logistic"``.
        grid: where the values were taken; a list of grids, one a curve, when they differ.
        count: basis functions.
        kind: "cosine", "sine" or "fourier" (periodic curves).
        gamma: smoothness of the neurons, above 1/2.
        spread: standard deviation of <theta, x> under the prior, in the root mean square over the curves.
        bound: the largest output; by default twice the largest label, and 4 with the logistic loss.
        intercept: add a constant to the inputs.
        how: "least_squares" or "quadrature".
        smooth: smooths the curves in least squares: see ``curves.project``.
        domain: the interval of the curves; by default that of the grids.
        seed: of the method.
        **training: the fields of ``mean_field.training.Training``: penalty, loss, method, particles, passes, ...
    """
    own, span = span_of(grid, domain)
    X = project(curves, grid, count, kind, how=how, smooth=smooth, domain=span)
    y = labels(y, len(X), training.get("loss", "square"))
    c = prior_of(X, gamma, spread)
    if flag(intercept, "intercept"):
        X, c = np.column_stack([X, np.ones(len(X))]), np.append(c, spread)
    grid = None if own else np.asarray(grid, float)
    return FittedCurves(
        train(X, y, c, recipe(training, y, bound), seed), grid, count, kind, how, smooth, span, intercept
    )


def span_of(grid: Any, domain: tuple[float, float] | None) -> tuple[bool, tuple[float, float]]:
    """Whether curves have grids of their own, and the interval of all."""
    own = isinstance(grid, list | tuple) and len(grid) > 0 and np.ndim(grid[0]) == 1
    if domain is not None:
        return own, domain
    every = np.concatenate([np.ravel(g) for g in grid]) if own else np.asarray(grid, dtype=float)
    if not every.size:
        raise InputError("a grid must be at least two increasing finite numbers")
    return own, (float(np.min(every)), float(np.max(every)))


def prior_of(X: Float[np.ndarray, "n J"], gamma: float, spread: float) -> Float[np.ndarray, " J"]:
    """Deviations j^-gamma, scaled so that <theta, x> has the variance spread^2 in the mean over the rows."""
    gamma, spread = real(gamma, "gamma"), real(spread, "spread")
    if gamma <= 0.5 or spread <= 0:
        raise InputError("gamma must be above 1/2 and spread above 0")
    c = smoothness(X.shape[1], gamma)
    root = float(np.mean(np.sum((X * c) ** 2, axis=1))) ** 0.5
    if root == 0:
        raise InputError("the curves are zero")
    return c * spread / root
