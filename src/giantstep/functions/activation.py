"""Activation: a scalar function with its derivative and its Hermite coefficients.

A formula in x (``"relu"``, ``"relu(x-0.5)"``, ``"sin(x+pi/4)"``, ``"0.3*H1 + 0.8*H2"``) or a JAX-traceable callable.
"""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from math import factorial
from typing import Any

import numpy as np
from jaxtyping import Float

from giantstep._given import unwritten
from giantstep._given.callable import callable_module
from giantstep._given.declared import at_least, given
from giantstep._given.plain import flag, reals, settle, short, whole
from giantstep.errors import InputError, quoted
from giantstep.functions import _algebra as algebra
from giantstep.functions import _own as own
from giantstep.functions import hermite as _hermite
from giantstep.functions._named import LEAK, named
from giantstep.functions._parser import Application, Constant, Node, Product, Sum, parse

MAX_ORDER = 100
LARGE = 10.0  # standard deviations from which the mean is taken apart


@dataclass(frozen=True, repr=False)
class Activation:
    """``sigma(x)``; ``centred`` subtracts its mean ``c_0 = E sigma(z)`` under z ~ N(0, 1).

    Attributes:
        formula: the formula as typed, or None for a callable.
        function: a JAX-traceable callable acting element by element, or None for a formula.
        kinks: where a callable is not smooth. Naming them makes its Hermite coefficients exact to rounding; without them
            ``hermite_error`` says how far they can be trusted. The kinks of a formula are found by itself.
        centred: subtract the mean.
    """

    formula: str | None = field(compare=False)
    function: Callable[[Any], Any] | None = None
    kinks: tuple[float, ...] = ()
    centred: bool = False
    canonical: str | None = field(init=False, repr=False, default=None)
    _node: Node | None = field(init=False, repr=False, compare=False, default=None)

    def __post_init__(self) -> None:
        settle(self, flag, "centred")
        if (self.formula is None) == (self.function is None):
            raise InputError("an activation is either a formula or a callable")
        if self.formula is None:
            object.__setattr__(self, "kinks", _kinks(self.kinks))
            if isinstance(self.function, np.ufunc):
                raise InputError(own.refused(self.function))
            object.__setattr__(self, "function", own.held(self.function))  # type: ignore[arg-type]
            _probe(self.function)
            return
        if _kinks(self.kinks):
            raise InputError("kinks are named for a callable only; those of a formula are found by itself")
        if not isinstance(self.formula, str):
            raise InputError(f"an activation is a name, a formula or a callable, not {quoted(self.formula)}")
        formula = self.formula.strip()
        formula = "leaky_relu" if formula == "leaky relu" else formula
        node = parse(formula, univariate=True)
        object.__setattr__(self, "formula", formula)
        object.__setattr__(self, "_node", node)
        object.__setattr__(self, "canonical", algebra.canonical(node))
        object.__setattr__(self, "kinks", algebra.kinks(node))

    def __call__(self, x: Any) -> Any:
        """``sigma(x)``, element by element, on a NumPy or JAX array."""
        values = self._plain(x)
        return values - self.mean if self.centred else values

    def _plain(self, x: Any) -> Any:
        if self._node is None:
            from giantstep._machine import backend  # noqa: F401  (float64 must be on before a callable meets JAX)

            return self.function(x)  # type: ignore[misc]
        x = np.asarray(x, dtype=float) if isinstance(x, int | float) else x
        values = algebra.value(self._node, [x])
        # a constant keeps the shape of x
        return values if getattr(values, "shape", ()) == x.shape else values + 0.0 * x

    def slope(self, x: Any) -> Any:
        """``sigma'(x)``: exact for a formula, by automatic differentiation for a callable."""
        if self._node is None:
            from giantstep._machine.backend import jax, jnp

            x = jnp.asarray(x)
            return jax.jvp(self.function, (x,), (jnp.ones_like(x),))[1]  # type: ignore[arg-type]
        x = np.asarray(x, dtype=float) if isinstance(x, int | float) else x
        values = algebra.slope(self._node, [x], 0)
        # a constant keeps the shape of x
        return values if getattr(values, "shape", ()) == x.shape else values + 0.0 * x

    def centre(self) -> "Activation":
        """Return the same activation with its mean subtracted."""
        return replace(self, centred=True, kinks=() if self.function is None else self.kinks)

    def __repr__(self) -> str:
        return short(self, kinks=self.kinks if self.formula is None else ())  # those of a formula are found by itself

    @property
    def name(self) -> str:
        """The name shown in tables and pictures."""
        text = self.formula if self.formula is not None else getattr(self.function, "__name__", "callable")
        return f"{text} (centred)" if self.centred else str(text)

    @property
    def jumps(self) -> bool:
        """Whether a formula has a jump (sign, step), so that its derivative is no useful gradient."""
        functions = [] if self._node is None else [named(c.name) for c in algebra.calls(self._node)]
        return any(f is not None and f.jump for f in functions)

    @cached_property
    def mean(self) -> float:
        """``E sigma(z)`` before centring."""
        return float(_coefficients(self._uncentred(), 0)[0][0])

    @cached_property
    def split(self) -> tuple[Callable[[Any], Any], float]:
        """A function f and a constant c with ``sigma = f + c``, so that f has its digits where the mean is large.

        A mean of up to ``LARGE`` standard deviations costs a digit at most and stays where it is, c = 0.
        """
        if abs(self.mean) <= LARGE * self.variance**0.5 or self.variance == 0:
            return self, 0.0
        return self.varying, 0.0 if self.centred else self.mean

    def varying(self, x: Any) -> Any:
        """``sigma(x) - E sigma(z)``: constants that a formula adds are left out before anything is subtracted."""
        return self._rest._plain(x) - self._rest.mean

    @cached_property
    def _rest(self) -> "Activation":
        """The activation, uncentred, without the constants that its formula adds."""
        node, constant = (None, 0.0) if self._node is None else algebra.apart(self._node)
        if node is None or constant == 0:
            return self._uncentred()
        rest = replace(self, centred=False, kinks=())
        object.__setattr__(rest, "_node", node)
        object.__setattr__(rest, "canonical", algebra.canonical(node))
        return rest

    @property
    def variance(self) -> float:
        """``Var sigma(z)``."""
        return _variance(self._uncentred())

    @property
    def lost(self) -> float:
        """The rounding of ``varying``, in standard deviations of ``sigma(z)``: large beside a mean that is not a constant of the
        formula."""
        return float(np.finfo(float).eps) * abs(self._rest.mean) / max(self.variance, 1e-300) ** 0.5

    @property
    def mean_square(self) -> float:
        """``E sigma(z)^2``, after centring if centred; one that has none is refused."""
        return _mean_square(self)

    def _uncentred(self) -> "Activation":
        return replace(self, centred=False, kinks=() if self.function is None else self.kinks) if self.centred else self

    @given(order=at_least(0))
    def hermite(self, order: int) -> Float[np.ndarray, " k"]:
        """``c_0``..``c_order`` with ``sigma = sum_k c_k He_k``, ``c_k = E[sigma(z) He_k(z)] / k!``: closed forms for the ReLU
        family, sines and polynomials, quadrature split at the kinks otherwise."""
        values = _coefficients(self._uncentred(), _order(order))[0].copy()
        if self.centred:
            values[0] = 0.0
        return values

    def hermite_error(self, order: int) -> float:
        """Error estimate of ``hermite(order)`` in units of ``E[sigma h_k] = sqrt(k!) c_k``; 0 where closed forms are used."""
        return _coefficients(self._uncentred(), _order(order))[1]

    def to_plain(self) -> str:
        if self.formula is None:
            return unwritten.name(self._uncentred(), "an activation")
        return self.formula


