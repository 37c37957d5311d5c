"""Predictions over grids of step sizes and penalties: tables once a step size, one fixed point a penalty.

NumPy finds the fixed points of BLOCK problems side by side, and threads take blocks in turn. Nothing is compiled: that would take
longer than most grids do, and would save nothing on the others.
"""

from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import xp
from giantstep._machine.backend import on_host
from giantstep._machine.threads import ahead
from giantstep.theory.one_step import _conditional as conditional
from giantstep.theory.one_step.errors import Errors, path
from giantstep.theory.one_step.parameters import Form, Parameters

BLOCK = 32  # problems side by side, at most: with fewer, calls of NumPy take longer than what they compute


class Curves(NamedTuple):
    """Errors as NumPy arrays (E, L), the fixed points' residuals, and the step as numbers (E,).

    ``strength`` is U, ``rho`` = cos(beta, E[f* x]), ``bend`` the mean share E[b^2] - 1 that the gradient's remainder adds to
    a row, ``captured`` = E cos^2(w_i, z_k) and ``null`` what a direction that was not learned captures.
    """

    errors: Errors
    residual: Float[np.ndarray, "E L"]
    strength: Float[np.ndarray, " E"]
    rho: Float[np.ndarray, " E"]
    bend: Float[np.ndarray, " E"]
    captured: Float[np.ndarray, "E r"]
    null: Float[np.ndarray, " E"]


def _table(numbers: Parameters, form: Form) -> tuple[conditional.StepProblem, tuple[Any, ...]]:
    """The problem for one set of parameters, and what its step learns."""
    a, omega = conditional.second_layer(form.second_layer)
    made = conditional.problem(numbers, form)
    step, b2, r = made.step, made.width**2, made.step.rho.shape[0]
    # z = rho v + L e, so <w_i, z>^2 = (U a)^2 (rho^2 + (1 - |rho|^2)/d) + var/d, var its share of the modes, with the noise of v;
    # ||w_i||^2 = (U a)^2 + b^2
    on = xp.concatenate([step.rho[:, None], step.rest], 1)
    var = xp.einsum("kc,mcd,kd,mj->kj", on, step.along.weights[:, : r + 1, : r + 1], on, made.signal.variance)
    along = (step.strength * a) ** 2
    known = step.rho**2 + (1 - step.rho @ step.rho) / numbers.d
    captured = ((along * known[:, None] + var / numbers.d) / (along + b2)) @ omega
    null = (1 - xp.sum(captured)) / (numbers.d - r)
    cosine = step.rho[0] if r == 1 else xp.sqrt(step.rho @ step.rho)
    return made, (step.strength, cosine, xp.sum(omega * b2) - 1, captured, null)


def curves(numbers: Parameters, form: Form) -> Curves:
    """Errors at every step size and penalty of the parameters; their other numbers are shared."""
    etas, penalties = (np.atleast_1d(np.asarray(x)) for x in (numbers.eta, numbers.penalty))
    return pointwise(repeated(numbers, etas.size)._replace(eta=etas), form, np.tile(penalties, (etas.size, 1)))


def repeated(numbers: Parameters, count: int) -> Parameters:
    """The same parameters that many times along a first axis; step size and penalty are left for the caller."""
    held = numbers._replace(eta=0.0, penalty=0.0)
    return Parameters(*(np.broadcast_to(np.asarray(x), (count, *np.shape(x))) for x in held))


def pointwise(numbers: Parameters, form: Form, penalties: Float[np.ndarray, "E L"]) -> Curves:
    """Errors at every set of parameters along their first axis (E), each with penalties of its own (E, L)."""

    def block(some: Int[np.ndarray, " e"]) -> Curves:
        with on_host():
            return _block(_at(numbers, some), form, penalties[some])

    count = len(penalties)
    errors, *others = zip(*ahead(block, np.array_split(np.arange(count), -(-count // BLOCK))), strict=True)
    return Curves(Errors(*map(np.concatenate, zip(*errors, strict=True))), *map(np.concatenate, others))


def _at(numbers: Parameters, rows: Int[np.ndarray, " e"] | int) -> Parameters:
    return Parameters(*(np.asarray(x)[rows] for x in numbers))


def _block(numbers: Parameters, form: Form, penalties: Float[np.ndarray, "E L"]) -> Curves:
    """Compute the curves of a few step sizes."""
    made, learned = zip(*(_table(_at(numbers, e), form) for e in range(len(penalties))), strict=True)
    (count, length), order = penalties.shape, np.argsort(-penalties, 1)
    # Penalties from the largest down, in as many chains a step size as fill the block; the last one repeats its end
    chains = min(length, BLOCK // count)
    order = order[:, np.minimum(np.arange(chains * -(-length // chains)), length - 1)]
    down = np.take_along_axis(penalties, order, 1).reshape(count * chains, -1)
    features, signal = (_side_by_side(each, chains) for each in zip(*(x[1:3] for x in made), strict=True))
    found = path(features._replace(p_over_n=features.p_over_n[:, None]), signal, down)
    table = np.empty((6, *penalties.shape))
    np.put_along_axis(table, order[None], np.concatenate([found[0], found[1][None]]).reshape(6, count, -1), 2)
    return Curves(Errors(*table[:5]), table[5], *map(np.array, zip(*learned, strict=True)))


def _side_by_side(parts: tuple[Any, ...], times: int) -> Any:
    """Records of arrays as one record whose arrays have an axis over them, every one so many times."""
    return type(parts[0])(
        *(None if x[0] is None else np.repeat(np.stack(x), times, 0) for x in zip(*parts, strict=True))
    )
