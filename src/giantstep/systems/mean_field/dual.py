"""The dual of entropic mean-field training, exactly, for a prior that is a pool of draws: a convex problem in n variables.

    P(mu) = (1/n) sum_i l_i(f_mu(x_i)) + lam KL(mu | nu),        f_mu(x) = int h_theta(x) mu(d theta),  |h| <= B
    D(g)  = -(1/n) sum_i l*_i(g_i) - lam log E_nu exp(-U_g),     U_g(theta) = (1/(lam n)) sum_i g_i h_theta(x_i)

and P(mu) >= D(g), with equality at the optimum alone. For ``mu_g = exp(-U_g) nu / Z`` the entropies cancel from the gap,

    P(mu_g) - D(g) = (1/n) sum_i [l_i(f_i) + l*_i(g_i) - g_i f_i],    f_i = f_{mu_g}(x_i),

so that it needs no log Z. A pool of N draws stands for nu: H has its features, one row a draw.
"""

from typing import NamedTuple

import numpy as np
from jaxtyping import Float, Int
from scipy.optimize import minimize

from giantstep._machine.backend import one_blas_thread
from giantstep.functions import losses as _losses


class DualState(NamedTuple):
    """The law mu_g over a pool: its objective, dual value and gap, its entropy, its outputs, and the pool's weights.

    ``ess`` is 1 / sum of squared weights: how many draws of the pool carry the law. ``error`` is the standard error that the
    pool leaves in log Z, times lam.
    """

    objective: float
    dual: float
    gap: float
    kl: float
    outputs: Float[np.ndarray, " n"]
    weights: Float[np.ndarray, " N"]
    ess: float
    error: float


def at(
    H: Float[np.ndarray, "N n"], y: Float[np.ndarray, " n"], g: Float[np.ndarray, " n"], lam: float, loss: str
) -> DualState:
    """Compute the state at the dual variables g."""
    n, N = len(y), len(H)
    U = H @ g / (lam * n)
    least = float(np.min(U))
    w = np.exp(least - U)
    Z = float(np.sum(w))
    w, log_z = w / Z, float(np.log(Z / N)) - least
    f = w @ H
    # KL(mu_g | nu) = -E U - log Z
    kl = -float(w @ U) - log_z
    objective = float(np.mean(_losses.value(loss, f, y))) + lam * kl
    gap = young(f, g, y, loss)
    ess = 1 / float(np.sum(w**2))
    # Var log Z = (N/ess - 1)/N, to first order; with equal weights rounding may leave less than nothing
    return DualState(objective, objective - gap, gap, kl, f, w, ess, lam * (max(N / ess - 1, 0.0) / N) ** 0.5)


def young(f: Float[np.ndarray, " n"], g: Float[np.ndarray, " n"], y: Float[np.ndarray, " n"], loss: str) -> float:
    """The gap P - D of the law with outputs f at the dual variables g."""
    return float(np.mean(_losses.value(loss, f, y) + _losses.conjugate(loss, g, y) - g * f))


def optimum(
    H: Float[np.ndarray, "N n"], y: Float[np.ndarray, " n"], lam: float, loss: str
) -> tuple[Float[np.ndarray, " n"], DualState]:
    """The g that maximises D, and its state, by L-BFGS. The gap of the state says how well it converged.

    In g = l'(s), whose s is free: dD/ds_i = -l''(s_i) (s_i - f_i)/n, as l*'(l'(s)) = s.
    """
    n = len(y)

    def negative(s: np.ndarray) -> tuple[float, np.ndarray]:
        g = np.asarray(_losses.slope(loss, s, y))
        here = at(H, y, g, lam, loss)
        return -here.dual, np.asarray(_losses.bend(loss, s, y)) * (s - here.outputs) / n

    with one_blas_thread():
        best = minimize(
            negative, np.zeros(n), jac=True, method="L-BFGS-B", options={"maxiter": 2000, "ftol": 0, "gtol": 1e-10}
        )
        g = np.asarray(_losses.slope(loss, best.x, y))
        return g, at(H, y, g, lam, loss)


def path(
    H: Float[np.ndarray, "N n"],
    y: Float[np.ndarray, " n"],
    several: Float[np.ndarray, "records n"],
    lam: float,
    loss: str,
) -> tuple[Float[np.ndarray, " records"], Float[np.ndarray, " records"]]:
    """Objective and dual value along dual variables (records, n)."""
    blocks = np.array_split(several, max(1, len(several) * len(H) // 2**20))
    with one_blas_thread():
        values = [_several(H, y, g, lam, loss) for g in blocks]
    return np.concatenate([each[0] for each in values]), np.concatenate([each[1] for each in values])


def _several(
    H: Float[np.ndarray, "N n"], y: Float[np.ndarray, " n"], g: Float[np.ndarray, "records n"], lam: float, loss: str
) -> tuple[Float[np.ndarray, " records"], Float[np.ndarray, " records"]]:
    """``at`` for rows of g at once, without what it says beside objective and dual value."""
    U = g @ H.T / (lam * len(y))
    low = U.min(axis=1, keepdims=True)
    w = np.exp(low - U)
    total = w.sum(axis=1, keepdims=True)
    f = (w @ H) / total
    # lam KL = -(1/n) sum_i g_i f_i - lam log Z
    entropy = -np.mean(g * f, axis=1) - lam * (np.log(total / len(H)) - low)[:, 0]
    losses, conjugates = _losses.value(loss, f, y), _losses.conjugate(loss, g, y)
    return losses.mean(axis=1) + entropy, np.mean(g * f - conjugates, axis=1) + entropy


def contraction(n: int, bound: float, lam: float, loss: str) -> float:
    """1 / (n + B^2 L / lam): what a step of coordinate ascent takes at least from the dual excess, in the mean.

    With L = max l'': a step along i gains n [D(g') - D(g)] >= -l*(g'_i) + l*(g_i) + (g'_i - g_i) f_i
    - (B^2/(2 n lam)) (g'_i - g_i)^2, as the variance of h is at most B^2 (Shalev-Shwartz and Zhang 2013, theorem 5).
    """
    return 1 / (n + bound**2 * _losses.SMOOTH[loss] / lam)


def averaging(
    steps: Float[np.ndarray, " T"] | Int[np.ndarray, " T"], kl: float, steepest: float, bound: float, lam: float
) -> Float[np.ndarray, " T"]:
    """2 lam KL(mu*)/T + 2 G^2 B^2/(lam (T + 1)): bounds the mean over s <= T, weighted by s, of P(mu_s) - P(mu*).

    For dual averaging with weights s and |l'| <= G. With A_t = t(t+1)/2 and psi_t = sum_{s<=t} s g_s h_s + lam A_{t+1} KL,
    mu_{t+1} minimises psi_t, psi_{t-1}(mu) = psi_{t-1}(mu_t) + lam A_t KL(mu | mu_t), and Hoeffding's lemma gives
    sum_s s [P(mu_s) - P(mu*)] <= (T + 1) lam KL(mu*) + sum_s s^2 g_s^2 B^2/(2 lam A_s) in the mean over the stream.
    """
    return 2 * lam * kl / steps + 2 * (steepest * bound) ** 2 / (lam * (steps + 1))
