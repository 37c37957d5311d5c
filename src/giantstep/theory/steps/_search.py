"""The step sizes and the penalty with the least predicted test error after several steps.

A grid has steps that are equally long by themselves, U in MOVES, at all penalties. From its best point the method of Nelder and
Mead varies every step size and the penalty: the prediction has small jumps where one more direction starts to be felt, which
derivatives would not survive.
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float
from scipy.optimize import minimize

from giantstep._machine.backend import on_host
from giantstep.errors import InputError
from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory.steps._course import Course, course
from giantstep.theory.steps._predict import error_path, followed

MOVES = np.geomspace(0.1, 4.0, 6)  # U of each step by itself; the band was calibrated up to 4
PENALTIES = np.geomspace(1e-5, 1e2, 7)
APART = 0.35  # corners of the first simplex, in logarithms
FINER = 10  # penalties to one of these without a step, where they take no time
CLOSE, FLAT = 0.02, 1e-5  # where the search ends: in logarithms of step sizes and penalty, and of the error


class Least(NamedTuple):
    """The best step sizes (T,) and penalty, the least test error without a step, and what of them is at an end of its range."""

    etas: Float[np.ndarray, " T"]
    penalty: float
    random_features: float
    ends: tuple[str, ...]


def least(setting: Setting, over: tuple[str, ...]) -> Least:
    """Search over "eta", "penalty" or both; the other is the setting's own."""
    own, readout = course(setting), setting.protocol.readout
    assert isinstance(readout, Ridge)
    with on_host():
        penalties = PENALTIES if "penalty" in over else np.atleast_1d(np.asarray(readout.penalty, dtype=float))
        if "eta" in over:
            units = np.array([_unit(own, t) for t in range(len(own.steps))])
            tried = MOVES[:, None] / units
        else:
            tried = np.atleast_2d(setting.protocol.etas(setting.d, setting.p))
        grid = np.stack([_errors(own, etas, penalties) for etas in tried])
        e, k = np.unravel_index(int(np.nanargmin(grid)), grid.shape)
        T = tried.shape[1]
        start = np.log([*tried[e], penalties[k]])
        free = np.repeat([name in over for name in ("eta", "penalty")], [T, 1])
        ranges = np.log([*zip(tried[0], tried[-1], strict=True), (penalties[0], penalties[-1])])

        def objective(x: Float[np.ndarray, " free"]) -> float:
            point = start.copy()
            point[free] = x
            return float(_errors(own, np.exp(point[:T]), np.exp(point[T:]))[0])

        options = {"xatol": CLOSE, "fatol": FLAT * grid[e, k], "initial_simplex": _simplex(start[free], ranges[free])}
        found = minimize(objective, start[free], method="Nelder-Mead", bounds=ranges[free], options=options)
        point = start.copy()
        point[free] = found.x
        many = np.geomspace(penalties[0], penalties[-1], FINER * penalties.size)
        none = _errors(own, np.zeros(T), many).min()
    names = [*(f"the size of step {t + 1}" for t in range(T)), "penalty"]
    at_end = free & (np.min(np.abs(point[:, None] - ranges), axis=1) < CLOSE)
    return Least(
        np.exp(point[:T]),
        float(np.exp(point[T])),
        float(none),
        tuple(n for n, end in zip(names, at_end, strict=True) if end),
    )


def _errors(own: Course, etas: Float[np.ndarray, " T"], penalties: Float[np.ndarray, " L"]) -> Float[np.ndarray, " L"]:
    """The test errors; NaN where no fixed point was found counts as the worst."""
    values = error_path(own, followed(own, etas)[-1])(penalties)[0][0]
    return np.where(np.isfinite(values), values, np.inf)


def _unit(own: Course, t: int) -> float:
    """How far step t by itself moves a neuron with a = 1, over its size."""
    eta = 1 / own.scale
    moved = followed(replace(own, steps=own.steps[t : t + 1]), np.array([eta]))[-1].principal[1][0] / eta
    if moved * eta < 1e-9:
        raise InputError("no step size matters: the activation has no linear part (c_1 = 0) or the labels are zero")
    return float(moved)


def _simplex(
    start: Float[np.ndarray, " free"], ranges: Float[np.ndarray, "free 2"]
) -> Float[np.ndarray, "corners free"]:
    """The start and a point at the distance APART along every coordinate, inwards where the start is near an end."""
    inwards = np.where(start + APART > ranges[:, 1], -APART, APART)
    return np.concatenate([start[None], start + np.diag(inwards)])
