"""What of a mixture the features can notice: the span of its spikes and means, and the target's direction inside and outside it.

Along the rows of an orthonormal B (k x d) component c has the mean B mu_c and the covariance B Sigma_c B^T; outside it is
bulk_c I. The target's direction is xi = xi_B B + xi_out e.

Of a data set the mixture fitted to it gives B, means, covariances and bulks, and the rows of the data themselves give the law of
the coordinates inside B, with these means and covariances, and of the length outside it, ||x_out||^2/(d - k), with this mean.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.mixture import Mixture
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions import _nodes as nodes
from giantstep.functions._nodes import FEW, MOST

SPIKES = 20  # of every class of a data set
LEAST = 0.05  # of a bulk
SAME = 1e-9  # length below which a direction is one of those before it
INSIDE = 0.2  # share of the target's direction inside B from which nodes follow the label


@dataclass(frozen=True)
class Part:
    """One component: weight, bulk, mean (k,), a root of its covariance inside B (k, k), and its labels."""

    weight: float
    bulk: float
    mean: Float[np.ndarray, " k"]
    root: Float[np.ndarray, "k k"]
    target: Target
    rows: "ClassRows | None" = None


class ClassRows(NamedTuple):
    """Rows of a class: coordinates inside B (k, N), ||x_out||^2/(d - k) outside (N,), and the deviation of noise to be added.

    ``excess`` is the factor on the fluctuations of ``outside`` that leaves those beyond a Gaussian law's, 2 bulk^2/(d - k) in the
    variance: the theory has these already.
    """

    inside: Float[np.ndarray, "k N"]
    outside: Float[np.ndarray, " N"]
    noise: float
    excess: float


class MixtureCoordinates(NamedTuple):
    """Nodes of samples of a component: coordinates inside B and others (k + more, N), weights, and bulks (N,)."""

    points: Float[np.ndarray, "coordinates N"]
    weights: Float[np.ndarray, " N"]
    bulk: Float[np.ndarray, " N"]


@dataclass(frozen=True)
class Structure:
    """The parts of weight above zero, the target's coordinates inside B (k,) and its length outside."""

    parts: tuple[Part, ...]
    inside: Float[np.ndarray, " k"]
    outside: float

    @property
    def k(self) -> int:
        """The dimension of the span B."""
        return self.inside.size

    @property
    def exact(self) -> bool:
        """Whether nodes are products of Gauss rules, and no points that are drawn."""
        return self.k + 1 <= FEW and all(part.rows is None for part in self.parts)


@lru_cache(maxsize=4)
def _fitted(data: Dataset, place: str | None) -> Mixture:
    return data.fitted(SPIKES)


def span(data: Mixture) -> Float[np.ndarray, "k d"]:
    """B, an orthonormal basis of the spikes and means of the components that have weight."""
    used = [c for c, weight in enumerate(data.weights) if weight > 0]
    return _basis(np.concatenate([*(data.directions(c) for c in used), *(data.mean(c)[None] for c in used)]))


def structure(setting: Setting) -> Structure:
    """The structure of a setting on a mixture or a data set."""
    own = setting.data
    data = _fitted(own, own.place) if isinstance(own, Dataset) else own
    assert isinstance(data, Mixture)
    used = [c for c, weight in enumerate(data.weights) if weight > 0]
    B = span(data)
    xi = setting.length * setting.target.matrix(setting.d)[0]
    inside = B @ xi
    outside = float(np.linalg.norm(xi - inside @ B))
    parts = []
    for c in used:
        G, part = data.directions(c) @ B.T, data.components[c]
        values, vectors = np.linalg.eigh(part.bulk * np.eye(len(B)) + (G.T * part.strengths) @ G)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        rows = _rows(own, c, B) if isinstance(own, Dataset) else None
        parts.append(Part(part.weight, part.bulk, B @ data.mean(c), root, setting.target.part(c), rows))
    return Structure(tuple(parts), inside, outside if outside > SAME * np.linalg.norm(xi) else 0.0)


def _rows(data: Dataset, c: int, B: Float[np.ndarray, "k d"]) -> ClassRows:
    X, component = data.split()
    own = X[component == c]
    inside = own @ B.T
    left = np.maximum(np.sum(own**2, axis=1) - np.sum(inside**2, axis=1), 0.0)
    rest = max(data.d - len(B), 1)
    outside = left / rest
    share = 1 - 2 * np.mean(outside) ** 2 / rest / max(float(np.var(outside)), 1e-300)
    return ClassRows(inside.T, outside, 0.0 if data.signal is None else 1.0, float(np.sqrt(max(share, 0.0))))


