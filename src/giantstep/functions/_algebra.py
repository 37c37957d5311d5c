"""What can be computed from a syntax tree: its canonical text, values, derivatives, polynomial and kinks."""

import operator
from collections.abc import Callable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache, reduce
from math import comb
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.functions import _parser as parser
from giantstep.functions._named import NamedFunction, named
from giantstep.functions._parser import Application, Constant, Hermite, IntegerPower, Node, Product, Sum, Variable
from giantstep.functions.hermite import Coefficient, hermite, hermite_in_monomials

SHORTEST = 1e-17  # intervals around a kink: a zero at the origin has no last digit
MAX_MONOMIALS = 10_000
TOO_MANY = f"the polynomial has more than {MAX_MONOMIALS} monomials when multiplied out"
MAX_KINKS = 1000


def _function(node: Application) -> NamedFunction:
    function = named(node.name)
    if function is None:
        raise InputError(f"unknown function {node.name!r}")
    return function


def canonical(node: Node) -> str:
    """One text per formula up to the order of sums and products: what ids and equality are made of."""
    match node:
        case Constant(value):
            return str(value) if isinstance(value, Fraction) else repr(float(value))
        case Variable(index):
            return f"x{index + 1}"
        case Sum(terms):
            return "(" + " + ".join(sorted(canonical(t) for t in terms)) + ")"
        case Product(factors):
            return "*".join(sorted(canonical(f) for f in factors))
        case IntegerPower(base, exponent):
            return f"({canonical(base)})^{exponent}"
        case Hermite(order, argument):
            return f"H{order}({canonical(argument)})"
        case Application(name, argument):
            return f"{name}({canonical(argument)})"


def _nodes(node: Node) -> Iterator[Node]:
    """The node and all nodes below it."""
    yield node
    match node:
        case Sum(children) | Product(children):
            yield from (inner for child in children for inner in _nodes(child))
        case IntegerPower(child, _) | Hermite(_, child) | Application(_, child):
            yield from _nodes(child)


def variables(node: Node) -> frozenset[int]:
    """The variables that occur in the formula, counted from 0."""
    return frozenset(each.index for each in _nodes(node) if isinstance(each, Variable))


def calls(node: Node) -> list[Application]:
    """All function calls in the tree."""
    return [each for each in _nodes(node) if isinstance(each, Application)]


def value(node: Node, z: Any) -> Any:
    """The formula at the variables z[0], z[1], ... (NumPy or JAX arrays)."""
    match node:
        case Constant(number):
            return float(number)
        case Variable(index):
            return z[index]
        case Sum(terms):
            return reduce(operator.add, (value(term, z) for term in terms))
        case Product(factors):
            return reduce(operator.mul, (value(factor, z) for factor in factors))
        case IntegerPower(base, exponent):
            return power(value(base, z), exponent)
        case Hermite(order, argument):
            return hermite(order, value(argument, z))
        case Application(_, argument):
            return _function(node).value(value(argument, z))


def apart(node: Node) -> tuple[Node | None, float]:
    """The formula without the constants that are added to it, None if nothing is left, and their sum."""
    match node:
        case Constant(number):
            return None, float(number)
        case Sum(terms):
            parts = [apart(term) for term in terms]
            kept = tuple(rest for rest, _ in parts if rest is not None)
            return Sum(kept) if kept else None, sum(constant for _, constant in parts)
        case Product(factors):
            numbers = [factor for factor in factors if isinstance(factor, Constant)]
            others = [factor for factor in factors if not isinstance(factor, Constant)]
            if len(others) > 1:
                return node, 0.0
            scale = reduce(operator.mul, (float(number.value) for number in numbers), 1.0)
            rest, constant = apart(others[0]) if others else (None, 1.0)
            return None if rest is None else Product((*numbers, rest)), scale * constant
    return node, 0.0


