"""Missing values: means in their place, and a column that says where they are."""

import numpy as np
import pytest

from giantstep.estimator import GiantStepRegressor


def test_missing_values_are_filled_and_said():
    """Half of a column that matters is missing, more often where it is large: the model uses where it is missing."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((800, 4))
    y = 2 * X[:, 1] + X[:, 0]
    X[X[:, 1] + 0.3 * rng.standard_normal(800) > 0, 1] = np.nan
    m = GiantStepRegressor(model="network", steps=0).fit(X[:500], y[:500])
    assert m.score(X[500:], y[500:]) > 0.75
    assert m.directions_.names == ("x1", "x2", "x3", "x4", "(x2 is missing)") and m.directions_.components.shape[1] == 5
    filled = np.where(np.isnan(X), np.nanmean(X[:500], axis=0), X)
    blind = GiantStepRegressor(model="network", steps=0).fit(filled[:500], y[:500])
    whole = GiantStepRegressor(model="network", steps=0).fit(np.c_[filled, np.isnan(X[:, 1])][:500], y[:500])
    np.testing.assert_allclose(m.predict(X[500:]), whole.predict(np.c_[filled, np.isnan(X[:, 1])][500:]), rtol=1e-6)
    elsewhere = X[500:].copy()
    elsewhere[0, 3] = np.nan  # where nothing was missing before: the mean
    assert np.isfinite(m.predict(elsewhere)).all() and vars(blind)["n_features_in_"] == 4
    with pytest.raises(ValueError, match="infinity"):
        GiantStepRegressor().fit(np.where(np.isnan(X), np.inf, X), y)
