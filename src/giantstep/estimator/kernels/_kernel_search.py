"""The search by leave-one-out for a kernel readout: its coordinates, its shape and its bandwidth.

Coordinates are learned in turns. A turn fits the kernel on the rows that the steps use, takes the corrected gradients of this
fit, and moves to the coordinates that they give. The held-out rows judge every turn, as they judge every giant step. Shapes and
bandwidths are tried on some of the rows with fewer landmarks, which takes a fifth of the time. The best of them alone is then
fitted to all rows.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float

from giantstep._machine.device import Arrays
from giantstep.estimator.kernels._coordinates import corrected, typical_distance
from giantstep.estimator.kernels._kernel import GAUSSIAN, LAPLACE, KernelShape, kernel_layer
from giantstep.estimator.steps._search import (
    Fold,
    SearchPoint,
    SearchStart,
    Stage,
    Tell,
    Wanted,
    judge,
    solved,
    whole_stage,
)
from giantstep.estimator.steps.network import FittedReadout, Layer, Table, TablePiece, linear_moments

NEAREST = -4.0  # the decade of the penalty where the search begins
LEAST_DECADE = -6.0  # smaller penalties make kernels wild far from the rows, which no row left out shows
TURNS = 4  # at most
GAIN = 0.95  # a turn that does not reduce the error by this factor is the last one
POWERS = (-3, 2)  # of two: bandwidths in units of the median distance
FEW_ROWS, FEW_HELD, FEWER_LANDMARKS = 800, 300, 100  # for the first choice of a shape and a bandwidth
BEHIND = 1.1  # a shape that has this many times the error of the other one on few rows is not tried on all of them
LOOK = 300  # rows for the median distance

Map = Float[np.ndarray, "d r"]
MakeMap = Callable[[np.ndarray, np.ndarray, np.ndarray], Map]  # from what ``corrected`` returns


@dataclass(frozen=True)
class KernelWidth:
    """The shape of a kernel and its bandwidth, 2^power median distances."""

    shape: KernelShape
    power: int


USUAL = (KernelWidth(GAUSSIAN, 1), KernelWidth(GAUSSIAN, -1), KernelWidth(LAPLACE, 2))


@dataclass(frozen=True)
class Turn:
    """The best kernel in the coordinates of a turn, ``maps`` one for each fold, in units of the median distance."""

    maps: tuple[Map, ...]
    chosen: KernelWidth
    point: SearchPoint

    @property
    def error(self) -> float:
        return self.point.error

    def __str__(self) -> str:
        rank = max(L.shape[1] for L in self.maps)
        return f"{self.chosen.shape.name} kernel in {rank} coordinates: leave-one-out error {self.error:.4g}"


def some_rows(n: int, m: int) -> np.ndarray:
    """m of n rows, the same every time."""
    return np.random.default_rng(n).permutation(n)[:m]


def in_distances(L: Map, X: Float[np.ndarray, "n d"]) -> Map:
    """The map in units of the median distance of the rows."""
    return L / typical_distance(X[some_rows(len(X), LOOK)] @ L)


def rescaled(L: Map, chosen: KernelWidth) -> Map:
    """The map after which the bandwidth is one, from one in units of the median distance."""
    return L / 2.0**chosen.power


def mapped(table: Table, L: Map, precision: type[np.floating] = np.float32) -> Table:
    """The table in the coordinates of a map. Single precision is enough to fit a kernel.

    Its features K(u, Z) R^{-1} are at most 1 / sqrt(JITTER sqrt(m)) times as inexact as K itself, which is 1e-5 for m = 256, and
    LEAST_DECADE keeps the penalty above their products. R is computed in double precision, and so are predictions.
    """
    return replace(table, X=(table.X @ L.astype(table.X.dtype)).astype(precision))


def staged(fold: Fold, L: Map, chosen: KernelWidth, landmarks: int, where: Arrays) -> Stage:
    """A fold in the coordinates of a map."""
    L = rescaled(L, chosen)
    training, held = mapped(fold.training, L), mapped(fold.held, L)
    layer = kernel_layer(where.put(training.X[some_rows(len(training), landmarks)]), chosen.shape, where)
    linear = linear_moments(training, layer, where), linear_moments(held, layer, where)
    return Fold(training, held, fold.rows, linear).at(layer, where)


@dataclass(frozen=True)
class KernelTrial:
    """What all kernels are tried with: the folds, the number of landmarks, the options and the start of the network."""

    folds: tuple[Fold, ...]
    landmarks: int
    wanted: Wanted
    start: SearchStart

    @cached_property
    def small(self) -> "KernelTrial":
        """The same on fewer rows, with fewer landmarks; the trial itself where there are no more."""
        most = max(max(len(f.training) - FEW_ROWS, len(f.held) - FEW_HELD) for f in self.folds)
        if most <= 0 and self.landmarks <= FEWER_LANDMARKS:
            return self
        folds = [
            replace(
                f,
                training=f.training.take(some_rows(len(f.training), FEW_ROWS)),
                held=f.held.take(np.arange(min(len(f.held), FEW_HELD))),
                rows=f.rows[:FEW_HELD],
            )
            for f in self.folds
        ]
        return replace(self, folds=tuple(folds), landmarks=min(self.landmarks, FEWER_LANDMARKS))

    def judged(self, maps: Sequence[Map], chosen: KernelWidth, decade: float) -> Turn:
        pairs = zip(self.folds, maps, strict=True)
        stages = [staged(f, L, chosen, self.landmarks, self.start.where) for f, L in pairs]
        return Turn(tuple(maps), chosen, judge(stages, decade, self.wanted, self.start.where, least=LEAST_DECADE))


def glance(trial: KernelTrial, maps: Sequence[Map], widths: Sequence[KernelWidth], near: float = NEAREST) -> Turn:
    """The best of some kernels on few rows."""
    turns: list[Turn] = []
    for each in widths:
        turns.append(trial.small.judged(maps, each, turns[-1].point.decade if turns else near))
    return min(turns, key=lambda turn: turn.error)


def on_all_rows(trial: KernelTrial, turn: Turn) -> Turn:
    return turn if trial.small is trial else trial.judged(turn.maps, turn.chosen, turn.point.decade)


def tuned(trial: KernelTrial, turn: Turn) -> Turn:
    """The bandwidth with the least error, downhill from that of a turn."""
    best = turn
    for way in (1, -1):
        while POWERS[0] <= best.chosen.power + way <= POWERS[1]:
            other = replace(best.chosen, power=best.chosen.power + way)
            tried = trial.judged(best.maps, other, best.point.decade)
            if tried.error >= best.error:
                break
            best = tried
        if best is not turn:
            break
    return best


def narrowed(trial: KernelTrial, turn: Turn) -> Turn:
    """The kernel of a turn, or the next narrower one if it is better: more rows and landmarks bear a smaller bandwidth."""
    if turn.chosen.power == POWERS[0]:
        return turn
    narrower = replace(turn.chosen, power=turn.chosen.power - 1)
    return min(turn, trial.judged(turn.maps, narrower, turn.point.decade), key=lambda each: each.error)


def next_map(
    table: Table,
    rows: Iterable[TablePiece],
    fitted: FittedReadout,
    L: Map,
    level: float,
    make: MakeMap,
    start: SearchStart,
) -> Map:
    """The map of the next turn, from a fit of ``table`` whose rows in the coordinates L are ``rows``."""
    return make(*corrected(table, rows, fitted, L, start.covariance, level, start.where))


def turn_gradients(trial: KernelTrial, turn: Turn) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray]]:
    """The corrected gradients of the kernel of a turn on every fold, and what comes with them."""
    start = trial.start
    for f, stage, L in zip(trial.folds, turn.point.stages, turn.maps, strict=True):
        fitted, _ = solved(stage.of_training, turn.point.decade, trial.wanted, start.where)
        L = rescaled(L, turn.chosen)
        yield corrected(f.training, stage.training, fitted, L, start.covariance, turn.error, start.where)


def take_turns(trial: KernelTrial, first: Turn, make: MakeMap, tell: Tell) -> list[Turn]:
    """Turns until the error stops falling; the last one is the best."""
    turns = [first]
    while np.isfinite(turns[-1].error):
        last = turns[-1]
        if tell is not None:
            tell(str(last))
        if len(turns) > TURNS or (len(turns) > 1 and last.error > GAIN * turns[-2].error):
            break
        made = zip(trial.folds, turn_gradients(trial, last), strict=True)
        maps = [in_distances(make(*each), f.training.X) for f, each in made]
        look = glance(trial, maps, [last.chosen], last.point.decade)
        turn = on_all_rows(trial, tuned(trial.small, look))
        near = GAIN * last.error < turn.error <= last.error and trial.small is not trial
        turns.append(narrowed(trial, turn) if near else turn)
    best = int(np.argmin([turn.error for turn in turns]))
    return turns[: best + 1]


def other_shape(trial: KernelTrial, turn: Turn) -> Turn:
    """The best kernel of another shape in the coordinates of a turn, if it is better; it is fitted to all rows only if it is not
    far behind on few."""
    others = [each for each in USUAL if each.shape is not turn.chosen.shape]
    here = turn if trial.small is trial else trial.small.judged(turn.maps, turn.chosen, turn.point.decade)
    other = tuned(trial.small, glance(trial, turn.maps, others))
    if other.error > BEHIND * here.error:
        return turn
    return min(turn, on_all_rows(trial, other), key=lambda each: each.error)


@dataclass(frozen=True)
class KernelFit:
    """A kernel ridge regression in the coordinates L."""

    L: Map
    layer: Layer
    fitted: FittedReadout
    inside: Table
    rows: Iterable[TablePiece]


def fitted_kernel(
    table: Table,
    L: Map,
    chosen: KernelWidth,
    decade: float,
    landmarks: int,
    wanted: Wanted,
    start: SearchStart,
    judges: int = 0,
) -> KernelFit:
    """The kernel of a turn on a whole table. If there are ``judges``, so many rows choose the penalty again: with more landmarks
    than in the search it must do what the lack of landmarks did there."""
    where = start.where
    L = rescaled(in_distances(L, table.X), chosen)
    inside = mapped(table, L)
    layer = kernel_layer(where.put(inside.X[some_rows(len(table), landmarks)]), chosen.shape, where)
    stage = whole_stage(inside, some_rows(len(table), judges), layer, where)
    if judges:
        decade = judge([stage], decade, wanted, where, least=LEAST_DECADE).decade
    return KernelFit(L, layer, solved(stage.of_all, decade, wanted, where)[0], inside, stage.training)
