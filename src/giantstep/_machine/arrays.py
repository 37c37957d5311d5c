"""xp: NumPy's functions for NumPy arrays and JAX's for JAX arrays, so that one formula serves both.

What runs once on a few numbers is done at once by NumPy. JAX compiles a program first, which takes seconds; it is there for
derivatives, for large batches and for a GPU. A formula that is written with ``xp`` and the loops below runs either way, and the
arrays it is given decide: ``xp.sqrt(x)`` is ``numpy.sqrt(x)`` unless x is an array or a tracer of JAX.

Where LAPACK cannot go on, both give NaN: a status says so later.
"""

from collections.abc import Callable
from functools import partial
from types import ModuleType
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from jax import Array as JaxArray

    Array = np.ndarray | JaxArray  # either kind, in the signatures of what takes both
else:
    Array = Any  # importing JAX takes longer than most formulas do; shapes are checked of whatever has one
_PLAIN = frozenset({np.ndarray, float, int, str, bool, np.float64, type(None)})


def is_jax(value: Any) -> bool:
    """Whether it is a JAX array or tracer, or a list or tuple with one inside."""
    if type(value) in _PLAIN:
        return False
    if isinstance(value, list | tuple):
        for each in value:  # any() of a generator takes twice as long, and this runs before every function
            if is_jax(each):
                return True
        return False
    return hasattr(value, "aval")


def is_traced(value: Any) -> bool:
    """Whether it is part of a program that JAX is compiling."""
    if not is_jax(value):
        return False
    from jax.core import Tracer

    return isinstance(value, Tracer)


class _Functions:
    """The functions of two modules under one name each, picked by the arguments of every call."""

    def __init__(self, host: Any, path: str = "") -> None:
        self._host, self._path = host, path

    def __getattr__(self, name: str) -> Any:
        plain = getattr(self._host, name)
        if isinstance(plain, ModuleType):
            picked: Any = _Functions(_LINALG if plain is np.linalg else plain, f"{self._path}{name}.")
        elif not callable(plain) or isinstance(plain, type):
            picked = plain  # a constant, or a type of numbers
        else:
            picked = partial(self._call, plain, f"{self._path}{name}")
        setattr(self, name, picked)
        return picked

    @staticmethod
    def _call(plain: Callable[..., Any], path: str, *args: Any, **options: Any) -> Any:
        return (_jax(path) if is_jax(args) else plain)(*args, **options)


def _jax(path: str) -> Callable[..., Any]:
    from giantstep._machine.backend import jnp

    found: Any = jnp
    for name in path.split("."):
        found = getattr(found, name)
    return found


class _Linalg:
    """NumPy's linear algebra with NaN in place of an exception, as JAX has it."""

    def __getattr__(self, name: str) -> Any:
        return getattr(np.linalg, name)

    @staticmethod
    def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
        try:
            return np.linalg.solve(A, B)
        except np.linalg.LinAlgError:
            if A.ndim == 2:
                return np.full(B.shape, np.nan)
            lead = np.broadcast_shapes(A.shape[:-2], B.shape[:-2])  # one of many: the others have their solutions
            each = zip(*(np.broadcast_to(x, (*lead, *x.shape[-2:])) for x in (A, B)), strict=True)
            return np.stack([_Linalg.solve(*pair) for pair in each])

    @staticmethod
    def cholesky(A: np.ndarray) -> np.ndarray:
        try:
            return np.linalg.cholesky(A)
        except np.linalg.LinAlgError:
            return np.full(A.shape, np.nan)

    @staticmethod
    def eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        try:
            values, vectors = np.linalg.eigh(A)
        except np.linalg.LinAlgError:
            return np.full(A.shape[:-1], np.nan), np.full(A.shape, np.nan)
        return values, vectors

    @staticmethod
    def svd(A: np.ndarray, full_matrices: bool = True) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        try:
            U, values, Vt = np.linalg.svd(A, full_matrices=full_matrices)
        except np.linalg.LinAlgError:
            (n, p), m = A.shape[-2:], min(A.shape[-2:])
            shapes = ((n, n), (m,), (p, p)) if full_matrices else ((n, m), (m,), (m, p))
            U, values, Vt = (np.full(A.shape[:-2] + shape, np.nan) for shape in shapes)
        return U, values, Vt


_LINALG = _Linalg()
xp: Any = _Functions(np)


def repeat(count: int, step: Callable[[Any], Any], state: Any) -> Any:
    """``step`` so often; JAX keeps it as one loop."""
    if is_jax(state):
        from giantstep._machine.backend import jax

        return jax.lax.fori_loop(0, count, lambda _, state: step(state), state)
    for _ in range(count):
        state = step(state)
    return state


