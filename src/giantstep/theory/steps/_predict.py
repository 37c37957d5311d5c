"""Errors and shares after several giant steps at a width of the order of d: on fresh batches, or two on one batch."""

from collections.abc import Callable
from functools import partial

import numpy as np
from jaxtyping import Float

from giantstep._machine.backend import on_host
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory._band import Move, bands
from giantstep.theory.one_step._predict import lowest_gcv
from giantstep.theory.one_step.errors import path
from giantstep.theory.one_step.parameters import Form, Parameters
from giantstep.theory.pairs._errors import path as paired_path
from giantstep.theory.steps._course import Course, course, course_of
from giantstep.theory.steps._readout import paired_problem, problem
from giantstep.theory.steps._residual import coordinates
from giantstep.theory.steps._reused import reused
from giantstep.theory.steps._rows import SEEN, MovedRows, start
from giantstep.theory.steps._step import stepped


def followed(course: Course, etas: Float[np.ndarray, " T"]) -> list[MovedRows]:
    """The law of the rows before the steps and after each."""
    history = [start(course)]
    for t, (step, eta) in enumerate(zip(course.steps, etas.tolist(), strict=True)):
        again = step.form.reused and t == 1
        history.append(reused(course, etas, history[-1]) if again else stepped(course, step, eta, history[-1]))
    return history


def errors_after(numbers: Parameters, form: Form) -> Float[np.ndarray, " 5"]:
    """The five errors of ``Errors`` at one set of numbers."""
    own = course_of(numbers, form)
    rows = followed(own, np.atleast_1d(numbers.eta))[-1]
    return error_path(own, rows)(np.atleast_1d(numbers.penalty))[0][:, 0]


def error_path(own: Course, rows: MovedRows) -> Callable[[Float[np.ndarray, " L"]], tuple[np.ndarray, np.ndarray]]:
    """Errors (5, L) and residuals (L,) as a function of the penalties."""
    return partial(paired_path, paired_problem(own, rows)) if own.symmetric else partial(path, *problem(own, rows))


def several(setting: Setting) -> Answer:
    """Predict any number of steps; the arrays are (E, L), the shares (E, r)."""
    notes: list[str] = []
    given = setting.protocol.readout
    assert isinstance(given, Ridge)
    with on_host():
        every = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))
        own = course(setting)
        rows = [followed(own, etas)[-1] for etas in every]
        solved = [error_path(own, each) for each in rows]
        if given.penalty == "gcv":
            score = lambda grid: np.stack([each(few)[0][3] for each, few in zip(solved, grid, strict=True)])  # noqa: E731
            penalties = lowest_gcv(score, len(solved))
        else:
            penalties = np.tile(penalties_of(setting, notes), (len(solved), 1))
        paths = [each(few) for each, few in zip(solved, penalties, strict=True)]
    errors = np.stack([e for e, _ in paths], axis=1)
    worst = max(float(np.max(r)) for _, r in paths)
    shares = np.array([captured(own.d, each) for each in rows])
    theta = rows[-1].principal[1]
    notes.append(_moved(theta[theta**2 * setting.p > SEEN]))
    null = (1 - shares.sum(axis=1)) / (setting.d - setting.target.rank)
    values = {"test_error": errors[0], "train_error": errors[1], "train_objective": errors[2]}
    values |= bands(values, setting, _move(setting, rows), errors[4])
    penalty = penalties if given.penalty == "gcv" else penalties[0]
    return Answer(values | {"captured": shares, "null_level": null, "penalty": penalty}, notes, residual=worst)


def _moved(theta: Float[np.ndarray, " m"]) -> str:
    """How far the neurons have moved along each of their main directions, the largest first."""
    if not theta.size:
        return "The steps hardly move the neurons."
    first, last, several = f"{theta[0]:.2g}", f"{theta[-1]:.2g}", theta.size > 1
    by = f"{first} {'and' if theta.size == 2 else 'to'} {last}" if several else first
    return f"Along {'their main directions' if several else 'one direction'} the neurons have moved by {by} times their length."


def _move(setting: Setting, rows: list[MovedRows]) -> Move:
    """What the steps did, at every step size."""
    along = [coordinates(own, float(setting.p)).L for own in rows]
    return Move(np.array([own.principal[1][0] for own in rows]), np.array([L @ L.T for L in along]))


def captured(d: float, rows: MovedRows) -> Float[np.ndarray, " r"]:
    """E cos^2(w_i, z_k) = E_a (u_k^2 + D_kk/d)/(||u||^2 + b^2)."""
    own = rows.u[: rows.rank] ** 2 + np.einsum("jkk->kj", rows.D[: rows.a.size, : rows.rank, : rows.rank]) / d
    return (own / (np.sum(rows.u**2, axis=0) + rows.square)) @ rows.omega
