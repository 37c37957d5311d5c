"""The staircase U_0 < U_1 < ...: which directions of a target a giant step finds, given those already found.

Definition 2 and Conjecture 1 of Dandi et al. (arXiv 2305.18270): a batch of size d finds ``span{E[grad_perp f | x_U]}``, the
range of ``G_1(U)``; a batch of size d^l the ranges of ``G_1(U)``, ..., ``G_l(U)``. See ``_tensors.slopes`` for G.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep.functions._tensors import Series, frame, rotated, series, slopes, tidy
from giantstep.functions.expansion import Expansion


@dataclass(frozen=True)
class FoundDirection:
    """A direction a step finds: its unit vector, the order l at which it is seen, and its strength ``v^T G_l(U) v``."""

    vector: tuple[float, ...]
    order: int
    strength: float


def empty(rank: int) -> Float[np.ndarray, "0 r"]:
    """The subspace U_0, which has no direction."""
    return np.zeros((0, rank))


def found(
    functions: Sequence[Series],
    basis: Float[np.ndarray, "m r"],
    orders: Iterable[int],
    threshold: float,
    visible: frozenset[int] | None = None,
) -> list[FoundDirection]:
    """What the orders of one step add to the span of ``basis``, for one or several functions of the labels.

    A singular value of ``[V_l of the first function, of the second, ...]`` counts when its square is over ``threshold``.
    """
    learned, rank = basis.shape
    axes = frame(basis)
    turned = [rotated(f, axes) for f in functions]
    new: list[FoundDirection] = []
    for order in orders:
        raw = np.concatenate([slopes(f, learned, order, visible) for f in turned], axis=1)
        known = np.array([axes[learned:] @ np.array(v.vector) for v in new]).reshape(len(new), rank - learned)
        left, sizes, _ = np.linalg.svd(raw - known.T @ (known @ raw), full_matrices=False)
        spanned = left[:, sizes**2 > threshold].T
        if not len(spanned):
            continue
        for v in tidy(spanned @ axes[learned:]):
            v = v * np.sign(v[np.argmax(np.abs(v) > 1e-9)])
            strength = float(f"{np.sum((axes[learned:] @ v @ raw) ** 2):.14g}")  # rounding of square roots taken off
            new.append(FoundDirection(tuple(float(x) if abs(x) > 1e-14 else 0.0 for x in v), order, strength))
    return new


def extended(basis: Float[np.ndarray, "m r"], new: Sequence[FoundDirection]) -> Float[np.ndarray, "k r"]:
    """Append the new directions to the basis, orthonormal to rounding."""
    rows = [*basis]
    for direction in new:
        v = np.array(direction.vector)
        for row in rows:
            v = v - (row @ v) * row
        rows.append(v / np.linalg.norm(v))
    return np.array(rows).reshape(len(rows), basis.shape[1])


def lowest(
    functions: Sequence[Series], basis: Float[np.ndarray, "m r"], orders: Iterable[int], threshold: float
) -> list[FoundDirection]:
    """The directions that the lowest order which finds any adds to the basis."""
    return next((new for order in orders if (new := found(functions, basis, (order,), threshold))), [])


def climb(functions: Sequence[Series], threshold: float) -> list[list[FoundDirection]]:
    """The whole staircase when every step may see the smallest order at which anything is left to see."""
    rank = functions[0].rank
    top = max((k for f in functions for k in f.orders), default=0)
    basis, steps = empty(rank), []
    while len(basis) < rank:
        new = lowest(functions, basis, range(1, top + 1), threshold)
        if not new:
            break
        steps.append(new)
        basis = extended(basis, new)
    return steps


def leaps(expansion: Expansion) -> tuple[int, ...]:
    """The order of every step of ``climb``; the leap is the largest (Abbe et al., arXiv 2302.11055)."""
    f = series(expansion)
    return tuple(new[0].order for new in climb([f], expansion.threshold * f.variance))
