"""The search by leave-one-out for the best number of giant steps, step size and penalty.

The leave-one-out error of the readout means little on rows that the steps use, because the directions depend on their labels. So
some rows are held out of the steps. The readout is fitted to all rows, and every held-out row is predicted as if it had been left
out of that fit: neither the directions nor the coefficients depend on its label.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import HOST, Arrays
from giantstep.estimator.steps._array import Array
from giantstep.estimator.steps._penalty_path import MOST_FEATURES, PenaltyPath, penalty_path
from giantstep.estimator.steps.corrected_step import damped, descent, moved, unit, without_common
from giantstep.estimator.steps.network import (
    FirstLayer,
    FittedReadout,
    Layer,
    Normal,
    Table,
    TablePiece,
    TableStream,
    left_out,
    linear_moments,
    moments,
    normal,
    pieces,
    refit,
    residuals,
    solve,
)
from giantstep.functions.activation import Activation

Tell = Callable[[str], Any] | None

ETA = 30.0  # step size, in units of the initial length of a neuron
ETAS = (3.0,)  # other sizes to try for the last step
HELD_OUT, ENOUGH = 0.2, 600  # share of the rows, and a number of rows that is enough
FOLDS, FEW = 5, 2000  # one fold from FEW rows on, and up to FOLDS folds for fewer rows
MOST = 16384  # the most rows that the choices use
DECADES = (-10.0, 0.0)  # decades of the penalty, in units of the trace of A
SINGLE = -8.0  # the smallest decade in single precision
NEAR, FINE = -3.5, 0.5  # the search begins here with whole decades and ends with half decades
MANY_LANDMARKS = 1000  # of a kernel readout
NARROW = 2  # choices are made with a network this many times narrower


@dataclass(frozen=True)
class Wanted:
    """The options of a fit; leave-one-out chooses those that are None. ``batch`` is "auto", "fresh" or "reuse".

    ``wider`` is a width to try if ``width`` learns nothing. A target without a linear part, such as x1 x2, shows so little in the
    first steps that more neurons are needed. ``others`` asks for kernel readouts beside the network; their label transforms show
    such targets, and no wider network is tried.
    """

    width: int
    sigma: Activation
    steps: int | None = None
    eta: float | None = None
    penalty: float | None = None
    batch: str = "auto"
    wider: int | None = None
    others: bool = False

    @property
    def most_features(self) -> int:
        """Neurons or landmarks, whichever are more."""
        return max(self.wider or self.width, MANY_LANDMARKS if self.others else 0)

    @property
    def step_size(self) -> float:
        return ETA if self.eta is None else self.eta

    def penalty_at(self, decade: float, equations: Normal) -> float:
        return equations.size * 10.0**decade if self.penalty is None else self.penalty


def solved(equations: Normal, decade: float, wanted: Wanted, where: Arrays) -> tuple[FittedReadout, float]:
    """The fit at the penalty of a decade, or at the first larger decade at which rounding leaves a solvable problem."""
    penalty = wanted.penalty_at(decade, equations)
    fitted = solve(equations, penalty, where)
    while not fitted.finite and wanted.penalty is None and decade < DECADES[1]:
        decade += 1
        penalty = wanted.penalty_at(decade, equations)
        fitted = solve(equations, penalty, where)
    return fitted, penalty


@dataclass(frozen=True)
class SearchStart:
    """The start of every run: initial layer, sign and output of each neuron, linear moments and covariance of the table."""

    layer: FirstLayer
    signs: Float[Array, " p"]
    outputs: Int[np.ndarray, " p"]
    rows: int
    linear: Float[Array, "v v"]
    spread: Float[Array, "d d"]
    covariance: Float[Array, "d d"]
    where: Arrays

    @property
    def width(self) -> int:
        return len(self.outputs)

    @property
    def narrow(self) -> "SearchStart":
        """The same start with fewer neurons."""
        p = max(self.width // NARROW, min(64, self.width))
        layer, signs = self.where.run(_first, self.layer, self.signs, count=p)
        return replace(self, layer=layer, signs=signs, outputs=self.outputs[:p])

    @property
    def random(self) -> FirstLayer:
        """The layer before any step."""
        return self.layer.with_rows(self.where.run(unit, self.layer.W, self.spread, where=self.where))

    def moved(self, g: Float[Array, "p d"], eta: float) -> FirstLayer:
        g = without_common(g, self.outputs, self.where)
        return self.where.run(moved, self.layer, g, self.signs, eta, self.spread, where=self.where)

    def gradient(self, rows: Iterable[TablePiece], fitted: FittedReadout) -> Float[Array, "p d"]:
        return descent(rows, fitted, self.outputs, self.covariance, self.where)

    def linear_of(self, part: Table) -> Float[Array, "v v"]:
        """The linear moments of the whole table, or of a part of it."""
        return self.linear if len(part) == self.rows else linear_moments(part, self.layer, self.where)

    def normal(self, rows: Iterable[TablePiece], layer: Layer, linear: Float[Array, "v v"] | None = None) -> Normal:
        return normal(moments(rows, self.linear if linear is None else linear, self.where), layer.q, self.where)

    @property
    def linear_layer(self) -> FirstLayer:
        """No neurons: the features are the columns."""
        return replace(self.layer, W=self.layer.W[:0], bias=self.layer.bias[:0])

    def linear_normal(self, linear: Float[Array, "v v"]) -> Normal:
        return normal(linear, self.linear_layer.q, self.where)

    def linear_stage(self, fold: "Fold") -> "Stage":
        """A fold whose features are the columns alone."""
        layer = self.linear_layer
        training, held = (pieces(part, layer, self.where) for part in (fold.training, fold.held))
        of_all = self.linear_normal(fold.linear[0] + fold.linear[1])
        return Stage(fold, layer, training, held, self.linear_normal(fold.linear[0]), of_all)

    def linear_point(self, folds: Sequence["Fold"], near: float, wanted: Wanted) -> "SearchPoint":
        """The linear model, whose penalty all rows may choose: no step has seen their labels."""
        every = [self.linear_stage(replace(f, held=f.held.joined(f.training))) for f in folds]
        decade = judge(every, near, wanted, self.where, FINE).decade
        stages = tuple(self.linear_stage(f) for f in folds)
        residuals = tuple(s.judged(wanted.penalty_at(decade, s.of_all), self.where) for s in stages)
        return SearchPoint(stages, decade, mean_error(residuals, folds), residuals)


def _first(layer: FirstLayer, signs: Float[Array, " p"], count: int) -> tuple[FirstLayer, Float[Array, " count"]]:
    """The first neurons of a layer."""
    return replace(layer, W=layer.W[:count], bias=layer.bias[:count]), signs[:count]


def _spread(linear: Float[Array, "v v"], columns: int) -> Float[Array, "d d"]:
    return linear[:columns, :columns] / linear[-1, -1]


def draw_start(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> SearchStart:
    d, p, k = table.X.shape[1], wanted.width, table.Y.shape[1]
    W, bias, signs = rng.standard_normal((p, d)), rng.standard_normal(p), rng.choice([-1.0, 1.0], p)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    layer = FirstLayer(where.put(W), where.put(bias), wanted.sigma)
    linear = linear_moments(table, layer, where)
    spread = where.run(_spread, linear, columns=d)
    covariance = where.run(damped, spread, where=where)
    return SearchStart(layer, where.put(signs), np.arange(p) % k, len(table), linear, spread, covariance, where)


def null_gradient(
    table: Table, layer: Layer, fitted: FittedReadout, level: float, start: SearchStart, rng: np.random.Generator
) -> Float[Array, "p d"]:
    """The gradient for residuals of random signs whose mean square is ``level``."""
    stream = TableStream(table, layer, start.where)
    residual = np.concatenate([np.asarray(start.where.run(residuals, fitted, piece)) for piece in stream])
    residual *= np.sqrt(level / max(float(np.mean(residual**2)), 1e-300)) * rng.choice([-1.0, 1.0], (len(table), 1))
    rows = pieces(replace(table, Y=residual), layer, start.where)
    return start.gradient(rows, refit(fitted, rows, start.where))


@dataclass(frozen=True)
class Fold:
    """The rows that the steps use and the rows held out, with the linear moments of both."""

    training: Table
    held: Table
    rows: Int[np.ndarray, " m"]  # indices of the rows held out
    linear: tuple[Float[Array, "v v"], Float[Array, "v v"]]

    def at(self, layer: Layer, where: Arrays) -> "Stage":
        training, held = pieces(self.training, layer, where), pieces(self.held, layer, where)
        of_training = moments(training, self.linear[0], where)
        of_all = of_training + moments(held, self.linear[1], where)
        return Stage(self, layer, training, held, normal(of_training, layer.q, where), normal(of_all, layer.q, where))


@dataclass(frozen=True)
class Stage:
    """A fold after some steps."""

    fold: Fold
    layer: Layer
    training: Iterable[TablePiece]
    held: Iterable[TablePiece]
    of_training: Normal
    of_all: Normal

    @cached_property
    def path(self) -> PenaltyPath:
        return penalty_path(self.of_all, self.held)

    def judged(self, penalty: float, where: Arrays) -> Float[np.ndarray, "m k"]:
        """Residuals of the held-out rows."""
        if where is HOST and len(self.of_all.A) <= MOST_FEATURES:
            return self.path.left_out(penalty)
        return left_out(solve(self.of_all, penalty, where), self.held, where)

    def gradient(self, start: SearchStart, decade: float, wanted: Wanted) -> Float[Array, "p d"]:
        return start.gradient(self.training, solved(self.of_training, decade, wanted, start.where)[0])


def whole_stage(table: Table, judges: Int[np.ndarray, " m"], layer: Layer, where: Arrays) -> Stage:
    """All rows are fitted, and some of them judge the penalty, each as if it had been left out of the readout."""
    linear, rows, held = linear_moments(table, layer, where), pieces(table, layer, where), table.take(judges)
    equations = normal(moments(rows, linear, where), layer.q, where)
    fold = Fold(table, held, judges, (linear, linear))
    return Stage(fold, layer, rows, pieces(held, layer, where), equations, equations)


def mean_error(residuals: Sequence[Float[np.ndarray, "m k"]], folds: Sequence[Fold]) -> float:
    squares = sum(float(f.held.weights @ (r**2).mean(axis=1)) for r, f in zip(residuals, folds, strict=True))
    error = squares / sum(float(f.held.weights.sum()) for f in folds)
    return error if np.isfinite(error) else np.inf


@dataclass(frozen=True)
class SearchPoint:
    """The stages of all folds at their best penalty, and the gradients that led to them."""

    stages: tuple[Stage, ...]
    decade: float
    error: float
    residuals: tuple[Float[np.ndarray, "m k"], ...]
    gradients: tuple[Float[Array, "p d"], ...] = ()


def judge(
    stages: Sequence[Stage],
    near: float,
    wanted: Wanted,
    where: Arrays,
    pace: float = 1.0,
    least: float = DECADES[0],
) -> SearchPoint:
    """Choose the penalty by leave-one-out: go downhill from ``near``, or from the first larger decade at which rounding leaves a
    solvable problem, in steps of ``pace`` decades, to the decade ``least`` at most."""
    folds, known = [s.fold for s in stages], {}
    least = least if folds[0].held.X.dtype == np.float64 else max(least, SINGLE)

    def error(decade: float) -> float:
        if decade not in known:
            residuals = tuple(s.judged(wanted.penalty_at(decade, s.of_all), where) for s in stages)
            known[decade] = SearchPoint(tuple(stages), decade, mean_error(residuals, folds), residuals)
        return known[decade].error

    while not np.isfinite(error(near)) and wanted.penalty is None and near + pace <= DECADES[1]:
        near += pace
    best = near
    for way in (-pace, pace) if wanted.penalty is None else ():
        while least <= best + way <= DECADES[1] and error(best + way) < error(best):
            best += way
        if best != near:
            break
    return known[best]


def climb(folds: Sequence[Fold], start: SearchStart, wanted: Wanted, steps: int, tell: Tell) -> list[SearchPoint]:
    """Take the steps on all folds; return the points after 0, 1, ..., ``steps`` steps."""
    layers, near, gradients, points = [start.random] * len(folds), NEAR, (), []
    for t in range(steps + 1):
        stages = [f.at(layer, start.where) for f, layer in zip(folds, layers, strict=True)]
        point = replace(judge(stages, near, wanted, start.where), gradients=gradients)
        points.append(point)
        if tell is not None:
            tell(f"after {t} giant steps: leave-one-out error {point.error:.4g}")
        if not np.isfinite(point.error):
            break
        if t < steps:
            near = point.decade
            gradients = tuple(s.gradient(start, near, wanted) for s in stages)
            layers = [start.moved(g, wanted.step_size) for g in gradients]
    return points


def last_eta(point: SearchPoint, start: SearchStart, wanted: Wanted) -> tuple[SearchPoint, float]:
    """Take the last step again with other step sizes; return the best point and its step size."""
    best, eta = point, wanted.step_size
    for other in ETAS if point.gradients and wanted.eta is None else ():
        moves = zip(point.stages, point.gradients, strict=True)
        stages = [s.fold.at(start.moved(g, other), start.where) for s, g in moves]
        tried = judge(stages, best.decade, wanted, start.where)
        if tried.error < best.error:
            best, eta = tried, other
    return judge(best.stages, best.decade, wanted, start.where, FINE), eta


def dealt(table: Table, start: SearchStart, rng: np.random.Generator) -> list[Fold]:
    rows = rng.permutation(len(table))[:MOST]
    count = int(np.clip(round(FEW / len(rows)), 1, FOLDS))
    parts = np.array_split(rows, min(max(count, round(1 / HELD_OUT)), len(rows)))
    return [fold(table, np.setdiff1d(rows, held), held, start) for held in (part[:ENOUGH] for part in parts[:count])]


def fold(table: Table, training: Int[np.ndarray, " m"], held: Int[np.ndarray, " h"], start: SearchStart) -> Fold:
    parts = table.take(training), table.take(held)
    one, other = (linear_moments(part, start.layer, start.where) for part in parts)
    return Fold(*parts, held, (one, other))
