"""Scalar functions a formula may name: value, exact derivative, and whether they have a kink or a jump at zero.

Every function works on NumPy and JAX arrays: it asks the array for its namespace, so one definition serves the
quadrature (NumPy) and the simulation (JAX, traced or not).
"""

from collections.abc import Callable
from dataclasses import dataclass
from math import pi, sqrt
from typing import Any

import numpy as np

from giantstep._machine.arrays import Array


def namespace(x: Array) -> Any:
    """numpy or jax.numpy, whichever ``x`` belongs to."""
    return x.__array_namespace__() if hasattr(x, "__array_namespace__") else np


def _erf(x: Array) -> Array:
    if namespace(x) is np:
        from scipy.special import erf
    else:
        from jax.scipy.special import erf
    return erf(x)


def _same(name: str) -> Callable[[Array], Array]:
    """The function that the namespace of an array has under this name."""
    return lambda x: getattr(namespace(x), name)(x)


_tanh, _sin, _cos, _abs, _sign, _zero = map(_same, ("tanh", "sin", "cos", "abs", "sign", "zeros_like"))


def _relu(x: Array) -> Array:
    return namespace(x).maximum(x, 0.0)


def _step(x: Array) -> Array:
    return (x > 0).astype(x.dtype)


def _leaky_relu(x: Array) -> Array:
    return namespace(x).where(x > 0, x, LEAK * x)


def _leaky_step(x: Array) -> Array:
    return namespace(x).where(x > 0, 1.0, LEAK).astype(x.dtype)


def _tanh_slope(x: Array) -> Array:
    return 1.0 - namespace(x).tanh(x) ** 2


def _density(x: Array) -> Array:
    return namespace(x).exp(-0.5 * x * x) / sqrt(2.0 * pi)


def _distribution(x: Array) -> Array:
    return 0.5 * (1.0 + _erf(x / sqrt(2.0)))


def _erf_slope(x: Array) -> Array:
    return namespace(x).exp(-x * x) * (2.0 / sqrt(pi))


def _sigmoid(x: Array) -> Array:
    return 0.5 * (1.0 + namespace(x).tanh(0.5 * x))


def _sigmoid_slope(x: Array) -> Array:
    s = _sigmoid(x)
    return s * (1.0 - s)


def _softplus(x: Array) -> Array:
    xp = namespace(x)
    return xp.maximum(x, 0.0) + xp.log1p(xp.exp(-xp.abs(x)))


def _gelu(x: Array) -> Array:
    return x * _distribution(x)


def _gelu_slope(x: Array) -> Array:
    return _distribution(x) + x * _density(x)


def _silu(x: Array) -> Array:
    return x * _sigmoid(x)


def _silu_slope(x: Array) -> Array:
    s = _sigmoid(x)
    return s * (1.0 + x * (1.0 - s))


def _elu(x: Array) -> Array:
    xp = namespace(x)
    return xp.where(x > 0, x, xp.expm1(xp.minimum(x, 0.0)))


def _elu_slope(x: Array) -> Array:
    xp = namespace(x)
    return xp.exp(xp.minimum(x, 0.0))


def _minus_sin(x: Array) -> Array:
    return -namespace(x).sin(x)


LEAK = 0.01
"""Slope of leaky_relu on the negative side."""


@dataclass(frozen=True)
class NamedFunction:
    """A scalar function by name; ``kink``: not smooth at 0; ``jump``: not continuous at 0."""

    name: str
    value: Callable[[Array], Array]
    slope: Callable[[Array], Array]
    kink: bool = False
    jump: bool = False


FUNCTIONS: tuple[NamedFunction, ...] = (
    NamedFunction("relu", _relu, _step, kink=True),
    NamedFunction("leaky_relu", _leaky_relu, _leaky_step, kink=True),
    NamedFunction("tanh", _tanh, _tanh_slope),
    NamedFunction("erf", _erf, _erf_slope),
    NamedFunction("sigmoid", _sigmoid, _sigmoid_slope),
    NamedFunction("softplus", _softplus, _sigmoid),
    NamedFunction("gelu", _gelu, _gelu_slope),
    NamedFunction("silu", _silu, _silu_slope),
    NamedFunction("elu", _elu, _elu_slope, kink=True),
    NamedFunction("sin", _sin, _cos),
    NamedFunction("cos", _cos, _minus_sin),
    NamedFunction("abs", _abs, _sign, kink=True),
    NamedFunction("sign", _sign, _zero, kink=True, jump=True),
    NamedFunction("step", _step, _zero, kink=True, jump=True),
)

_BY_NAME = {f.name: f for f in FUNCTIONS}
NAMES: tuple[str, ...] = tuple(_BY_NAME)


def named(name: str) -> NamedFunction | None:
    """The function of that name, or None."""
    return _BY_NAME.get(name)
