"""Curves: functions on an interval by their coefficients in an orthonormal basis, read off values on a grid.

    x(t) = sum_j x_j e_j(t),   t in [0, 1]

    "cosine"   e_1 = 1, e_j = sqrt(2) cos((j - 1) pi t)
    "sine"     e_j = sqrt(2) sin((j - 1/2) pi t), those of Brownian motion
    "fourier"  1, sqrt(2) cos(2 pi t), sqrt(2) sin(2 pi t), sqrt(2) cos(4 pi t), ...: periodic curves

A Gaussian law with variances c_j along e_j has the covariance kernel ``k(s, t) = sum_j c_j e_j(s) e_j(t)``, whose
reproducing-kernel space has the square norm ``sum_j x_j^2 / c_j``.
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from jaxtyping import Float

from giantstep._given.arrays import FINITE, ArrayCheck
from giantstep._given.declared import given, number, one_of
from giantstep._given.plain import as_numbers, real, several, whole
from giantstep._machine.backend import one_blas_thread
from giantstep.errors import InputError, quoted

__all__ = ["BASES", "basis", "project", "smoothness"]

BASES = ("cosine", "sine", "fourier")
WAYS = ("least_squares", "quadrature")


@given(t=ArrayCheck(("points",), entries=FINITE), count=whole, kind=one_of(*BASES))
def basis(t: npt.ArrayLike, count: int, kind: str = "cosine") -> Float[np.ndarray, "points count"]:
    """e_1, ..., e_count at the points t of [0, 1], (points, count)."""
    t, j = np.asarray(t)[:, None], np.arange(1, count + 1)
    if kind == "sine":
        return np.sqrt(2) * np.sin((j - 0.5) * np.pi * t)
    if kind == "cosine":
        return np.where(j == 1, 1.0, np.sqrt(2) * np.cos((j - 1) * np.pi * t))
    angle = 2 * np.pi * (j // 2) * t
    return np.where(j == 1, 1.0, np.sqrt(2) * np.where(j % 2 == 0, np.cos(angle), np.sin(angle)))


@given(count=whole, gamma=real, scale=real)
def smoothness(count: int, gamma: float, scale: float = 1.0) -> Float[np.ndarray, " count"]:
    """Standard deviations ``scale j^-gamma`` along e_j: trace class, so a law on functions, for gamma > 1/2."""
    return scale * np.arange(1, count + 1.0) ** -gamma


@given(count=whole, kind=one_of(*BASES), how=one_of(*WAYS), smooth=number(0.0))
def project(
    curves: Any,
    grid: Any,
    count: int,
    kind: str = "cosine",
    *,
    how: str = "least_squares",
    smooth: float = 0.0,
    domain: tuple[float, float] | None = None,
) -> np.ndarray:
    """Coefficients of curves in the first ``count`` functions of a basis, (curves, count).

    Args:
        curves: values, one row a curve; or a list of curves of different lengths.
        grid: where they were taken, increasing; for curves on grids of their own, a list of grids.
        count: basis functions.
        kind: "cosine", "sine" or "fourier".
        how: "least_squares" minimises ``(1/m) sum_k (x(t_k) - sum_j c_j e_j(t_k))^2 + smooth sum_j (j c_j)^2`` over m values;
            "quadrature" takes ``integral x e_j`` by the trapezoidal rule.
        smooth: tames noise and gaps in the grid, in least squares.
        domain: the interval that becomes [0, 1]; by default from the first to the last point of all grids.
    """
    own = _own_grids(curves, grid)
    rows, grids = (list(curves), list(grid)) if own else ([_row(c) for c in _matrix(curves)], [grid])
    grids = [_grid(g) for g in grids]
    low, high = (min(g[0] for g in grids), max(g[-1] for g in grids)) if domain is None else _domain(domain)
    if any(g[0] < low or g[-1] > high for g in grids):
        raise InputError(f"the grid must lie in the domain, from {low:g} to {high:g}")
    with one_blas_thread():
        if own:
            pairs = zip(map(_row, rows), grids, strict=True)
            return np.stack([_solve(r[None], (g - low) / (high - low), count, kind, how, smooth)[0] for r, g in pairs])
        return _solve(np.stack(rows), (grids[0] - low) / (high - low), count, kind, how, smooth)


def _solve(
    values: Float[np.ndarray, "curves _"],
    t: Float[np.ndarray, " points"],
    count: int,
    kind: str,
    how: str,
    smooth: float,
) -> Float[np.ndarray, "curves count"]:
    m = len(t)
    if values.shape[1] != m:
        raise InputError(f"a curve has {values.shape[1]} values on a grid of {m} points: as many are needed")
    E = basis(t, count, kind)
    if how == "quadrature":
        # integral x e_j = sum_k w_k x(t_k) e_j(t_k)
        gaps = np.diff(t)
        w = (np.concatenate([[0.0], gaps]) + np.concatenate([gaps, [0.0]])) / 2
        return values @ (w[:, None] * E)
    if smooth == 0.0 and m < count:
        raise InputError(f"{count} coefficients need as many values a curve, or smooth > 0; there are {m}")
    # rows sqrt(smooth) j c_j below E / sqrt(m)
    penalty = np.sqrt(smooth) * np.diag(np.arange(1, count + 1.0))
    A = np.concatenate([E / np.sqrt(m), penalty]) if smooth else E / np.sqrt(m)
    b = np.concatenate([values.T / np.sqrt(m), np.zeros((count, len(values)))]) if smooth else values.T / np.sqrt(m)
    return np.linalg.lstsq(A, b)[0].T


def _own_grids(curves: Any, grid: Any) -> bool:
    several = isinstance(grid, Sequence) and len(grid) > 0 and np.ndim(grid[0]) == 1
    if several and len(grid) != len(curves):
        raise InputError(f"{len(curves)} curves need as many grids, or one for all; there are {len(grid)}")
    return several


def _matrix(curves: npt.ArrayLike) -> Float[np.ndarray, "curves points"]:
    values = as_numbers(curves)
    if values is None:
        raise InputError("curves must be rows of numbers of one length, or a list with a list of grids")
    if values.ndim != 2 or not len(values):
        raise InputError("curves must be a matrix, one row a curve, or a list with a list of grids")
    return values


def _row(curve: npt.ArrayLike) -> Float[np.ndarray, " points"]:
    row = as_numbers(curve)
    if row is None or row.ndim != 1 or not np.all(np.isfinite(row)):
        raise InputError("every curve must be a row of finite numbers; leave out the points where a value is missing")
    return row


def _grid(grid: npt.ArrayLike) -> Float[np.ndarray, " points"]:
    t = as_numbers(grid)
    if t is None or t.ndim != 1 or len(t) < 2 or not np.all(np.isfinite(t)) or np.any(np.diff(t) <= 0):
        raise InputError("a grid must be at least two increasing finite numbers")
    return t


def _domain(domain: Any) -> tuple[float, float]:
    ends = several(domain, "domain")
    if ends is None or len(ends) != 2:
        raise InputError(f"the domain must be two numbers, its start and its end, not {quoted(domain)}")
    low, high = real(ends[0], "the start of the domain"), real(ends[1], "the end of the domain")
    if high <= low:
        raise InputError(f"the domain must end after it starts, not ({low:g}, {high:g})")
    return low, high
