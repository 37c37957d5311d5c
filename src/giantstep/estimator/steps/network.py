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

from giantstep._machine.device import Arrays, noun
from giantstep._machine.threads import one_blas_thread
from giantstep.estimator.steps._array import Array
from giantstep.functions.activation import Activation

CHUNK = 2**23  # numbers that the features of a chunk of rows may fill
FLAT = 1e-6  # features that vary by less than this share of their mean square vary by rounding, in single precision too
THREADED = 4  # with many right-hand sides, BLAS threads help already at a quarter of the usual size


@noun("sigma")
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


@noun("where", "equal")
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
    columns = table.X.shape[1] + table.Y.shape[1] + 1
    total = where.zeros(columns, columns)
    for piece in pieces(table, layer, where):
        total = where.run(_with_linear_moments, total, piece)
    return total


def _with_linear_moments(total: Float[Array, "v v"], piece: TablePiece) -> Float[Array, "v v"]:
    return total + piece.where.double(piece.where.squares(weighted(piece.linear, piece.roots)))


def moments(rows: Iterable[TablePiece], linear: Float[Array, "v v"], where: Arrays) -> Float[Array, "z z"]:
    """Z^T diag(weights) Z for Z = [sigma(H), V], which is all that a ridge fit needs. Moments of parts add up."""
    sums: Any = None
    for piece in rows:
        if sums is None:
            p = piece.layer.q - piece.X.shape[1]
            sums = where.zeros(p, p), where.zeros(p, len(linear))
        sums = where.run(_with_moments, *sums, piece)
    return where.run(_joined, *sums, linear, where=where)


def _with_moments(own: Float[Array, "p p"], cross: Float[Array, "p v"], piece: TablePiece) -> tuple[Array, Array]:
    where, F = piece.where, weighted(piece.neurons, piece.roots)
    return own + where.double(where.squares(F)), cross + where.double(F.T @ weighted(piece.linear, piece.roots))


def _joined(
    own: Float[Array, "p p"], cross: Float[Array, "p v"], linear: Float[Array, "v v"], where: Arrays
) -> Float[Array, "z z"]:
    return where.xp.concatenate(
        [where.xp.concatenate([own, cross], axis=1), where.xp.concatenate([cross.T, linear], axis=1)], axis=0
    )


@noun()
@dataclass(frozen=True)
class Normal:
    """Centred normal equations: A = F^T F / n and B = F^T y / n, the means of F and y, the total weight n, and
    what the size of A is judged by: its trace, and the mean square of features that may not vary at all."""

    A: Float[Array, "q q"]
    B: Float[Array, "q k"]
    mean: Float[Array, " q"]
    mean_y: Float[Array, " k"]
    weight: Float[Array, ""]
    trace: Float[Array, ""]
    square: Float[Array, ""]

    @property
    def size(self) -> float:
        """tr A, the unit of penalties, so that a penalty means the same for any number of features; features that do not vary
        at all have a trace of rounding, of the order of their mean square, and a penalty well above it."""
        return max(float(self.trace), FLAT * float(self.square))

    def degrees(self, penalty: float) -> float:
        """tr A (A + lam)^{-1}, the degrees of freedom of a ridge fit."""
        s = np.maximum(np.linalg.eigvalsh(np.asarray(self.A)), 0.0)
        return float((s / (s + penalty)).sum())


def normal(total: Float[Array, "z z"], q: int, where: Arrays) -> Normal:
    """Normal equations from moments."""
    return where.run(_normal, total, q=q, where=where)


def _normal(total: Float[Array, "z z"], q: int, where: Arrays) -> Normal:
    n, mean = total[-1, -1], total[-1, :-1] / total[-1, -1]
    centred = total[:q, :-1] / n - where.xp.outer(mean[:q], mean)
    return centred_equations(centred[:, :q], centred[:, q:], mean[:q], mean[q:], n)


