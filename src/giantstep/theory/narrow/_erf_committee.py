"""Expectations of erf committees in closed form (Saad and Solla 1995; Goldt et al. 2019), for one-pass SGD.

For g(x) = erf(x/sqrt2) and (x_1, ..., x_4) ~ N(0, C):

    E[g_1 g_2]          = (2/pi) asin(C_12 / sqrt((1 + C_11)(1 + C_22)))
    E[g_1' x_2 g_3]     = (2/pi) (C_23 (1 + C_11) - C_12 C_13) / ((1 + C_11) sqrt((1 + C_11)(1 + C_33) - C_13^2))
    E[g_1' g_2']        = (2/pi) / sqrt(L_4),                       L_4 = (1 + C_11)(1 + C_22) - C_12^2
    E[g_1' g_2' g_3 g_4] = (4/pi^2) asin(L_0 / sqrt(L_1 L_2)) / sqrt(L_4)

A network erf(c x) is one of these in sqrt2 c x. The student's units and the target's together are one committee, whose output
Delta = sum_m v_m g(x_m) has v = (target's weights, -s a).
"""

from collections.abc import Callable

import numpy as np
from jaxtyping import Float
from scipy.special import erf

from giantstep.experiment.setting import Setting

Means = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray, float]]  # of (Q, M): drift, spread and risk
SCALES = (np.sqrt(0.5), 1.0)  # c in erf(c x) that are recognised
EXACT = 1e-12  # largest difference of a function from the erf it is taken for


def means(setting: Setting, a: Float[np.ndarray, " p"]) -> Means | None:
    """The expectations of ``sgd`` as a function of (Q, M), or None where network and target are not erf committees."""
    x = np.linspace(-3, 3, 41)
    sigma, target = setting.network.activation, setting.target
    student = _scale(np.asarray(sigma(x)), x)
    if student is None or setting.target.mixing is not None:
        return None
    z = np.random.default_rng(0).standard_normal((target.rank, 64))
    y = np.asarray(target(z), dtype=float)
    for c in SCALES:
        weights = np.linalg.lstsq(erf(c * z).T, y, rcond=None)[0]
        if np.max(np.abs(weights @ erf(c * z) - y)) < EXACT:
            return _closed(setting, a, student, c, weights)
    return None


def _scale(values: Float[np.ndarray, " n"], x: Float[np.ndarray, " n"]) -> float | None:
    return next((c for c in SCALES if np.max(np.abs(values - erf(c * x))) < EXACT), None)


def _closed(
    setting: Setting, a: Float[np.ndarray, " p"], student: float, teacher: float, weights: Float[np.ndarray, " r"]
) -> Means:
    p, noise = setting.p, setting.target.noise
    v = np.concatenate([-setting.network.factor * a, weights])
    unit = np.sqrt(2) * np.concatenate([np.full(p, student), np.full(len(weights), teacher)])

    def means(Q: np.ndarray, M: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
        C = np.block([[Q, M], [M.T, np.eye(M.shape[1])]]) * np.outer(unit, unit)
        one = 1 + np.diag(C)
        risk = v @ ((2 / np.pi) * np.arcsin(C / np.sqrt(np.outer(one, one)))) @ v
        # E[g_i' x_j Delta] over units m: arrays (i, j, m); sigma' = unit g' and lambda = x/unit
        o, Ci = one[:p, None, None], C[:p]
        top = C[None] * o - Ci[:, :, None] * Ci[:, None, :]
        drift = (2 / np.pi) * (top / (o * np.sqrt(o * one - Ci[:, None, :] ** 2))) @ v
        drift = drift * unit[:p, None] / unit
        spread = (_fourth(C, one, p, v) + noise**2 * _second(C, one, p)) * np.outer(unit[:p], unit[:p])
        return drift, spread, float(risk)

    return means


def _second(C: Float[np.ndarray, "m m"], one: Float[np.ndarray, " m"], p: int) -> Float[np.ndarray, "p p"]:
    """E[g_i' g_j'] of the student's units."""
    return (2 / np.pi) / np.sqrt(np.outer(one[:p], one[:p]) - C[:p, :p] ** 2)


def _fourth(
    C: Float[np.ndarray, "m m"], one: Float[np.ndarray, " m"], p: int, v: Float[np.ndarray, " m"]
) -> Float[np.ndarray, "p p"]:
    """E[g_i' g_j' Delta^2]: units 1, 2 are i, j of the student, 3, 4 run over all; arrays (i, j, m, n)."""
    o1, o2 = one[:p, None, None, None], one[None, :p, None, None]
    C12 = C[:p, :p, None, None]
    C1, C2 = C[:p, None, :], C[None, :p, :]  # (i, 1, m), (1, j, m)
    L4 = o1 * o2 - C12**2
    C13, C14, C23, C24 = C1[..., :, None], C1[..., None, :], C2[..., :, None], C2[..., None, :]
    L0 = L4 * C - C23 * C24 * o1 - C13 * C14 * o2 + C12 * (C13 * C24 + C14 * C23)
    L4m, c12 = L4[..., 0], C12[..., 0]
    L1 = L4m * one - C2**2 * o1[..., 0] - C1**2 * o2[..., 0] + 2 * c12 * C1 * C2
    ratio = np.clip(L0 / np.sqrt(L1[..., :, None] * L1[..., None, :]), -1, 1)
    return np.einsum("ijmn,m,n->ij", (4 / np.pi**2) / np.sqrt(L4) * np.arcsin(ratio), v, v)
