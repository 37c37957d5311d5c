"""Predictions over grids of step sizes and penalties: tables once a step size, one fixed point a penalty.

A few points are found at once by NumPy. Many go through blocks of fixed size, so that a compiled program serves grids of every
size; that of the fixed point does not depend on the activation either.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array, xp
from giantstep._machine.backend import alone, jax, jnp, on_host
from giantstep.theory.one_step import conditional
from giantstep.theory.one_step.errors import Errors, path
from giantstep.theory.one_step.parameters import Form, Parameters

TABLES, POINTS = 8, 64  # step sizes tabulated, and points solved, side by side
FEW = 256, 2048  # tables and points up to which NumPy (25 ms and 5 ms each) ends before a compilation (20 s)


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


@partial(jax.jit, static_argnames="form")
def _tables(numbers: Parameters, form: Form) -> tuple[conditional.StepProblem, tuple[Any, ...]]:
    """The same for every set of parameters along their first axis."""
    return jax.vmap(lambda own: _table(own, form))(numbers)


@jax.jit
def _answers(made: conditional.StepProblem, penalties: Float[Array, " N"]) -> tuple[Errors, Float[Array, " N"]]:
    """Errors and residuals for problems and penalties side by side."""
    errors, at = jax.vmap(conditional.predict_from)(made, penalties)
    return errors, at.residual


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
    if len(penalties) <= FEW[0] and penalties.size <= FEW[1]:
        with on_host():
            return _now(numbers, form, penalties)
    with alone(), on_host():
        return _in_blocks(numbers, form, penalties)


def _now(numbers: Parameters, form: Form, penalties: Float[np.ndarray, "E L"]) -> Curves:
    """Compute the curves by NumPy, one step size after the other."""
    learned, paths = [], []
    for e, own in enumerate(penalties):
        made, step = _table(Parameters(*(np.asarray(x)[e] for x in numbers)), form)
        learned.append([np.asarray(x) for x in step])
        paths.append(path(made.features, made.signal, own))
    values = np.stack([values for values, _ in paths], axis=1)
    return Curves(
        Errors(*values), np.stack([residual for _, residual in paths]), *map(np.array, zip(*learned, strict=True))
    )


def _in_blocks(numbers: Parameters, form: Form, penalties: Float[np.ndarray, "E L"]) -> Curves:
    """Compute the curves by compiled programs, in blocks of fixed size."""
    count, width = penalties.shape
    made, learned = _joined(
        [
            _tables(Parameters(*(jnp.asarray(np.asarray(x)[rows]) for x in numbers)), form)
            for rows in _blocks(count, TABLES)
        ],
        count,
    )
    parts = []
    for some in _blocks(count * width, POINTS):
        own = jax.tree.map(lambda x, rows=some // width: jnp.asarray(x[rows]), made)
        parts.append(jax.block_until_ready(_answers(own, jnp.asarray(penalties.ravel()[some]))))
    errors, residual = jax.tree.map(lambda x: x.reshape(count, width), _joined(parts, count * width))
    return Curves(errors, residual, *learned)


def _blocks(count: int, size: int) -> list[Int[np.ndarray, " size"]]:
    """Indices in blocks of one size; the last one repeats its end."""
    return [np.minimum(np.arange(i, i + size), count - 1) for i in range(0, count, size)]


def _joined(parts: list, count: int) -> Any:
    return jax.tree.map(lambda *x: np.concatenate([np.asarray(y) for y in x])[:count], *parts)
