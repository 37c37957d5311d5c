"""A second giant step on the batch of the first: the law of the rows after both (derived here).

To the rest of the first gradient a sample is new. With t = eta s a for either step, phi = d/n and h = <w, x> of the initial row,

    <w_1, x> = u.kappa + q + t_1 phi r sigma'(h),     (h, q) Gaussian,   E q h = c,   E q^2 = b^2

where the last term is the sample's own part of the gradient. So sigma'(<w_1, x>) is a function of (kappa, r, h, q). Given kappa
and r it is S + S_0 h + S_1 q + rest. The second residual is r_2 = r, or where residuals keep the output, with F_1 of ``slopes``

    r_2 = r + F_0 - F_1(kappa, r)

(The output is its mean over the neurons, and around that of order s sqrt(p).) The second step adds, with the noise of the first
on the same samples,

    signal:  E[r_2 S x] in the frame, and sqrt(phi) E[r r_2 S]/sqrt(E r^2) along the noise direction of the first step
    noise:   what r_2 S has beyond r, in new directions
    turn:    M_0 w_0 + M_1 (1 + t_1 E[sigma''] M) w_0 less the sample's own part, M_i = X^T diag(r_2 S_i) X/n, M = X^T diag(r) X/n
    white:   phi t_2^2 E[r_2^2 rest^2], and 2 phi t_1 t_2 E[r r_2 rest rest_1] for what the first step has of the same samples

In a column r_2 is gamma r, gamma = E[r r_2]/E[r^2], and a rest that is white. Under E[r^2 .], gamma S_i has a part along the
constant, whose matrix is M, and one along one more shape with a matrix of its own; what is left is white. With m_i = E[r_2 S_i],
these parts alpha_i and k_i, and eigenvalues mu of M and nu of the other one, rows grow by

    1 + t_1 E[sigma''] mu + t_2 (T_0 + T_1 (1 + t_1 E[sigma''] mu) - own),    T_i = m_i + alpha_i (mu - E r) + k_i nu
    own = phi t_1 E[sigma''] (E[r r_2 S_1] + (mu - E r) E[r^2 r_2 S_1]/E r^2)
"""

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from jaxtyping import Float

from giantstep.theory.steps._course import Course
from giantstep.theory.steps._frame import framed
from giantstep.theory.steps._knots import Columns, columns
from giantstep.theory.steps._measure import matrix_moments
from giantstep.theory.steps._residual import Residual, coordinates
from giantstep.theory.steps._rows import MovedRows, start
from giantstep.theory.steps._slopes import First, Slopes, output, slopes
from giantstep.theory.steps._step import DIRECTION_NODES, FRESH, NOISE_SHARE, TURN_NODES
from giantstep.theory.steps._turn import RowTurn

EMPTY = 1e-30  # least weight of a column, against which nothing is divided


class Sample(NamedTuple):
    """Its columns, phi, the residual's moments with r_2 in the place of one factor and of two, and the weights of E[r^2 .]."""

    made: Columns
    phi: float
    once: Residual
    twice: Residual
    w2: Float[np.ndarray, " C"]

    def mean(self, k: int, table: Float[np.ndarray, "J C"]) -> Float[np.ndarray, " J"]:
        """E[r^(k - 1) r_2 .]."""
        return table @ (self.made.at.pi * self.once.plain[k - 1])

    def square(self, table: Float[np.ndarray, "J C"]) -> Float[np.ndarray, " J"]:
        """E[r_2^2 .]."""
        return table @ (self.made.at.pi * self.twice.plain[1])

    @property
    def gamma(self) -> Float[np.ndarray, " C"]:
        return self.made.at.pi * self.once.plain[1] / np.maximum(self.w2, EMPTY)

    @property
    def root(self) -> Float[np.ndarray, " C"]:
        return np.sqrt(np.maximum(self.w2, EMPTY))


