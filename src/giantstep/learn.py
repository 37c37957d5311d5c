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
from giantstep.activation import Activation
from giantstep.corrected import damped, descent, moved, unit, without_common
from giantstep.layer import Fitted, Layer, Piece, Table, left_out, moments, pieces, refit, size_of_features, solve

Tell = Callable[[str], Any] | None

STEPS = 3  # at most
ETA = 10.0  # of a step, in units of the neurons' own length
ETAS = (3.0, 30.0)  # tried beside it for the last step
HELD_OUT = 0.2  # of the rows
FOLDS, FEW = 5, 2000  # one fold from FEW rows on, up to FOLDS of them below
MOST = 16384  # rows that choices are made on
DECADES = (-7.0, 2.0)  # of the penalty, in units of the mean square of a feature
DECADE = 0.5
PLENTY = 4.0  # n / d from which rows are reused without asking


@dataclass(frozen=True)
class Wanted:
    """What is asked for; None leaves it to leave-one-out. ``batch`` is "auto", "fresh" or "reuse"."""

    width: int
    sigma: Activation
    steps: int | None = None
    eta: float | None = None
    penalty: float | None = None
    batch: str = "auto"

    @property
    def step_size(self) -> float:
        return ETA if self.eta is None else self.eta


def width(n: int) -> int:
    """An eighth of the rows, between 64 and 1024: the directions are learned from far fewer numbers than rows."""
    return int(np.clip(n // 8, 64, 1024))


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


@dataclass(frozen=True)
class _Start:
    """What every run begins with: initial layer, sign and output of each neuron, covariance of the table and its factor."""

    layer: Layer
    signs: Array
    outputs: np.ndarray
    spread: Array
    covariance: tuple
    where: Arrays

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

    def fitted(self, rows: Iterable[Piece], layer: Layer, penalty: float, outputs: int) -> Fitted:
        return solve(moments(rows, layer.q, outputs, self.where), layer.q, penalty, self.where)


def _start(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> _Start:
    d, p, k = table.X.shape[1], wanted.width, table.Y.shape[1]
    W, bias, signs = rng.standard_normal((p, d)), rng.standard_normal(p), rng.choice([-1.0, 1.0], p)
    W /= np.linalg.norm(W, axis=1, keepdims=True)
    spread = np.zeros((d, d))
    layer = Layer(where.put(W), where.put(bias), wanted.sigma)
    for piece in pieces(table, layer, where):
        spread = spread + where.squares(piece.X * piece.roots)
    spread = spread / table.weights.sum()
    return _Start(layer, where.put(signs), np.arange(p) % k, spread, damped(spread, where), where)


@dataclass(frozen=True)
class _Fold:
    """Rows the steps see and rows they do not, and the layer that one run has got to."""

    seen: Table
    held: Table
    rows: np.ndarray  # those held out

    def at(self, layer: Layer, where: Arrays) -> "_Stage":
        q, k = layer.q, self.seen.Y.shape[1]
        seen, held = pieces(self.seen, layer, where), pieces(self.held, layer, where)
        return _Stage(self, layer, seen, held, moments(seen, q, k, where), moments(held, q, k, where))


@dataclass(frozen=True)
class _Stage:
    """A fold after some steps."""

    fold: _Fold
    layer: Layer
    seen: Iterable[Piece]
    held: Iterable[Piece]
    of_seen: Array
    of_held: Array

    @property
    def moments(self) -> Array:
        return self.of_seen + self.of_held

    def judged(self, penalty: float, where: Arrays) -> np.ndarray:
        """Residuals of the held-out rows."""
        return left_out(solve(self.moments, self.layer.q, penalty, where), self.held, where)

    def gradient(self, start: _Start, penalty: float) -> Array:
        return start.gradient(self.seen, solve(self.of_seen, self.layer.q, penalty, start.where))


def _error(residuals: Sequence[np.ndarray], folds: Sequence[_Fold]) -> float:
    squares = sum(float(f.held.weights @ (r**2).mean(axis=1)) for r, f in zip(residuals, folds, strict=True))
    return squares / sum(float(f.held.weights.sum()) for f in folds)


@dataclass(frozen=True)
class _Point:
    """The stages of all folds at their best penalty, and the gradients that led to them."""

    stages: tuple[_Stage, ...]
    decade: float
    penalty: float
    error: float
    residuals: tuple[np.ndarray, ...]
    gradients: tuple[Array, ...] = ()


def _judge(stages: Sequence[_Stage], near: float, wanted: Wanted, where: Arrays) -> _Point:
    """The penalty by leave-one-out: downhill on half decades from ``near``."""
    scale = float(np.mean([size_of_features(s.moments, s.layer.q) for s in stages]))
    folds, known = [s.fold for s in stages], {}

    def error(decade: float) -> float:
        if decade not in known:
            penalty = wanted.penalty if wanted.penalty is not None else scale * 10.0**decade
            residuals = tuple(s.judged(penalty, where) for s in stages)
            known[decade] = _Point(tuple(stages), decade, penalty, _error(residuals, folds), residuals)
        return known[decade].error

    best = near
    error(best)
    for way in (-DECADE, DECADE) if wanted.penalty is None else ():
        while DECADES[0] <= best + way <= DECADES[1] and error(best + way) < error(best):
            best += way
        if best != near:
            break
    return known[best]


def _climb(folds: Sequence[_Fold], start: _Start, wanted: Wanted, steps: int, tell: Tell) -> list[_Point]:
    """The points after 0, 1, ..., ``steps`` steps."""
    layers, near, gradients, found = [start.random] * len(folds), -1.0, (), []
    for t in range(steps + 1):
        stages = [f.at(layer, start.where) for f, layer in zip(folds, layers, strict=True)]
        point = replace(_judge(stages, near, wanted, start.where), gradients=gradients)
        found.append(point)
        if tell is not None:
            tell(f"after {t} giant steps: leave-one-out error {point.error:.4g} at penalty {point.penalty:.2g}")
        if t < steps:
            near, gradients = point.decade, tuple(s.gradient(start, point.penalty) for s in stages)
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
    return best, eta


def _folds(table: Table, rng: np.random.Generator) -> list[_Fold]:
    rows = rng.permutation(len(table))[:MOST]
    count = int(np.clip(round(FEW / len(rows)), 1, FOLDS))
    parts = np.array_split(rows, max(count, round(1 / HELD_OUT)))
    return [_Fold(table.take(np.setdiff1d(rows, held)), table.take(held), held) for held in parts[:count]]


def _taken(parts: Sequence[Table], start: _Start, etas: Sequence[float], penalties: Sequence[float]) -> Layer:
    """The layer after a step on each part."""
    layer = start.random
    for part, eta, penalty in zip(parts, etas, penalties, strict=True):
        rows = pieces(part, layer, start.where)
        layer = start.moved(start.gradient(rows, start.fitted(rows, layer, penalty, part.Y.shape[1])), eta)
    return layer


def _fresh(table: Table, start: _Start, wanted: Wanted, etas: Sequence[float], points: Sequence[_Point], rng) -> _Point:
    """A part of the rows for each step and one for the readout, whose rows are the judges."""
    deal = np.array_split(rng.permutation(len(table)), len(etas) + 1)
    layer = _taken([table.take(rows) for rows in deal[:-1]], start, etas, [p.penalty for p in points])
    fold = _Fold(table.take(deal[-1][:0]), table.take(deal[-1]), deal[-1])
    return _judge([fold.at(layer, start.where)], points[-1].decade, wanted, start.where)


def _null(rows: Iterable[Piece], fitted: Fitted, level: float, start: _Start, rng: np.random.Generator) -> Array:
    """The gradient for residuals of random signs whose mean square is ``level``."""
    signed = []
    residuals = [piece.Y - fitted.predict(piece.features) for piece in rows]
    scale = np.sqrt(level / max(float(np.mean([np.mean(np.asarray(r) ** 2) for r in residuals])), 1e-300))
    for piece, residual in zip(rows, residuals, strict=True):
        signs = start.where.put(scale * rng.choice([-1.0, 1.0], (len(residual), 1)))
        signed.append(replace(piece, Y=residual * signs))
    return start.gradient(signed, refit(fitted, signed, start.where))


def random_error(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> float:
    """The leave-one-out error of random features."""
    start = _start(table, wanted, rng, where)
    return _climb(_folds(table, rng), start, wanted, 0, None)[0].error


def learn(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays, tell: Tell = None) -> Learned:
    """A network for rows scaled to variance one, labels too; ``tell`` takes a sentence about every stage."""
    start = _start(table, wanted, rng, where)
    climbed = _climb(_folds(table, rng), start, wanted, STEPS if wanted.steps is None else wanted.steps, tell)
    errors = tuple(point.error for point in climbed)
    steps = int(np.argmin(errors)) if wanted.steps is None else wanted.steps
    best, eta = _last_eta(climbed[steps], start, wanted)
    etas = (wanted.step_size,) * (steps - 1) + (eta,) * (steps > 0)
    layer, batch, rest = None, "reuse", table
    if steps and (wanted.batch == "fresh" or wanted.batch == "auto" and len(table) < PLENTY * table.X.shape[1]):
        fresh = _fresh(table, start, wanted, etas, climbed[:steps], rng)
        if wanted.batch == "fresh" or fresh.error < best.error:
            best, batch, layer, rest = fresh, "fresh", fresh.stages[0].layer, fresh.stages[0].fold.held
    layer = layer or _taken([table] * steps, start, etas, [p.penalty for p in climbed[:steps]])
    rows = pieces(rest, layer, where)
    fitted = start.fitted(rows, layer, best.penalty, table.Y.shape[1])
    gradient, null = start.gradient(rows, fitted), _null(rows, fitted, best.error, start, rng)
    return Learned(
        layer, fitted, steps, etas, best.penalty, batch, best.error, errors, np.concatenate(best.residuals),
        np.concatenate([s.fold.rows for s in best.stages]), np.asarray(gradient), np.asarray(null),
    )  # fmt: skip