def centred_equations(
    A: Float[Array, "q q"],
    B: Float[Array, "q k"],
    mean: Float[Array, " q"],
    mean_y: Float[Array, " k"],
    weight: Float[Array, ""],
) -> Normal:
    """The normal equations with the numbers that say how large they are."""
    return Normal(A, B, mean, mean_y, weight, A.diagonal().sum(), 1.0 + mean @ mean)


@noun()
@dataclass(frozen=True)
class FittedReadout:
    """Coefficients and intercept. Leave-one-out also needs the means of the features, the lower Cholesky factor of
    A + lam and the total weight."""

    coefficients: Float[Array, "q k"]
    intercept: Float[Array, " k"]
    mean: Float[Array, " q"] | None = None
    factor: Float[Array, "q q"] | None = None
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
        return where.run(_solved, e, penalty, where=where)


def _solved(e: Normal, penalty: float, where: Arrays) -> FittedReadout:
    try:
        factor, _ = where.linalg.cho_factor(e.A + penalty * where.xp.eye(len(e.A)), lower=True)
        b = where.linalg.cho_solve((factor, True), e.B)
    except (np.linalg.LinAlgError, ValueError):  # not positive definite, or not finite; JAX returns NaN instead
        factor, b = None, np.full(e.B.shape, np.nan)
    return FittedReadout(b, e.mean_y - e.mean @ b, e.mean, factor, e.weight)


def refit(fitted: FittedReadout, rows: Iterable[TablePiece], where: Arrays) -> FittedReadout:
    """Fit other labels on the same rows with the same penalty; this takes one product and one solve."""
    sums: Any = where.zeros(*fitted.coefficients.shape), where.zeros(*fitted.intercept.shape)
    for piece in rows:
        sums = where.run(_with_labels, *sums, fitted.weight, piece)
    return where.run(_refitted, fitted, *sums, where=where)


def _with_labels(
    cross: Float[Array, "q k"], mean: Float[Array, " k"], weight: Float[Array, ""], piece: TablePiece
) -> tuple[Array, Array]:
    y = piece.weights[:, None] * piece.Y / weight
    return cross + piece.where.double(piece.features).T @ y, mean + y.sum(axis=0)


def _refitted(
    fitted: FittedReadout, cross: Float[Array, "q k"], mean: Float[Array, " k"], where: Arrays
) -> FittedReadout:
    b = where.linalg.cho_solve((fitted.factor, True), cross - where.xp.outer(fitted.mean, mean))
    return replace(fitted, coefficients=b, intercept=mean - fitted.mean @ b)


def left_out(fitted: FittedReadout, rows: Iterable[TablePiece], where: Arrays) -> Float[np.ndarray, "n k"]:
    """Leave-one-out residuals: the residual of every row of the fit as if that row had been left out.

    h = (weight / n) (1 + g^T (A + lam)^{-1} g) with g = f - mean;  residual / (1 - h), the penalty term n lam |b|^2 kept.
    """
    if not fitted.finite:
        return np.concatenate([np.full(piece.Y.shape, np.nan) for piece in rows])
    return np.concatenate([np.asarray(where.run(_left_out, fitted, piece)) for piece in rows])


def _left_out(fitted: FittedReadout, piece: TablePiece) -> Float[Array, "n k"]:
    away = (piece.where.double(piece.features) - fitted.mean).T.astype(piece.X.dtype)
    factor = fitted.factor.astype(piece.X.dtype)  # type: ignore[union-attr]
    with one_blas_thread(THREADED * len(away)):
        root = piece.where.double(piece.where.linalg.solve_triangular(factor, away, lower=True, overwrite_b=True))
    leverage = piece.weights / fitted.weight * (1 + (root**2).sum(axis=0))
    return residuals(fitted, piece) / (1 - leverage)[:, None]


def residuals(fitted: FittedReadout, piece: TablePiece) -> Float[Array, "n k"]:
    """The labels without their fit."""
    return piece.Y - fitted.predict(piece)
