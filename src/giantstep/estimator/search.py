"""The climb of a table by giant steps, judged by leave-one-out: which number of steps, step size and penalty are best.

A leave-one-out error of the readout means little on rows that the steps have seen: the directions know their labels. So the
choice is made on rows held out of the steps. The readout is fitted to all rows, and every held-out row is predicted as if it
had been left out of it: no direction and no coefficient has seen the label it is judged by.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep._machine.device import Array, Arrays
from giantstep.estimator.corrected_step import damped, descent, moved, unit, without_common
from giantstep.estimator.network import (
    FirstLayer,
    FittedReadout,
    Normal,
    Table,
    TablePiece,
    left_out,
    linear_moments,
    moments,
    normal,
    pieces,
    solve,
)
from giantstep.functions.activation import Activation

Tell = Callable[[str], Any] | None

ETA = 30.0  # of a step, in units of the neurons' own length
ETAS = (3.0,)  # tried beside it for the last step
HELD_OUT, ENOUGH = 0.2, 600  # of the rows, and how many judge well enough
FOLDS, FEW = 5, 2000  # one fold from FEW rows on, up to FOLDS of them below
MOST = 16384  # rows that choices are made on
DECADES = (-10.0, 0.0)  # of the penalty, in units of the trace of A
SINGLE = -8.0  # the least of them in single precision
NEAR, FINE = -3.5, 0.5  # where the search begins, by whole decades, and how fine it ends
NARROW = 2  # choices are made with a network this many times narrower


@dataclass(frozen=True)
class Wanted:
    """What is asked for; None leaves it to leave-one-out. ``batch`` is "auto", "fresh" or "reuse".

    ``wider`` is a width to try where ``width`` learns nothing: of a target without a linear part, x1 x2, the first steps show so
    little that it takes more neurons to see it.
    """

    width: int
    sigma: Activation
    steps: int | None = None
    eta: float | None = None
    penalty: float | None = None
    batch: str = "auto"
    wider: int | None = None

    @property
    def step_size(self) -> float:
        return ETA if self.eta is None else self.eta

    def penalty_at(self, decade: float, equations: Normal) -> float:
        return equations.size * 10.0**decade if self.penalty is None else self.penalty


def solved(equations: Normal, decade: float, wanted: Wanted, where: Arrays) -> tuple[FittedReadout, float]:
    """The fit at the penalty of a decade; where rounding has left nothing to solve there, at the first decade above that has."""
    penalty = wanted.penalty_at(decade, equations)
    fitted = solve(equations, penalty, where)
    while not fitted.finite and wanted.penalty is None and decade < DECADES[1]:
        decade += 1
        penalty = wanted.penalty_at(decade, equations)
        fitted = solve(equations, penalty, where)
    return fitted, penalty


@dataclass(frozen=True)
class SearchStart:
    """What every run begins with: initial layer, sign and output of each neuron, linear moments and covariance of the table."""

    layer: FirstLayer
    signs: Array
    outputs: np.ndarray
    rows: int
    linear: Array
    spread: Array
    covariance: tuple
    where: Arrays

    @property
    def width(self) -> int:
        return len(self.outputs)

    @property
    def narrow(self) -> "SearchStart":
        """The same with fewer neurons."""
        p = max(self.width // NARROW, min(64, self.width))
        layer = replace(self.layer, W=self.layer.W[:p], bias=self.layer.bias[:p])
        return replace(self, layer=layer, signs=self.signs[:p], outputs=self.outputs[:p])

    @property
    def random(self) -> FirstLayer:
        """The layer before any step."""
        return self.layer.with_rows(unit(self.layer.W, self.spread, self.where))

    def moved(self, g: Array, eta: float) -> FirstLayer:
        return moved(
            self.layer, self.signs[:, None] * without_common(g, self.outputs, self.where), eta, self.spread, self.where
        )

    def gradient(self, rows: Iterable[TablePiece], fitted: FittedReadout) -> Array:
        return descent(rows, fitted, self.outputs, self.covariance, self.where)

    def normal(self, rows: Iterable[TablePiece], layer: FirstLayer, linear: Array | None = None) -> Normal:
        return normal(moments(rows, self.linear if linear is None else linear, self.where), layer.q, self.where)


def draw_start(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> SearchStart:
    d, p, k = table.X.shape[1], wanted.width, table.Y.shape[1]
    W, bias, signs = rng.standard_normal((p, d)), rng.standard_normal(p), rng.choice([-1.0, 1.0], p)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    layer = FirstLayer(where.put(W), where.put(bias), wanted.sigma)
    linear = linear_moments(table, layer, where)
    spread = linear[:d, :d] / linear[-1, -1]
    return SearchStart(
        layer, where.put(signs), np.arange(p) % k, len(table), linear, spread, damped(spread, where), where
    )


@dataclass(frozen=True)
class Fold:
    """Rows the steps see and rows they do not, with the linear moments of both."""

    training: Table
    held: Table
    rows: np.ndarray  # those held out
    linear: tuple[Array, Array]

    def at(self, layer: FirstLayer, where: Arrays) -> "Stage":
        training, held = pieces(self.training, layer, where), pieces(self.held, layer, where)
        of_training = moments(training, self.linear[0], where)
        of_all = of_training + moments(held, self.linear[1], where)
        return Stage(self, layer, training, held, normal(of_training, layer.q, where), normal(of_all, layer.q, where))


@dataclass(frozen=True)
class Stage:
    """A fold after some steps."""

    fold: Fold
    layer: FirstLayer
    training: Iterable[TablePiece]
    held: Iterable[TablePiece]
    of_training: Normal
    of_all: Normal

    def judged(self, penalty: float, where: Arrays) -> np.ndarray:
        """Residuals of the held-out rows."""
        return left_out(solve(self.of_all, penalty, where), self.held, where)

    def gradient(self, start: SearchStart, decade: float, wanted: Wanted) -> Array:
        return start.gradient(self.training, solved(self.of_training, decade, wanted, start.where)[0])


def mean_error(residuals: Sequence[np.ndarray], folds: Sequence[Fold]) -> float:
    squares = sum(float(f.held.weights @ (r**2).mean(axis=1)) for r, f in zip(residuals, folds, strict=True))
    error = squares / sum(float(f.held.weights.sum()) for f in folds)
    return error if np.isfinite(error) else np.inf


@dataclass(frozen=True)
class SearchPoint:
    """The stages of all folds at their best penalty, and the gradients that led to them."""

    stages: tuple[Stage, ...]
    decade: float
    error: float
    residuals: tuple[np.ndarray, ...]
    gradients: tuple[Array, ...] = ()


def judge(stages: Sequence[Stage], near: float, wanted: Wanted, where: Arrays, pace: float = 1.0) -> SearchPoint:
    """The penalty by leave-one-out: downhill from ``near`` by ``pace`` decades at a time."""
    folds, known = [s.fold for s in stages], {}
    least = DECADES[0] if folds[0].held.X.dtype == np.float64 else SINGLE

    def error(decade: float) -> float:
        if decade not in known:
            residuals = tuple(s.judged(wanted.penalty_at(decade, s.of_all), where) for s in stages)
            known[decade] = SearchPoint(tuple(stages), decade, mean_error(residuals, folds), residuals)
        return known[decade].error

    best = near
    error(best)
    for way in (-pace, pace) if wanted.penalty is None else ():
        while least <= best + way <= DECADES[1] and error(best + way) < error(best):
            best += way
        if best != near:
            break
    return known[best]


def climb(folds: Sequence[Fold], start: SearchStart, wanted: Wanted, steps: int, tell: Tell) -> list[SearchPoint]:
    """The points after 0, 1, ..., ``steps`` steps."""
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
    """The last step again with other step sizes."""
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
    parts = np.array_split(rows, max(count, round(1 / HELD_OUT)))
    return [fold(table, np.setdiff1d(rows, held), held, start) for held in (part[:ENOUGH] for part in parts[:count])]


def fold(table: Table, training: np.ndarray, held: np.ndarray, start: SearchStart) -> Fold:
    parts = table.take(training), table.take(held)
    one, other = (linear_moments(part, start.layer, start.where) for part in parts)
    return Fold(*parts, held, (one, other))
