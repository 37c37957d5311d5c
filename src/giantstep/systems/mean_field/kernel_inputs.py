"""Inputs that are known by a kernel alone, such as graphs: neurons are then functions in its reproducing-kernel space.

The prior makes ⟨theta, x⟩ a Gaussian process with the covariance c^2 k(x, x'). On n inputs with the Gram matrix K = V diag(s) V^T
their coordinates are V sqrt(s), along which theta is N(0, c^2 I). A new input has the coordinates k_x V / sqrt(s) in their span,
and a part outside, of the square k(x, x) - |coordinates|^2, on which no loss depends. There theta keeps its prior, so that

    f(x) = int E_z B sigma(⟨theta, coordinates⟩ + c sqrt(outside) z) mu(d theta),    z ~ N(0, 1)
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.arrays import FINITE, ArrayCheck
from giantstep._given.declared import at_least, given
from giantstep._given.plain import flag, numbers, real
from giantstep.errors import InputError
from giantstep.functions.activation import activation
from giantstep.functions.hermite import gauss_hermite
from giantstep.systems.mean_field.training import Field, labels, recipe, train

SMALL = 1e-10  # of the largest eigenvalue of K, below which a direction is left out
NEGATIVE = 1e-6  # of the largest eigenvalue, down to which one counts as rounding
NODES = 16  # for what is outside the span


@dataclass(frozen=True, repr=False, eq=False)
class FittedKernel:
    """A network fitted to a Gram matrix.

    Attributes:
        field: the trained network, with its certificate.
        project: V / sqrt(s), (n, r).
        deviation: c of the prior.
        intercept: whether a constant was added to the inputs.
    """

    field: Field
    project: Float[np.ndarray, "n r"]
    deviation: float
    intercept: bool

    def predict(self, K: npt.ArrayLike, diagonal: npt.ArrayLike | None = None) -> Float[np.ndarray, " rows"]:
        """f of new inputs.

        Args:
            K: k(x, x_i), one row a new input, one column an input of the fit.
            diagonal: k(x, x) of the new inputs; without it they are taken to lie in the span of those of the fit.
        """
        n = len(self.project)
        X = (
            numbers(K, (None, n), f"K must have {n} columns of finite numbers, one for each input of the fit")
            @ self.project
        )
        outside = np.zeros(len(X))
        if diagonal is not None:
            own = np.asarray(diagonal, dtype=float)
            if own.shape != outside.shape:
                raise InputError(f"diagonal must be {len(X)} numbers, one for each row of K")
            outside = np.sqrt(np.maximum(own - np.sum(X**2, axis=1), 0.0))
        X = np.column_stack([X, np.ones(len(X))]) if self.intercept else X
        if not np.any(outside):
            return self.field.outputs(X)
        t = self.field.training
        sigma, (z, w) = activation(t.activation), gauss_hermite(NODES)
        inside = X @ self.field.neurons.T
        total = sum(
            each * np.asarray(sigma(inside + self.deviation * node * outside[:, None])).mean(axis=1)
            for node, each in zip(z, w, strict=True)
        )
        return t.bound * np.asarray(total)

    @property
    def gap(self) -> float:
        """The certificate: the objective is at most this much above the smallest possible one."""
        return self.field.gap

    def __repr__(self) -> str:
        return repr(self.field)


@given(K=ArrayCheck(("n", "m"), entries=FINITE), spread=real, bound=real, intercept=flag, seed=at_least(0))
def fit_kernel(
    K: npt.ArrayLike,
    y: npt.ArrayLike,
    *,
    spread: float = 3.0,
    bound: float | None = None,
    intercept: bool = True,
    seed: int = 0,
    **training: Any,
) -> FittedKernel:
    """Train a mean-field network on inputs of any kind, given by the Gram matrix of a kernel.

    Args:
        K: k(x_i, x_j), symmetric and without negative eigenvalues.
        y: labels; +1 and -1 with ``loss="logistic"``.
        spread: standard deviation of ⟨theta, x⟩ under the prior, in the root mean square over the inputs.
        bound: the largest output; by default twice the largest label, and 4 with the logistic loss.
        intercept: add a constant to the inputs.
        seed: of the method.
        **training: the fields of ``mean_field.training.Training``: penalty, loss, method, particles, passes, ...
    """
    X, project = _coordinates(np.asarray(K))
    y = labels(y, len(X), training.get("loss", "square"))
    if spread <= 0:
        raise InputError("spread must be above 0")
    c = spread / float(np.mean(np.sum(X**2, axis=1))) ** 0.5
    deviations = np.full(X.shape[1], c)
    if intercept:
        X, deviations = np.column_stack([X, np.ones(len(X))]), np.append(deviations, spread)
    return FittedKernel(train(X, y, deviations, recipe(training, y, bound), seed), project, c, intercept)


def _coordinates(K: Float[np.ndarray, "n m"]) -> tuple[Float[np.ndarray, "n r"], Float[np.ndarray, "n r"]]:
    """V sqrt(s) and V / sqrt(s) of a Gram matrix."""
    if K.ndim != 2 or K.shape[0] != K.shape[1] or len(K) < 2:
        raise InputError("K must be a square matrix of finite numbers, one row and one column for each input")
    if not np.allclose(K, K.T, rtol=1e-8, atol=1e-10 * float(np.max(np.abs(K)))):
        raise InputError("K must be symmetric: k(x, x') = k(x', x)")
    s, V = np.linalg.eigh((K + K.T) / 2)
    if s[-1] <= 0 or s[0] < -NEGATIVE * s[-1]:
        raise InputError(
            f"K must have no negative eigenvalue, as the Gram matrix of a kernel has none; its smallest is {s[0]:.3g}"
        )
    large = s > SMALL * s[-1]
    return V[:, large] * np.sqrt(s[large]), V[:, large] / np.sqrt(s[large])
