"""The loop a researcher writes in NumPy: every step size trains anew, every penalty solves anew."""

import numpy as np

from giantstep import draw
from giantstep.setting import Setting


def test_errors(setting: Setting, seed: int, etas: list[float], penalties: list[float], n_test: int) -> np.ndarray:
    """Test errors (eta, penalty) of a one-step setting, from the same random numbers as the library."""
    W0, a = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    Xr, yr = draw.rows(setting, seed, draw.readout_batch(setting))
    Xt, yt = draw.rows(setting, seed, draw.test_batch(n_test))
    sigma, scale = setting.network.activation, setting.network.factor
    result = np.zeros((len(etas), len(penalties)))
    for i, eta in enumerate(etas):
        gradient = -scale / len(y) * ((y[:, None] * a) * sigma.slope(X @ W0.T)).T @ X
        W = W0 - eta * gradient
        F, Ft = sigma(Xr @ W.T), sigma(Xt @ W.T)
        for j, penalty in enumerate(penalties):
            b = np.linalg.solve(F.T @ F / len(yr) + penalty * np.eye(F.shape[1]), F.T @ yr / len(yr))
            result[i, j] = np.mean((yt - Ft @ b) ** 2) + setting.target.noise**2
    return result
