"""sigma'(<w_1, x>) on the samples of the step that made w_1, whose own part is in it: averages given kappa and r (``reused``).

So is sigma(<w_1, x>), and with it the network's output there, F_1(kappa, r) = s p E_a[a E sigma(<w_1, x>)].
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep._machine.arrays import Array
from giantstep.functions import hermite
from giantstep.functions._gaussian_averages import averages
from giantstep.theory.steps._course import Course
from giantstep.theory.steps._knots import Columns
from giantstep.theory.steps._rows import MovedRows

WIDTH, REACH = 1.0, 5.0  # panels of h
GRID = 800  # places at which an average over q given h is tabulated
NARROW = 0.04  # least spread of q given h: narrower ones need a finer grid


class Slopes(NamedTuple):
    """Of sigma'(<w_1, x>) given kappa and r: its mean S, the parts S_0 along h and S_1 along q, its product with h and with what
    sigma'(h) has beyond a linear function, and its square; all (J, C)."""

    mean: Float[np.ndarray, "J C"]
    initial: Float[np.ndarray, "J C"]
    moved: Float[np.ndarray, "J C"]
    linear: Float[np.ndarray, "J C"]
    cross: Float[np.ndarray, "J C"]
    square: Float[np.ndarray, "J C"]


class First(NamedTuple):
    """The first step in numbers: t_1, E sigma' and E sigma'', phi, and of every group c, b^2 - c^2 and b^2."""

    t: Float[np.ndarray, " J"]
    c1: float
    c2: float
    phi: float
    shared: Float[np.ndarray, " J"]
    apart: Float[np.ndarray, " J"]
    square: Float[np.ndarray, " J"]


def slopes(course: Course, rows: MovedRows, made: Columns, before: First) -> Slopes:
    """Averages over q given h on a grid of its means, then over h."""
    h, w, slope = _initial(course)
    rest = slope - before.c1 - before.c2 * h
    table = np.zeros((5, rows.a.size, made.rho.size))
    for j, (mean, gain, square) in enumerate(_given(course, course.sigma.slope, rows, made, before)):
        table[:, j] = mean @ w, gain @ w, mean @ (w * h), mean @ (w * rest), square @ w
    mean, gain, linear, cross, square = (table[k] for k in range(5))
    return Slopes(mean, linear - before.shared[:, None] * gain, gain, linear, cross, square)


def output(course: Course, rows: MovedRows, made: Columns, before: First) -> Float[np.ndarray, " C"]:
    """F_1 at the columns, less that of the activation's constant."""
    w, given = _initial(course)[1], _given(course, course.sigma.value, rows, made, before)
    share = course.scale * course.p * rows.omega * rows.a
    return np.sum([own * (mean @ w) for own, (mean, _, _) in zip(share, given, strict=True)], axis=0)


def _initial(course: Course) -> tuple[Float[np.ndarray, " H"], Float[np.ndarray, " H"], Float[np.ndarray, " H"]]:
    """Nodes and weights of h, and sigma'(h)."""
    h, w = hermite.gaussian_panels(course.sigma.kinks, WIDTH, REACH)
    return h, w / w.sum(), np.asarray(course.sigma.slope(h))


def _given(
    course: Course, f: Callable[[Array], Array], rows: MovedRows, made: Columns, before: First
) -> Iterator[tuple[Float[np.ndarray, "C H"], ...]]:
    """E f, E f' and E f^2 over q, of one group after the other, given kappa, r and h."""
    kinks, (h, _, slope) = course.sigma.kinks, _initial(course)
    place = (made.at.f.T @ rows.u).T @ made.at.kappa
    for j, t in enumerate(before.t):
        means = place[j][:, None] + before.shared[j] * h + t * before.phi * made.rho[:, None] * slope
        grid = np.linspace(means.min() - NARROW, means.max() + NARROW, GRID)
        given = averages(f, grid, max(before.apart[j] ** 0.5, NARROW), kinks, 12)
        yield tuple(np.interp(means, grid, np.asarray(x)) for x in (given.mean, given.gain, given.square))
