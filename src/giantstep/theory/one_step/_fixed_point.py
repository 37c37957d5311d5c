"""The fixed point of ridge regression on conditionally Gaussian features.

Neurons fall into J groups of weight ``omega_j`` (their second-layer entry), samples into K groups of weight ``pi_k`` (their
coordinate kappa along the learned direction). Given kappa_k, feature i of group j is

    phi_i = signal + l_jk <g_i, x> + c_jk xi_i,      g_i Gaussian with variance V_j(mu)/d along the mode mu of the gradient

with modes of weight w_mu. With alpha_k = pi_k / (1 + delta_k), A = diag(alpha) and lam the penalty, q_j and delta_k solve

    G^mu_kl = (p/d) sum_j omega_j q_j V_j(mu) l_jk l_jl,      S^mu = G^mu (I + A G^mu)^{-1}
    1/q_j   = lam + sum_k alpha_k c_jk^2 + sum_mu w_mu V_j(mu) l_j^T (A^{-1} + G^mu)^{-1} l_j
    delta_k = (p/n) t_k,   t_k = sum_j omega_j q_j c_jk^2 + (d/p) sum_mu w_mu S^mu_kk

A pattern m_jk with ``leverage`` is one more direction, of multiplicity one instead of d: l_jk -> m_jk, w_mu = 1/d, V = d. It
counts what the readout spends on learning the signal itself, of relative order rank/n: it matters when many coordinates are
given. A ``constant`` that the pattern has besides may be large: with own_j = omega_j q_j, m_j = G + e_j around the mean G over
the neurons and H = p sum_j own_j e_j e_j^T, all of it is (I + H A)^{-1} and h = (I + H A)^{-1} G, as in ``errors``:

    s = 1/(p sum_j own_j),   u = s + G^T A h,   S = S_H + h h^T/u,   Y_j = Y_Hj + h (s - e_j^T A h)/u
    m_i^T A Y_j = e_i^T A Y_Hj + (s (G^T A h + e_i^T A h + e_j^T A h) - e_i^T A h e_j^T A h)/u

Groups by the hundred: the tables are smooth, so that their rows span few functions of k, gain = L R, and all of the above is done
with r x r matrices: S = R^T H (I + R A R^T H)^{-1} R with H = (p/d) L^T diag(omega q V) L.

The map is increasing in (log q, log delta) with row sums below one, so I minus its Jacobian is an M-matrix and Newton's
method in the logarithms is safe; the Jacobian costs hardly more than the map, since it is made of the same solves.

All functions take several problems side by side: a leading axis of every array (written ``...``), penalties included.
"""

from typing import NamedTuple, Protocol, runtime_checkable

import numpy as np
from jaxtyping import Bool, Float, Inexact, Int

from giantstep._machine.arrays import Array, frozen, xp
from giantstep.functions._gaussian_averages import Scalar
from giantstep.theory.one_step._newton import newton

TOLERANCE = 1e-9  # largest relative residual of a solution
DEAD = 1e-30  # trace of samples on which every feature is zero (ReLU far on its flat side), so that it has a logarithm
FAINT = 1e-6  # trace, against the largest, below which samples do not matter and rounding does
MAX_STEPS = 80
LONGEST = 4.0  # of one step, in logarithms
SETTLED = 1e-7  # a Newton step from here ends at rounding


class Features(NamedTuple):
    """The features' conditional law and the sizes: everything of the fixed point but the penalty."""

    omega: Float[Array, "... J"]
    pi: Float[Array, "... K"]
    modes: Float[Array, "... M"]  # weights w_mu
    gain: Float[Array, "... J K"]  # l_jk
    noise: Float[Array, "... J K"]  # c_jk^2
    variance: Float[Array, "... M J"]  # V_j(mu)
    p_over_d: Scalar | Float[Array, "..."]
    p_over_n: Scalar | Float[Array, "... #K"]  # one for all samples, or by group
    # R, orthonormal rows under pi, for a problem by itself; None for groups so few that R = 1
    basis: Float[Array, "r K"] | None = None
    leverage: Float[Array, "J K"] | None = None  # a pattern m_jk less its constant, whose leverage counts
    constant: Scalar = 0.0  # of that pattern
    p: Scalar | None = None  # width, with a pattern


