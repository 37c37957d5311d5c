"""Hermite expansion of a function of r Gaussian variables."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from itertools import permutations
from math import factorial, prod

import numpy as np

from giantstep import _formula, _hermite
from giantstep._errors import InputError
from giantstep._expression import Node, Number, Product, Sum

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
        """Largest order kept."""
        return max((sum(b) for b in self.coefficients), default=0)

    def mass(self, order: int) -> float:
        """Part of ``E f^2`` at that order: the sum of ``beta! c_beta^2`` over ``|beta| = order``."""
        return float(sum(_factorial(b) * c * c for b, c in self.coefficients.items() if sum(b) == order))

    @property
    def truncated(self) -> float:
        """``E f^2`` beyond the orders kept (0 for polynomials)."""
        return max(0.0, self.power - sum(self.mass(k) for k in range(self.degree + 1)))

    def tensor(self, order: int) -> np.ndarray:
        """``C_k = E[f(x) H_k(x)]``, the symmetric r x ... x r array whose entry of multi-index beta is ``beta! c_beta``."""
        if self.rank**order > MAX_TENSOR:
            raise InputError(f"the Hermite tensor of order {order} in {self.rank} variables is too large to form")
        result = np.zeros((self.rank,) * order)
        for beta, c in self.coefficients.items():
            if sum(beta) == order:
                slots = [i for i, times in enumerate(beta) for _ in range(times)]
                for place in set(permutations(slots)) if order <= 8 else _arrangements(beta):
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
    raw = _hermite.polynomial_in_hermite(terms)
    power = float(sum(_factorial(b) * float(c) ** 2 for b, c in raw.items()))
    tiny = 1e-24 * power
    kept = {b: c for b, c in raw.items() if (c != 0 if isinstance(c, Fraction) else _factorial(b) * c * c > tiny)}
    return Expansion(rank, kept, power, 0.0)


def of_function(f: Callable[[np.ndarray], np.ndarray], rank: int, kinks: tuple[float, ...] = ()) -> Expansion:
    """Expansion of a function by quadrature: split panels in one variable, tensor Gauss-Hermite in up to four."""
    degree = _hermite.degree_limit(rank)
    if rank == 1:
        values, error = _hermite.coefficients(lambda x: np.asarray(f(x[None])), degree, kinks)
        power = _hermite.mean_square(lambda x: np.asarray(f(x[None])), kinks)
        return _trimmed(1, {(k,): float(c) for k, c in enumerate(values)}, power, error)
    if rank > 4:
        raise InputError(f"a target that is not a polynomial can be expanded in at most 4 directions, not {rank}")
    values, error, power = _hermite.quadrature_coefficients(f, rank, degree)
    return _trimmed(rank, values, power, error)


def _trimmed(rank: int, values: Mapping[Index, float], power: float, error: float) -> Expansion:
    """Drop coefficients that are zero within the quadrature error."""
    floor = max(10 * error**2, 1e-22 * power)
    kept = {b: c for b, c in values.items() if _factorial(b) * c * c > floor}
    return Expansion(rank, kept, power, error)


def of_separable(node: Node, rank: int) -> Expansion | None:
    """Expansion of a sum of products of functions of one variable each: accurate to rounding, kinks included.

    None when some function mixes variables (then quadrature on the whole is the only way).
    """
    terms = node.terms if isinstance(node, Sum) else (node,)
    degree = _hermite.degree_limit(rank)
    total: dict[Index, float] = {}
    worst, exact_power = 0.0, rank == 1 or len(terms) == 1
    for term in terms:
        parts = _by_variable(term)
        if parts is None:
            return None
        constant, factors = parts
        series: dict[Index, float] = {(0,) * rank: constant}
        for index, factor in factors.items():
            f = _along(factor, index, rank)
            values, error = _hermite.coefficients(f, degree, _formula.kinks(_renamed(factor, index, rank)))
            worst = max(worst, error)
            series = {
                (*b[:index], k, *b[index + 1 :]): c * float(v)
                for b, c in series.items()
                for k, v in enumerate(values)
                if sum(b) + k <= degree and v != 0
            }
        for b, c in series.items():
            total[b] = total.get(b, 0.0) + c
    power = _power(node, rank, total) if not exact_power or rank > 1 else None
    if power is None:
        power = _hermite.mean_square(_along(node, 0, 1), _formula.kinks(node))
    return _trimmed(rank, total, power, worst)


def _power(node: Node, rank: int, total: Mapping[Index, float]) -> float:
    """E f^2 by quadrature where it is cheap, else the mass kept."""
    kept = sum(_factorial(b) * c * c for b, c in total.items())
    if rank > 3:
        return kept
    x, w = _hermite.gauss_hermite({1: 200, 2: 120, 3: 50}[rank])
    grid = np.stack([g.ravel() for g in np.meshgrid(*[x] * rank, indexing="ij")])
    weights = w
    for _ in range(rank - 1):
        weights = np.multiply.outer(weights, w)
    values = np.asarray(_formula.value(node, grid)) + 0.0 * grid[0]
    return max(kept, float(np.sum(weights.ravel() * values**2)))


def _renamed(node: Node, index: int, rank: int) -> Node:
    """A formula in variable ``index`` alone, as a formula in variable 0."""
    from giantstep._expression import Variable

    return _formula.substitute(node, [Variable(0)] * rank)


def _along(node: Node, index: int, rank: int) -> Callable[[np.ndarray], np.ndarray]:
    renamed = _renamed(node, index, rank)
    return lambda x: np.asarray(_formula.value(renamed, [x])) + 0.0 * x


def _by_variable(term: Node) -> tuple[float, dict[int, Node]] | None:
    """A term as constant times one function per variable, or None if a factor mixes variables."""
    constant, grouped = 1.0, {}
    for factor in term.factors if isinstance(term, Product) else (term,):
        if isinstance(factor, Number):
            constant *= float(factor.value)
            continue
        used = _formula.variables(factor)
        if len(used) != 1:
            return None
        grouped.setdefault(next(iter(used)), []).append(factor)
    return constant, {i: fs[0] if len(fs) == 1 else Product(tuple(fs)) for i, fs in grouped.items()}
