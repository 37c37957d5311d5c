"""Boosted trees in the columns and in the learned directions, for targets with jumps.

A kernel and a ridge regression on neurons are smooth: near a jump their error falls slowly with the number of rows. A tree puts a
threshold there. Along columns it finds the place by itself. A jump along another direction is a staircase of many thresholds for
it, unless giant steps have found that direction: it then is one more column (``axes``), and the jump is one threshold again. The
trees are those of scikit-learn (histograms of the columns, as in Ke et al., NeurIPS 2017).
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int, UInt8

from giantstep.estimator.steps._marginal import explained_by_columns
from giantstep.estimator.steps._search import Fold, Tell, mean_error
from giantstep.estimator.steps.directions import strengths
from giantstep.estimator.steps.network import Table

__all__ = [
    "BoostedTrees",
    "TreeInputs",
    "TreeKind",
    "TreeTrial",
    "boosted",
    "learned_axes",
    "tree_inputs",
    "tried_trees",
]

MORE = 8  # times as many trees as one begins with, at most
WORTH = 0.99  # twice as many trees must reduce the error by this factor
TURNED_WORTH = 0.5  # and learned directions by this one: they make the first trees better, and often not the last ones
HOPELESS = 3.0  # rough trees in columns with this many times the error of the other models are the last ones
NEAR = 1.5  # with this many times, one choice of columns is enough
BEATEN = 1.2  # columns, or a kind of trees, with this many times the error of the best ones end there
ALL_COLUMNS, MOST_AXES = 64, 10  # with more columns, those that say most about the labels by themselves
MOST_ROWS = 65536  # for the trees of a model
FEWEST_ROWS = 200

Axes = Float[np.ndarray, "m d"]
Columns = Int[np.ndarray, " c"]


@dataclass(frozen=True)
class TreeKind:
    """The number of leaves of a tree, the factor of every tree, how many trees to begin with, and the number of bins of a column.
    The first trees say little about more of them while (1 - rate)^first, the part of the labels that they have not tried to fit,
    is large."""

    leaves: int
    rate: float
    first: int
    bins: int = 250


USUAL = TreeKind(31, 0.2, 25)  # for columns that act together
KINDS = (USUAL, TreeKind(8, 0.2, 50))  # and for columns that add up; about the same time
ROUGH = TreeKind(8, 0.4, 20, 64)  # says whether trees help, and in which columns


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


def telling_columns(table: Table, others: Int[np.ndarray, " m"]) -> Columns:
    """The columns that say most about the labels by themselves, and others, up to so many."""
    shares = explained_by_columns(table)
    columns = np.argsort(-shares, kind="stable")[:ALL_COLUMNS]
    columns = columns[shares[columns] > 0]
    columns = np.concatenate([columns, np.setdiff1d(others, columns)])[:ALL_COLUMNS]
    return np.sort(columns) if len(columns) else np.array([int(shares.argmax())])


def tree_inputs(
    table: Table, axes: Axes | None = None, kind: TreeKind = USUAL, columns: Columns | None = None
) -> TreeInputs:
    """The columns and axes with bins of equal numbers of rows; of very many columns, those that say most."""
    d = table.X.shape[1]
    if columns is None:
        columns = np.arange(d) if d <= ALL_COLUMNS else telling_columns(table, np.arange(0))
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
    """The kind and number of trees with the least error of the held-out rows. ``columns`` are those of the first fold, None for
    all; ``turned``: the trees see the learned directions too."""

    kind: TreeKind
    count: int
    columns: Columns | None
    turned: bool
    residuals: tuple[Float[np.ndarray, "m k"], ...]
    error: float


@dataclass(frozen=True)
class TreeRun:
    """Trees that grow on every fold."""

    folds: Sequence[Fold]
    columns: Sequence[Columns | None]
    axes: Sequence[Axes | None]
    kind: TreeKind
    trees: tuple[BoostedTrees, ...] = ()
    count: int = 0

    def grown(self, count: int) -> "TreeRun":
        """With so many trees."""
        seen = zip(self.folds, self.axes, self.columns, strict=True)
        inputs = [t.inputs for t in self.trees] or [tree_inputs(f.training, a, self.kind, c) for f, a, c in seen]
        before = self.trees or [None] * len(self.folds)
        each = zip(self.folds, inputs, before, strict=True)
        return replace(self, trees=tuple(boosted(f.training, i, count, b) for f, i, b in each), count=count)

    def judged(self) -> TreeTrial:
        pairs = zip(self.folds, self.trees, strict=True)
        residuals = tuple(f.held.Y - t.predict(f.held.X) for f, t in pairs)
        error, turned = mean_error(residuals, self.folds), self.axes[0] is not None
        return TreeTrial(self.kind, self.count, self.columns[0], turned, residuals, error)


def begun(run: TreeRun) -> tuple[TreeRun, TreeTrial]:
    grown = run.grown(run.kind.first)
    return grown, grown.judged()


def doubled(run: TreeRun, best: TreeTrial) -> tuple[TreeRun, TreeTrial]:
    """With twice as many trees, and the better trial."""
    grown = run.grown(2 * run.count)
    return grown, min(best, grown.judged(), key=lambda each: each.error)


def tried_trees(
    folds: Sequence[Fold],
    axes: Sequence[Axes],
    used: Sequence[Columns] | None,
    least: float,
    helps: Callable[[TreeTrial], bool],
    tell: Tell,
) -> TreeTrial | None:
    """The best trees, or None. ``least`` is the error of the other models; ``helps``: trees have a weight beside them.

    Rough trees choose what trees see, and whether there are more: in columns they must have at most thrice the error of the other
    models, and in learned directions or on several folds, where trees take long, a weight. Then both kinds of trees begin. If the
    better one has a weight, they go on. The rows held out of the steps are held out of the trees too, and the trees are fitted
    without them.
    """
    seen = _seen_best(folds, axes, used, least)
    if not seen:
        return None
    rough = seen[0][1]
    if (rough.turned or len(folds) > 1) and not helps(rough):
        return None
    starts = [begun(TreeRun(folds, run.columns, run.axes, kind)) for run, _ in seen for kind in KINDS]
    ahead = min((trial for _, trial in starts), key=lambda each: each.error)
    if not helps(ahead):
        return None
    best = _grown_on([each for each in starts if each[1].error <= BEATEN * ahead.error])
    if tell is not None:
        tell(f"{best.count} boosted trees: error of the held-out rows {best.error:.4g}")
    return best


def _seen_best(
    folds: Sequence[Fold], axes: Sequence[Axes], used: Sequence[Columns] | None, least: float
) -> list[tuple[TreeRun, TreeTrial]]:
    """What trees see, by rough trees, best first: the telling columns with those that a kernel in columns has ``used``, all
    columns, or both if they are about as good and near the other models; and the learned directions with them, if these are much
    better. Where no kernel in columns is near, they see directions and telling columns. Nothing if rough trees are hopeless."""
    every: list[Columns | None] = [None] * len(folds)
    others = [np.arange(0)] * len(folds) if used is None else used
    telling = [telling_columns(f.training, c) for f, c in zip(folds, others, strict=True)]
    if used is None:
        return [begun(TreeRun(folds, telling, axes, ROUGH))]
    same = all(len(c) == f.training.X.shape[1] for f, c in zip(folds, telling, strict=True))
    looks: list[tuple[TreeRun, TreeTrial]] = []
    for columns in [every] if same else [telling, every]:
        looks.append(begun(TreeRun(folds, columns, [None] * len(folds), ROUGH)))
        looks.sort(key=lambda each: each[1].error)
        if looks[0][1].error > HOPELESS * least:
            return []
    run, rough = looks[0]
    turned = begun(replace(run, axes=axes, trees=(), count=0))
    if turned[1].error < TURNED_WORTH * rough.error:
        return [turned]
    alike = [each for each in looks if each[1].error <= BEATEN * rough.error]
    return alike if rough.error <= NEAR * least else looks[:1]


def _grown_on(starts: Sequence[tuple[TreeRun, TreeTrial]]) -> TreeTrial:
    """Twice as many trees, as long as they reduce the error, of those that are ahead and of those whose error falls faster."""
    best = min((trial for _, trial in starts), key=lambda each: each.error)
    while starts:
        grown = [(doubled(run, trial), trial.error) for run, trial in starts]
        (_, ahead), before = min(grown, key=lambda each: each[0][1].error)
        best, falls = min(best, ahead, key=lambda each: each.error), ahead.error / before
        starts = [
            (run, trial)
            for (run, trial), before in grown
            if run.count < MORE * run.kind.first
            and trial.error < WORTH * before
            and (trial is ahead or trial.error < min(falls * before, BEATEN * best.error))
        ]
    return best
