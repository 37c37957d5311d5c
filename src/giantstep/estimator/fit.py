"""Learn a table by giant steps. Leave-one-out chooses the number of steps, the step size, the batches and the penalty.

The chosen steps are then taken again on all rows.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.device import Arrays
from giantstep.errors import InputError
from giantstep.estimator.mix import _ensemble as ensemble
from giantstep.estimator.mix._ensemble import EnsembleMember, TreeMember
from giantstep.estimator.steps._search import (
    MOST,
    Fold,
    SearchPoint,
    SearchStart,
    Stage,
    Tell,
    Wanted,
    climb,
    dealt,
    draw_start,
    judge,
    last_eta,
    null_gradient,
    solved,
)
from giantstep.estimator.steps.network import FirstLayer, FittedReadout, Table, linear_moments, pieces

__all__ = ["MOST", "STEPS", "Learned", "Wanted", "learn", "random_error", "wider", "width"]

STEPS = 3  # at most
WIDEST = 1024  # neurons
PLENTY = 4.0  # n / d from which "auto" reuses rows
EACH = 2  # the fewest fresh rows for a step, and for the readout


def width(n: int) -> int:
    """The width for n rows: n / 16, between 128 and 1024; more neurons gain little, and the cost grows with the square."""
    return int(np.clip(n // 16, 128, WIDEST))


def wider(n: int) -> int:
    """Twice that width, but at most 1024."""
    return min(2 * width(n), WIDEST)


@dataclass(frozen=True)
class Learned:
    """The network, the choices, and the leave-one-out errors behind them (mean squares, for labels of variance one).

    ``members`` are the network and the models beside it, with their weights. ``by_steps[t]`` is the error of the network
    after t steps, ``residuals`` are the leave-one-out residuals of ``rows``. ``gradient`` holds the gradients of a further step,
    or those of a kernel readout that has more weight than the network; ``null`` holds the same for residuals with random signs,
    in which there is nothing to learn.
    """

    layer: FirstLayer
    fitted: FittedReadout
    steps: int
    eta: tuple[float, ...]
    penalty: float
    batch: str
    loo_error: float
    by_steps: tuple[float, ...]
    residuals: Float[np.ndarray, "m k"]
    rows: Int[np.ndarray, " m"]
    gradient: Float[np.ndarray, "p d"]
    null: Float[np.ndarray, "p d"]
    members: tuple[EnsembleMember | TreeMember, ...]


def _take_steps(
    parts: Sequence[Table], start: SearchStart, wanted: Wanted, etas: Sequence[float], decades: Sequence[float]
) -> FirstLayer:
    """The layer after a step on each part."""
    layer, where = start.random, start.where
    for part, eta, decade in zip(parts, etas, decades, strict=True):
        rows = pieces(part, layer, where)
        equations = start.normal(rows, layer, start.linear_of(part))
        fitted, _ = solved(equations, decade, wanted, where)
        layer = start.moved(start.gradient(rows, fitted), eta)
    return layer


def _fresh(
    table: Table,
    start: SearchStart,
    wanted: Wanted,
    etas: Sequence[float],
    decades: Sequence[float],
    rng: np.random.Generator,
) -> SearchPoint:
    """Take each step and the readout on rows of its own, and judge by the rows of the readout."""
    deal = np.array_split(rng.permutation(len(table)), len(etas) + 1)
    layer = _take_steps([table.take(rows) for rows in deal[:-1]], start, wanted, etas, decades)
    last = table.take(deal[-1])
    rows, linear = pieces(last, layer, start.where), linear_moments(last, layer, start.where)
    equations = start.normal(rows, layer, linear)
    stage = Stage(Fold(last, last, deal[-1], (linear, linear)), layer, rows, rows, equations, equations)
    return judge([stage], decades[-1], wanted, start.where)


def random_error(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays) -> float:
    """The leave-one-out error of random features."""
    with where.exact():
        start = draw_start(table, wanted, rng, where)
        return climb(dealt(table, start, rng), start.narrow, wanted, 0, None)[0].error


def learn(table: Table, wanted: Wanted, rng: np.random.Generator, where: Arrays, tell: Tell = None) -> Learned:
    """Learn a network for rows and labels of variance one; ``tell`` is called with a sentence about every stage."""
    with where.exact():
        start = draw_start(table, wanted, rng, where)
        folds, steps = dealt(table, start, rng), STEPS if wanted.steps is None else wanted.steps
        begun = start.narrow
        climbed = climb(folds, begun, wanted, steps, tell)
        if wanted.steps is None and not wanted.others and _in_vain(climbed):
            wide = start if wanted.wider is None else draw_start(table, replace(wanted, width=wanted.wider), rng, where)
            again = climb(folds, wide, wanted, steps, tell) if wide.width > begun.width else climbed
            if not _in_vain(again):
                start, begun, climbed = wide, wide, again
        if not np.isfinite(climbed[-1].error):
            raise InputError(
                f"the readout cannot be solved after {len(climbed) - 1} steps in {table.X.dtype} numbers: give a larger penalty"
            )
        return _chosen(table, start, begun, climbed, wanted, rng, tell)


def _in_vain(climbed: Sequence[SearchPoint]) -> bool:
    """Whether no step has reduced the error."""
    return min(point.error for point in climbed) == climbed[0].error


def _chosen(
    table: Table,
    start: SearchStart,
    begun: SearchStart,
    climbed: Sequence[SearchPoint],
    wanted: Wanted,
    rng: np.random.Generator,
    tell: Tell,
) -> Learned:
    """Take the best of the steps tried from ``begun`` again, from ``start`` and on all rows."""
    where, errors = start.where, tuple(point.error for point in climbed)
    steps = int(np.argmin(errors)) if wanted.steps is None else wanted.steps
    best, eta = last_eta(climbed[steps], begun, wanted)
    etas, decades = (wanted.step_size,) * (steps - 1) + (eta,) * (steps > 0), [p.decade for p in climbed[:steps]]
    batch, rest, stack = "reuse", table, None
    layer: Any = None
    if wanted.others and len(table) >= ensemble.FEWEST:
        stack = ensemble.tried([s.fold for s in best.stages], best, wanted, begun, tell)
    if wanted.batch == "fresh" and len(table) < EACH * (steps + 1):
        raise InputError(f'batch="fresh" with {steps} steps needs at least {EACH * (steps + 1)} rows, not {len(table)}')
    few = EACH * (steps + 1) <= len(table) < PLENTY * table.X.shape[1]
    if steps and (wanted.batch == "fresh" or (wanted.batch == "auto" and few)):
        fresh = _fresh(table, start, wanted, etas, decades, rng)
        if wanted.batch == "fresh" or fresh.error < (best if stack is None else stack).error:
            best, batch, stack = fresh, "fresh", None
            layer, rest = fresh.stages[0].layer, fresh.stages[0].fold.held
    if stack is not None and stack.weights["network"] == 0 and wanted.wider is not None:
        start, rest = begun, ensemble.few_rows(table, MOST)  # the network shows directions and predicts nothing
    layer = layer or _take_steps([rest] * steps, start, wanted, etas, decades)
    rows = pieces(rest, layer, where)
    equations = best.stages[0].of_all if batch == "fresh" else start.normal(rows, layer, start.linear_of(rest))
    fitted, penalty = solved(equations, best.decade, wanted, where)
    if not fitted.finite:
        raise InputError(f"the readout cannot be solved at penalty {penalty:.3g}: give a larger one")
    gradient, null = start.gradient(rows, fitted), null_gradient(rest, layer, fitted, best.error, start, rng)
    gradient, null = np.asarray(gradient), np.asarray(null)
    own = EnsembleMember("network", 1.0 if stack is None else stack.weights["network"], layer, fitted)
    members: list[EnsembleMember | TreeMember] = [own]
    if stack is not None:
        others, found = ensemble.finished(table, stack, gradient, null, wanted, start)
        members, (gradient, null) = members + others, found or (gradient, null)
    judged = best if stack is None else stack
    return Learned(
        layer, fitted, steps, etas, penalty, batch, judged.error, errors, np.concatenate(judged.residuals),
        np.concatenate([s.fold.rows for s in best.stages]), gradient, null, tuple(members),
    )  # fmt: skip
