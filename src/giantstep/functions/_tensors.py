"""Hermite tensors of a target in any orthonormal frame, without ever forming them.

The order-k tensor ``C_k = E[f H_k]`` of f is kept as the coefficients ``a_beta = E[f h_beta]``, |beta| = k, of the orthonormal
products ``h_beta = He_beta / sqrt(beta!)``: C(r+k-1, k) numbers instead of r^k. A rotation acts on each order by itself, and
the rotation in one plane is, for every number m of quanta in that plane, an orthogonal (m+1) x (m+1) matrix.
"""

from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from math import comb, factorial, prod, sqrt

import numpy as np
from jaxtyping import Float, Int

from giantstep.errors import InputError
from giantstep.functions.expansion import Expansion

MAX_INDICES = 60_000


@lru_cache(maxsize=128)
def index_table(rank: int, order: int) -> Int[np.ndarray, "count rank"]:
    """All multi-indices of that rank and order, one a row, sorted by their code."""
    count = comb(rank + order - 1, order)
    if count > MAX_INDICES:
        raise InputError(
            f"order {order} in {rank} directions has {count} Hermite terms; at most {MAX_INDICES} are looked through"
        )
    bars = np.array(list(combinations(range(rank + order - 1), rank - 1)), dtype=np.int64).reshape(count, rank - 1)
    edges = np.concatenate([np.full((count, 1), -1), bars, np.full((count, 1), rank + order - 1)], axis=1)
    rows = np.diff(edges, axis=1) - 1
    return rows[np.argsort(_code(rows, order))]


def _code(rows: Int[np.ndarray, "count rank"], order: int) -> Int[np.ndarray, " count"]:
    return rows @ (order + 1) ** np.arange(rows.shape[1], dtype=np.int64)


def places(rank: int, order: int, rows: Int[np.ndarray, "count rank"]) -> Int[np.ndarray, " count"]:
    """The positions of these multi-indices in the table of their order."""
    return np.searchsorted(_code(index_table(rank, order), order), _code(rows, order))


@dataclass(frozen=True)
class Series:
    """``f = sum_beta a_beta h_beta``: for every order that occurs, ``a_beta`` in the order of ``index_table``.

    The arrays may have a second axis: several functions side by side.
    """

    rank: int
    orders: dict[int, Float[np.ndarray, "count ..."]]

    @property
    def variance(self) -> float:
        """The part of ``E f^2`` at orders one and above."""
        return float(sum(np.sum(a**2) for k, a in self.orders.items() if k > 0))


def series(expansion: Expansion) -> Series:
    """Convert an expansion to a Series: ``a_beta = sqrt(beta!) c_beta``."""
    rank = expansion.rank
    orders: dict[int, np.ndarray] = {}
    for beta, c in expansion.items():
        k = sum(beta)
        if k not in orders:
            orders[k] = np.zeros(len(index_table(rank, k)))
        place = places(rank, k, np.array([beta]))[0]
        orders[k][place] = sqrt(prod(map(factorial, beta))) * float(c)
    return Series(rank, orders)


def frame(basis: Float[np.ndarray, "m r"]) -> Float[np.ndarray, "r r"]:
    """An orthogonal matrix whose first rows are ``basis`` (m x r, orthonormal) and whose others complete it."""
    m, rank = basis.shape
    if m == 0:
        return np.eye(rank)
    complement = np.linalg.svd(basis, full_matrices=True)[2][m:]
    return np.concatenate([basis, tidy(complement)])


def tidy(rows: Float[np.ndarray, "m r"]) -> Float[np.ndarray, "m r"]:
    """An orthonormal basis of the span of independent rows, made of coordinate axes as far as it contains them."""
    projector = np.linalg.pinv(rows) @ rows
    axes = [i for i in range(rows.shape[1]) if projector[i, i] > 1 - 1e-12]
    unit = np.eye(rows.shape[1])[axes]
    rest = projector - unit.T @ unit
    count = len(rows) - len(axes)
    if count == 0:
        return unit
    chosen: list[np.ndarray] = []
    for _ in range(count):  # the axis nearest to the rest is projected on it first: sums of few axes stay so
        sizes = np.diag(rest)
        i = int(np.argmax(np.where(sizes > 1e-9, np.round(sizes, 9), -1.0)))
        v = rest[i] / sqrt(rest[i, i])
        chosen.append(v)
        rest = rest - np.outer(v, v)
    return np.concatenate([unit, np.array(chosen)])


