"""A user's own callable, as JAX and the caches need it, and what to give in place of one that JAX cannot trace."""

import weakref
from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.functions._named import named

FORMULAS = {"absolute": "abs", "fabs": "abs", "expit": "sigmoid"}  # NumPy's and SciPy's names of known formulas


class _Held:
    """A callable that is known by its identity."""

    def __init__(self, function: Callable[[Any], Any]) -> None:
        self._function, self.__name__ = function, getattr(function, "__name__", "callable")

    def __call__(self, x: Any) -> Any:
        return self._function(x)

    def __eq__(self, other: Any) -> bool:
        return isinstance(other, _Held) and self._function is other._function

    def __hash__(self) -> int:
        return id(self._function)


def held(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The callable itself if it has a weak reference and a hash, else one in its place that has both.

    JAX refers weakly to what it traces. A ufunc, or an object with ``__slots__``, ends the interpreter at the second attempt.
    """
    try:
        weakref.ref(function)
        hash(function)
        return function
    except TypeError:
        return function if isinstance(function, _Held) else _Held(function)


def refused(function: np.ufunc) -> str:
    """Why a ufunc is no activation, and what to give instead: a formula or JAX's own function."""
    from giantstep._machine.backend import jax, jnp

    name = FORMULAS.get(function.__name__, function.__name__)
    homes = {"jax.numpy": jnp, "jax.scipy.special": jax.scipy.special}
    own = [f"{home}.{function.__name__}" for home, module in homes.items() if hasattr(module, function.__name__)]
    if function.nin != 1 or function.nout != 1:
        return f"an activation takes one number and gives one, and {function.__name__} does not"
    choices = [*([f"the formula {name!r}"] if named(name) else []), *own[:1]]
    cure = f"give {' or '.join(choices)}" if choices else "write it with jax.numpy, or as a formula"
    return f"an activation must be traceable by JAX, and {function.__name__} of NumPy or SciPy is not: {cure}"
