"""What of a mixture the features can notice: the span of its spikes and means, and the target's direction inside and outside it.

Along the rows of an orthonormal B (k x d) component c has the mean B mu_c and the covariance B Sigma_c B^T; outside it is
bulk_c I. The target's direction is xi = xi_B B + xi_out e.
"""

from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.experiment.mixture import Mixture
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions import nodes
from giantstep.functions.nodes import FEW, MOST, Nodes

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


def structure(setting: Setting) -> Structure:
    """The structure of a setting on a mixture."""
    data = setting.data
    assert isinstance(data, Mixture)
    used = [c for c, weight in enumerate(data.weights) if weight > 0]
    B = _basis(np.concatenate([*(data.directions(c) for c in used), *(data.mean(c)[None] for c in used)]))
    xi = setting.length * setting.target.matrix(setting.d)[0]
    inside = B @ xi
    outside = float(np.linalg.norm(xi - inside @ B))
    parts = []
    for c in used:
        G, part = data.directions(c) @ B.T, data.components[c]
        values, vectors = np.linalg.eigh(part.bulk * np.eye(len(B)) + (G.T * part.strengths) @ G)
        root = vectors * np.sqrt(np.maximum(values, 0.0))
        parts.append(Part(part.weight, part.bulk, B @ data.mean(c), root, setting.target.part(c)))
    return Structure(tuple(parts), inside, outside if outside > SAME * np.linalg.norm(xi) else 0.0)


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
) -> Nodes:
    """Nodes of a component's coordinates inside B and of ``more`` standard ones, for neurons with root mean square ``rows`` (k,)
    inside B and strengths ``more`` along the others."""
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
    return Nodes(np.concatenate([kappa, points[of.k :]]), weights)
