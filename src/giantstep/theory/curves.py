"""Predictions over grids of step sizes and penalties: tables once a step size, one fixed point a penalty.

Work goes through blocks of fixed size, so that a compiled program serves grids of every size; that of the fixed point does not
depend on the activation either.
"""

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from giantstep._backend import jax, jnp, one_blas_thread
from giantstep.theory import conditional
from giantstep.theory.errors import Errors
from giantstep.theory.parameters import Form, Parameters

BLOCK = 8  # step sizes or penalties solved side by side


class Curves(NamedTuple):
    """Errors as NumPy arrays (E, L), the fixed points' residuals, and the step as numbers (E,).

    ``strength`` is U, ``rho`` = cos(beta, beta*), ``bend`` the mean share E[b^2] - 1 that the gradient's remainder adds to a row,
    ``captured`` = E cos^2(w_i, beta*) and ``null`` what a direction that was not learned captures.
    """

    errors: Errors
    residual: np.ndarray
    strength: np.ndarray
    rho: np.ndarray
    bend: np.ndarray
    captured: np.ndarray
    null: np.ndarray


@partial(jax.jit, static_argnames="form")
def tables(numbers: Parameters, form: Form) -> conditional.Problem:
    """One problem for every set of parameters along their first axis."""
    return jax.vmap(partial(conditional.problem, form=form))(numbers)


@jax.jit
def answers(made: conditional.Problem, penalties: Any) -> tuple[Errors, Any]:
    """Errors and residuals (E, L) for penalties (E, L)."""

    def one(made, lams):
        found, at = jax.vmap(lambda lam: conditional.predict_from(made, lam))(lams)
        return found, at.residual

    return jax.vmap(one)(made, penalties)


@partial(jax.jit, static_argnames="form")
def _learned(made: conditional.Problem, form: Form, d: Any) -> tuple[Any, ...]:
    a, omega = conditional.second_layer(form.second_layer)

    def one(made):
        step, b2 = made.step, made.width**2
        along = (step.strength * a) ** 2  # <w_i, beta*>^2 = (U a rho)^2 + b^2/d,   ||w_i||^2 = (U a)^2 + b^2
        captured = jnp.sum(omega * (along * step.rho**2 + b2 / d) / (along + b2))
        null = jnp.sum(omega * (along * (1 - step.rho**2) + b2) / (along + b2)) / (d - 1)
        return step.strength, step.rho, jnp.sum(omega * b2) - 1, captured, null

    return jax.vmap(one)(made)


def curves(numbers: Parameters, form: Form) -> Curves:
    """Errors at every step size and penalty of the parameters; their other numbers are shared."""
    etas, penalties = (np.atleast_1d(np.asarray(x)) for x in (numbers.eta, numbers.penalty))
    each = Parameters(*(np.broadcast_to(np.asarray(x), (etas.size, *np.shape(x))) for x in numbers))
    return pointwise(each._replace(eta=etas, penalty=np.zeros(etas.size)), form, np.tile(penalties, (etas.size, 1)))


def pointwise(numbers: Parameters, form: Form, penalties: np.ndarray) -> Curves:
    """Errors at every set of parameters along their first axis (E), each with penalties of its own (E, L)."""
    count, width = penalties.shape
    parts = []
    for rows in _blocks(count):
        with one_blas_thread():
            made = tables(Parameters(*(jnp.asarray(x[rows]) for x in numbers)), form)
            learned = _learned(made, form, jnp.asarray(numbers.d[rows][0]))
            pieces = [answers(made, jnp.asarray(penalties[rows][:, columns])) for columns in _blocks(width)]
            parts.append(
                jax.block_until_ready(
                    (_join([p[0] for p in pieces], width), _join([p[1] for p in pieces], width), learned)
                )
            )
    found = jax.tree.map(lambda *x: np.concatenate(x)[:count], *jax.tree.map(np.asarray, parts))
    return Curves(found[0], found[1], *found[2])


def _blocks(count: int) -> list[np.ndarray]:
    """Indices in blocks of one size, a power of two up to BLOCK; the last block repeats its end."""
    size = min(BLOCK, 2 ** int(np.ceil(np.log2(count))))
    return [np.minimum(np.arange(i, i + size), count - 1) for i in range(0, count, size)]


def _join(pieces: list, width: int) -> Any:
    return jax.tree.map(lambda *x: jnp.concatenate(x, axis=1)[:, :width], *pieces)
