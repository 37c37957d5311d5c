"""Directions: the directions of the input that a network has learned, and the share of its variance they carry."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float
from scipy.linalg import block_diag, eigh, qr


@dataclass(frozen=True)
class Directions:
    """Learned directions, strongest first.

    Attributes:
        components: orthonormal rows (m, d), in units of the scaled columns.
        strength: sqrt(mean over neurons of ⟨g_i, v⟩^2) of every direction v.
        null_level: the strength that labels without structure reach.
        share: the share of the network's variance that the first 1, 2, ... directions carry together, up to the first one that
            is not above the null level.
        names: the names of the columns.
    """

    components: Float[np.ndarray, "m d"]
    strength: Float[np.ndarray, " m"]
    null_level: float
    share: Float[np.ndarray, " s"]
    names: tuple[str, ...]

    @property
    def count(self) -> int:
        """The number of directions above the null level."""
        return int(np.sum(self.strength > self.null_level))

    def largest(self, which: int, most: int = 4) -> str:
        """The columns with the largest weights in a direction, as a sum."""
        v = self.components[which]
        order = np.argsort(-np.abs(v))[:most]
        terms = [f"{v[j]:+.2f} {self.names[j]}" for j in order if abs(v[j]) > 0.05]
        more = float(np.sum(v**2) - np.sum(v[order] ** 2)) > 0.05
        return " ".join(terms).removeprefix("+") + (" + ..." if more else "")


def strengths(
    gradient: Float[np.ndarray, "p d"], most: int
) -> tuple[Float[np.ndarray, " m"], Float[np.ndarray, "m d"]]:
    """The largest singular values and orthonormal right vectors of the gradients of p neurons, divided by sqrt(p)."""
    g = gradient / np.sqrt(len(gradient))
    wide = g.shape[0] < g.shape[1]
    size = min(g.shape)
    squares, vectors = eigh(g @ g.T if wide else g.T @ g, subset_by_index=(max(size - most, 0), size - 1))
    values = np.sqrt(np.maximum(squares[::-1], 0.0))
    rows = vectors.T[::-1]
    if wide:  # left vectors: v = g^T u / value
        rows = _orthonormal(rows @ g / np.where(values > 0, values, 1.0)[:, None])
    return values, rows


def _orthonormal(rows: Float[np.ndarray, "m d"]) -> Float[np.ndarray, "m d"]:
    """Rows of length one at right angles, by a QR factorisation that begins with the strongest row.

    Eigenvalues of g g^T are known up to 1e-16 of the largest one, so that directions weaker than 1e-8 of the strongest come out
    with another length and lean on the stronger ones.
    """
    Q, R = np.linalg.qr(rows.T)
    return np.where(R.diagonal() < 0, -1.0, 1.0)[:, None] * Q.T


def nearest_to_columns(
    strength: Float[np.ndarray, " m"], columns: Float[np.ndarray, "m d"], level: float
) -> Float[np.ndarray, "m m"]:
    """The rotation Q after which directions whose strengths differ by less than the level of chance are nearest to columns.

    Chance turns such directions into each other (Wedin 1972), so that any basis of their span is as good. With k rows V and their
    k leading columns W (a QR factorisation with pivoting finds them), W = A S B^T, the rows B A^T V are nearest to the unit
    vectors of these columns.
    """
    blocks, begin = [], 0
    while begin < len(strength):
        alike = strength[begin:] > max(strength[begin] - level, level)
        end = begin + max(int(alike.sum()), 1)
        rows = columns[begin:end]
        _, _, order = qr(rows, mode="economic", pivoting=True)  # type: ignore[misc]
        leading = order[: len(rows)]
        A, _, Bt = np.linalg.svd(rows[:, leading])
        blocks.append(Bt.T @ A.T if len(rows) > 1 else np.eye(1))
        begin = end
    return np.asarray(block_diag(*blocks))


def null_level(null: Float[np.ndarray, "p d"]) -> float:
    """The largest strength for labels without structure, plus two standard deviations of it.

    That strength is the length of a common gradient, a Gaussian vector in d dimensions; its relative deviation is 1/sqrt(2 d).
    """
    return float(strengths(null, 1)[0][0] * (1 + 2 / np.sqrt(2 * null.shape[1])))


def shares(
    predict: Callable[[np.ndarray], np.ndarray], X: np.ndarray, basis: np.ndarray, rng: np.random.Generator
) -> Float[np.ndarray, " m"]:
    """The share of the variance of f that the first 1, 2, ... orthonormal rows of ``basis`` carry together: the closed Sobol
    indices of their spans,

        Cov(f(x), f(P x + (1 - P) x')) / Var f(x)

    with x' another row (Sobol 2001). They are exact where P x and (1 - P) x are independent, as for Gaussian rows.
    """
    other = X[rng.permutation(len(X))]
    away = (X - other) @ basis.T
    tables = [other + away[:, : j + 1] @ basis[: j + 1] for j in range(len(basis))]
    whole, *frozen = (f - f.mean(axis=0) for f in _all(predict, [X, *tables]))
    variance = float(np.sum(whole**2))
    return np.array([np.clip(np.sum(whole * f) / variance, 0.0, 1.0) if variance > 0 else 0.0 for f in frozen])


def variances_without(
    predict: Callable[[np.ndarray], np.ndarray], X: np.ndarray, basis: np.ndarray, rng: np.random.Generator
) -> Float[np.ndarray, " m"]:
    """The variance of f that is lost where a row v of ``basis`` is not known. It is the total Sobol index of v times the
    variance,

        E (f(x) - f(x'))^2 / 2,    x' = x with the coordinate along v of another row

    (Jansen 1999), averaged over outputs.
    """
    other = X[rng.permutation(len(X))]
    whole, *changed = _all(predict, [X, *(X + np.outer((other - X) @ v, v) for v in basis)])
    return np.array([np.mean((whole - f) ** 2) / 2 for f in changed])


def _all(predict: Callable[[np.ndarray], np.ndarray], tables: Sequence[np.ndarray]) -> np.ndarray:
    """Predictions for tables of the shape and type of the first one, in one call: hundreds of trees take long for few rows."""
    found = predict(np.concatenate(tables).astype(tables[0].dtype))
    return found.reshape(len(tables), len(tables[0]), -1)
