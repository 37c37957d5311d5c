"""Hermite polynomials, Gaussian quadrature and Hermite coefficients: the only place they are computed.

He_k are the probabilists' polynomials, E He_j(z) He_k(z) = k! delta_jk for z ~ N(0, 1). A function is expanded as
f = sum_k c_k He_k with c_k = E[f(z) He_k(z)] / k!.
"""

from collections.abc import Callable, Iterable, Mapping
from fractions import Fraction
from functools import lru_cache
from itertools import product
from math import erfc, exp, factorial, pi, sqrt

import numpy as np
from jaxtyping import Complex, Float

from giantstep.errors import InputError
from giantstep.functions._named import Array

UNSETTLED = 0.05  # relative change from which an average is not known: a jump inside a panel moves it by less
SHARED_WIDTH = 0.25  # of panels whose tables of polynomials are kept: smooth functions need no finer ones

Coefficient = Fraction | float
Polynomial = Mapping[tuple[int, ...], Coefficient]
"""Exponents of (x1..xr) -> coefficient."""


def hermite(order: int, x: Array | float) -> Array | float:
    """He_order(x) by He_{k+1} = x He_k - k He_{k-1}; works on NumPy and JAX arrays."""
    if order == 0:
        return 0.0 * x + 1.0
    previous, current = 1.0, x
    for k in range(1, order):
        previous, current = current, x * current - k * previous
    return current


def hermite_table(order: int, x: Float[np.ndarray, "..."]) -> Float[np.ndarray, "k ..."]:
    """Normalised h_k = He_k / sqrt(k!) for k = 0..order on the first axis (stable at high order)."""
    table = np.ones((order + 1, *np.shape(x)))
    if order >= 1:
        table[1] = x
    for k in range(1, order):
        table[k + 1] = (x * table[k] - sqrt(k) * table[k - 1]) / sqrt(k + 1)
    return table


@lru_cache(maxsize=32)
def gauss_hermite(nodes: int) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Nodes and weights with sum_i w_i f(x_i) = E f(z), exact for polynomials of degree below 2 nodes."""
    x, w = np.polynomial.hermite_e.hermegauss(nodes)
    return x, w / w.sum()


def offset_trapezoid(points: int, reach: float = 7.0) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Nodes (i + 1/2) h and Gaussian weights: exact parity, never 0, spectral accuracy for smooth functions."""
    x = (np.arange(points) + 0.5 - points / 2) * (2 * reach / points)
    w = np.exp(-0.5 * x**2)
    return x, w / w.sum()


@lru_cache(maxsize=64)
def gaussian_panels(
    kinks: tuple[float, ...], width: float, reach: float
) -> tuple[Float[np.ndarray, " n"], Float[np.ndarray, " n"]]:
    """Gauss-Legendre panels on [-reach, reach] split at the kinks, weighted by the standard normal density."""
    grid = np.linspace(-reach, reach, int(np.ceil(2 * reach / width)) + 1)
    edges = np.unique(np.concatenate([grid, [k for k in kinks if -reach < k < reach]]))
    x, w = np.polynomial.legendre.leggauss(16)
    half = np.diff(edges)[:, None] / 2
    nodes = (edges[:-1, None] + half * (1 + x)).ravel()
    weights = (half * w).ravel() * np.exp(-0.5 * nodes**2) / sqrt(2 * pi)
    return nodes, weights


def _normalised(
    f: Callable[[np.ndarray], np.ndarray], order: int, kinks: tuple[float, ...], width: float
) -> tuple[Float[np.ndarray, " k"], float]:
    reach = max(13.0, 2 * sqrt(order) + 9.0)
    x, w = gaussian_panels(kinks, width, reach)
    values = np.asarray(f(x), dtype=float)
    if values.shape != x.shape or not np.all(np.isfinite(values)):
        raise InputError("the function must map an array to finite numbers of the same shape on the whole real line")
    table = hermite_table(order, x) if kinks or width < SHARED_WIDTH else _shared_table(order, width, reach)
    return table @ (w * values), float(np.sum(w * values**2))


@lru_cache(maxsize=8)
def _shared_table(order: int, width: float, reach: float) -> Float[np.ndarray, "k n"]:
    """The polynomials at the nodes of panels without kinks, which all smooth functions have; finer panels fill the memory."""
    return hermite_table(order, gaussian_panels((), width, reach)[0])


def coefficients(
    f: Callable[[np.ndarray], np.ndarray], order: int, kinks: Iterable[float] = ()
) -> tuple[Float[np.ndarray, " k"], float]:
    """c_0..c_order of f and an error estimate, E[f h_k] by panel quadrature refined until it settles.

    The error is the change under the last halving of the panels, in the units of E[f h_k] = sqrt(k!) c_k. Where the
    kinks of f are not named the change decays slowly and the estimate says so.
    """
    kinks = tuple(sorted(float(k) for k in kinks))
    width, error = 0.5, float("inf")
    coarse, power = _normalised(f, order, kinks, width)
    for _ in range(7):
        width /= 2
        fine, power = _normalised(f, order, kinks, width)
        error = float(np.max(np.abs(fine - coarse)))
        coarse = fine
        if error <= 1e-14 * (1 + sqrt(power)):
            break
    scale = np.array([sqrt(factorial(k)) for k in range(order + 1)])
    return coarse / scale, error


def mean_square(f: Callable[[np.ndarray], np.ndarray], kinks: Iterable[float] = ()) -> float:
    """The mean square E f(z)^2, by the same panels."""
    return _normalised(f, 0, tuple(sorted(float(k) for k in kinks)), 0.125)[1]


