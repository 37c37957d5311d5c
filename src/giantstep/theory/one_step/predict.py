"""The conditional theory at a setting's own sizes, step sizes and penalties."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.experiment.setting import Setting
from giantstep.functions.nodes import FEW
from giantstep.results.far_step import FAR
from giantstep.theory.answer import Answer, penalties_of
from giantstep.theory.band import Move, bands
from giantstep.theory.one_step import grid as _grid
from giantstep.theory.one_step.fixed_point import TOLERANCE
from giantstep.theory.one_step.label import label, target_constants
from giantstep.theory.one_step.parameters import Form, Parameters, parameters

BENT = 1.0  # remainder of the gradient, relative to the rows, from which its law is not to be trusted
LONG = 1.5  # U from which gaps of 3% and more were seen (relu, n = 2000, eta = n^0.6)


def finite(setting: Setting) -> Answer:
    """Predict by the conditional theory; the arrays are (E, L)."""
    notes: list[str] = []
    numbers, form = parameters(setting)
    if setting.protocol.readout.penalty == "gcv":  # type: ignore[union-attr]
        penalties = _gcv(numbers, form)
        each = _grid.repeated(numbers, len(penalties))._replace(eta=np.atleast_1d(numbers.eta))
        curves = _grid.pointwise(each, form, penalties)
    else:
        penalties = penalties_of(setting, notes)
        each = _grid.repeated(numbers, np.size(numbers.eta))._replace(eta=np.atleast_1d(numbers.eta))
        curves = _grid.curves(numbers._replace(penalty=penalties), form)
    notes += doubts(curves)
    etas = np.atleast_1d(numbers.eta)
    span = f"{curves.strength.min():.3g}" + (f" to {curves.strength.max():.3g}" if len(etas) > 1 else "")
    notes.append(
        f"predicted at these sizes: the step moves a neuron by U = {span} times its length, in a direction whose cosine with "
        f"the target's is {curves.rho[0]:.3g}"
    )
    values = {
        "test_error": curves.errors.test,
        "train_error": curves.errors.train,
        "train_objective": curves.errors.objective,
    }
    values |= bands(values, setting, move(curves, setting), np.asarray(curves.errors.noise))
    if setting.target.rank > FEW:
        others = [
            _grid.pointwise(each, replace(form, scramble=k), _rows(penalties, etas.size)).errors for k in (1, 2, 3)
        ]
        values["test_error_se"] = np.std([curves.errors.test, *(e.test for e in others)], axis=0, ddof=1)
        worst = np.max(values["test_error_se"] / curves.errors.test)
        notes.append(
            f"{setting.target.rank} directions: Sobol points, whose choice moves the test error by {100 * worst:.1g}%"
        )
    return Answer(values | {"captured": curves.captured, "null_level": curves.null, "penalty": penalties}, notes)


def _rows(penalties: Float[np.ndarray, "..."], count: int) -> Float[np.ndarray, "E L"]:
    return penalties if penalties.ndim == 2 else np.tile(penalties, (count, 1))


def move(curves: _grid.Curves, setting: Setting) -> Move:
    """What the step did: it learns one direction, that of E[f* z] inside the target's span, with the cosine rho."""
    first = np.asarray(label(setting.target, target_constants(setting.target)[0]).first)
    inside = np.outer(first, first) / (first @ first or 1.0)
    beyond = np.eye(first.size) - curves.rho[:, None, None] ** 2 * inside
    return Move(np.abs(curves.strength), beyond)


def doubts(curves: _grid.Curves) -> list[str]:
    """A sentence for each assumption that does not hold, with the number that says so."""
    notes = []
    if np.any(curves.residual > TOLERANCE):
        notes.append(f"not converged: the largest residual is {np.max(curves.residual):.1e}")
    if np.max(curves.bend) > BENT:
        notes.append(
            f"the part of the gradient that is treated as noise is {np.max(curves.bend):.2g} times as long as the neurons: "
            "the prediction is reliable when it is well below 1"
        )
    if LONG < np.max(curves.strength) <= FAR:
        notes.append(
            f"the step is long: it moves a neuron by U = {np.max(curves.strength):.3g} times its length (above {LONG:g}, "
            "expect gaps of several percent)"
        )
    return notes


def _gcv(numbers: Parameters, form: Form) -> Float[np.ndarray, "E 1"]:
    """The penalty with the least predicted GCV score for every step size, (E, 1)."""
    etas = np.atleast_1d(numbers.eta)
    each = _grid.repeated(numbers, etas.size)._replace(eta=etas)
    return lowest_gcv(lambda grid: np.asarray(_grid.pointwise(each, form, grid).errors.gcv), etas.size)


def lowest_gcv(score: Callable[[np.ndarray], np.ndarray], count: int) -> Float[np.ndarray, "count 1"]:
    """The penalty with the least score (count, L) for each of ``count`` problems, (count, 1): a grid, then finer ones."""
    low, high = np.full(count, np.log(1e-8)), np.full(count, np.log(1e3))
    for _ in range(4):
        grid = np.linspace(low, high, 16, axis=1)
        best, rows = np.argmin(score(np.exp(grid)), axis=1), np.arange(count)
        low, high = grid[rows, np.maximum(best - 1, 0)], grid[rows, np.minimum(best + 1, 15)]
    return np.exp((low + high) / 2)[:, None]