def _basis(rows: Float[np.ndarray, "given d"]) -> Float[np.ndarray, "k d"]:
    """Orthonormal rows, the first ones kept where they are orthonormal already."""
    basis: list[np.ndarray] = []
    for row in rows:
        left = row - sum(((row @ other) * other for other in basis), np.zeros_like(row))
        left = left - sum(((left @ other) * other for other in basis), np.zeros_like(row))
        if np.linalg.norm(left) > SAME * max(np.linalg.norm(row), 1e-300):
            basis.append(left / np.linalg.norm(left))
    return np.array(basis).reshape(len(basis), rows.shape[1])


def _along_label(
    root: Float[np.ndarray, "k k"], inside: Float[np.ndarray, " k"]
) -> tuple[Float[np.ndarray, "k k"], float]:
    """The root with its columns turned so that the label moves with the first alone, and by how much."""
    along = root.T @ inside
    length = float(np.linalg.norm(along))
    if length == 0:
        return root, 0.0
    turn, _ = np.linalg.qr(np.concatenate([along[:, None] / length, np.eye(along.size)], axis=1))
    turn = turn[:, : along.size] * np.where(np.arange(along.size) == 0, np.sign(turn[:, 0] @ along), 1.0)
    return root @ turn, length


def samples(
    part: Part, of: Structure, rows: Float[np.ndarray, " k"], more: list[float], count: int, seed: int
) -> MixtureCoordinates:
    """Nodes of a component's coordinates inside B and of ``more`` standard ones, for neurons with root mean square ``rows`` (k,)
    inside B and strengths ``more`` along the others."""
    if part.rows is not None:
        return _chosen(part, part.rows, len(more), count, seed)
    root, length = _along_label(part.root, of.inside)
    strengths = [*np.linalg.norm(root * rows[:, None], axis=0), *more]
    if len(strengths) <= FEW:
        if length > INSIDE * np.hypot(length, of.outside * part.bulk**0.5):
            cuts = [float(kink - of.inside @ part.mean) / length for kink in part.target.kinks]
            first = nodes.kinked(cuts)
            rules = [first, *nodes.rules(strengths[1:], MOST // first[0].size)]
        else:
            rules = nodes.rules(strengths, MOST)
        points, weights = nodes.product(rules)
    else:
        points, weights = nodes.sobol(len(strengths), count, seed)
    kappa = part.mean[:, None] + root @ points[: of.k]
    return MixtureCoordinates(np.concatenate([kappa, points[of.k :]]), weights, np.full(weights.size, part.bulk))


def _chosen(part: Part, rows: ClassRows, more: int, count: int, seed: int) -> MixtureCoordinates:
    """Rows of the class itself, one of each of ``count`` cells, with the means and covariances of the fit.

    y = mu + T (x - mean), T = R (R C R)^(-1/2) R with R^2 the covariance of the fit and C that of the rows chosen: the symmetric
    map that turns one covariance into the other, near 1 where they are close.
    """
    k = len(rows.inside)
    chosen = _one_of_each_cell(rows.inside, count, np.random.default_rng(seed))
    random = nodes.sobol(k + more, count, seed).points if k + more else np.zeros((0, count))
    x = rows.inside[:, chosen] + rows.noise * random[:k]
    x = x - x.mean(axis=1, keepdims=True)
    if count > 2 * k:
        root = _power(part.root @ part.root.T, 0.5)
        x = root @ _power(root @ (x @ x.T / count) @ root, -0.5) @ root @ x
    bulk = part.bulk + rows.excess * (rows.outside[chosen] - np.mean(rows.outside[chosen]))
    return MixtureCoordinates(
        np.concatenate([part.mean[:, None] + x, random[k:]]),
        np.full(count, 1 / count),
        np.maximum(bulk, LEAST * part.bulk),
    )


def _one_of_each_cell(
    points: Float[np.ndarray, "k N"], count: int, rng: np.random.Generator
) -> Int[np.ndarray, " count"]:
    """Cut the points in halves again and again, each cell along the coordinate that varies most, and take one of every cell."""
    cells = [rng.permutation(points.shape[1])]
    while len(cells) < count:
        halves = []
        for cell in cells:
            if len(cell) > 1 and len(points):
                along = points[np.argmax(np.var(points[:, cell], axis=1))][cell]
                cell = cell[np.argsort(along, kind="stable")]
            middle = len(cell) // 2
            # an odd row goes to either half, and a single row to both
            middle += int(len(cell) % 2 and rng.random() < 0.5)
            halves += [cell, cell] if len(cell) == 1 else [cell[:middle], cell[middle:]]
        cells = halves
    return np.array([rng.choice(cell) for cell in cells])


def _power(A: Float[np.ndarray, "k k"], power: float) -> Float[np.ndarray, "k k"]:
    """A power of a symmetric positive matrix."""
    values, vectors = np.linalg.eigh(A)
    return (vectors * np.maximum(values, 1e-300) ** power) @ vectors.T