def power(x: Any, exponent: int) -> Any:
    """Raise x to a whole exponent by multiplications: NumPy's own power takes a hundred times as long as a product."""
    if exponent == 0:
        return 0.0 * x + 1.0
    half = x if exponent == 1 else power(x, exponent // 2)
    return half if exponent == 1 else half * half * x if exponent % 2 else half * half


def substitute(node: Node, replacements: Sequence[Node]) -> Node:
    """The formula with every variable i replaced by replacements[i]."""
    match node:
        case Variable(index):
            return replacements[index]
        case Sum(terms):
            return Sum(tuple(substitute(t, replacements) for t in terms))
        case Product(factors):
            return Product(tuple(substitute(f, replacements) for f in factors))
        case IntegerPower(base, exponent):
            return IntegerPower(substitute(base, replacements), exponent)
        case Hermite(order, argument):
            return Hermite(order, substitute(argument, replacements))
        case Application(name, argument):
            return Application(name, substitute(argument, replacements))
    return node


def slope(node: Node, z: Any, index: int) -> Any:
    """The exact partial derivative in variable ``index``, by the chain rule."""
    if index not in variables(node):
        return 0.0
    match node:
        case Variable():
            return 1.0
        case Sum(terms):
            return sum(slope(t, z, index) for t in terms if index in variables(t))
        case Product(factors):
            total = 0.0
            for i, factor in enumerate(factors):
                if index in variables(factor):
                    rest = Product((*factors[:i], *factors[i + 1 :]))
                    total = total + slope(factor, z, index) * value(rest, z)
            return total
        case IntegerPower(base, exponent):
            return exponent * power(value(base, z), exponent - 1) * slope(base, z, index)
        case Hermite(order, argument):  # He_k' = k He_{k-1}
            return 0.0 if order == 0 else order * hermite(order - 1, value(argument, z)) * slope(argument, z, index)
        case Application(_, argument):
            outer, inner = _function(node).slope(value(argument, z)), slope(argument, z, index)
            return outer if isinstance(inner, float) and inner == 1 else outer * inner  # most functions are of x itself
    return 0.0


Terms = dict[tuple[int, ...], Coefficient]


def _times(left: Terms, right: Terms) -> Terms:
    result: Terms = {}
    for a, x in left.items():
        for b, y in right.items():
            key = tuple(i + j for i, j in zip(a, b, strict=True))
            result[key] = result.get(key, Fraction(0)) + x * y
        if len(result) > MAX_MONOMIALS:
            raise InputError(TOO_MANY)
    return result


def _plus(left: Terms, right: Terms) -> Terms:
    return {k: left.get(k, Fraction(0)) + right.get(k, Fraction(0)) for k in left.keys() | right.keys()}


def polynomial(node: Node, rank: int) -> Terms | None:
    """Monomials of the formula, exact rationals where the numbers are; None if it is not a polynomial."""
    if calls(node):
        return None
    one: Terms = {(0,) * rank: Fraction(1)}

    def expand(node: Node) -> Terms:
        match node:
            case Constant(number):
                return {(0,) * rank: number}
            case Variable(index):
                return {tuple(int(i == index) for i in range(rank)): Fraction(1)}
            case Sum(terms):
                return reduce(_plus, map(expand, terms), {})
            case Product(factors):
                return reduce(_times, map(expand, factors), one)
            case IntegerPower(base, exponent):
                inner = expand(base)
                linear = all(sum(powers) == 1 for powers in inner)
                if linear and comb(len(inner) + exponent - 1, exponent) > MAX_MONOMIALS:
                    raise InputError(TOO_MANY)
                return reduce(_times, [inner] * exponent, one)
            case Hermite(order, argument):
                inner, power, total = expand(argument), one, {}
                by_power = hermite_in_monomials(order)
                for m in range(order + 1):
                    if m in by_power:
                        total = _plus(total, _times({(0,) * rank: by_power[m]}, power))
                    power = _times(power, inner) if m < order else power
                return total
        raise InputError("not a polynomial")

    terms = {k: v for k, v in expand(node).items() if v != 0}
    largest = max(map(abs, terms.values()), default=1)
    if not 1 / parser.LARGEST**2 <= largest <= parser.LARGEST**2:
        raise InputError(
            "the coefficients of the polynomial are too large or too small when multiplied out: rescale it"
        )
    return terms


@lru_cache(256)
def kinks(node: Node, reach: float = 16.0) -> tuple[float, ...]:
    """Where a formula in one variable is not smooth: zeros of the arguments of its kinked functions.

    They matter where the Gaussian has mass, so the search ends at ``reach`` and keeps the MAX_KINKS nearest to 0.
    """
    zeros: set[float] = set()
    grid = np.linspace(-reach, reach, 16001) + 1e-7  # off the round numbers, so that a zero is a change of sign
    for call in calls(node):
        if not _function(call).kink:
            continue
        argument = lambda x, inner=call.argument: value(inner, [np.asarray(x)]) + 0.0 * x  # noqa: E731
        values = argument(grid)
        changes = np.flatnonzero(np.sign(values[:-1]) * np.sign(values[1:]) < 0)
        for i in changes[np.argsort(np.abs(grid[changes]))][:MAX_KINKS]:
            zero = _bisect(argument, float(grid[i]), float(grid[i + 1]))
            zeros.add(zero if abs(zero) > 1e-14 else 0.0)
    return tuple(sorted(zeros))


def _bisect(f: Callable[[float], Any], low: float, high: float) -> float:
    """A zero between two points of different sign, to the last digit: importing scipy.optimize for it takes longer."""
    below = f(low) < 0
    while high - low > SHORTEST and low < (middle := low + (high - low) / 2) < high:
        value = f(middle)
        if value == 0:
            return middle
        low, high = (middle, high) if (value < 0) == below else (low, middle)
    return min(low, high, key=lambda x: abs(f(x)))