def until(unfinished: Callable[[Any], Any], step: Callable[[Any], Any], state: tuple[Any, ...]) -> Any:
    """``step`` as long as ``unfinished(state)``."""
    if is_jax(state):
        from giantstep._machine.backend import jax, jnp

        return jax.lax.while_loop(unfinished, step, tuple(jnp.asarray(each) for each in state))
    while unfinished(state):
        state = step(state)
    return state


def fold(step: Callable[[Any, Any], Any], state: Any, rows: Array, *, reverse: bool = False) -> Any:
    """``state = step(state, row)`` for the rows along the first axis."""
    if is_jax((state, rows)):
        from giantstep._machine.backend import jax, jnp

        return jax.lax.scan(lambda s, r: (step(s, r), None), jnp.asarray(state), jnp.asarray(rows), reverse=reverse)[0]
    for row in rows[::-1] if reverse else rows:
        state = step(state, row)
    return state


def over_seeds(one: Callable[..., Any]) -> Callable[..., Any]:
    """``one`` for every seed along the first axis of its arguments; JAX's product with a batch axis of one is half as fast."""

    def each(*args: Any) -> Any:
        if is_jax(args):
            from giantstep._machine.backend import jax

            if args[0].shape[0] > 1:
                return jax.vmap(one)(*args)
            return jax.tree.map(lambda x: x[None], one(*(x[0] for x in args)))
        return _stacked([one(*(x[s] for x in args)) for s in range(len(args[0]))])

    return each


def in_turn(one: Callable[..., Any], *rows: Array, at_once: int = 1) -> Any:
    """``one`` of every row, one after the other, so that only one is in memory at a time; JAX can do several at once."""
    if is_jax(rows):
        from giantstep._machine.backend import jax

        count = rows[0].shape[0]
        if count == 1:  # a batch axis of one makes products slower
            return jax.tree.map(lambda x: x[None], one(*(row[0] for row in rows)))
        if at_once >= count:
            return jax.vmap(one)(*rows)
        if at_once == 1:
            return jax.lax.map(lambda row: one(*row), rows)
        turns = -(-count // at_once)  # of one size: a shorter last one would be a loop of its own, beside the first
        size = -(-count // turns)
        take = np.minimum(np.arange(turns * size), count - 1)
        found = jax.lax.map(lambda row: one(*row), tuple(row[take] for row in rows), batch_size=size)
        return jax.tree.map(lambda x: x[:count], found)
    return _stacked([one(*row) for row in zip(*rows, strict=True)])


def _stacked(parts: list[Any]) -> Any:
    """Arrays, or tuples of them, with a first axis of their own."""
    if isinstance(parts[0], tuple):
        return tuple(_stacked(list(each)) for each in zip(*parts, strict=True))
    return parts[0][None] if len(parts) == 1 and hasattr(parts[0], "shape") else np.stack(parts)


def solve_factored(factor: Array, B: Array) -> Array:
    """A^{-1} B from the lower Cholesky factor of A."""
    if is_jax((factor, B)):
        from giantstep._machine.backend import jax

        return jax.scipy.linalg.cho_solve((factor, True), B)
    from scipy.linalg import cho_solve

    return cho_solve((factor, True), B, check_finite=False)


def solve_lower(factor: Array, B: Array) -> Array:
    """L^{-1} B for a lower triangular L."""
    if is_jax((factor, B)):
        from giantstep._machine.backend import jax

        return jax.scipy.linalg.solve_triangular(factor, B, lower=True)
    from scipy.linalg import solve_triangular

    return solve_triangular(factor, B, lower=True, check_finite=False)


def frozen(value: Any) -> Any:
    """The same number, through which no derivative flows."""
    if not is_jax(value):
        return value
    from giantstep._machine.backend import jax

    return jax.lax.stop_gradient(value)


def compiled(function: Callable[..., Any] | None = None, **options: Any) -> Any:
    """``jax.jit`` for arrays of JAX, and the function itself for arrays of NumPy."""
    if function is None:
        return partial(compiled, **options)
    program: list[Any] = []

    def either(*args: Any, **keywords: Any) -> Any:
        if not is_jax((*args, *keywords.values())):
            with np.errstate(all="ignore"):  # as in JAX: what is not finite is a status later
                return function(*args, **keywords)
        if not program:
            from giantstep._machine.backend import jax

            program.append(jax.jit(function, **options))
        return program[0](*args, **keywords)

    either.__doc__, either.__name__ = function.__doc__, getattr(function, "__name__", "function")
    return either
