"""Label transforms: directions that no average gradient shows."""

import numpy as np

from giantstep._machine.device import HOST
from giantstep.estimator.steps import _spectral as spectral
from giantstep.estimator.steps.corrected_step import damped
from giantstep.estimator.steps.network import Table


def test_label_transforms_show_what_the_gradient_hides():
    """x1 x2 x3 + x1: no gradient along x2 and x3 on average; y x1 is curved in their plane. Noise shows nothing."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((4000, 30))
    y = X[:, 0] * X[:, 1] * X[:, 2] + X[:, 0]
    covariance = damped(X.T @ X / 4000, HOST)
    table = Table(X, y[:, None], np.ones(4000))
    found = spectral.curved(table, spectral.transforms(table, np.eye(30)[:, :1]), covariance, rng, HOST)
    inside = (found[:, :3] ** 2).sum() / (found**2).sum()
    assert inside > 0.9
    assert np.all(np.linalg.svd(found[:, :3], compute_uv=False)[:3] > 0.5)
    noise = Table(X, rng.standard_normal((4000, 1)), np.ones(4000))
    chance = spectral.curved(noise, spectral.transforms(noise, np.eye(30)[:, :1]), covariance, rng, HOST)
    assert len(chance) == 0 or np.linalg.norm(chance, axis=1).max() < 0.3