class Derivatives(NamedTuple):
    """What the fixed point and its derivatives are made of, at some (q, alpha).

    right: 1/q_j as the equation gives it; trace: t_k; coupling: -d(1/q_j)/dq_i; slope: d(1/q_j)/dalpha_k, which is also
    (dt_k/dq_j)/omega_j; d_trace: dt_k/dalpha_l at fixed q.
    """

    right: Float[Array, "... J"]
    trace: Float[Array, "... K"]
    coupling: Float[Array, "... J J"]
    slope: Float[Array, "... J K"]
    d_trace: Float[Array, "... K K"]


class FixedPoint(NamedTuple):
    """q_j and delta_k, the largest relative residual and the number of Newton steps."""

    q: Float[Array, "... J"]
    delta: Float[Array, "... K"]
    residual: Float[Array, "..."]
    steps: Int[Array, ""]

    @property
    def converged(self) -> Bool[Array, "..."] | np.bool_:
        return self.residual < TOLERANCE


@runtime_checkable
class Spanned(Protocol):
    """Features whose tables over the samples are spanned by few functions."""

    @property
    def pi(self) -> Float[Array, "... K"]: ...

    @property
    def basis(self) -> Float[Array, "r K"] | None: ...


def inner(f: Spanned, table: Inexact[Array, "... K"]) -> Inexact[Array, "... r"]:
    """Coefficients of a table's rows in the basis."""
    return table if f.basis is None else (table * f.pi) @ f.basis.T


def outer(f: Spanned, coefficients: Inexact[Array, "... r"]) -> Inexact[Array, "... K"]:
    """Rows of a table from their coefficients in the basis."""
    return coefficients if f.basis is None else coefficients @ f.basis


def gram(f: Spanned, weights: Inexact[Array, "... K"]) -> Inexact[Array, "... r r"]:
    """The Gram matrix of the basis under these weights, R diag(weights) R^T."""
    if f.basis is None:
        return weights[..., None] * np.eye(weights.shape[-1])
    return (f.basis * weights[..., None, :]) @ f.basis.T


def spanning(
    omega: Float[np.ndarray, " J"], pi: Float[np.ndarray, " K"], tables: list[Float[np.ndarray, "J K"]], small: float
) -> Float[np.ndarray, "r K"]:
    """Functions of k, orthonormal under pi, that span the rows of all tables; singular values below the share ``small`` are left
    out."""
    root, total = np.sqrt(pi), np.zeros((pi.size, pi.size))
    for x in tables:
        gram = (omega[:, None] * x).T @ x * root * root[:, None]
        total += gram / max(float(np.trace(gram)), 1e-300)
    values, vectors = np.linalg.eigh(total)
    return vectors.T[values > small**2 * values[-1]] / np.maximum(root, 1e-150)


def wide(x: Scalar | Float[Array, "..."], axes: int) -> Float[Array, "..."]:
    """One number for every problem, with so many more axes."""
    return xp.reshape(x, (*np.shape(x), *(1,) * axes))


def applied(table: Inexact[Array, "... a b"], x: Inexact[Array, "... b"]) -> Inexact[Array, "... a"]:
    """The matrix times the vector, for every problem."""
    return (table @ x[..., None])[..., 0]


def turned(table: Inexact[Array, "... a b"]) -> Inexact[Array, "... b a"]:
    """The transposed matrix, for every problem."""
    return xp.swapaxes(table, -1, -2)