def reused(course: Course, etas: Float[np.ndarray, " 2"], rows: MovedRows) -> MovedRows:
    """The rows after two steps on one batch; ``rows`` are those after the first."""
    step, (t1, t2) = course.steps[0], course.scale * etas[:, None] * rows.a
    still = np.tile(np.eye(len(rows.u)), (rows.base.size, 1, 1))
    initial = replace(start(course), u=0 * rows.u, D=still)  # in the frame after the step
    made = columns(course, step, initial, coordinates(rows, course.p))
    at, phi, w2 = made.at, course.d / step.n, made.at.pi * made.residual.plain[1]
    R1, R2 = at.pi @ made.residual.plain[0], w2.sum()
    c1, c2 = (k * float(course.sigma.coefficients[k]) for k in (1, 2))
    mu, shares = _matrix(made, np.ones(at.pi.size), phi)
    mu = mu[:, None]
    once = 1 + t1 * c2 * (R1 + mu)
    b2, c = shares @ once**2 + rows.added, shares @ once
    before = First(t1, c1, c2, phi, c, np.maximum(b2 - c**2, 0.0), b2)
    S, sample = slopes(course, rows, made, before), Sample(made, phi, *_later(course, rows, made, before), w2)
    noise = _noise(course.scale * etas[1], rows, sample, S)
    turn = _turn(rows, sample, S, before, t2, (mu, shares, once))
    # Signal: the direction of the first step's noise is the last of the frame
    moved = at.f @ np.einsum("jk,k,mk->mj", S.mean, at.pi * sample.once.plain[0], at.kappa)
    moved = moved + at.e @ np.einsum("jk,k,rk->rj", S.mean, at.pi, sample.once.first[0])
    moved[-1] += (phi * R2) ** 0.5 * sample.mean(2, S.mean) / R2
    u = np.concatenate([rows.u + t2 * moved, noise.kept])
    # White: the first step's, its product with the second's, and the second's
    rest = np.maximum(S.square - S.mean**2 - _square(before, S.initial, S.moved), 0.0)
    white = rows.added * (turn.shares @ turn.grown**2)
    white = white + 2 * phi * t1 * t2 * (1 + t2 * sample.mean(1, S.moved)) * sample.mean(2, S.cross)
    white = np.maximum(white, 0.0) + phi * t2**2 * (sample.square(rest) + turn.left) + noise.lost
    shift = np.zeros((len(u), at.pi.size))
    shift[len(rows.u) - 1], shift[len(rows.u) :] = (phi / R2) ** 0.5, phi**0.5 * noise.shapes
    D, P = _frame(sample, shift, before, S, t2, course)
    # On the frame the growth is taken as linear in mu
    lever = np.einsum("m,mnj,n->j", shares * mu[:, 0], turn.growth.reshape(len(mu), -1, rows.a.size), turn.other)
    moments, bulk = _moments(sample, noise)
    made_of = RowTurn(turn.shares, turn.growth, white, P, lever / (shares @ mu**2), moments, bulk)
    return replace(rows, u=u, D=D, turns=(made_of,))


def _later(course: Course, rows: MovedRows, made: Columns, before: First) -> tuple[Residual, Residual]:
    """The moments with r_2 in the place of one factor r, and of two."""
    first, second = (step.form.full for step in course.steps)
    if not (first or second):
        return made.residual, made.residual
    # F_0 is the mean of the initial output; what the activation's constant adds to F_0 and F_1 is the same
    share, sigma = course.scale * course.p * (rows.omega @ rows.a), course.sigma
    level = second * float(sigma.constant) - first * float(sigma.coefficients[0])
    return made.later(second * output(course, rows, made, before) + share * level)


def _moments(sample: Sample, noise: "Noise") -> tuple[Float[np.ndarray, "F F k"], Float[np.ndarray, " k"]]:
    """Those of X^T diag(r) X/n on the frame, whose last directions are noise of both steps, and of its law."""
    at, one = sample.made.at, np.ones((1, sample.w2.size))
    inside = np.concatenate([at.f, at.e], axis=1)[:-1]
    fresh = inside, np.eye(len(inside)) - inside @ inside.T
    made = np.concatenate([one / sample.w2.sum() ** 0.5, noise.shapes])
    return matrix_moments(at, sample.made.powers(2 * DIRECTION_NODES + 2), fresh, one[0], made, sample.phi)


class Noise(NamedTuple):
    """New directions (F, J) of the rows, the functions of a sample (F, C) that span them, and the white rest (J,)."""

    kept: Float[np.ndarray, "F J"]
    shapes: Float[np.ndarray, "F C"]
    lost: Float[np.ndarray, " J"]


def _noise(size: float, rows: MovedRows, sample: Sample, S: Slopes) -> Noise:
    """What r_2 S has beyond its part along r, the direction of the first step; ``size`` is eta s of the second."""
    root, along, power = sample.root, sample.mean(2, S.mean) / sample.w2.sum(), sample.square(S.mean**2)
    weight = np.sqrt(rows.omega) * rows.a
    beyond = sample.gamma * S.mean - along[:, None]
    p_m, s_m, phi_m = np.linalg.svd(weight[:, None] * beyond * root, full_matrices=False)
    count = min(FRESH, int(np.sum(s_m**2 > NOISE_SHARE * weight**2 @ power)))
    kept = size * sample.phi**0.5 * (s_m[:count, None] * p_m[:, :count].T) / np.sqrt(rows.omega)
    lost = (size * rows.a) ** 2 * sample.phi * (power - along**2 * sample.w2.sum()) - np.sum(kept**2, axis=0)
    return Noise(kept, phi_m[:count] / root, np.maximum(lost, 0.0))


class RowTurns(NamedTuple):
    """Growth of the rows by both steps and of the first's white part by the second, at modes (M,) with their shares, those of nu
    for every mu; and what the modes leave of the second's turn, E[r_2^2 .] (J,)."""

    shares: Float[np.ndarray, " M"]
    other: Float[np.ndarray, " N"]
    growth: Float[np.ndarray, "M J"]
    grown: Float[np.ndarray, "M J"]
    left: Float[np.ndarray, " J"]


