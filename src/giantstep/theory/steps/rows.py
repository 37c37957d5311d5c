"""The law of the rows after giant steps: w_i = sum_f u_f(a_i) e_f + g_i, one group for every value of a.

The frame e_1, e_2, ... holds the target's r orthonormal directions and the noise directions that steps have added; u is of order
one. g is Gaussian: along the frame its covariance is D/d, elsewhere its variance on the modes (mu_1, mu_2, ...) of the steps is

    V(mu)/d,     V = base prod_t (1 + t_t mu_t)^2 + white,      b^2 = E_mu V

with t_t = eta_t s a, and t_t mu_t the spectral law of the step's turn t_t X^T diag(r E sigma'') X/n (see ``step``). The matrices
of different steps are free of one another; taking their modes as independent has the same moments up to the third (derived here).
The curve u has few directions that matter, its principal ones: the coordinates kappa that features depend on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array
from giantstep.functions.gaussian_averages import together
from giantstep.theory.one_step.conditional import second_layer
from giantstep.theory.steps.course import Course

LEARNED = 3  # principal directions of the curve that features are conditioned on
SEEN = 0.02  # p theta^2 of the least of them
MODES = 32  # of all steps together, at most


@dataclass(frozen=True)
class MovedRows:
    """Groups of neurons: a and weights omega (J,), u (F, J), every step's modes, and by entries the law of g.

    An entry is two groups (left, right) whose rows depend on each other. The first J entries are the groups by themselves. In a
    symmetric network, whose pairs (w, a) and (w, -a) start from one row, J more have the groups a and -a. For an entry V has
    the product of the two groups' 1 + t mu in the place of the square. D is (E, F, F). The first ``rank`` directions of the frame
    are the target's. A turn is the weights of a step's modes (M,) and 1 + t mu of every group on them (M, J).
    """

    rank: int
    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    u: Float[np.ndarray, "F J"]
    D: Float[np.ndarray, "E F F"]
    turns: tuple[tuple[Float[np.ndarray, " M"], Float[np.ndarray, "M J"]], ...]
    base: Float[np.ndarray, " E"]
    white: Float[np.ndarray, " E"]

    @property
    def paired(self) -> bool:
        return self.base.size > self.a.size

    @property
    def left(self) -> Int[np.ndarray, " E"]:
        return np.resize(np.arange(self.a.size), self.base.size)

    @property
    def right(self) -> Int[np.ndarray, " E"]:
        """The group itself, then that of -a: the values of a are in order, and symmetric where neurons are paired."""
        own = np.arange(self.a.size)
        return np.concatenate([own, own[::-1]]) if self.paired else own

    def product(self, table: Float[np.ndarray, "... J"]) -> Float[np.ndarray, "... E"]:
        """The products of a table's values at the two groups of every entry."""
        return table[..., self.left] * table[..., self.right]

    @cached_property
    def modes(self) -> tuple[Float[np.ndarray, " M"], Float[np.ndarray, "M E"]]:
        """Weights of the products of the steps' modes, and V on them."""
        weights, factor = np.ones(1), self.base[None]
        for shares, stretch in self.turns:
            factor = (factor[:, None] * self.product(stretch)).reshape(-1, self.base.size)
            weights = np.multiply.outer(weights, shares).ravel()
        return weights, factor + self.white

    @cached_property
    def inner(self) -> Float[np.ndarray, " E"]:
        """E <g_left, g_right> of every entry."""
        weights, variance = self.modes
        return weights @ variance

    @property
    def square(self) -> Float[np.ndarray, " J"]:
        """b^2 of every group."""
        return self.inner[: self.a.size]

    @cached_property
    def principal(self) -> tuple[Float[np.ndarray, "F m"], Float[np.ndarray, " m"]]:
        """The principal directions of the curve u, as columns, and its strengths theta along them."""
        f, theta, _ = np.linalg.svd(self.u * np.sqrt(self.omega), full_matrices=False)
        return f[:, :LEARNED], theta[:LEARNED]


def start(course: Course) -> MovedRows:
    """The rows before any step.

    Where a residual keeps the output, the frame has omega = s sum_i a_i w_i too: every row leans on it by s a/||omega||.
    """
    rank, symmetric = course.star.rank, course.symmetric
    law = "rademacher" if symmetric and course.second_layer == "constant" else course.second_layer
    a, weights = (np.asarray(x) for x in second_layer(law))
    keeps = any(step.form.full for step in course.steps) and not symmetric
    u = np.zeros((rank + keeps, a.size))
    if keeps:
        u[rank] = a / course.p**0.5
    one = np.ones(2 * a.size if symmetric else a.size)
    D = np.tile(np.eye(rank + keeps), (one.size, 1, 1))
    return MovedRows(rank, a, weights, u, D, (), one, 0 * one)


def learned(rows: MovedRows, p: float) -> Float[np.ndarray, "F m"]:
    """The principal directions that p neurons make felt, at least one."""
    f, theta = rows.principal
    return f[:, : max(int(np.sum(p * theta**2 > SEEN)), 1)]


def fewer(rows: MovedRows) -> MovedRows:
    """Turn the oldest steps' modes into their mean square until few enough are left."""
    while np.prod([len(shares) for shares, _ in rows.turns]) > MODES:
        (shares, stretch), turns = rows.turns[0], rows.turns[1:]
        rows = replace(rows, turns=turns, base=rows.base * (shares @ rows.product(stretch)))
    return rows


def both(
    rows: MovedRows,
    f: Callable[[Array], Array],
    places: Float[np.ndarray, "J K"],
    square: Float[np.ndarray, "J K"],
    kinks: tuple[float, ...],
) -> Float[np.ndarray, "E K"]:
    """E f f of the two groups of every entry, at b z + place; ``square`` is that of the first entries."""
    if not rows.paired:
        return square
    J, b = rows.a.size, np.sqrt(rows.square)
    half = np.arange(J)[: (J + 1) // 2]
    other = J - 1 - half
    rho = np.clip(rows.inner[J:][half] / (b[half] * b[other]), -1, 1)[:, None]
    cross = together(f, (places[half], places[other]), (b[half, None], b[other, None]), rho, kinks)
    return np.concatenate([square, cross, cross[::-1][(J % 2) :]])
