"""Ridge fits of features at hand, for claims that vary the samples or the width of one draw.

``simulate`` would draw anew. A smaller batch is the first rows of a larger one and a narrower
network the first neurons of a wider one (see ``draw``), so what is measured here is what
``simulate`` measures, at a fraction of the time.
"""

from collections.abc import Sequence

import numpy as np

import giantstep as gs
from giantstep.experiment import draw


def samples(
    setting: gs.Setting, seed: int, n_test: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """The readout's inputs and labels, and a test set whose labels have no noise."""
    own = draw.rows(setting, seed, draw.readout_batch(setting))
    test = draw.rows(setting, seed, draw.test_batch(n_test))
    return *own, *test


def path(F: np.ndarray, y: np.ndarray, Ft: np.ndarray, penalties: Sequence[float]) -> np.ndarray:
    """Predictions Ft b of the ridge fits F b = y for every penalty, (penalties, test rows)."""
    return np.asarray(gs.ridge(F, y, penalties).coefficients) @ Ft.T


def error(F: np.ndarray, y: np.ndarray, Ft: np.ndarray, yt: np.ndarray, penalty: float) -> float:
    """Mean square of yt - Ft b for the ridge fit F b = y."""
    return float(np.mean((yt - path(F, y, Ft, [penalty])) ** 2))
