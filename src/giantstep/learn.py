"""Learn a table by giant steps: number of steps, step size, batches and penalty are chosen by leave-one-out.

A leave-one-out error of the readout means little on rows that the steps have seen: the directions know their labels. So the
choice is made on rows held out of the steps. The readout is fitted to all rows, and every held-out row is predicted as if it
had been left out of it: no direction and no coefficient has seen the label it is judged by. With what was chosen, the steps
are then taken again on all rows.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from giantstep._arrays import Array, Arrays
from giantstep._errors import InputError
from giantstep.activation import Activation
from giantstep.corrected import damped, descent, moved, unit, without_common
from giantstep.layer import (
    Fitted,
    Layer,
    Normal,
    Piece,
    Stream,
    Table,
    left_out,
    linear_moments,
    moments,
    normal,
    pieces,
    refit,
    solve,
)  # fmt: skip

Tell = Callable[[str], Any] | None

STEPS = 3  # at most
ETA = 30.0  # of a step, in units of the neurons' own length
ETAS = (3.0,)  # tried beside it for the last step
HELD_OUT, ENOUGH = 0.2, 600  # of the rows, and how many judge well enough
FOLDS, FEW = 5, 2000  # one fold from FEW rows on, up to FOLDS of them below
MOST = 16384  # rows that choices are made on
DECADES = (-10.0, 0.0)  # of the penalty, in units of the trace of A
SINGLE = -8.0  # the least of them in single precision
NEAR, FINE = -3.5, 0.5  # where the search begins, by whole decades, and how fine it ends
NARROW = 2  # choices are made with a network this many times narrower
WIDEST = 1024  # neurons
PLENTY = 4.0  # n / d from which rows are reused without asking


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


def width(n: int) -> int:
    """A sixteenth of the rows, between 128 and 1024 neurons: more gain little and cost their square."""
    return int(np.clip(n // 16, 128, WIDEST))


def wider(n: int) -> int:
    """Twice that, up to the same most."""
    return min(2 * width(n), WIDEST)


@dataclass(frozen=True)
class Learned:
    """The network, what was chosen, and the leave-one-out errors behind it (mean squares, of labels of variance one).

    ``by_steps[t]`` is the error after t steps, ``residuals`` those of ``rows``, left out. ``gradient`` (p, d) is what a further
    step would follow, ``null`` the same for residuals of random signs, in which there is nothing to learn.
    """

    layer: Layer
    fitted: Fitted
    steps: int
    eta: tuple[float, ...]
    penalty: float
    batch: str
    loo_error: float
    by_steps: tuple[float, ...]
    residuals: np.ndarray
    rows: np.ndarray
    gradient: np.ndarray
    null: np.ndarray


def _solved(equations: Normal, decade: float, wanted: Wanted, where: Arrays) -> tuple[Fitted, float]:
    """The fit at the penalty of a decade; where rounding has left nothing to solve there, at the first decade above that has."""
    penalty = wanted.penalty_at(decade, equations)
    fitted = solve(equations, penalty, where)
    while not fitted.finite and wanted.penalty is None and decade < DECADES[1]:
        decade += 1
        penalty = wanted.penalty_at(decade, equations)
        fitted = solve(equations, penalty, where)
    return fitted, penalty


@dataclass(frozen=True)
class _Start:
    """What every run begins with: initial layer, sign and output of each neuron, linear moments and covariance of the table."""

    layer: Layer
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
    def narrow(self) -> "_Start":
        """The same with fewer neurons."""
        p = max(self.width // NARROW, min(64, self.width))
        layer = replace(self.layer, W=self.layer.W[:p], bias=self.layer.bias[:p])
        return replace(self, layer=layer, signs=self.signs[:p], outputs=self.outputs[:p])

    @property
    def random(self) -> Layer:
        """The layer before any step."""
        return self.layer.with_rows(unit(self.layer.W, self.spread, self.where))

    def moved(self, g: Array, eta: float) -> Layer:
        return moved(
            self.layer, self.signs[:, None] * without_common(g, self.outputs, self.where), eta, self.spread, self.where
        )

    def gradient(self, rows: Iterable[Piece], fitted: Fitted) -> Array:
        return descent(rows, fitted, self.outputs, self.covariance, self.where)

    def normal(self, rows: Iterable[Piece], layer: Layer, linear: Array | None = None) -> Normal:
        return normal(moments(rows, self.linear if linear is None else linear, self.where), layer.q, self.where)


def _start(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> _Start:
    d, p, k = table.X.shape[1], wanted.width, table.Y.shape[1]
    W, bias, signs = rng.standard_normal((p, d)), rng.standard_normal(p), rng.choice([-1.0, 1.0], p)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    layer = Layer(where.put(W), where.put(bias), wanted.sigma)
    linear = linear_moments(table, layer, where)
    spread = linear[:d, :d] / linear[-1, -1]
    return _Start(layer, where.put(signs), np.arange(p) % k, len(table), linear, spread, damped(spread, where), where)


@dataclass(frozen=True)
class _Fold:
    """Rows the steps see and rows they do not, with the linear moments of both."""

    seen: Table
    held: Table
    rows: np.ndarray  # those held out
    linear: tuple[Array, Array]

    def at(self, layer: Layer, where: Arrays) -> "_Stage":
        seen, held = pieces(self.seen, layer, where), pieces(self.held, layer, where)
        of_seen = moments(seen, self.linear[0], where)
        of_all = of_seen + moments(held, self.linear[1], where)
        return _Stage(self, layer, seen, held, normal(of_seen, layer.q, where), normal(of_all, layer.q, where))


@dataclass(frozen=True)
class _Stage:
    """A fold after some steps."""

    fold: _Fold
    layer: Layer
    seen: Iterable[Piece]
    held: Iterable[Piece]
    of_seen: Normal
    of_all: Normal

    def judged(self, penalty: float, where: Arrays) -> np.ndarray:
        """Residuals of the held-out rows."""
        return left_out(solve(self.of_all, penalty, where), self.held, where)

    def gradient(self, start: _Start, decade: float, wanted: Wanted) -> Array:
        return start.gradient(self.seen, _solved(self.of_seen, decade, wanted, start.where)[0])


def _error(residuals: Sequence[np.ndarray], folds: Sequence[_Fold]) -> float:
    squares = sum(float(f.held.weights @ (r**2).mean(axis=1)) for r, f in zip(residuals, folds, strict=True))
    error = squares / sum(float(f.held.weights.sum()) for f in folds)
    return error if np.isfinite(error) else np.inf


@dataclass(frozen=True)
class _Point:
    """The stages of all folds at their best penalty, and the gradients that led to them."""

    stages: tuple[_Stage, ...]
    decade: float
    error: float
    residuals: tuple[np.ndarray, ...]
    gradients: tuple[Array, ...] = ()


def _judge(stages: Sequence[_Stage], near: float, wanted: Wanted, where: Arrays, pace: float = 1.0) -> _Point:
    """The penalty by leave-one-out: downhill from ``near`` by ``pace`` decades at a time."""
    folds, known = [s.fold for s in stages], {}
    least = DECADES[0] if folds[0].held.X.dtype == np.float64 else SINGLE

    def error(decade: float) -> float:
        if decade not in known:
            residuals = tuple(s.judged(wanted.penalty_at(decade, s.of_all), where) for s in stages)
            known[decade] = _Point(tuple(stages), decade, _error(residuals, folds), residuals)
        return known[decade].error

    best = near
    error(best)
    for way in (-pace, pace) if wanted.penalty is None else ():
        while least <= best + way <= DECADES[1] and error(best + way) < error(best):
            best += way
        if best != near:
            break
    return known[best]


def _climb(folds: Sequence[_Fold], start: _Start, wanted: Wanted, steps: int, tell: Tell) -> list[_Point]:
    """The points after 0, 1, ..., ``steps`` steps."""
    layers, near, gradients, found = [start.random] * len(folds), NEAR, (), []
    for t in range(steps + 1):
        stages = [f.at(layer, start.where) for f, layer in zip(folds, layers, strict=True)]
        point = replace(_judge(stages, near, wanted, start.where), gradients=gradients)
        found.append(point)
        if tell is not None:
            tell(f"after {t} giant steps: leave-one-out error {point.error:.4g}")
        if not np.isfinite(point.error):
            break
        if t < steps:
            near = point.decade
            gradients = tuple(s.gradient(start, near, wanted) for s in stages)
            layers = [start.moved(g, wanted.step_size) for g in gradients]
    return found


def _last_eta(point: _Point, start: _Start, wanted: Wanted) -> tuple[_Point, float]:
    """The last step again with other step sizes."""
    best, eta = point, wanted.step_size
    for other in ETAS if point.gradients and wanted.eta is None else ():
        moves = zip(point.stages, point.gradients, strict=True)
        stages = [s.fold.at(start.moved(g, other), start.where) for s, g in moves]
        tried = _judge(stages, best.decade, wanted, start.where)
        if tried.error < best.error:
            best, eta = tried, other
    return _judge(best.stages, best.decade, wanted, start.where, FINE), eta


def _folds(table: Table, start: _Start, rng: np.random.Generator) -> list[_Fold]:
    rows = rng.permutation(len(table))[:MOST]
    count = int(np.clip(round(FEW / len(rows)), 1, FOLDS))
    parts = np.array_split(rows, max(count, round(1 / HELD_OUT)))
    return [_fold(table, np.setdiff1d(rows, held), held, start) for held in (part[:ENOUGH] for part in parts[:count])]


def _fold(table: Table, seen: np.ndarray, held: np.ndarray, start: _Start) -> _Fold:
    parts = table.take(seen), table.take(held)
    one, other = (linear_moments(part, start.layer, start.where) for part in parts)
    return _Fold(*parts, held, (one, other))


def _taken(
    parts: Sequence[Table], start: _Start, wanted: Wanted, etas: Sequence[float], decades: Sequence[float]
) -> Layer:
    """The layer after a step on each part."""
    layer, where = start.random, start.where
    for part, eta, decade in zip(parts, etas, decades, strict=True):
        rows = pieces(part, layer, where)
        equations = start.normal(rows, layer, None if len(part) == start.rows else linear_moments(part, layer, where))
        fitted, _ = _solved(equations, decade, wanted, where)
        layer = start.moved(start.gradient(rows, fitted), eta)
    return layer


def _fresh(table: Table, start: _Start, wanted: Wanted, etas: Sequence[float], decades: Sequence[float], rng) -> _Point:
    """A part of the rows for each step and one for the readout, whose rows are the judges."""
    deal = np.array_split(rng.permutation(len(table)), len(etas) + 1)
    layer = _taken([table.take(rows) for rows in deal[:-1]], start, wanted, etas, decades)
    last = table.take(deal[-1])
    rows, linear = pieces(last, layer, start.where), linear_moments(last, layer, start.where)
    equations = start.normal(rows, layer, linear)
    stage = _Stage(_Fold(last, last, deal[-1], (linear, linear)), layer, rows, rows, equations, equations)
    return _judge([stage], decades[-1], wanted, start.where)


def _null(table: Table, layer: Layer, fitted: Fitted, level: float, start: _Start, rng: np.random.Generator) -> Array:
    """The gradient for residuals of random signs whose mean square is ``level``."""
    residual = np.concatenate([np.asarray(p.Y - fitted.predict(p)) for p in Stream(table, layer, start.where)])
    residual *= np.sqrt(level / max(float(np.mean(residual**2)), 1e-300)) * rng.choice([-1.0, 1.0], (len(table), 1))
    rows = pieces(replace(table, Y=residual), layer, start.where)
    return start.gradient(rows, refit(fitted, rows, start.where))


def random_error(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> float:
    """The leave-one-out error of random features."""
    with where.exact():
        start = _start(table, wanted, rng, where)
        return _climb(_folds(table, start, rng), start.narrow, wanted, 0, None)[0].error


def learn(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays, tell: Tell = None) -> Learned:
    """A network for rows scaled to variance one, labels too; ``tell`` takes a sentence about every stage."""
    with where.exact():
        start = _start(table, wanted, rng, where)
        folds, steps = _folds(table, start, rng), STEPS if wanted.steps is None else wanted.steps
        begun = start.narrow
        climbed = _climb(folds, begun, wanted, steps, tell)
        if wanted.steps is None and _in_vain(climbed):
            wide = start if wanted.wider is None else _start(table, replace(wanted, width=wanted.wider), rng, where)
            again = _climb(folds, wide, wanted, steps, tell) if wide.width > begun.width else climbed
            if not _in_vain(again):
                start, begun, climbed = wide, wide, again
        if not np.isfinite(climbed[-1].error):
            raise InputError(
                f"the readout cannot be solved after {len(climbed) - 1} steps in {table.X.dtype} numbers: give a larger penalty"
            )
        return _chosen(table, start, begun, climbed, wanted, rng)


def _in_vain(climbed: Sequence[_Point]) -> bool:
    """Whether no step has made the error less."""
    return min(point.error for point in climbed) == climbed[0].error


def _chosen(
    table: Table, start: _Start, begun: _Start, climbed: Sequence[_Point], wanted: Wanted, rng: np.random.Generator
) -> Learned:
    """The best of what was tried from ``begun``, on all rows and from ``start``."""
    where, errors = start.where, tuple(point.error for point in climbed)
    steps = int(np.argmin(errors)) if wanted.steps is None else wanted.steps
    best, eta = _last_eta(climbed[steps], begun, wanted)
    etas, decades = (wanted.step_size,) * (steps - 1) + (eta,) * (steps > 0), [p.decade for p in climbed[:steps]]
    batch, layer, rest = "reuse", None, table
    if steps and (wanted.batch == "fresh" or wanted.batch == "auto" and len(table) < PLENTY * table.X.shape[1]):
        fresh = _fresh(table, start, wanted, etas, decades, rng)
        if wanted.batch == "fresh" or fresh.error < best.error:
            best, batch, layer, rest = fresh, "fresh", fresh.stages[0].layer, fresh.stages[0].fold.held
    layer = layer or _taken([table] * steps, start, wanted, etas, decades)
    rows = pieces(rest, layer, where)
    equations = best.stages[0].of_all if batch == "fresh" else start.normal(rows, layer)
    fitted, penalty = _solved(equations, best.decade, wanted, where)
    if not fitted.finite:
        raise InputError(f"the readout cannot be solved at penalty {penalty:.3g}: give a larger one")
    gradient, null = start.gradient(rows, fitted), _null(rest, layer, fitted, best.error, start, rng)
    return Learned(
        layer, fitted, steps, etas, penalty, batch, best.error, errors, np.concatenate(best.residuals),
        np.concatenate([s.fold.rows for s in best.stages]), np.asarray(gradient), np.asarray(null),
    )  # fmt: skip
