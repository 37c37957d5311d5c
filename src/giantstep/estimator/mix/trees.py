"""Boosted trees in the columns and in the learned directions, for targets with jumps.

A kernel and a ridge regression on neurons are smooth: near a jump their error falls slowly with the number of rows. A tree puts a
threshold there. Along columns it finds the place by itself. A jump along another direction is a staircase of many thresholds for
it, unless giant steps have found that direction: it then is one more column (``axes``), and the jump is one threshold again. The
trees are those of scikit-learn (histograms of the columns, as in Ke et al., NeurIPS 2017).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from giantstep.estimator.steps.directions import strengths
from giantstep.estimator.steps.marginal import explained_by_columns
from giantstep.estimator.steps.network import Table
from giantstep.estimator.steps.search import Fold, Tell, mean_error

__all__ = ["BoostedTrees", "TreeInputs", "TreeTrial", "boosted", "learned_axes", "tree_inputs", "tried_trees"]

COUNTS = (25, 50, 100, 200)  # of trees
WORTH = 0.99  # twice as many trees must reduce the error by this factor
ALL_COLUMNS, MOST_AXES = 64, 10  # with more columns, those that say most about the labels by themselves
MOST_ROWS = 65536  # for the trees of a model
FEWEST_ROWS = 200

Axes = Float[np.ndarray, "m d"]


@dataclass(frozen=True)
class TreeKind:
    """The number of leaves of a tree, the factor of every tree, and the number of bins of a column."""

    leaves: int
    rate: float
    bins: int


USUAL = TreeKind(31, 0.1, 250)
COARSE, GLANCE = TreeKind(15, 0.3, 32), 10  # so many trees of this kind say whether trees help


@dataclass(frozen=True)
class TreeInputs:
    """What the trees see of a row: some of its columns and its coordinates along ``axes``, as the numbers of their bins.

    ``edges`` are those of the bins, made for trees of a ``kind``. scikit-learn makes bins too, but for rows with weights it takes
    minutes.
    """

    columns: Int[np.ndarray, " c"]
    axes: Axes
    edges: Float[np.ndarray, "v b"]
    kind: TreeKind

    def of(self, X: Float[np.ndarray, "n d"]) -> UInt8[np.ndarray, "n v"]:
        seen = _seen(X, self.columns, self.axes)
        bins = np.empty(seen.shape, dtype=np.uint8)
        for j, edges in enumerate(self.edges):
            bins[:, j] = np.searchsorted(edges, seen[:, j])
        return bins


def _seen(X: Float[np.ndarray, "n d"], columns: Int[np.ndarray, " c"], axes: Axes) -> Float[np.ndarray, "n v"]:
    return np.concatenate([X[:, columns], X @ axes.T.astype(X.dtype)], axis=1)


def tree_inputs(table: Table, axes: Axes | None, kind: TreeKind = USUAL) -> TreeInputs:
    """The columns and axes with bins of equal numbers of rows."""
    d = table.X.shape[1]
    if d <= ALL_COLUMNS:
        columns = np.arange(d)
    else:
        shares = explained_by_columns(table)
        columns = np.argsort(-shares, kind="stable")[:ALL_COLUMNS]
        columns = np.sort(columns[shares[columns] > 0])
        columns = columns if len(columns) else np.array([int(shares.argmax())])
    axes = np.zeros((0, d)) if axes is None else axes
    seen = np.sort(_seen(table.X, columns, axes), axis=0)
    last = np.linspace(0, len(seen), kind.bins + 1)[1:-1].astype(int)  # rows that begin a bin
    return TreeInputs(columns, axes, ((seen[np.maximum(last - 1, 0)] + seen[last]) / 2).T, kind)


def learned_axes(gradient: Float[np.ndarray, "p d"]) -> Axes:
    """The strongest directions of gradients."""
    return strengths(gradient, MOST_AXES)[1]


@dataclass(frozen=True)
class BoostedTrees:
    """``models`` are the trees of every output."""

    inputs: TreeInputs
    models: tuple[Any, ...]

    def predict(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        seen = self.inputs.of(X)
        return np.stack([model.predict(seen) for model in self.models], axis=1)


def boosted(table: Table, inputs: TreeInputs, count: int, before: BoostedTrees | None = None) -> BoostedTrees:
    """``count`` trees for every output; those of ``before``, on the same table, are the first ones and are taken over."""
    from sklearn.ensemble import HistGradientBoostingRegressor

    seen, weights = inputs.of(table.X), None if np.all(table.weights == 1.0) else table.weights
    models, kind = [], inputs.kind
    for o, y in enumerate(table.Y.T):
        model: Any = (
            HistGradientBoostingRegressor(
                learning_rate=kind.rate,
                max_leaf_nodes=kind.leaves,
                max_bins=kind.bins,
                early_stopping=False,  # type: ignore[arg-type]
                warm_start=True,
                random_state=0,
            )
            if before is None
            else before.models[o]
        )
        models.append(model.set_params(max_iter=count).fit(seen, y, sample_weight=weights))
    return BoostedTrees(inputs, tuple(models))


@dataclass(frozen=True)
class TreeTrial:
    """The number of trees with the least error of the held-out rows; ``turned``: they see the learned directions too."""

    turned: bool
    count: int
    residuals: tuple[Float[np.ndarray, "m k"], ...]
    error: float


def tried_trees(
    folds: Sequence[Fold],
    axes: Sequence[Axes],
    helps: Callable[[tuple[Float[np.ndarray, "m k"], ...]], bool],
    tell: Tell,
) -> TreeTrial | None:
    """The better of trees with and without the learned directions; None where a few coarse ones do not help.

    The rows held out of the steps are held out of the trees too, and the trees are fitted without them.
    """
    seen = {turned: [a if turned else None for a in axes] for turned in (False, True)}
    looks = [_judged(folds, _begun(folds, seen[turned], GLANCE, COARSE), turned, GLANCE) for turned in seen]
    best = min(looks, key=lambda each: each.error)
    if not helps(best.residuals):
        return None
    trees = _begun(folds, seen[best.turned], COUNTS[0], USUAL)
    best = _judged(folds, trees, best.turned, COUNTS[0])
    for count in COUNTS[1:]:
        trees = [boosted(f.training, t.inputs, count, t) for f, t in zip(folds, trees, strict=True)]
        more = _judged(folds, trees, best.turned, count)
        stop = more.error > WORTH * best.error
        best = min(best, more, key=lambda each: each.error)
        if stop:
            break
    if tell is not None:
        tell(f"{best.count} boosted trees: error of the held-out rows {best.error:.4g}")
    return best


def _begun(folds: Sequence[Fold], axes: Sequence[Axes | None], count: int, kind: TreeKind) -> list[BoostedTrees]:
    inputs = (tree_inputs(f.training, a, kind) for f, a in zip(folds, axes, strict=True))
    return [boosted(f.training, i, count) for f, i in zip(folds, inputs, strict=True)]


def _judged(folds: Sequence[Fold], trees: Sequence[BoostedTrees], turned: bool, count: int) -> TreeTrial:
    residuals = tuple(f.held.Y - t.predict(f.held.X) for f, t in zip(folds, trees, strict=True))
    return TreeTrial(turned, count, residuals, mean_error(residuals, folds))
