"""The conditional theory at a setting's own sizes, step sizes and penalties."""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.experiment.protocol import Power
from giantstep.experiment.setting import Setting
from giantstep.functions._nodes import FEW
from giantstep.results._far_step import FAR
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory._band import Move, bands
from giantstep.theory.one_step import _grid as _grid
from giantstep.theory.one_step._fixed_point import TOLERANCE
from giantstep.theory.one_step._label import label, target_constants
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
    etas = np.atleast_1d(numbers.eta)
    notes = [*told(setting, etas, curves), *notes]
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
            f"The {setting.target.rank} directions are averaged over Sobol points, whose choice moves the test error by "
            f"{100 * worst:.1g}%."
        )
    values |= {"captured": curves.captured, "null_level": curves.null, "penalty": penalties}
    return Answer(values, notes, residual=worst_of(curves.residual))


def worst_of(residual: Float[np.ndarray, "..."]) -> float:
    """The largest residual; one that is not a number is none at all."""
    return float(np.max(np.where(np.isnan(residual), 0.0, residual), initial=0.0))


def unsolved(residual: float) -> list[str]:
    """A sentence if the equations of a theory were not solved."""
    if not residual > TOLERANCE:
        return []
    return [f"The equations did not converge: their largest residual is {residual:.1e}."]


def _rows(penalties: Float[np.ndarray, "..."], count: int) -> Float[np.ndarray, "E L"]:
    return penalties if penalties.ndim == 2 else np.tile(penalties, (count, 1))


def move(curves: _grid.Curves, setting: Setting) -> Move:
    """What the step did: it learns one direction, that of E[f* z] inside the target's span, with the cosine rho."""
    first = np.asarray(label(setting.target, target_constants(setting.target)[0]).first)
    inside = np.outer(first, first) / (first @ first or 1.0)
    beyond = np.eye(first.size) - curves.rho[:, None, None] ** 2 * inside
    return Move(np.abs(curves.strength), beyond)


def told(setting: Setting, etas: Float[np.ndarray, " E"], curves: _grid.Curves) -> list[str]:
    """How far the prediction is to be trusted, if the steps go further, and what the step does."""
    return [*_trusted(setting, etas, curves), _moved(curves)]


def _moved(curves: _grid.Curves) -> str:
    """How far a neuron with a = 1 moves, and where to."""
    most, several = float(np.max(np.abs(curves.strength))), curves.strength.size > 1
    if most == 0:
        return "The step does not move the neurons."
    return (
        f"The step moves a neuron by {'up to ' * several}{most:.3g} times its length, in a direction whose cosine with the "
        f"target's is {curves.rho[0]:.3g}."
    )


def _trusted(setting: Setting, etas: Float[np.ndarray, " E"], curves: _grid.Curves) -> list[str]:
    """Up to which step size the assumptions hold: U grows as eta, and the remainder of the gradient as eta^2."""
    longest, bend, largest = float(np.max(curves.strength)), float(np.max(curves.bend)), float(np.max(etas))
    ends: list[tuple[float, str]] = []
    if LONG < longest <= FAR:
        ends.append((largest * LONG / longest, f"neurons move by more than {LONG:g} times their length"))
    if bend > BENT:
        ends.append((largest * (BENT / bend) ** 0.5, "the noise in the gradient is longer than the neurons"))
    if not ends:
        return []
    end, why = min(ends)
    return [
        f"Trust the prediction up to {_size(setting, end)}. Beyond, {why}, and the prediction may be several percent off."
    ]


def _size(setting: Setting, eta: float) -> str:
    """A step size as the setting writes it: as an exponent or as a number."""
    step, n = setting.protocol.steps[0], setting.protocol.sizes()[0]
    if not isinstance(step.eta, Power):
        return f"eta = {eta:.2g}"
    base = {"n": n, "d": setting.d, "p": setting.p}[step.eta.of]
    return f"alpha = {np.log(eta / step.eta.times) / np.log(base):.2g}"


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