def square_integrable(f: Callable[[np.ndarray], np.ndarray], kinks: Iterable[float] = ()) -> bool:
    """Whether E f(z)^2 settles: finer panels do not change it, and its far tails add nothing.

    A pole, as that of 1/x, doubles it whenever panels are halved; exp(x^2/4) adds the same on every length of the tail.
    """
    kinks = tuple(sorted(float(k) for k in kinks))
    powers = []
    for width, reach in ((0.125, 13.0), (0.0625, 13.0), (0.125, 15.0)):
        x, w = gaussian_panels(kinks, width, reach)
        with np.errstate(over="ignore", divide="ignore", invalid="ignore"):
            powers.append(float(w @ np.asarray(f(x), dtype=float) ** 2))
    return bool(np.all(np.isfinite(powers)) and max(powers) <= (1 + UNSETTLED) * min(powers))


# Closed forms. With phi and Phi the normal density and distribution, integration by parts gives, for b real,
#   step(z - b):  c_0 = Phi(-b),            c_k = He_{k-1}(b) phi(b) / k!
#   relu(z - b):  c_0 = phi(b) - b Phi(-b), c_k = c_{k-1}(step) / k      (c_k(f) = c_{k-1}(f') / k)
#   exp(i w z):   c_k = (i w)^k exp(-w^2/2) / k!


def step_coefficients(order: int, b: float) -> Float[np.ndarray, " k"]:
    """The Hermite coefficients c_0..c_order of step(z - b)."""
    density = exp(-0.5 * b * b) / sqrt(2 * pi)
    tail = [float(hermite(k - 1, b)) * density / factorial(k) for k in range(1, order + 1)]
    return np.array([0.5 * erfc(b / sqrt(2)), *tail])


def relu_coefficients(order: int, b: float) -> Float[np.ndarray, " k"]:
    """The Hermite coefficients c_0..c_order of relu(z - b)."""
    density = exp(-0.5 * b * b) / sqrt(2 * pi)
    step = step_coefficients(order, b)
    return np.array([density - b * 0.5 * erfc(b / sqrt(2)), *(step[k - 1] / k for k in range(1, order + 1))])


def wave_coefficients(order: int, frequency: float, phase: float) -> Complex[np.ndarray, " k"]:
    """c_0..c_order of exp(i (frequency z + phase)), complex: cos is the real part, sin the imaginary part."""
    front = np.exp(1j * phase - 0.5 * frequency**2)
    return np.array([front * (1j * frequency) ** k / factorial(k) for k in range(order + 1)])


# Several variables.


def monomial_in_hermite(power: int) -> dict[int, Fraction]:
    """x^m = sum_j m! / (2^j j! (m - 2j)!) He_{m-2j}(x), exact."""
    return {
        power - 2 * j: Fraction(factorial(power), 2**j * factorial(j) * factorial(power - 2 * j))
        for j in range(power // 2 + 1)
    }


def hermite_in_monomials(order: int) -> dict[int, Fraction]:
    """He_k(x) = sum_j (-1)^j k! / (2^j j! (k - 2j)!) x^{k-2j}, exact."""
    return {m: (-1) ** ((order - m) // 2) * c for m, c in monomial_in_hermite(order).items()}


def polynomial_in_hermite(polynomial: Polynomial) -> dict[tuple[int, ...], Coefficient]:
    """Exact change of basis from monomials to products of He, variable by variable."""
    result: dict[tuple[int, ...], Coefficient] = {}
    for exponents, coefficient in polynomial.items():
        for parts in product(*(monomial_in_hermite(e).items() for e in exponents)):
            index = tuple(order for order, _ in parts)
            value = coefficient
            for _, c in parts:
                value = value * c if isinstance(value, Fraction) else value * float(c)
            result[index] = result.get(index, Fraction(0)) + value
    return result


def degree_limit(rank: int) -> int:
    """Largest total degree kept for a function that is not a polynomial."""
    return {1: 40, 2: 20, 3: 12}.get(rank, 8)


def indices(rank: int, degree: int) -> list[tuple[int, ...]]:
    """All multi-indices of that rank with total degree at most ``degree``."""
    if rank == 0:
        return [()]
    return [(first, *rest) for first in range(degree + 1) for rest in indices(rank - 1, degree - first)]


def quadrature_coefficients(
    f: Callable[[np.ndarray], np.ndarray], rank: int, degree: int
) -> tuple[dict[tuple[int, ...], float], float, float]:
    """c_beta of f on R^rank by tensor Gauss-Hermite, an error estimate, and E f^2.

    ``f`` takes an array of shape (rank, points). The error is the largest change of E[f h_beta] between the two rules.
    """
    nodes = {1: (160, 200), 2: (90, 120), 3: (40, 50), 4: (24, 28)}[rank]
    tables = []
    power = 0.0
    for q in nodes:
        x, w = gauss_hermite(q)
        grid = np.stack([g.ravel() for g in np.meshgrid(*[x] * rank, indexing="ij")])
        values = np.asarray(f(grid), dtype=float)
        if values.shape != (q**rank,) or not np.all(np.isfinite(values)):
            raise InputError("the target must map an array of shape (rank, points) to finite numbers, one per point")
        tensor = values.reshape([q] * rank)
        weights = w
        for _ in range(rank - 1):
            weights = np.multiply.outer(weights, w)
        power = float(np.sum(weights * tensor**2))
        basis = hermite_table(degree, x) * w
        for _ in range(rank):  # contract the first axis, append its order at the end
            tensor = np.tensordot(tensor, basis, axes=([0], [1]))
        tables.append(tensor)
    every = indices(rank, degree)
    error = max(abs(float(tables[1][b] - tables[0][b])) for b in every)
    scale = {b: sqrt(np.prod([float(factorial(k)) for k in b])) for b in every}
    return {b: float(tables[1][b]) / scale[b] for b in every}, error, power
