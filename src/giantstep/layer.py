"""A first layer with biases, and what the rows of a table become in it: features, slopes, and their normal equations.

    f(x) = c + sum_i b_i sigma(<w_i, x> + t_i) + <b_0, x>

The features of a row are q = p + d numbers, those of the p neurons followed by the row itself. Rows may have weights.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np

from giantstep._arrays import Array, Arrays
from giantstep.activation import Activation

CHUNK = 2**23  # numbers that the features of a chunk of rows may fill


@dataclass(frozen=True)
class Layer:
    """``W`` (p, d) with rows w_i, ``bias`` (p,) with entries t_i."""

    W: Array
    bias: Array
    sigma: Activation

    @property
    def q(self) -> int:
        return sum(self.W.shape)

    def with_rows(self, W: Array) -> "Layer":
        return replace(self, W=W)


@dataclass(frozen=True)
class Table:
    """Rows to learn from: ``X`` (n, d), ``Y`` (n, k) and weights (n,), on the host."""

    X: np.ndarray
    Y: np.ndarray
    weights: np.ndarray

    def __len__(self) -> int:
        return len(self.X)

    def take(self, rows: np.ndarray) -> "Table":
        return Table(self.X[rows], self.Y[rows], self.weights[rows])


@dataclass(frozen=True)
class Piece:
    """Some rows in a layer, where the work is done, with the preactivations H = X W^T + t."""

    X: Array
    Y: Array
    weights: Array
    layer: Layer
    where: Arrays

    @cached_property
    def H(self) -> Array:
        return self.X @ self.layer.W.T + self.layer.bias

    @cached_property
    def features(self) -> Array:
        """[sigma(H), X], (rows, q)."""
        return self.where.xp.concatenate([self.layer.sigma(self.H), self.X], axis=1)

    @property
    def slopes(self) -> Array:
        return self.layer.sigma.slope(self.H)

    @property
    def roots(self) -> Array:
        return self.where.xp.sqrt(self.weights)[:, None]


@dataclass(frozen=True)
class Stream:
    """The pieces of a table, made again whenever they are met."""

    table: Table
    layer: Layer
    where: Arrays

    @property
    def rows(self) -> int:
        return max(256, CHUNK // self.layer.q)

    def __iter__(self) -> Iterator[Piece]:
        put, table = self.where.put, self.table
        for start in range(0, len(table), self.rows):
            part = slice(start, start + self.rows)
            yield Piece(put(table.X[part]), put(table.Y[part]), put(table.weights[part]), self.layer, self.where)


def pieces(table: Table, layer: Layer, where: Arrays) -> Iterable[Piece]:
    """A table in a layer: held in memory where it is one piece, streamed otherwise."""
    stream = Stream(table, layer, where)
    return list(stream) if len(table) <= stream.rows else stream


def moments(rows: Iterable[Piece], q: int, k: int, where: Arrays) -> Array:
    """Z^T diag(weights) Z for Z = [features, Y, 1]: all that a ridge fit needs. Moments of parts add up."""
    total = where.xp.zeros((q + k + 1,) * 2)
    for piece in rows:
        ones = where.xp.ones((len(piece.X), 1))
        total = total + where.squares(where.xp.concatenate([piece.features, piece.Y, ones], axis=1) * piece.roots)
    return total


@dataclass(frozen=True)
class Fitted:
    """Coefficients (q, k), intercept (k,), and what leave-one-out needs: the means of the features, the Cholesky factor of
    A + lam and the total weight."""

    coefficients: Array
    intercept: Array
    mean: Array
    factor: tuple
    weight: Array

    def predict(self, F: Array) -> Array:
        return F @ self.coefficients + self.intercept


def size_of_features(total: Array, q: int) -> float:
    """tr A / q, the unit in which penalties are searched; A as in ``solve``."""
    mean = total[-1, :q] / total[-1, -1]
    return float((total.diagonal()[:q] / total[-1, -1] - mean**2).sum() / q)


def solve(total: Array, q: int, penalty: float, where: Arrays) -> Fitted:
    """Ridge from moments: minimise (1/n) sum_mu weight_mu (y - c - F b)^2 + lam |b|^2, n the total weight, c not penalised.

    With A and B the centred second moments F^T F / n and F^T y / n:  b = (A + lam)^{-1} B.
    """
    n, mean = total[-1, -1], total[-1, :-1] / total[-1, -1]
    centred = total[:-1, :-1] / n - where.xp.outer(mean, mean)
    factor = where.linalg.cho_factor(centred[:q, :q] + penalty * where.xp.eye(q), lower=True)
    b = where.linalg.cho_solve(factor, centred[:q, q:])
    return Fitted(b, mean[q:] - mean[:q] @ b, mean[:q], factor, n)


def refit(fitted: Fitted, rows: Iterable[Piece], where: Arrays) -> Fitted:
    """The same rows and penalty with other labels: one product and one solve."""
    cross, mean = 0.0, 0.0
    for piece in rows:
        weighted = piece.weights[:, None] * piece.Y / fitted.weight
        cross, mean = cross + piece.features.T @ weighted, mean + weighted.sum(axis=0)
    b = where.linalg.cho_solve(fitted.factor, cross - where.xp.outer(fitted.mean, mean))
    return replace(fitted, coefficients=b, intercept=mean - fitted.mean @ b)


def left_out(fitted: Fitted, rows: Iterable[Piece], where: Arrays) -> np.ndarray:
    """Residuals (n, k) of rows that are part of the fit, each as if its row had not been.

    h = (weight / n) (1 + g^T (A + lam)^{-1} g) with g = f - mean;  residual / (1 - h), the penalty term n lam |b|^2 kept.
    """
    found = []
    for piece in rows:
        root = where.linalg.solve_triangular(fitted.factor[0], (piece.features - fitted.mean).T, lower=True)
        leverage = piece.weights / fitted.weight * (1 + (root**2).sum(axis=0))
        found.append(np.asarray((piece.Y - fitted.predict(piece.features)) / (1 - leverage)[:, None]))
    return np.concatenate(found)
