"""A first layer with biases, the features and slopes of the rows of a table, and the normal equations of the readout.

    f(x) = c + sum_i b_i sigma(<w_i, x> + t_i) + <b_0, x>

The features of a row are q = p + d numbers: the outputs of the p neurons, then the row itself. Rows may have weights. Products
with the rows use the precision of the rows; sums and solves use double precision.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Protocol

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import Arrays
from giantstep._machine.threads import one_blas_thread
from giantstep.estimator.steps.array import Array
from giantstep.functions.activation import Activation

CHUNK = 2**23  # numbers that the features of a chunk of rows may fill
FLAT = 1e-6  # features that vary by less than this share of their mean square vary by rounding, in single precision too
THREADED = 4  # with many right-hand sides, BLAS threads help already at a quarter of the usual size


@dataclass(frozen=True)
class FirstLayer:
    """``W`` has rows w_i and ``bias`` entries t_i."""

    W: Float[Array, "p d"]
    bias: Float[Array, " p"]
    sigma: Activation

    @property
    def q(self) -> int:
        return sum(self.W.shape)

    def with_rows(self, W: Float[Array, "p d"]) -> "FirstLayer":
        return replace(self, W=W)

    def preactivations(self, X: Float[Array, "n d"]) -> Float[Array, "n p"]:
        """H = X W^T + t."""
        return X @ self.W.T.astype(X.dtype) + self.bias.astype(X.dtype)

    def outputs(self, H: Float[Array, "n p"]) -> Float[Array, "n p"]:
        """sigma(H)."""
        return self.sigma(H).astype(H.dtype)

    def gradient(self, piece: "TablePiece", b: Float[Array, " q"]) -> Float[Array, "n d"]:
        """grad f = sum_i b_i sigma'(h_i) w_i + b_0 for every row."""
        p = len(self.W)
        W, b = self.W.astype(piece.X.dtype), b.astype(piece.X.dtype)
        return piece.slopes @ (b[:p, None] * W) + b[p:]

    def for_predictions(self, fitted: "FittedReadout") -> tuple["FirstLayer", "FittedReadout"]:
        return FirstLayer(np.asarray(self.W), np.asarray(self.bias), self.sigma), fitted.bare

    def for_fits(self) -> "FirstLayer":
        return self


class Layer(Protocol):
    """What turns rows into p features: neurons, or a kernel at landmarks."""

    @property
    def q(self) -> int: ...

    def preactivations(self, X: Float[Array, "n d"]) -> Float[Array, "n p"]: ...

    def outputs(self, H: Float[Array, "n p"]) -> Float[Array, "n p"]: ...

    def gradient(self, piece: "TablePiece", b: Float[Array, " q"]) -> Float[Array, "n d"]: ...

    def for_predictions(self, fitted: "FittedReadout") -> tuple["Layer", "FittedReadout"]:
        """The same in NumPy arrays, in the form that predicts fastest."""
        ...

    def for_fits(self) -> "Layer":
        """A layer in NumPy arrays in the form whose readout can be fitted."""
        ...


@dataclass(frozen=True)
class Table:
    """Rows to learn from with their labels and weights, on the host."""

    X: Float[np.ndarray, "n d"]
    Y: Float[np.ndarray, "n k"]
    weights: Float[np.ndarray, " n"]

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: Int[np.ndarray, " m"]) -> "Table":
        return Table(self.X[rows], self.Y[rows], self.weights[rows])

    def joined(self, other: "Table") -> "Table":
        """The rows of both."""
        parts = ((self.X, other.X), (self.Y, other.Y), (self.weights, other.weights))
        return Table(*(np.concatenate(each) for each in parts))


