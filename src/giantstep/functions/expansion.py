"""Hermite expansion of a function of r Gaussian variables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from math import comb, factorial, prod

import numpy as np
from jaxtyping import Float

from giantstep._given.plain import whole
from giantstep.errors import InputError
from giantstep.functions import _algebra as algebra
from giantstep.functions import hermite
from giantstep.functions._parser import Constant, Node, Product, Sum, Variable

Index = tuple[int, ...]
MAX_TENSOR = 10**7


@dataclass(frozen=True)
class Expansion(Mapping[Index, Fraction | float]):
    """``f = sum_beta c_beta He_beta1(x1) ... He_betar(xr)``: a mapping from beta to c_beta, non-zero entries only.

    Attributes:
        rank: number of variables.
        coefficients: beta -> c_beta; exact fractions for polynomials with rational numbers.
        power: ``E f^2``.
        error: estimated error of ``E[f h_beta]``; 0 when exact.
    """

    rank: int
    coefficients: Mapping[Index, Fraction | float]
    power: float
    error: float

    def __getitem__(self, index: Index) -> Fraction | float:
        return self.coefficients[index]

    def __iter__(self) -> Iterator[Index]:
        return iter(self.coefficients)

    def __len__(self) -> int:
        return len(self.coefficients)

    @property
    def degree(self) -> int:
        """The largest order that the expansion keeps."""
        return max((sum(b) for b in self.coefficients), default=0)

    def mass(self, order: int) -> float:
        """Part of ``E f^2`` at that order: the sum of ``beta! c_beta^2`` over ``|beta| = order``."""
        return float(sum(_factorial(b) * c * c for b, c in self.coefficients.items() if sum(b) == order))

    @property
    def truncated(self) -> float:
        """``E f^2`` beyond the orders kept (0 for polynomials)."""
        return max(0.0, self.power - sum(self.mass(k) for k in range(self.degree + 1)))

    @property
    def threshold(self) -> float:
        """A share of ``E f^2`` below this counts as zero: rounding when exact, the errors of all coefficients otherwise."""
        if self.error == 0:
            return 1e-20
        return max(1e-9, comb(self.rank + self.degree, self.rank) * self.error**2 / max(self.power, 1e-300))

    def tensor(self, order: int) -> Float[np.ndarray, "..."]:
        """``C_k = E[f(x) H_k(x)]``, the symmetric r x ... x r array whose entry of multi-index beta is ``beta! c_beta``."""
        if whole(order, "order", least=0) > 60 or self.rank**order > MAX_TENSOR:
            raise InputError(f"the Hermite tensor of order {order} in {self.rank} variables is too large to form")
        result = np.zeros((self.rank,) * order)
        for beta, c in self.coefficients.items():
            if sum(beta) == order:
                for place in _arrangements(beta):
                    result[place] = _factorial(beta) * float(c)
        return result


def _factorial(index: Index) -> int:
    return prod(factorial(k) for k in index)


def _arrangements(beta: Index) -> Iterator[tuple[int, ...]]:
    """All orderings of the multiset beta, without repeats."""
    if not any(beta):
        yield ()
    for i, times in enumerate(beta):
        if times:
            for rest in _arrangements((*beta[:i], times - 1, *beta[i + 1 :])):
                yield (i, *rest)


def of_polynomial(terms: Mapping[Index, Fraction | float], rank: int) -> Expansion:
    """Exact expansion of a polynomial given by its monomials; rounding left by inexact numbers is dropped."""
    raw = hermite.polynomial_in_hermite(terms)
    power = float(sum(_factorial(b) * float(c) ** 2 for b, c in raw.items()))
    tiny = 1e-24 * power
    nonzero = {b: c for b, c in raw.items() if (c != 0 if isinstance(c, Fraction) else _factorial(b) * c * c > tiny)}
    return Expansion(rank, nonzero, power, 0.0)


def of_function(f: Callable[[np.ndarray], np.ndarray], rank: int, kinks: tuple[float, ...] = ()) -> Expansion:
    """Expansion of a function by quadrature: split panels in one variable, tensor Gauss-Hermite in up to four."""
    degree = hermite.degree_limit(rank)
    if rank == 1:
        values, error = hermite.coefficients(lambda x: np.asarray(f(x[None])), degree, kinks)
        power = hermite.mean_square(lambda x: np.asarray(f(x[None])), kinks)
        return _trimmed(1, {(k,): float(c) for k, c in enumerate(values)}, power, error)
    if rank > 4:
        raise InputError(f"a target that is not a polynomial can be expanded in at most 4 directions, not {rank}")
    values, error, power = hermite.quadrature_coefficients(f, rank, degree)
    return _trimmed(rank, values, power, error)


def _trimmed(rank: int, values: Mapping[Index, float], power: float, error: float) -> Expansion:
    """Drop coefficients that are zero within the quadrature error."""
    floor = max(10 * error**2, 1e-22 * power)
    nonzero = {b: c for b, c in values.items() if _factorial(b) * c * c > floor}
    return Expansion(rank, nonzero, power, error)


def of_separable(node: Node, rank: int) -> Expansion | None:
    """Expansion of a sum of products of functions of one variable each: accurate to rounding, kinks included.

    None when some function mixes variables (then quadrature on the whole is the only way).
    """
    terms = [_by_variable(term, rank) for term in (node.terms if isinstance(node, Sum) else (node,))]
    if any(term is None for term in terms):
        return None
    known = [term for term in terms if term is not None]
    degree, total, worst = hermite.degree_limit(rank), {}, 0.0
    for constant, factors in known:
        series: dict[Index, float] = {(0,) * rank: constant}
        for index, factor in factors.items():
            values, error = hermite.coefficients(_function(factor), degree, algebra.kinks(factor))
            worst = max(worst, error)
            series = {
                (*b[:index], k, *b[index + 1 :]): c * float(v)
                for b, c in series.items()
                for k, v in enumerate(values)
                if sum(b) + k <= degree and v != 0
            }
        for b, c in series.items():
            total[b] = total.get(b, 0.0) + c
    return _trimmed(rank, total, _power(known), worst)


Separated = tuple[float, dict[int, Node]]
"""A constant and one function per variable, each written in variable 0."""


def _power(terms: list[Separated]) -> float:
    """E f^2 = sum over pairs of terms of the product over variables of E[f_i g_i], by panels split at the kinks."""
    total = 0.0
    for i, (a, f) in enumerate(terms):
        for j, (b, g) in enumerate(terms[: i + 1]):
            value = a * b * (1 if i == j else 2)
            for index in f.keys() | g.keys():
                pair = [h[index] for h in (f, g) if index in h]
                product = Product(tuple(pair))
                value *= float(hermite.coefficients(_function(product), 0, algebra.kinks(product))[0][0])
            total += value
    return max(total, 0.0)


def _function(node: Node) -> Callable[[np.ndarray], np.ndarray]:
    return lambda x: np.asarray(algebra.value(node, [x])) + 0.0 * x


def _by_variable(term: Node, rank: int) -> Separated | None:
    """A term as constant times one function per variable, or None if a factor mixes variables."""
    constant, grouped = 1.0, {}
    for factor in term.factors if isinstance(term, Product) else (term,):
        if isinstance(factor, Constant):
            constant *= float(factor.value)
            continue
        used = algebra.variables(factor)
        if len(used) != 1:
            return None
        alone = algebra.substitute(factor, [Variable(0)] * rank)
        grouped.setdefault(next(iter(used)), []).append(alone)
    return constant, {i: fs[0] if len(fs) == 1 else Product(tuple(fs)) for i, fs in grouped.items()}