def _turn(
    rows: MovedRows,
    sample: Sample,
    S: Slopes,
    before: First,
    t2: Float[np.ndarray, " J"],
    first: tuple[np.ndarray, ...],
) -> RowTurns:
    """The part of the first step's matrix, with its modes mu, their shares and growth; one more shape; and what is left."""
    (mu, shares, once), gamma, R2 = first, sample.gamma, sample.w2.sum()
    alpha0, alpha1 = sample.mean(2, S.initial) / R2, sample.mean(2, S.moved) / R2
    left0, left1 = gamma * S.initial - alpha0[:, None], gamma * S.moved - alpha1[:, None]
    mixed = left0 + before.shared[:, None] * left1
    shape = _shape(np.sqrt(rows.omega)[:, None] * rows.a[:, None] * mixed, sample.root)
    k0, k1 = sample.mean(2, S.initial * shape), sample.mean(2, S.moved * shape)
    nu, other = _matrix(sample.made, shape, sample.phi)
    own = sample.phi * before.t * before.c2 * (sample.mean(2, S.moved) + mu * sample.mean(3, S.moved) / R2)
    turned = sample.mean(1, S.moved) + alpha1 * mu
    P = once + t2 * (sample.mean(1, S.initial) + alpha0 * mu + turned * once - own)
    P = (P[:, None] + nu[:, None] * t2 * (k0 + k1 * once)[:, None]).reshape(-1, rows.a.size)
    grown = ((1 + t2 * turned)[:, None] + nu[:, None] * t2 * k1).reshape(P.shape)
    known = [_square(before, x[:, None], y[:, None])[:, 0] for x, y in ((alpha0 * R2**0.5, alpha1 * R2**0.5), (k0, k1))]
    left = sample.square(_square(before, S.initial, S.moved)) - known[0] - known[1]
    return RowTurns(np.multiply.outer(shares, other).ravel(), other, P, grown, np.maximum(left, 0.0))


def _square(before: First, x: Float[np.ndarray, "J K"], y: Float[np.ndarray, "J K"]) -> Float[np.ndarray, "J K"]:
    """E (x h + y q)^2."""
    return x**2 + 2 * before.shared[:, None] * x * y + before.square[:, None] * y**2


def _matrix(
    made: Columns, shape: Float[np.ndarray, " C"], phi: float
) -> tuple[Float[np.ndarray, " M"], Float[np.ndarray, " M"]]:
    """Eigenvalues of X^T diag(r shape) X/n around their mean, and their weights."""
    if not np.any(shape):
        return np.zeros(1), np.ones(1)
    nodes, shares = map(np.asarray, made.law.modes(shape, phi, TURN_NODES))
    return nodes - shares @ nodes, shares


def _shape(table: Float[np.ndarray, "J C"], root: Float[np.ndarray, " C"]) -> Float[np.ndarray, " C"]:
    """The function of a column that explains most of a table, of unit square under E[r^2 .]; zero where there is nothing."""
    _, values, shapes = np.linalg.svd(table * root, full_matrices=False)
    return shapes[0] / root if values[0] > 1e-12 else 0 * root


def _frame(
    sample: Sample,
    shift: Float[np.ndarray, "F C"],
    before: First,
    S: Slopes,
    t2: Float[np.ndarray, " J"],
    course: Course,
) -> tuple[Float[np.ndarray, "J F F"], Float[np.ndarray, "J F F"]]:
    """D on the frame, from the turns of both steps and the noise of both on the same samples; and the mean turn.

    A sample's own part is not in <w_1, x>, so the first turn passes to the second through coordinates without a shift.
    """
    made, one = sample.made, np.ones((1, shift.shape[1]))
    frame, once, twice = (framed(made.at, own, shift) for own in (made.residual, sample.once, sample.twice))
    variance = float(course.sigma.slope_square) - before.c1**2
    t1, t2 = before.t[:, None, None], t2[:, None, None]
    first = t1 * before.c2 * frame.second(1, one)
    second, passed = once.second(1, S.moved), once.second(1, S.moved, right=False)
    P = np.eye(len(shift)) + first + t2 * (once.second(1, S.initial) + second + passed @ first)
    B = np.eye(len(shift)) + t2 * second
    swap = lambda x: np.swapaxes(x, 1, 2)  # noqa: E731
    cross = t1 * t2 * B @ once.second(2, before.c2 * S.linear + S.cross)
    noise = t1**2 * variance * B @ frame.second(2, one) @ swap(B) + cross + swap(cross)
    noise = before.phi * (noise + t2**2 * twice.second(2, S.square - S.mean**2))
    # What passes through the noise directions is in P
    along = B @ (first - t1 * before.c2 * frame.second(1, one, right=False))
    along = along + t2 * (once.second(1, S.initial) - once.second(1, S.initial, right=False))
    moved, c, b2 = t2 * (second - passed), before.shared[:, None, None], before.square[:, None, None]
    product = c * along @ swap(moved)
    return P @ swap(P) + noise - (along @ swap(along) + product + swap(product) + b2 * moved @ swap(moved)), P
