"""Moments of the labels under the law of the inputs: what an error is to be compared with."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from jaxtyping import Float

from giantstep._given.callable import callable_module
from giantstep._given.declared import a, given
from giantstep.errors import InputError
from giantstep.experiment.data.dataset import Dataset
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import Target
from giantstep.functions import hermite

MAX_RANK = 4  # of a target of a Dataset that is not a polynomial
WORK = 2 * 10**7  # values of a target to average over a class, unless fewer than 12 nodes a direction
AT_ONCE = 2**20  # values held at a time
ROUNDING = 1e-14  # a variance below this share of E f^2 is what rounding leaves of a constant


@dataclass(frozen=True)
class Labels:
    """Moments of ``y = f + noise``.

    Attributes:
        mean: E f.
        power: E f^2.
        noise: variance of the label noise.
    """

    mean: float
    power: float
    noise: float = 0.0

    @property
    def variance(self) -> float:
        """Var f, without the label noise: the risk of predicting the mean."""
        value = self.power - self.mean**2
        return value if value > ROUNDING * self.power else 0.0

    @property
    def total(self) -> float:
        """Var y, with the label noise: the test error of predicting the mean."""
        return self.variance + self.noise


@given(setting=a(Setting))
def labels(setting: Setting) -> Labels:
    """Moments of the setting's labels, by quadrature, not by sampling.

    Accurate to rounding where the target is a polynomial, has one direction, or is a sum of products of functions of one
    direction each under independent projections; by fixed nodes in r dimensions otherwise. For a ``Dataset`` they are
    those of all its training inputs, averaged over the N(0, I) noise that is added to every row.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=0.3, penalty=0.1, target="x1 + H2(x1)", noise=0.5)
        >>> round(float(gs.labels(s).total), 6)  # 1 + 2 + 0.25
        3.25
    """
    parts = _of_dataset(setting) if isinstance(setting.data, Dataset) else _of_law(setting)
    shares, means, powers = np.array(list(parts)).T
    return Labels(float(shares @ means), float(shares @ powers), setting.target.noise**2)


Part = tuple[float, float, float]
"""The share of a part of the inputs, and E f and E f^2 there."""
Grid = tuple[np.ndarray, np.ndarray]
"""Nodes q (r x points) and weights of N(0, I_r)."""


def _of_law(setting: Setting) -> Iterator[Part]:
    """One part for every component: z = l M x ~ N(l M mu_c, l^2 M Sigma_c M^T), so z = t + L q with q ~ N(0, I)."""
    target, data = setting.target, setting.data
    assert not isinstance(data, Dataset)
    if isinstance(data, Gaussian):
        yield 1.0, float(target.hermite.get((0,) * target.rank, 0.0)), target.power
        return
    M = setting.length * target.matrix(data.d)
    for c, share in enumerate(data.weights):
        B, low = data.low_rank(c)
        root = np.linalg.cholesky(data.bulk(c) * M @ M.T + M @ B.T @ low @ B @ M.T)
        expansion = target.part(c).under(root, M @ data.mean(c))
        yield share, float(expansion.get((0,) * target.rank, 0.0)), expansion.power


def _of_dataset(setting: Setting) -> Iterator[Part]:
    """One part for some rows of a class: z = l M (x + noise), so z = t + L q with L L^T = l^2 M M^T."""
    target, data = setting.target, setting.data
    assert isinstance(data, Dataset)
    if target.of_data:
        values = data.source.values
        yield 1.0, float(np.mean(values)), float(np.mean(values**2))
        return
    X, components = data.split()
    M = setting.length * target.matrix(data.d)
    root = np.zeros((target.rank, target.rank)) if data.signal is None else np.linalg.cholesky(M @ M.T)
    for c in range(len(data.classes)):
        part, own = target.part(c), np.flatnonzero(components == c)
        grid = _grid(part, len(own)) if np.any(root) else (np.zeros((target.rank, 1)), np.ones(1))
        rows = max(1, AT_ONCE // len(grid[1]))
        for start in range(0, len(own), rows):
            t = X[own[start : start + rows]] @ M.T
            first, second = _smoothed(part, t, root, grid)
            yield len(t) / len(X), float(np.mean(first)), float(np.mean(second))


def _smoothed(
    part: Target, t: Float[np.ndarray, "n r"], root: Float[np.ndarray, "r r"], grid: Grid
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Average f(t + L q) and its square over q at every row of t."""
    q, w = grid
    if part.rank == 1 and len(w) > 1 and not part.polynomial:  # panels split at the kinks
        from giantstep.functions._gaussian_averages import slopes

        (first,), (second,) = slopes(lambda z: part(z[None]), t[:, 0], float(root[0, 0]), part.kinks, (0, 0))
        return np.asarray(first), np.asarray(second)
    values = np.asarray(part(t.T[:, :, None] + (root @ q)[:, None, :]), dtype=float)
    return values @ w, values**2 @ w


def _grid(part: Target, rows: int) -> Grid:
    """Nodes for the noise: exact for a polynomial, whose square has twice its degree; otherwise the more the fewer rows, for
    the errors at a kink average out over the rows."""
    if part.polynomial:
        x, w = hermite.gauss_hermite(part.hermite.degree + 1)
    elif part.rank > MAX_RANK:
        raise InputError(f"labels of a Dataset take a target of at most {MAX_RANK} directions, not {part.rank}")
    else:
        x, w = hermite.offset_trapezoid(int(np.clip((WORK / rows) ** (1 / part.rank), 12, 300)))
    weights = np.ones(1)
    for _ in range(part.rank):
        weights = np.multiply.outer(weights, w).ravel()
    return np.stack([g.ravel() for g in np.meshgrid(*[x] * part.rank, indexing="ij")]), weights


callable_module(__name__, labels)