@given(centred=flag)
def activation(source: "str | Callable[[Any], Any] | Activation", *, kinks=(), centred: bool = False) -> Activation:
    """An Activation from a name, a formula in x, or a JAX-traceable callable (which may name its kinks).

    Examples:
        >>> sigma = gs.activation("relu")
        >>> [round(float(c), 4) for c in sigma.hermite(3)]  # c_0, ..., c_3
        [0.3989, 0.5, 0.1995, 0.0]
    """
    source = unwritten.meant(source) or source
    if isinstance(source, Activation):
        if _kinks(kinks):
            raise InputError("kinks are named when a callable becomes an activation, not afterwards")
        return source.centre() if centred else source
    if callable(source):
        return Activation(None, source, kinks=kinks, centred=centred)
    return Activation(source, kinks=kinks, centred=centred)


def _kinks(kinks: Any) -> tuple[float, ...]:
    if isinstance(kinks, tuple | list) and not kinks:
        return ()
    values = reals(kinks, "kinks")
    return values if isinstance(values, tuple) else (values,)


def _probe(function: Any) -> None:
    """Refuse a callable that JAX cannot trace or that does not act element by element."""
    from giantstep._machine.backend import jax, jnp

    try:
        shape = jax.eval_shape(function, jax.ShapeDtypeStruct((3,), jnp.float64)).shape
    except Exception as error:  # whatever the user's function raises
        first = (str(error).strip().splitlines() or [""])[0][:120]
        raise InputError(f"an activation must be traceable by JAX (jax.numpy, not numpy): {first}") from None
    if shape != (3,):
        raise InputError(f"an activation acts element by element: three numbers became an array of shape {shape}")


