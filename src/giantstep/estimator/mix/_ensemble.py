"""The models that are fitted beside the network, and their weights, all by leave-one-out on the same held-out rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import HOST
from giantstep.estimator.kernels._coordinates import corrected
from giantstep.estimator.kernels._kernel_search import (
    USUAL,
    KernelTrial,
    Map,
    Turn,
    fitted_kernel,
    glance,
    in_distances,
    mapped,
    next_map,
    on_all_rows,
    other_shape,
    some_rows,
    take_turns,
    tuned,
    turn_gradients,
)
from giantstep.estimator.kernels._plan import PLANS, FitPlan, Gradients
from giantstep.estimator.mix._stack import stacked, surely_better
from giantstep.estimator.mix._trees import (
    FEWEST_ROWS,
    MOST_ROWS,
    BoostedTrees,
    TreeTrial,
    boosted,
    learned_axes,
    tree_inputs,
    tried_trees,
)
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps._search import (
    ENOUGH,
    MANY_LANDMARKS,
    MOST,
    Fold,
    SearchPoint,
    SearchStart,
    Tell,
    Wanted,
    mean_error,
    null_gradient,
    solved,
)
from giantstep.estimator.steps.network import FittedReadout, Layer, Table, TableStream, pieces

FEWEST = 40  # rows, for more than the network
FEW_LANDMARKS = 256  # for choices and turns
ENOUGH_LANDMARKS = 2.5  # for every degree of freedom
FAR_BEHIND = 2.0  # a plan with this many times the error of the best one is left out before its bandwidth is tuned
BEHIND = 1.25  # and with this many after that; on all rows it then takes no turns
MOST_PLANS = 2  # on all rows: a third one hardly changes the mix


@dataclass(frozen=True)
class EnsembleMember:
    """One model of a stack: a readout of a layer, in the coordinates L or in those of the table."""

    name: str
    weight: float
    layer: Layer
    fitted: FittedReadout
    L: Map | None = None

    def on_host(self) -> "EnsembleMember":
        """Only what predictions need, in NumPy arrays."""
        layer, fitted = self.layer.for_predictions(self.fitted)
        return replace(self, layer=layer, fitted=fitted)

    def outputs(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        """Weight times output of every row, on the host."""
        table = Table(X, np.zeros((len(X), 0)), np.ones(len(X)))
        inside = table if self.L is None else mapped(table, self.L, np.float64)
        return self.weight * np.concatenate([self.fitted.predict(p) for p in TableStream(inside, self.layer, HOST)])


@dataclass(frozen=True)
class TreeMember:
    """Boosted trees as a model of a stack."""

    name: str
    weight: float
    trees: BoostedTrees

    def on_host(self) -> "TreeMember":
        return self

    def outputs(self, X: Float[np.ndarray, "n d"]) -> Float[np.ndarray, "n k"]:
        return self.weight * self.trees.predict(X)


@dataclass(frozen=True)
class Stack:
    """The turns of every plan up to the best one, a linear model, trees, and the weights of all of them by name.

    ``best`` is the name of the model with the least error among the network and the plans: trees use its directions.
    """

    plans: tuple[tuple[FitPlan, tuple[Turn, ...]], ...]
    linear: SearchPoint
    trees: TreeTrial | None
    weights: dict[str, float]
    best: str
    residuals: tuple[Float[np.ndarray, "m k"], ...]
    error: float


def few_landmarks(n: int) -> int:
    return min(FEW_LANDMARKS, max(n // 4, 10))


def many_landmarks(turn: Turn, few: int, n: int, wanted: Wanted) -> int:
    """Landmarks for all rows: 2.5 times the degrees of freedom of the fit with a few of them, which is all it takes unless these
    few have limited it."""
    equations = turn.point.stages[0].of_all
    degrees = equations.degrees(wanted.penalty_at(turn.point.decade, equations))
    return int(np.clip(ENOUGH_LANDMARKS * degrees, few, min(MANY_LANDMARKS, n)))


def few_rows(table: Table, most: int) -> Table:
    """The table, or so many of its rows."""
    return table if len(table) <= most else table.take(some_rows(len(table), most))


def tried(folds: Sequence[Fold], network: SearchPoint, wanted: Wanted, start: SearchStart, tell: Tell) -> Stack:
    """The plans on the folds, and the weights with the least leave-one-out error."""
    found = list(_gradients(folds, network, wanted, start))
    trial = KernelTrial(tuple(folds), few_landmarks(start.rows), wanted, start)
    looks = []
    for plan in PLANS:
        maps = [plan.first(f.training, g, null, start) for f, (g, null) in zip(folds, found, strict=True)]
        known = [in_distances(L, f.training.X) for f, L in zip(folds, maps, strict=True) if L is not None]
        if len(known) == len(maps):
            looks.append((plan, glance(trial, known, USUAL)))
    looks = [(plan, tuned(trial.small, look)) for plan, look in _near(looks, FAR_BEHIND)]
    plans, least = [], np.inf
    for plan, first in _near(looks, BEHIND)[:MOST_PLANS]:
        first = on_all_rows(trial, first)
        if tell is not None:
            tell(f"coordinates from {plan.name}:")
        turns = take_turns(trial, first, plan.make, tell) if first.error <= BEHIND * least else [first]
        plans.append((plan, turns))
        least = min(least, turns[-1].error)
    turns = min((turns for _, turns in plans), key=lambda each: each[-1].error)
    turns[-1] = other_shape(trial, turns[-1])
    linear = start.linear_point(folds, network.decade, wanted)
    residuals = {"network": network.residuals, **{p.name: t[-1].point.residuals for p, t in plans}}
    best = min(residuals, key=lambda name: mean_error(residuals[name], folds))
    residuals["linear"], trees = linear.residuals, None
    if start.rows >= FEWEST_ROWS:
        least = mean_error(mixed(folds, residuals)[1], folds)
        last = {p.name: turns[-1] for p, turns in plans}
        g = [g for g, *_ in turn_gradients(trial, last[best])] if best in last else [g for g, _ in found]
        axes = [learned_axes(each) for each in g]
        used = used_columns(({p.name: look for p, look in looks} | last).get("columns"))

        def helps(trial: TreeTrial) -> bool:
            """Whether trees have a weight; on several folds, where they take long, in a mix that beats a linear model."""
            every = {**residuals, "trees": trial.residuals}
            if len(folds) > 1:
                return mixed(folds, every)[0]["trees"] > 0
            return stacked([each for (each,) in every.values()], folds[0].held.weights)[-1] > 0

        trees = tried_trees(folds, axes, used, least, helps, tell)
        residuals |= {} if trees is None else {"trees": trees.residuals}
    weights, left = mixed(folds, residuals)
    return Stack(
        tuple((plan, tuple(turns)) for plan, turns in plans),
        linear,
        trees,
        weights,
        best,
        left,
        mean_error(left, folds),
    )


def _near(looks: list[tuple[FitPlan, Turn]], behind: float) -> list[tuple[FitPlan, Turn]]:
    """The plans with less than so many times the error of the best one, best first."""
    looks = sorted(looks, key=lambda each: each[1].error)
    return [each for each in looks if each is looks[0] or each[1].error <= behind * looks[0][1].error]


def used_columns(columns: Turn | None) -> list[Int[np.ndarray, " c"]] | None:
    """The columns in which the kernel of the plan "columns" lives, on every fold; None if it was far behind."""
    return None if columns is None else [np.flatnonzero(L.any(axis=1)) for L in columns.maps]


def mixed(
    folds: Sequence[Fold], residuals: dict[str, tuple[Float[np.ndarray, "m k"], ...]]
) -> tuple[dict[str, float], tuple[Float[np.ndarray, "m k"], ...]]:
    """The weights of the models, and the residuals of the mix. Unless the mix is surely better, it is the linear model alone."""
    weights = np.concatenate([fold.held.weights for fold in folds])
    a = stacked([np.concatenate(each) for each in residuals.values()], weights)
    used = [each for each, weight in zip(residuals.values(), a, strict=True) if weight > 0]  # others may not be finite
    left = tuple(np.tensordot(a[a > 0], np.stack(of_fold), 1) for of_fold in zip(*used, strict=True))
    plain = residuals["linear"]
    if np.all(np.isfinite(np.concatenate(plain))) and not surely_better(
        np.concatenate(left), np.concatenate(plain), weights
    ):
        return {name: float(name == "linear") for name in residuals}, plain
    return dict(zip(residuals, map(float, a), strict=True)), left


def _gradients(
    folds: Sequence[Fold], point: SearchPoint, wanted: Wanted, start: SearchStart
) -> Iterator[tuple[Gradients, Gradients]]:
    """The corrected gradients of the network on every fold, and their null."""
    for stage in point.stages:
        fitted, _ = solved(stage.of_training, point.decade, wanted, start.where)
        rows, rng = stage.fold.training, np.random.default_rng(0)
        g = start.gradient(stage.training, fitted), null_gradient(rows, stage.layer, fitted, point.error, start, rng)
        yield _outer(g[0]), _outer(g[1])


def _outer(g: Array) -> Gradients:
    """Rows whose outer product is the mean of those of the neurons."""
    return np.asarray(g) / np.sqrt(len(g))


def finished(
    table: Table, stack: Stack, gradient: Gradients, null: Gradients, wanted: Wanted, start: SearchStart
) -> tuple[list[EnsembleMember | TreeMember], tuple[Gradients, Gradients] | None]:
    """The models with a weight again, on all rows; coordinates are learned on at most as many rows as choices are made with.

    If a plan has more weight than the network, its gradients come with them, and their null.
    """
    few = few_rows(table, MOST)
    landmarks, members = few_landmarks(len(few)), []
    heaviest, found = stack.weights["network"], None
    gradient, null = _outer(gradient), _outer(null)
    axes = learned_axes(gradient)
    turned = stack.trees is not None and stack.trees.turned and stack.weights["trees"] > 0
    for plan, turns in stack.plans:
        weight, for_trees = stack.weights[plan.name], turned and plan.name == stack.best
        if not (weight > 0 or for_trees):
            continue
        *earlier, last = turns
        goes_on = bool(earlier) and len(earlier[-1].maps) == 1
        L = earlier[-1].maps[0] if goes_on else plan.first(few, gradient, null, start)
        assert L is not None  # a plan without coordinates was not tried
        for turn in earlier[-1:] if goes_on else earlier:
            fit = fitted_kernel(few, L, turn.chosen, turn.point.decade, landmarks, wanted, start)
            L = next_map(few, fit.rows, fit.fitted, fit.L, turn.error, plan.make, start)
        whole = table if weight > 0 else few
        many = many_landmarks(last, landmarks, len(table), wanted) if weight > 0 else landmarks
        judges = ENOUGH if many > landmarks else 0
        fit = fitted_kernel(whole, L, last.chosen, last.point.decade, many, wanted, start, judges)
        if weight > 0:
            members.append(EnsembleMember(plan.name, weight, fit.layer, fit.fitted, fit.L))
        if weight > heaviest or for_trees:
            rows = fit.rows if few is whole else pieces(mapped(few, fit.L), fit.layer, start.where)
            g = corrected(few, rows, fit.fitted, fit.L, start.covariance, last.error, start.where)
            axes = learned_axes(g[0]) if for_trees else axes
            if weight > heaviest:
                heaviest, found = weight, tuple(each * np.sqrt(len(each)) for each in g[:2])
    if stack.weights["linear"] > 0:
        fitted = solved(start.linear_normal(start.linear), stack.linear.decade, wanted, start.where)[0]
        members.append(EnsembleMember("linear", stack.weights["linear"], start.linear_layer, fitted))
    if stack.trees is not None and stack.weights["trees"] > 0:
        some = few_rows(table, MOST_ROWS)
        seen = tree_inputs(some, axes if turned else None, stack.trees.kind, stack.trees.columns)
        trees = boosted(some, seen, stack.trees.count)
        members.append(TreeMember("trees", stack.weights["trees"], trees))
    return members, found  # type: ignore[return-value]
