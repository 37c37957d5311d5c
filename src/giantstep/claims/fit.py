"""Ridge fits of features at hand: for claims that vary the samples or the width of one draw, where ``simulate`` would draw anew.

A smaller batch is the first rows of a larger one and a narrower network the first neurons of a wider one (see ``draw``), so what
is measured here is what ``simulate`` measures, at a fraction of the time.
"""

from collections.abc import Sequence

import numpy as np

from giantstep.experiment import draw
from giantstep.experiment.setting import Setting


def samples(setting: Setting, seed: int, n_test: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The readout's inputs and labels, and a test set whose labels have no noise."""
    return *draw.rows(setting, seed, draw.readout_batch(setting)), *draw.rows(setting, seed, draw.test_batch(n_test))


def error(F: np.ndarray, y: np.ndarray, Ft: np.ndarray, yt: np.ndarray, penalty: float) -> float:
    """Mean square of yt - Ft b at the minimum of (1/n) ||y - F b||^2 + penalty ||b||^2."""
    n, p = F.shape
    if p <= n:
        b = np.linalg.solve(F.T @ F / n + penalty * np.eye(p), F.T @ y / n)
    else:
        b = F.T @ np.linalg.solve(F @ F.T / n + penalty * np.eye(n), y) / n
    return float(np.mean((yt - Ft @ b) ** 2))


def path(F: np.ndarray, y: np.ndarray, Ft: np.ndarray, penalties: Sequence[float]) -> np.ndarray:
    """Predictions Ft b for every penalty, (penalties, test rows), by one factorisation."""
    n = len(F)
    values, vectors = np.linalg.eigh(F.T @ F / n)
    c, at = vectors.T @ (F.T @ y) / n, Ft @ vectors
    return np.stack([at @ (c / (np.maximum(values, 0.0) + penalty)) for penalty in penalties])