def _order(order: Any) -> int:
    order = whole(order, "order", least=0)
    if order > MAX_ORDER:
        raise InputError(f"Hermite coefficients are computed up to order {MAX_ORDER}, not {order}")
    return order


@lru_cache(maxsize=256)
def _mean_square(sigma: Activation) -> float:
    return _of_square(sigma, sigma)


@lru_cache(maxsize=256)
def _variance(sigma: Activation) -> float:
    return _of_square(sigma, sigma.varying)


def _of_square(sigma: Activation, values: Callable[[Any], Any]) -> float:
    """The mean of the square of these values of an activation, if there is one."""

    def known(x: np.ndarray) -> np.ndarray:
        return np.asarray(values(x))

    if not _hermite.square_integrable(known, sigma.kinks):
        raise InputError(
            f"the activation {sigma.name[:80]} has no second moment: the mean of its square over a "
            "standard Gaussian does not converge, so only a simulation can take it"
        )
    return _hermite.mean_square(known, sigma.kinks)


@lru_cache(maxsize=256)
def _coefficients(sigma: Activation, order: int) -> tuple[Float[np.ndarray, " k"], float]:
    exact = None if sigma._node is None else _closed_form(sigma._node, order)
    if exact is not None:
        return exact, 0.0
    rest = sigma._rest
    values, error = _hermite.coefficients(lambda x: np.asarray(rest._plain(x)), order, sigma.kinks)
    if rest is not sigma:  # the constants of the formula are in the first coefficient alone
        values[0] += algebra.apart(sigma._node)[1]  # type: ignore[arg-type]
    return values, error


def _closed_form(node: Node, order: int) -> Float[np.ndarray, " k"] | None:
    """Coefficients of a sum of polynomials and constants times f(a x + b) with f in the ReLU family or a sine."""
    terms = node.terms if isinstance(node, Sum) else (node,)
    parts = [_term(term, order) for term in terms]
    return None if any(p is None for p in parts) else np.sum(parts, axis=0)  # type: ignore[arg-type]


def _term(node: Node, order: int) -> Float[np.ndarray, " k"] | None:
    if isinstance(node, Product) and isinstance(node.factors[0], Constant) and len(node.factors) == 2:
        inner = _term(node.factors[1], order)
        return None if inner is None else float(node.factors[0].value) * inner
    if isinstance(node, Application):
        affine = algebra.polynomial(node.argument, 1)
        if affine is None or any(power > 1 for (power,) in affine):
            return None
        return _affine_call(node.name, float(affine.get((1,), 0)), float(affine.get((0,), 0)), order)
    powers = algebra.polynomial(node, 1)
    if powers is None:
        return None
    values = np.zeros(order + 1)
    for (k,), c in _hermite.polynomial_in_hermite(powers).items():
        if k <= order:
            values[k] = float(c)
    return values


def _affine_call(name: str, a: float, b: float, order: int) -> Float[np.ndarray, " k"] | None:
    """Coefficients of f(a z + b); with u = z + b/a, relu(a z + b) = |a| relu(+-u) and relu(-u) = relu(u) - u."""
    if name in ("sin", "cos"):
        wave = _hermite.wave_coefficients(order, a, b)
        return np.imag(wave) if name == "sin" else np.real(wave)
    if a == 0 or name not in ("relu", "leaky_relu", "abs", "sign", "step"):
        return None
    one = np.eye(order + 1)[0]
    line = b * one + (a * np.eye(order + 1)[1] if order >= 1 else 0.0)
    step, ramp = _hermite.step_coefficients(order, -b / a), abs(a) * _hermite.relu_coefficients(order, -b / a)
    if a < 0:
        step, ramp = one - step, ramp + line
    match name:
        case "relu":
            return ramp
        case "leaky_relu":
            return LEAK * line + (1 - LEAK) * ramp
        case "abs":
            return 2 * ramp - line
        case "sign":
            return 2 * step - one
    return step


def normalised(coefficients: Float[np.ndarray, " k"]) -> Float[np.ndarray, " k"]:
    """``E[sigma h_k] = sqrt(k!) c_k``: coefficients in the orthonormal basis."""
    return coefficients * np.sqrt([float(factorial(k)) for k in range(len(coefficients))])


callable_module(__name__, activation)
