"""One more giant step on a fresh batch: the law of the rows after it from the one before (derived here).

A neuron moves by eta s a X^T (r o sigma'(X w))/n. With S = E sigma'(u.kappa + b z), S' = E sigma''(.) given kappa it is

    signal:  E[r S x] in the frame
    noise:   sqrt(d/n) sum_m s_m p_m(a) xi_m,   a S(a, kappa) = sum_m s_m p_m(a) phi_m(kappa),  E[r^2 phi_m phi_l] = delta_ml
    turn:    X^T diag(r S') X/n acting on g: E[r S'] and, around it, the modes of X^T diag(r h) X/n times E[r^2 S' h]
    white:   (d/n) E[r^2 (sigma'^2 - S^2 - b^2 S'^2)]

(Karhunen and Loeve for the noise: its first directions xi_m join the frame, the rest lengthens b. h(kappa) is the first shape of
the same kind for S', E[r^2 h^2] = 1. The mean turn is each group's own: long steps leave S' of opposite a with little in common,
and the turn that they share is then a poor guess of it.) On its own batch a sample has
the coordinate x_xi = N(0, 1) + sqrt(d/n) r phi(kappa) along xi. Inside the frame the turn is K = E[r S' x x^T] with it, so that

    D <- (1 + t K) D (1 + t K)^T + t^2 (d/n) b^2 E[r^2 S'^2 x x^T] + white part,     t = eta s a
"""

from dataclasses import replace

import numpy as np
from jaxtyping import Float

from giantstep.functions._gaussian_averages import averages
from giantstep.theory.steps._course import Course, CourseStep
from giantstep.theory.steps._frame import Frame, framed
from giantstep.theory.steps._measure import matrix_moments
from giantstep.theory.steps._residual import coordinates, residual
from giantstep.theory.steps._rows import MovedRows, both, fewer
from giantstep.theory.steps._turn import RowTurn

NOISE_SHARE = 1e-3  # of the noise's power: directions with less of it lengthen b only
FRESH = 3  # noise directions that one step adds, at most
TURN_NODES = 4  # modes of a step
DIRECTION_NODES = 3  # those along a direction: of more the moments are known to few digits
FAINT = 1e-12  # least of a turn and of a white part that have modes