@dataclass(frozen=True)
class TablePiece:
    """Some rows of a table on the device of the work, and their preactivations H in a layer."""

    X: Float[Array, "n d"]
    Y: Float[Array, "n k"]
    weights: Float[Array, " n"]
    layer: Layer
    where: Arrays
    equal: bool = False  # all weights are one

    @cached_property
    def H(self) -> Float[Array, "n p"]:
        return self.layer.preactivations(self.X)

    @cached_property
    def neurons(self) -> Float[Array, "n p"]:
        return self.layer.outputs(self.H)

    @property
    def features(self) -> Float[Array, "n q"]:
        """[neurons, X]."""
        return self.where.xp.concatenate([self.neurons, self.X], axis=1)

    @property
    def slopes(self) -> Float[Array, "n p"]:
        """sigma'(H), of a layer of neurons."""
        return self.layer.sigma.slope(self.H).astype(self.X.dtype)  # type: ignore[attr-defined]

    @property
    def linear(self) -> Float[Array, "n v"]:
        """[X, Y, 1], in the precision of X."""
        ones = self.where.xp.ones((len(self.X), 1), dtype=self.X.dtype)
        return self.where.xp.concatenate([self.X, self.Y.astype(self.X.dtype), ones], axis=1)

    @property
    def roots(self) -> Float[Array, "n 1"] | None:
        """Square roots of the weights as a column; None if all weights are one."""
        return None if self.equal else self.where.xp.sqrt(self.weights)[:, None].astype(self.X.dtype)


