"""First layers drawn from the law of the rows after giant steps, without drawing the batches (``theory.steps.rows``).

    w_i = sum_f (u_f(a_i) + N(0, D/d)) e_f + sum_l N(0, V(mu_l)/d) e_l

the modes mu_l of the directions beyond the frame in the shares that the spectral law gives them. Rows that start on the sphere
keep the length b of what the steps have left of them.
"""

import numpy as np
from jaxtyping import Float
from scipy.linalg import null_space

from giantstep.experiment.setting import Setting
from giantstep.theory.steps._rows import MovedRows


def drawn(setting: Setting, rows: MovedRows, seed: int) -> Float[np.ndarray, "p d"]:
    """A first layer (p, d); the values of a are drawn too."""
    rng, d, p, F = np.random.default_rng(seed), setting.d, setting.p, rows.u.shape[0]
    group = rng.choice(rows.a.size, p, p=rows.omega / rows.omega.sum())
    values, vectors = np.linalg.eigh(rows.D[: rows.a.size])
    root = vectors * np.sqrt(np.maximum(values, 0.0))[:, None, :]
    inside = np.einsum("iab,ib->ia", root[group], rng.standard_normal((p, F)))
    weights, variance = rows.modes
    reached = np.cumsum(weights) / np.sum(weights)
    mode = np.minimum(np.searchsorted(reached, (np.arange(d - F) + 0.5) / (d - F)), weights.size - 1)
    beyond = np.sqrt(variance[mode][:, group].T) * rng.standard_normal((p, d - F))
    g = np.concatenate([inside, beyond], axis=1) / d**0.5
    if setting.network.rows == "sphere":
        g *= (np.sqrt(rows.square)[group] / np.linalg.norm(g, axis=1))[:, None]
    g[:, :F] += rows.u[:, group].T
    own = setting.target.orthonormal(d)
    return g[:, : rows.rank] @ own + g[:, rows.rank :] @ null_space(own).T