def stepped(course: Course, step: CourseStep, eta: float, rows: MovedRows) -> MovedRows:
    """The rows after one more step."""
    sigma, scale, phi = course.sigma, eta * course.scale, course.d / step.n
    at = coordinates(rows, course.p)
    r, law = residual(course, step, rows, at)
    b2, t = rows.square, scale * rows.a
    if step.form.rank_one:
        shape, c1 = (rows.a.size, at.pi.size), float(sigma.coefficients[1])
        S, turn, square = np.full(shape, c1), np.zeros(shape), np.full(shape, c1**2)
        square = square[rows.left]
    else:
        places = (at.f.T @ rows.u).T @ at.kappa
        table = averages(sigma.slope, places, np.sqrt(b2)[:, None], sigma.kinks)
        S, turn = np.asarray(table.mean), np.asarray(table.gain)
        square = both(rows, sigma.slope, places, np.asarray(table.square), sigma.kinks)
    entry = lambda x: x[rows.left] * x[rows.right]  # noqa: E731
    # Noise: the decomposition of a S(a, kappa), weighted by omega and by E[r^2 | kappa]
    root = np.sqrt(at.pi * r.plain[1])
    p_m, s_m, phi_m = np.linalg.svd(np.sqrt(rows.omega)[:, None] * rows.a[:, None] * S * root, full_matrices=False)
    count = min(FRESH, max(int(np.sum(s_m**2 > NOISE_SHARE * np.sum(s_m**2))), 1))
    sign = np.where(phi_m @ root < 0, -1.0, 1.0)  # that of the first step is the direction of X^T r
    p_m, phi_m = sign * p_m, sign[:, None] * phi_m
    kept = scale * phi**0.5 * (s_m[:count, None] * p_m[:, :count].T) / np.sqrt(rows.omega)  # (count, J)
    total = scale**2 * phi * entry(rows.a) * (entry(S) @ (at.pi * r.plain[1]))
    lost = _positive(rows, total - np.sum(rows.product(kept), axis=0))
    # Signal: E[r S x] along f and e, in the frame
    moved = at.f @ np.einsum("jk,k,mk->mj", S, at.pi * r.plain[0], at.kappa)
    moved = moved + at.e @ np.einsum("jk,k,rk->rj", S, at.pi, r.first[0])
    u = np.concatenate([rows.u + t * moved, kept])
    rest = _positive(rows, square - entry(S) - rows.inner[:, None] * entry(turn))
    white = entry(t) * phi * (rest @ (at.pi * r.plain[1])) + lost
    # The turn: its mean in each group; around it one shape for all groups, its coefficient in each, and what that leaves to white
    own = _shape(rows, turn * np.abs(t)[:, None], at.pi * r.plain[1])
    coefficient = turn @ (at.pi * r.plain[1] * own)
    lost = _positive(rows, entry(turn) @ (at.pi * r.plain[1]) - entry(coefficient))
    white = white + entry(t) * phi * rows.inner * lost
    shift = np.concatenate([np.zeros((rows.u.shape[0], at.pi.size)), phi**0.5 * phi_m[:count] / root])
    frame = framed(at, r, shift)
    D = _frame(rows, frame, t, turn, rest, phi)
    if max(np.max(np.abs(turn)), np.max(np.abs(white))) < FAINT:
        return replace(rows, u=u, D=D)
    nodes, shares = map(np.asarray, law.modes(own, phi, TURN_NODES))
    stretch = 1 + t * (turn @ (at.pi * r.plain[0]) + (nodes - shares @ nodes)[:, None] * coefficient)
    inside = np.eye(len(u)) + t[:, None, None] * frame.second(1, turn)
    before = frame.inside[: len(rows.u)], frame.beyond[: len(rows.u), : len(rows.u)]
    moments, bulk = matrix_moments(at, law.powers(2 * DIRECTION_NODES + 2), before, own, phi_m[:count] / root, phi)
    made = RowTurn(shares, stretch, white, inside, t * coefficient, moments, bulk)
    return fewer(replace(rows, u=u, D=D, turns=(*rows.turns, made)))


def _positive(rows: MovedRows, table: Float[np.ndarray, "E ..."]) -> Float[np.ndarray, "E ..."]:
    """A variance, on the first entries, is not negative; a covariance may be."""
    J = rows.a.size
    return np.concatenate([np.maximum(table[:J], 0.0), table[J:]])


def _shape(
    rows: MovedRows, turn: Float[np.ndarray, "J K"], weights: Float[np.ndarray, " K"]
) -> Float[np.ndarray, " K"]:
    """The function of kappa that explains most of E sigma'' over all groups, of unit square under the weights."""
    root = np.sqrt(weights)
    _, values, shapes = np.linalg.svd(np.sqrt(rows.omega)[:, None] * turn * root, full_matrices=False)
    if values[0] < FAINT:  # nothing turns: X^T diag(r) X/n has modes all the same
        return np.full(root.size, (root @ root) ** -0.5)
    return np.where(shapes[0] @ root < 0, -1.0, 1.0) * shapes[0] / np.maximum(root, 1e-150)


def _frame(
    rows: MovedRows,
    frame: Frame,
    t: Float[np.ndarray, " J"],
    turn: Float[np.ndarray, "J K"],
    rest: Float[np.ndarray, "E K"],
    phi: float,
) -> Float[np.ndarray, "E F F"]:
    """D on the frame with the new noise directions."""
    F, new = rows.u.shape[0], len(frame.shift) - rows.u.shape[0]
    around = rows.inner[:, None] * turn[rows.left] * turn[rows.right] + rest
    D = np.zeros((rows.base.size, F + new, F + new))
    D[:, :F, :F] = rows.D
    D[:, F:, F:] = rows.inner[:, None, None] * np.eye(new)
    K = t[:, None, None] * frame.second(1, turn)
    A, own = np.eye(F + new) + K, K - t[:, None, None] * frame.second(1, turn, right=False)
    known = rows.inner[:, None, None] * own[rows.left] @ np.swapaxes(own[rows.right], 1, 2)
    spread = (rows.product(t) * phi)[:, None, None] * frame.second(2, around) - known
    return A[rows.left] @ D @ np.swapaxes(A[rows.right], 1, 2) + spread
