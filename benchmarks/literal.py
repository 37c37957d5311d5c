"""The loops a researcher writes in NumPy: every step size trains anew, every penalty solves anew, every array is held whole."""

import numpy as np

from giantstep.experiment import draw
from giantstep.experiment.setting import Setting


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


def deflated_errors(setting: Setting, seed: int, n_test: int) -> tuple[float, float]:
    """One step and a ridge fit on one batch, both on labels without their linear part: the mean squared error on test labels
    without the linear part estimated on them, and the risk of the prediction, from the same random numbers as the library."""
    W, a = draw.weights(setting, seed)
    X, y = draw.rows(setting, seed, draw.step_batches(setting)[0])
    Xt, yt = draw.rows(setting, seed, draw.test_batch(n_test))
    sigma, scale, n = setting.network.activation, setting.network.factor, len(y)
    mean, slope = y.mean(), X.T @ y / n
    left = y - mean - X @ slope
    H = X @ W.T
    r = left - scale * np.asarray(sigma(H)) @ a
    W = W + float(setting.protocol.etas(setting.d, setting.p)[0]) * scale / n * (np.outer(r, a) * sigma.slope(H)).T @ X
    F = np.asarray(sigma(X @ W.T))
    penalty = setting.protocol.readout.penalty  # type: ignore[union-attr]
    b = np.linalg.solve(F.T @ F / n + penalty * np.eye(setting.p), F.T @ left / n)  # type: ignore[operator]
    error = yt - np.asarray(sigma(Xt @ W.T)) @ b
    apart = error - yt.mean() - Xt @ (Xt.T @ yt / n_test)
    return float(np.mean(apart**2)), float(np.mean((error - mean - Xt @ slope) ** 2))
