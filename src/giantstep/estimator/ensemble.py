"""The models that are fitted beside the network, and their weights, all by leave-one-out on the same held-out rows."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from jaxtyping import Float

from giantstep._machine.device import HOST
from giantstep.estimator.array import Array
from giantstep.estimator.coordinates import corrected
from giantstep.estimator.kernel_search import (
    USUAL,
    KernelTrial,
    Map,
    Turn,
    fitted_kernel,
    look,
    mapped,
    next_map,
    take_turns,
)
from giantstep.estimator.network import FittedReadout, Layer, Table, TableStream, pieces
from giantstep.estimator.plan import PLANS, FitPlan, Gradients
from giantstep.estimator.search import (
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
from giantstep.estimator.stack import stacked

FEWEST = 40  # rows, for more than the network
FEW_LANDMARKS = 256  # for choices and turns
BEHIND = 1.25  # a plan that begins with this many times the error of the best one stays where it begins


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
        inside = table if self.L is None else mapped(table, self.L)
        return self.weight * np.concatenate([self.fitted.predict(p) for p in TableStream(inside, self.layer, HOST)])


@dataclass(frozen=True)
class Stack:
    """The turns of every plan up to the best one, and the weights: that of the network, then those of the plans."""

    plans: tuple[tuple[FitPlan, tuple[Turn, ...]], ...]
    weights: Float[np.ndarray, " c"]
    residuals: tuple[Float[np.ndarray, "m k"], ...]
    error: float


def few_landmarks(n: int) -> int:
    return min(FEW_LANDMARKS, max(n // 4, 10))


def tried(folds: Sequence[Fold], network: SearchPoint, wanted: Wanted, start: SearchStart, tell: Tell) -> Stack:
    """The plans on the folds, and the weights with the least leave-one-out error."""
    found = list(_gradients(folds, network, wanted, start))
    trial = KernelTrial(tuple(folds), few_landmarks(start.rows), wanted, start)
    looks = []
    for plan in PLANS:
        maps = [plan.first(f.training, g, null, start) for f, (g, null) in zip(folds, found, strict=True)]
        known = [L for L in maps if L is not None]
        if len(known) == len(maps):
            looks.append((plan, look(trial, known, USUAL)))
    plans, residuals, least = [], [network.residuals], np.inf
    for plan, first in sorted(looks, key=lambda each: each[1].error):
        if tell is not None:
            tell(f"coordinates from {plan.name}:")
        turns = take_turns(trial, first, plan.make, tell) if first.error <= BEHIND * least else [first]
        plans.append((plan, tuple(turns)))
        residuals.append(turns[-1].point.residuals)
        least = min(least, turns[-1].error)
    weights = stacked(
        [np.concatenate(each) for each in residuals], np.concatenate([fold.held.weights for fold in folds])
    )
    mixed = tuple(np.tensordot(weights, np.stack(of_fold), 1) for of_fold in zip(*residuals, strict=True))
    return Stack(tuple(plans), weights, mixed, mean_error(mixed, folds))


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
) -> tuple[list[EnsembleMember], tuple[Gradients, Gradients] | None]:
    """The plans with a weight again, on all rows; coordinates are learned on at most as many rows as choices are made with.

    If one of them has more weight than the network, its gradients come with them, and their null.
    """
    few = table if len(table) <= MOST else table.take(np.random.default_rng(0).permutation(len(table))[:MOST])
    landmarks, members, heaviest, found = few_landmarks(len(few)), [], float(stack.weights[0]), None
    gradient, null = _outer(gradient), _outer(null)
    for (plan, turns), weight in zip(stack.plans, stack.weights[1:], strict=True):
        L = plan.first(few, gradient, null, start) if weight > 0 else None
        if L is None:
            continue
        for turn in turns[:-1]:
            fit = fitted_kernel(few, L, turn.chosen, turn.point.decade, landmarks, wanted, start)
            L = next_map(few, fit.rows, fit.fitted, fit.L, turn.error, plan.make, start)
        last = turns[-1]
        fit = fitted_kernel(table, L, last.chosen, last.point.decade, min(MANY_LANDMARKS, len(table)), wanted, start)
        members.append(EnsembleMember(plan.name, float(weight), fit.layer, fit.fitted, fit.L))
        if weight > heaviest:
            rows = fit.rows if few is table else pieces(mapped(few, fit.L), fit.layer, start.where)
            g = corrected(few, rows, fit.fitted, fit.L, start.covariance, last.error, start.where)
            heaviest, found = float(weight), tuple(each * np.sqrt(len(each)) for each in g[:2])
    return members, found  # type: ignore[return-value]