def modes(
    f: Features,
    q: Inexact[Array, "... J"],
    alpha: Inexact[Array, "... K"],
    variance: Float[Array, "... M J"],
    gain: Float[Array, "... J K"] | None = None,
) -> tuple[Inexact[Array, "... M r r"], Inexact[Array, "... M J r"]]:
    """S^mu (..., M, r, r) and Y^mu_j = (I + G^mu A)^{-1} l_j (..., M, J, r) in the basis, for modes of that variance."""
    L = inner(f, f.gain if gain is None else gain)
    L = L[..., None, :, :]
    across = turned(L)
    H = (wide(f.p_over_d, 3) * across * (variance * (f.omega * q)[..., None, :])[..., None, :]) @ L
    both = xp.concatenate([H, xp.broadcast_to(across, (*H.shape[:-1], L.shape[-2]))], -1)
    r = L.shape[-1]
    solved = xp.linalg.solve(np.eye(r) + H @ gram(f, alpha)[..., None, :, :], both)
    return solved[..., :r], turned(solved[..., r:])


def derivatives(
    f: Features, penalty: Inexact[Array, "..."] | float, q: Inexact[Array, "... J"], alpha: Inexact[Array, "... K"]
) -> Derivatives:
    """The right-hand sides at (q, alpha) and their partial derivatives."""
    total = _part(f, q, alpha, f.modes, f.variance, f.gain)
    if f.leverage is not None:
        total = Derivatives(*(x + y for x, y in zip(total, _of_pattern(f, q, alpha), strict=True)))
    trace = total.trace + applied(turned(f.noise), f.omega * q) + DEAD
    # What the basis leaves of samples on which every feature is flat is rounding, of either sign
    if f.basis is not None:
        trace = xp.maximum(trace, FAINT * xp.max(trace, -1, keepdims=True))
    return total._replace(
        right=total.right + xp.asarray(penalty)[..., None] + applied(f.noise, alpha),
        trace=trace,
        slope=total.slope + f.noise,
    )


def _part(
    f: Features,
    q: Inexact[Array, "... J"],
    alpha: Inexact[Array, "... K"],
    weights: Float[Array, "... M"],
    variance: Float[Array, "... M J"],
    gain: Float[Array, "... J K"],
) -> Derivatives:
    """The terms that modes of these weights and variances, with one gain, add to the derivatives."""
    core, Y = modes(f, q, alpha, variance, gain)
    S, Y = outer(f, turned(outer(f, core))), outer(f, Y)
    each = weights[..., None]
    weighted = each * variance  # w_mu V_j(mu)
    T = (gain * alpha[..., None, :])[..., None, :, :] @ turned(Y)  # l_j^T (A^{-1} + G)^{-1} l_i
    both = (weighted[..., None] * T**2 * variance[..., None, :]).sum(-3)
    return Derivatives(
        right=xp.sum(weighted * xp.diagonal(T, axis1=-2, axis2=-1), -2),
        trace=xp.sum(each * xp.diagonal(S, axis1=-2, axis2=-1), -2) / wide(f.p_over_d, 1),
        coupling=wide(f.p_over_d, 2) * f.omega[..., None, :] * both,
        slope=xp.sum(weighted[..., None] * Y**2, -3),
        d_trace=-xp.sum(each[..., None] * S**2, -3) / wide(f.p_over_d, 2),
    )


def _of_pattern(f: Features, q: Float[Array, " J"], alpha: Float[Array, " K"]) -> Derivatives:
    """The terms of the pattern whose leverage counts."""
    assert f.leverage is not None and f.p is not None
    own, A = f.omega * q, gram(f, alpha)
    mean = own @ f.leverage / xp.sum(own)
    e = f.leverage - mean
    L, G = inner(f, e), inner(f, mean + f.constant)
    H, r = f.p * turned(L * own[:, None]) @ L, len(A)
    solved = xp.linalg.solve(np.eye(r) + H @ A, xp.concatenate([H, turned(L), G[:, None]], 1))
    core, Y, h = solved[:, :r], turned(solved[:, r:-1]), solved[:, -1]
    s, a = 1 / (f.p * xp.sum(own)), e * alpha @ outer(f, h)
    known = G @ A @ h
    u = s + known
    S = outer(f, turned(outer(f, core + h[:, None] * h / u)))
    T = e * alpha @ turned(outer(f, Y)) + (s * (known + a[:, None] + a) - a[:, None] * a) / u
    Y = outer(f, Y + (s - a)[:, None] * h / u)
    return Derivatives(
        right=xp.diagonal(T),
        trace=xp.diagonal(S) / f.p,
        coupling=f.p * f.omega * T**2,
        slope=Y**2,
        d_trace=-(S**2) / f.p,
    )