def rotated(f: Series, axes: Float[np.ndarray, "r r"]) -> Series:
    """f as a function of ``y = axes @ x``, axes orthogonal: plane rotations, ``axes = D G_n ... G_1`` with D = diag(+-1)."""
    left, orders = axes.copy(), {k: a.copy() for k, a in f.orders.items()}
    for i in range(f.rank):
        for j in range(i + 1, f.rank):
            if abs(left[i, j]) < 1e-15:
                continue
            angle = np.arctan2(left[i, j], left[i, i])
            c, s = np.cos(angle), np.sin(angle)
            left[:, [i, j]] = left[:, [i, j]] @ np.array([[c, -s], [s, c]])
            for k, a in orders.items():
                _turn(a, f.rank, k, i, j, angle)
    for i in np.flatnonzero(np.diag(left) < 0):
        for k, a in orders.items():
            a[index_table(f.rank, k)[:, i] % 2 == 1] *= -1
    return Series(f.rank, orders)


def _turn(a: Float[np.ndarray, "count ..."], rank: int, order: int, i: int, j: int, angle: float) -> None:
    """Rotate one order in place: y_i = cos x_i + sin x_j, y_j = -sin x_i + cos x_j."""
    for m, where in _planes(rank, order, i, j):
        a[where] = np.einsum("st,gt...->gs...", _block(m, angle), a[where])


@lru_cache(maxsize=1024)
def _planes(rank: int, order: int, i: int, j: int) -> list[tuple[int, np.ndarray]]:
    """For m >= 1: the places of the multi-indices with beta_i + beta_j = m, a group of equal others a row, by beta_i."""
    rows = index_table(rank, order)
    m = rows[:, i] + rows[:, j]
    others = np.delete(rows, [i, j], axis=1)
    sorting = np.lexsort((rows[:, i], _code(others, order), m))
    ends = np.searchsorted(m[sorting], np.arange(order + 2))
    return [
        (q, sorting[ends[q] : ends[q + 1]].reshape(-1, q + 1)) for q in range(1, order + 1) if ends[q + 1] > ends[q]
    ]


@lru_cache(maxsize=4096)
def _block(m: int, angle: float) -> Float[np.ndarray, "m m"]:
    """exp(angle L) with L = a_i^+ a_j - a_j^+ a_i on the m + 1 states of m quanta in the plane, ordered by those in i."""
    climb = np.sqrt(np.arange(1.0, m + 1) * np.arange(m, 0.0, -1.0))
    generator = np.diag(climb, -1) - np.diag(climb, 1)
    values, vectors = np.linalg.eigh(1j * generator)
    return np.real((vectors * np.exp(-1j * angle * values)) @ vectors.conj().T)


def outside(f: Series, learned: int) -> dict[int, Int[np.ndarray, " _"]]:
    """For every order, how many of the indices of each term are not among the first ``learned`` coordinates."""
    return {k: index_table(f.rank, k)[:, learned:].sum(axis=1) for k in f.orders}


def slopes(
    f: Series, learned: int, order: int, visible: frozenset[int] | None = None
) -> Float[np.ndarray, "outside columns"]:
    """V with ``V V^T = G_l(U)``, U the first ``learned`` coordinates and rows the others.

    ``G_l(U) = sum_k A_{k,l}^T A_{k,l} / (k! l!)`` with A the unfolding of ``C_{k+l}(P_U^k, P_perp^l)``; in the coefficients
    it is ``V[i, beta - e_i] = sqrt(beta_i / l) a_beta`` over the beta with l indices outside U. ``visible`` keeps the orders
    |beta| in it only.
    """
    blocks = [np.zeros((f.rank - learned, 0))]
    for k, a in f.orders.items():
        if k < order or (visible is not None and k not in visible):
            continue
        rows = index_table(f.rank, k)
        chosen = np.flatnonzero((rows[:, learned:].sum(axis=1) == order) & (a != 0))
        block = np.zeros((f.rank - learned, len(index_table(f.rank, k - 1))))
        for i in range(learned, f.rank):
            those = chosen[rows[chosen, i] > 0]
            lowered = rows[those].copy()
            lowered[:, i] -= 1
            block[i - learned, places(f.rank, k - 1, lowered)] = np.sqrt(rows[those, i] / order) * a[those]
        blocks.append(block[:, np.any(block != 0, axis=0)])
    return np.concatenate(blocks, axis=1)
