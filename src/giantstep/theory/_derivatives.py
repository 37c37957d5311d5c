"""theory_errors(numbers, form): errors as a function of real numbers, with derivatives.

After one step and with a readout on fresh samples the formulas run in JAX, whose derivatives are exact. Several steps, symmetric
networks and the step's own batch are NumPy code: singular vectors, sorted samples, loops that end when they have converged. A
prediction takes a tenth of a second there and a compiled derivative would take minutes, so that derivatives are central
differences,

    dE/dx = (E(x + h) - E(x - h))/(2 h) + O(h^2),     h = 1e-4 of the number, or of its scale where the number is small

two predictions for every number that is asked for. JAX sees them as a Jacobian that depends on the numbers alone:
``jax.grad``, ``jax.jvp``, ``jax.vmap`` and ``jax.jit`` all work. Second derivatives do not.
"""

from functools import lru_cache
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given.declared import a, given
from giantstep._given.plain import as_numbers
from giantstep._machine.arrays import is_jax, is_traced
from giantstep._machine.backend import on_host
from giantstep.errors import InputError, quoted
from giantstep.experiment.setting import Setting
from giantstep.theory.one_step import _conditional as conditional
from giantstep.theory.one_step._own_batch import mean_errors
from giantstep.theory.one_step.errors import Errors
from giantstep.theory.one_step.parameters import Form, Parameters, activation_constants, parameters
from giantstep.theory.pairs._errors import path
from giantstep.theory.pairs._rows import stepped_pairs
from giantstep.theory.steps._predict import errors_after

NEAR = 1e-4  # h over the number
SMALL = 0.1  # of its scale, below which a number counts as small


def parameters_given(value: Any, what: str) -> Parameters:
    """Real numbers in the shape of ``Parameters``; JAX may be tracing them."""
    if not isinstance(value, Parameters):
        raise InputError(f"{what} must be Parameters, as theory.parameters(setting) gives them, not {quoted(value)}")
    if not is_jax(tuple(value)):
        for name, entry in zip(value._fields, value, strict=True):
            if as_numbers(entry) is None:
                raise InputError(f"{what}.{name} must be a real number or an array of them, not {quoted(entry)}")
    return value


@given(numbers=parameters_given, setting=a(Setting, Form))
def theory_errors(numbers: Parameters, setting: Setting | Form) -> Errors:
    """The differentiable core: errors as a function of real parameters, for the functions and choices of a setting.

    ``numbers, form = theory.parameters(setting)`` are a setting's own; use it under ``jax.grad``, ``jax.vmap`` or ``jax.jit``
    (with the second argument static). On the step's own batch ``gcv`` and ``noise`` are NaN.
    """
    form = setting if isinstance(setting, Form) else parameters(setting)[1]
    if len(form.steps) == 1 and not form.symmetric and not form.own_batch:
        return conditional.predict(numbers, form)[0]
    return Errors(*_differentiable(form)(*numbers)) if is_jax(tuple(numbers)) else Errors(*_errors(numbers, form))


def _errors(numbers: Parameters, form: Form) -> Float[np.ndarray, " 5"]:
    """The errors at one set of numbers, by NumPy."""
    with on_host():
        penalties = np.atleast_1d(numbers.penalty)
        if form.own_batch:
            return np.array([*mean_errors(numbers, form, penalties)[0, :3], np.nan, np.nan])
        if len(form.steps) == 1:
            return path(stepped_pairs(numbers, form), penalties)[0][:, 0]
        return errors_after(numbers, form)


def _scales(numbers: Parameters, form: Form) -> Parameters:
    """What is small for each of the numbers; those of d, the ratios and the penalty are positive."""
    _, square, _ = activation_constants(form.sigma)
    power, p = form.target.power**0.5, float(numbers.p_over_d * numbers.d)
    eta = 1 / float(form.factor(p))  # eta s = 1
    return Parameters(0.0, 0.0, 0.0, 0.0, eta, 0.0, power, square**0.5, power)  # type: ignore[arg-type]


def _slopes(numbers: Parameters, form: Form, which: tuple[int, ...]) -> list[Float[np.ndarray, "5 k"]]:
    """Central differences in the numbers of these places, each with its entries along the last axis."""
    found, scales = [], _scales(numbers, form)
    for place in which:
        x, columns = np.atleast_1d(numbers[place]), []
        for entry in range(x.size):
            h = NEAR * max(abs(float(x[entry])), SMALL * float(scales[place]))  # type: ignore[arg-type]
            ends = []
            for sign in (1, -1):
                moved = x.copy()
                moved[entry] += sign * h
                changed: list[Any] = list(numbers)
                changed[place] = moved.reshape(np.shape(numbers[place]))
                ends.append(_errors(Parameters(*changed), form))
            known = np.arange(5) < (3 if form.own_batch else 5)  # the errors that are not NaN on purpose
            columns.append(np.where(known, ends[0] - ends[1], 0.0) / (2 * h))
        found.append(np.stack(columns, axis=-1))
    return found


@lru_cache(maxsize=64)
def _differentiable(form: Form) -> Any:
    """The errors (5,) as a function that JAX can differentiate."""
    from giantstep._machine.backend import jax, jnp

    def plain(values: tuple[Any, ...]) -> Parameters:
        return Parameters(*(np.array(x, dtype=float) for x in values))

    def called(function: Any, shapes: Any, values: tuple[Any, ...]) -> Any:
        """At once where the numbers are known, else when the compiled program runs."""
        if not any(map(is_traced, values)):
            return jax.tree.map(jnp.asarray, function(*values))
        return jax.pure_callback(function, shapes, *values, vmap_method="sequential")

    @jax.custom_jvp
    def errors(*values: Any) -> Any:
        return called(lambda *own: _errors(plain(own), form), jax.ShapeDtypeStruct((5,), float), values)

    def rule(values: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
        moving = tuple(k for k, t in enumerate(tangents) if not isinstance(t, jax.custom_derivatives.SymbolicZero))
        shapes = [jax.ShapeDtypeStruct((5, max(int(np.size(values[k])), 1)), float) for k in moving]
        slopes = called(lambda *own: _slopes(plain(own), form, moving), shapes, values)
        change = sum(slope @ jnp.ravel(tangents[k]) for k, slope in zip(moving, slopes, strict=True))
        return errors(*values), change + jnp.zeros(5)

    errors.defjvp(rule, symbolic_zeros=True)
    return errors