def alphas(f: Features, delta: Inexact[Array, "... K"]) -> Inexact[Array, "... K"]:
    """The samples' effective weights, alpha_k = pi_k / (1 + delta_k)."""
    return f.pi / (1 + delta)


def system(
    f: Features, penalty: Inexact[Array, "..."] | float, x: Inexact[Array, "... JK"], sign: int = 1
) -> tuple[Inexact[Array, "... JK"], Inexact[Array, "... JK JK"]]:
    """Relative residuals at x = (log q, log delta) and their Jacobian.

    At a penalty -z above the bulk q and delta are negative: ``sign=-1`` takes the logarithms of -q and -delta. At a complex
    penalty x is complex.
    """
    J, K = f.gain.shape[-2:]
    q, delta = sign * xp.exp(x[..., :J]), sign * xp.exp(x[..., J:])
    alpha = alphas(f, delta)
    at = derivatives(f, penalty, q, alpha)
    residual = xp.concatenate([xp.log(q * at.right), xp.log(delta / (f.p_over_n * at.trace))], -1)
    d_alpha = (-alpha * delta / (1 + delta))[..., None, :]  # dalpha / dlog delta
    right, trace = at.right[..., None], at.trace[..., None]
    top = xp.concatenate([np.eye(J) - at.coupling * q[..., None, :] / right, at.slope * d_alpha / right], -1)
    left = -(f.omega * q)[..., None, :] * turned(at.slope) / trace
    bottom = xp.concatenate([left, np.eye(K) - at.d_trace * d_alpha / trace], -1)
    return residual, xp.concatenate([top, bottom], -2)


def start(f: Features, penalty: Scalar | Float[Array, "..."]) -> Float[Array, "... JK"]:
    """(log q, log delta) below the solution: q as if the samples were independent of each other and infinitely many, delta
    from it."""
    row = applied(turned(f.variance), f.modes)
    loose = f.noise + row[..., None] * f.gain**2
    q = 1 / (wide(penalty, 1) + applied(loose, f.pi))
    trace = applied(turned(loose), f.omega * q) + DEAD
    return xp.log(xp.concatenate([q, f.p_over_n * trace], -1))


def _held(f: Features) -> Features:
    return Features(*(None if x is None else frozen(x) for x in f))  # type: ignore[arg-type]


def solve(f: Features, penalty: Scalar | Float[Array, "..."], near: Float[Array, "... JK"] | None = None) -> FixedPoint:
    """The fixed point at one penalty; differentiable in everything by the implicit function theorem.

    ``near`` is (log q, log delta) of a solution nearby, which saves most of the steps.
    """
    held, lam = _held(f), frozen(penalty)

    def move(x):
        residual, matrix = system(held, lam, x)
        full = -xp.linalg.solve(matrix, residual[..., None])[..., 0]
        return full * xp.minimum(1.0, LONGEST / xp.max(xp.abs(full), -1, keepdims=True))

    x, steps = newton(move, start(held, lam) if near is None else frozen(near), SETTLED, MAX_STEPS)
    # A last Newton step, through which derivatives flow: x* = x - J^{-1} F(x, theta) has dx*/dtheta = -J^{-1} dF/dtheta.
    residual, matrix = system(f, penalty, frozen(x))
    x = x - xp.linalg.solve(frozen(matrix), residual[..., None])[..., 0]
    size = xp.max(xp.abs(residual), -1)
    J = f.omega.shape[-1]
    return FixedPoint(xp.exp(x[..., :J]), xp.exp(x[..., J:]), xp.where(xp.isfinite(size), size, xp.inf), steps)
