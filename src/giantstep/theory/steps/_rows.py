"""The law of the rows after giant steps: w_i = sum_f u_f(a_i) e_f + g_i, one group for every value of a.

The frame e_1, e_2, ... holds the target's r orthonormal directions and the noise directions that steps have added; u is of order
one. g is Gaussian: along the frame its covariance is D/d, elsewhere its variance on the modes (mu_1, mu_2, ...) of the steps is

    V(mu)/d,     V <- (1 + t mu)^2 V + white with every step,      b^2 = E_mu V

with t = eta s a and t mu the spectral law of the step's turn t X^T diag(r E sigma'') X/n (see ``step``). The matrices of
different steps are free of one another; taking their modes as independent has the same moments up to the third (derived here).
Directions of the frame have modes of their own (``measure``).
The curve u has few directions that matter, its principal ones: the coordinates kappa that features depend on.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from jaxtyping import Float, Int

from giantstep._machine.arrays import Array
from giantstep.functions._gaussian_averages import together
from giantstep.theory.one_step._conditional import second_layer
from giantstep.theory.steps._course import Course
from giantstep.theory.steps._turn import RowTurn

LEARNED = 3  # principal directions of the curve that features are conditioned on
SEEN = 0.02  # p theta^2 of the least of them
MODES = 64  # of all steps together, at most
SMALL = 1e-3  # length of a direction that is none


@dataclass(frozen=True)
class MovedRows:
    """Groups of neurons: a and weights omega (J,), u (F, J), every step's modes, and by entries the law of g.

    An entry is two groups (left, right) whose rows depend on each other. The first J entries are the groups by themselves. In a
    symmetric network, whose pairs (w, a) and (w, -a) start from one row, J more have the groups a and -a. For an entry V has
    the product of the two groups' 1 + t mu in the place of the square. D is (E, F, F). The first ``rank`` directions of the frame
    are the target's. ``base`` is what there is of the initial rows before the turns, and ``white`` the rest.
    """

    rank: int
    a: Float[np.ndarray, " J"]
    omega: Float[np.ndarray, " J"]
    u: Float[np.ndarray, "F J"]
    D: Float[np.ndarray, "E F F"]
    turns: tuple[RowTurn, ...]
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
        weights, variance = np.ones(1), (self.base + self.white)[None]
        for turn in self.turns:
            variance = (variance[:, None] * self.product(turn.stretch) + turn.white).reshape(-1, self.base.size)
            weights = np.multiply.outer(weights, turn.shares).ravel()
        return weights, variance

    def along(self, basis: Float[np.ndarray, "F X"]) -> tuple[Float[np.ndarray, "B X X"], Float[np.ndarray, "B E"]]:
        """The spectral measure of the steps' matrices on directions of the frame, and V on its modes; the mean of V is D."""
        left, sizes, right = np.linalg.svd(basis, full_matrices=False)
        seen = sizes > SMALL
        Q, R, J = left[:, seen], sizes[seen, None] * right[seen], self.a.size
        x, towards, nodes = _paths(self.turns, self.omega, Q)
        variance = np.tile(self.base + self.white, (len(x), 1))
        for turn, mu in zip(self.turns, nodes, strict=True):
            variance = variance * self.product(turn.along(mu, towards)) + turn.white
        unit = Q.T @ towards
        mean = np.einsum("xb,xye,yb->be", unit, np.einsum("bx,by,be->xye", x, x, variance), unit)
        D = np.einsum("fb,efg,gb->be", towards, self.D, towards)
        own = variance[:, :J] * (D / mean)[:, :J]
        most = np.sqrt(own[:, self.left[J:]] * own[:, self.right[J:]])
        spread = np.concatenate([own, np.clip((variance - mean + D)[:, J:], -most, most)], axis=1)
        return np.einsum("bx,by->bxy", x @ R, x @ R), spread

    @cached_property
    def inner(self) -> Float[np.ndarray, " E"]:
        """E <g_left, g_right> of every entry."""
        weights, variance = self.modes
        return weights @ variance

    @property
    def added(self) -> Float[np.ndarray, " E"]:
        """The part of it that the initial rows do not have."""
        kept = self.base
        for turn in self.turns:
            kept = kept * (turn.shares @ self.product(turn.stretch))
        return self.inner - kept

    @property
    def square(self) -> Float[np.ndarray, " J"]:
        """b^2 of every group."""
        return self.inner[: self.a.size]

    @cached_property
    def principal(self) -> tuple[Float[np.ndarray, "F m"], Float[np.ndarray, " m"]]:
        """The principal directions of the curve u, as columns, and its strengths theta along them."""
        f, theta, _ = np.linalg.svd(self.u * np.sqrt(self.omega), full_matrices=False)
        return f[:, :LEARNED], theta[:LEARNED]


def _paths(
    turns: tuple[RowTurn, ...], omega: Float[np.ndarray, " J"], Q: Float[np.ndarray, "F X"]
) -> tuple[Float[np.ndarray, "B X"], Float[np.ndarray, "F B"], list[Float[np.ndarray, " B"]]]:
    """Nodes of the largest turn's measure on orthonormal directions, each with those of the others along its own direction:
    vectors x whose x x^T are the weights, the direction, and the nodes of every turn."""
    if not turns:
        return np.eye(Q.shape[1]), Q, []
    largest = int(np.argmax([turn.size(omega) for turn in turns]))
    others = set(range(len(turns))) - {largest}
    mu, x = turns[largest].measure(Q, sum((turns[t].marks(Q) for t in others), 0 * Q.T @ Q))
    towards, nodes = Q @ (x / np.linalg.norm(x, axis=1, keepdims=True)).T, {largest: mu}
    for t in others:
        each = [turns[t].measure(one[:, None]) for one in towards.T]
        times = np.repeat(np.arange(len(each)), [len(mu) for mu, _ in each])
        x, towards = x[times] * np.concatenate([y for _, y in each]), towards[:, times]
        nodes = {k: own[times] for k, own in nodes.items()} | {t: np.concatenate([mu for mu, _ in each])}
    return x, towards, [nodes[t] for t in range(len(turns))]


def start(course: Course) -> MovedRows:
    """The rows before any step.

    Where a residual keeps the output, the frame has omega = s sum_i a_i w_i too: every row leans on it by s a/||omega||. With two
    steps on one batch it has not, as their initial output is of order 1/sqrt(p) (``reused``).
    """
    rank, symmetric = course.star.rank, course.symmetric
    law = "rademacher" if symmetric and course.second_layer == "constant" else course.second_layer
    a, weights = (np.asarray(x) for x in second_layer(law))
    again = any(step.form.reused for step in course.steps)
    keeps = any(step.form.full for step in course.steps) and not (symmetric or again)
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
    while np.prod([len(turn.shares) for turn in rows.turns]) > MODES:
        turn, turns = rows.turns[0], rows.turns[1:]
        grown = turn.shares @ rows.product(turn.stretch)
        rows = replace(rows, turns=turns, base=rows.base * grown, white=rows.white * grown + turn.white)
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