@dataclass(frozen=True)
class TableStream:
    """The pieces of a table, computed again in every iteration."""

    table: Table
    layer: Layer
    where: Arrays

    @property
    def rows(self) -> int:
        return max(256, CHUNK // self.layer.q)

    def __iter__(self) -> Iterator[TablePiece]:
        put, table = self.where.put, self.table
        for start in range(0, len(table), self.rows):
            part = slice(start, start + self.rows)
            weights = table.weights[part]
            equal = bool(np.all(weights == 1.0))
            yield TablePiece(put(table.X[part]), put(table.Y[part]), put(weights), self.layer, self.where, equal)


def pieces(table: Table, layer: Layer, where: Arrays) -> Iterable[TablePiece]:
    """The pieces of a table: a list if there is only one, and a stream otherwise."""
    stream = TableStream(table, layer, where)
    return list(stream) if len(table) <= stream.rows else stream


def weighted(rows: Float[Array, "n m"], roots: Float[Array, "n 1"] | None) -> Float[Array, "n m"]:
    return rows if roots is None else rows * roots


def linear_moments(table: Table, layer: Layer, where: Arrays) -> Float[Array, "v v"]:
    """V^T diag(weights) V for V = [X, Y, 1]: the part of the moments that no step changes."""
    total: Any = 0.0
    for piece in pieces(table, layer, where):
        total = total + where.double(where.squares(weighted(piece.linear, piece.roots)))
    return total


def moments(rows: Iterable[TablePiece], linear: Float[Array, "v v"], where: Arrays) -> Float[Array, "z z"]:
    """Z^T diag(weights) Z for Z = [sigma(H), V], which is all that a ridge fit needs. Moments of parts add up."""
    own: Any = 0.0
    cross: Any = 0.0
    for piece in rows:
        F = weighted(piece.neurons, piece.roots)
        own = own + where.double(where.squares(F))
        cross = cross + where.double(F.T @ weighted(piece.linear, piece.roots))
    return where.xp.concatenate(
        [where.xp.concatenate([own, cross], axis=1), where.xp.concatenate([cross.T, linear], axis=1)], axis=0
    )


@dataclass(frozen=True)
class Normal:
    """Centred normal equations: A = F^T F / n and B = F^T y / n, the means of F and y, and the total weight n."""

    A: Float[Array, "q q"]
    B: Float[Array, "q k"]
    mean: Float[Array, " q"]
    mean_y: Float[Array, " k"]
    weight: Float[Array, ""]

    @property
    def size(self) -> float:
        """tr A, the unit of penalties, so that a penalty means the same for any number of features; features that do not vary
        at all have a trace of rounding, of the order of their mean square, and a penalty well above it."""
        return max(float(self.A.diagonal().sum()), FLAT * float(1.0 + self.mean @ self.mean))

    def degrees(self, penalty: float) -> float:
        """tr A (A + lam)^{-1}, the degrees of freedom of a ridge fit."""
        s = np.maximum(np.linalg.eigvalsh(np.asarray(self.A)), 0.0)
        return float((s / (s + penalty)).sum())


def normal(total: Float[Array, "z z"], q: int, where: Arrays) -> Normal:
    """Normal equations from moments."""
    n, mean = total[-1, -1], total[-1, :-1] / total[-1, -1]
    centred = total[:q, :-1] / n - where.xp.outer(mean[:q], mean)
    return Normal(centred[:, :q], centred[:, q:], mean[:q], mean[q:], n)


@dataclass(frozen=True)
class FittedReadout:
    """Coefficients and intercept. Leave-one-out also needs the means of the features, the Cholesky factor of
    A + lam and the total weight."""

    coefficients: Float[Array, "q k"]
    intercept: Float[Array, " k"]
    mean: Float[Array, " q"] | None = None
    factor: tuple = ()
    weight: Float[Array, ""] | None = None

    @property
    def bare(self) -> "FittedReadout":
        """Only what predictions need, in NumPy arrays."""
        return FittedReadout(np.asarray(self.coefficients), np.asarray(self.intercept))

    @property
    def finite(self) -> bool:
        return bool(np.all(np.isfinite(np.asarray(self.coefficients))))

    def predict(self, piece: TablePiece) -> Float[Array, "n k"]:
        p, b = piece.neurons.shape[1], self.coefficients.astype(piece.X.dtype)
        return piece.neurons @ b[:p] + piece.X @ b[p:] + self.intercept


def solve(equations: Normal, penalty: float, where: Arrays) -> FittedReadout:
    """Ridge: minimise (1/n) sum_mu weight_mu (y - c - F b)^2 + lam |b|^2, n the total weight, c not penalised.

    b = (A + lam)^{-1} B; it is NaN if A + lam is not positive definite in floating point.
    """
    e = equations
    with one_blas_thread(THREADED * len(e.A)):
        return _solved(e, penalty, where)


def _solved(e: Normal, penalty: float, where: Arrays) -> FittedReadout:
    try:
        factor = where.linalg.cho_factor(e.A + penalty * where.xp.eye(len(e.A)), lower=True)
        b = where.linalg.cho_solve(factor, e.B)
    except (np.linalg.LinAlgError, ValueError):  # not positive definite, or not finite; JAX returns NaN instead
        factor, b = (), np.full(e.B.shape, np.nan)
    return FittedReadout(b, e.mean_y - e.mean @ b, e.mean, factor, e.weight)


def refit(fitted: FittedReadout, rows: Iterable[TablePiece], where: Arrays) -> FittedReadout:
    """Fit other labels on the same rows with the same penalty; this takes one product and one solve."""
    assert fitted.mean is not None and fitted.weight is not None
    cross: Any = 0.0
    mean: Any = 0.0
    for piece in rows:
        y = piece.weights[:, None] * piece.Y / fitted.weight
        cross, mean = cross + where.double(piece.features).T @ y, mean + y.sum(axis=0)
    b = where.linalg.cho_solve(fitted.factor, cross - where.xp.outer(fitted.mean, mean))
    return replace(fitted, coefficients=b, intercept=mean - fitted.mean @ b)


def left_out(fitted: FittedReadout, rows: Iterable[TablePiece], where: Arrays) -> Float[np.ndarray, "n k"]:
    """Leave-one-out residuals: the residual of every row of the fit as if that row had been left out.

    h = (weight / n) (1 + g^T (A + lam)^{-1} g) with g = f - mean;  residual / (1 - h), the penalty term n lam |b|^2 kept.
    """
    assert fitted.mean is not None and fitted.weight is not None
    residuals = []
    for piece in rows:
        if not fitted.finite:
            residuals.append(np.full(piece.Y.shape, np.nan))
            continue
        away = (where.double(piece.features) - fitted.mean).T
        with one_blas_thread(THREADED * len(away)):
            root = where.linalg.solve_triangular(fitted.factor[0], away, lower=True, overwrite_b=True)
        leverage = piece.weights / fitted.weight * (1 + (root**2).sum(axis=0))
        residuals.append(np.asarray((piece.Y - fitted.predict(piece)) / (1 - leverage)[:, None]))
    return np.concatenate(residuals)
