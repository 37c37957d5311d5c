"""The generative exponent and its staircase: a reused batch lets a network act on functions T(y) of the labels.

``zeta_k(y) = E[h_k(z) | y]``; the generative exponent is the least k with zeta_k not zero, which is the least information
exponent of T(y) over all T (Damian et al., arXiv 2403.05529; for several directions arXiv 2506.05500; giant steps that reuse a
batch: Dandi et al., arXiv 2402.03220). So the staircase with reuse is that of several functions T(y) at once.
"""

from functools import reduce
from math import comb, prod

import numpy as np

from giantstep.errors import InputError
from giantstep.experiment.target import Target
from giantstep.functions._tensors import Series, index_table, series
from giantstep.functions.expansion import Expansion
from giantstep.functions.hermite import gauss_hermite, hermite_table, offset_trapezoid

POWERS, ENOUGH = 4, 3  # powers of y: tried, and needed to tell order 1 from 2 for an odd target such as H3(x1)
MAX_POINTS, MAX_KEPT = 2_000_000, 10_000
GRID_THRESHOLD, RESOLVED = 1e-5, 0.2
GRID = {1: (3000, 4000, 12), 2: (300, 400, 8), 3: (64, 80, 6), 4: (24, 28, 5)}  # rank -> points an axis, orders kept
COSINES = 16


def transforms(target: Target) -> tuple[list[Series], float, str]:
    """Functions T(y) of unit variance, the threshold below which their parts count as zero, and a doubt about them or "".

    For polynomials they are powers of y, computed exactly; for other targets y and cosines of the rank of y, on a grid.
    """
    if target.polynomial:
        functions = _powers(target.hermite)
        return (
            functions,
            target.hermite.threshold,
            "" if len(functions) >= ENOUGH else f"come from y^j, j <= {len(functions)}",
        )
    if target.rank not in GRID:
        raise InputError(
            f"what a reused batch finds can be computed for polynomials and for up to 4 directions, not for {target.rank}"
        )
    cosines, resolved = _cosines(target)
    f = series(target.hermite)  # scaled so that its own threshold becomes that of the grid
    scale = (GRID_THRESHOLD / (target.hermite.threshold * max(f.variance, 1e-300))) ** 0.5
    functions = [Series(f.rank, {k: scale * a for k, a in f.orders.items()}), *cosines]
    return functions, GRID_THRESHOLD, "" if resolved > RESOLVED else "come from a grid too coarse for this target"


def _powers(f: Expansion) -> list[Series]:
    """f, f^2, ..., as many as fit on Gauss-Hermite grids that are exact for them."""
    degrees = [max((beta[i] for beta in f), default=0) for i in range(f.rank)]
    dense = np.zeros([d + 1 for d in degrees])
    for beta, c in f.items():
        dense[beta] = float(c)
    scale = [np.sqrt(np.cumprod([1.0, *range(1, d + 1)])) for d in degrees]
    dense *= reduce(np.multiply.outer, scale)
    powers = []
    for j in range(1, POWERS + 1):
        top = min(j * f.degree, 2 * f.degree + 2)
        while top > f.degree and comb(f.rank + top - 1, top) > MAX_KEPT:
            top -= 1
        keep = [min(j * d, top) for d in degrees]
        rules = [gauss_hermite((j * d + k) // 2 + 1) for d, k in zip(degrees, keep, strict=True)]
        if j > 1 and prod(len(x) for x, _ in rules) > MAX_POINTS:
            break
        if j == 1:
            values = dense
        else:
            grid = _contract(dense, [hermite_table(d, x).T for d, (x, _) in zip(degrees, rules, strict=True)])
            grid = grid / max(np.sqrt(np.mean(grid**2)), 1e-300)
            values = _contract(grid**j, [hermite_table(k, x) * w for k, (x, w) in zip(keep, rules, strict=True)])
        powers.append(_unit(values, top))
    return powers


def _cosines(target: Target) -> tuple[list[Series], float]:
    """``T_j = sqrt(2) cos(pi j F)``, F the rank of y with ties shared, centred (else ties leak the error of the grid).

    The difference between two grids is the error of T_j. A T_j that is not resolved is scaled down until its error is below the
    threshold. The second result is the largest of these scales.
    """
    coarse, fine, top = GRID[target.rank]
    values, share = _labels(target, fine)[1:]
    levels = np.unique(values)
    rank = np.cumsum(weight := np.bincount(np.searchsorted(levels, values), share)) - weight / 2
    tables = []
    for points in (coarse, fine):
        x, y, weights = _labels(target, points)
        position = np.interp(y, levels, rank)
        table = hermite_table(top, x) * offset_trapezoid(points)[1]
        tables.append([_cosine(j, position, weights, table, top) for j in range(1, COSINES + 1)])
    count, cosines, resolved = comb(target.rank + top, top), [], 0.0
    for first, second in zip(*tables, strict=True):
        error = max(float(np.max(np.abs(first.orders[k] - a))) for k, a in second.orders.items())
        scale = min(1.0, (GRID_THRESHOLD / count) ** 0.5 / max(error, 1e-100))
        resolved = max(resolved, scale)
        cosines.append(Series(second.rank, {k: scale * a for k, a in second.orders.items()}))
    return cosines, resolved


def _labels(target: Target, points: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Nodes of one axis, the labels on the grid in units of their size, and the weights of the grid."""
    x, w = offset_trapezoid(points)
    z = np.stack([g.ravel() for g in np.meshgrid(*[x] * target.rank, indexing="ij")])
    y = np.asarray(target(z if target.mixing is None else target.mixing @ z), dtype=float)
    y = np.round(y / max(target.power, 1e-300) ** 0.5, 11)  # rounding must not break ties
    return x, y, reduce(np.multiply.outer, [w] * target.rank).ravel()


def _cosine(j: int, position: np.ndarray, weights: np.ndarray, table: np.ndarray, top: int) -> Series:
    values = np.sqrt(2) * np.cos(np.pi * j * position)
    count = table.shape[1]
    rank = round(np.log(len(values)) / np.log(count))
    return _plain(_contract((values - weights @ values).reshape([count] * rank), [table] * rank), top)


def _contract(array: np.ndarray, matrices: list[np.ndarray]) -> np.ndarray:
    """Apply a matrix to every axis."""
    for matrix in matrices:  # the first axis is contracted and its result appended, so the order of axes returns
        array = np.tensordot(array, matrix, axes=([0], [1]))
    return array


def _plain(values: np.ndarray, top: int) -> Series:
    """The coefficients E[f h_beta] of total order up to ``top`` as a Series."""
    orders, rank = {}, values.ndim
    for k in range(1, top + 1):
        rows = index_table(rank, k)
        inside = np.all(rows < np.array(values.shape), axis=1)
        column = np.zeros(len(rows))
        column[inside] = values[tuple(rows[inside].T)]
        orders[k] = column
    return Series(rank, orders)


def _unit(values: np.ndarray, top: int) -> Series:
    f = _plain(values, top)
    size = max(f.variance, 1e-300) ** 0.5
    return Series(f.rank, {k: a / size for k, a in f.orders.items()})
