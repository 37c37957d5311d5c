"""Scalings of columns, chosen by random features."""

import numpy as np

from giantstep.estimator import GiantStepRegressor


def test_outliers_choose_normal_scores_and_pixels_one_factor():
    rng = np.random.default_rng(0)
    Z = rng.standard_normal((600, 5))
    y = np.tanh(Z[:, 0]) + 0.1 * rng.standard_normal(600)
    m = GiantStepRegressor(steps=0)  # random features choose, before any step
    assert m.fit(Z, y).scaling_ == "standard"
    assert m.fit(np.sinh(3 * Z), y).scaling_ == "normal"
    pixels = Z * [1.0, 1.0, 0.02, 0.02, 0.02]
    assert m.fit(pixels, y).scaling_ == "common"
