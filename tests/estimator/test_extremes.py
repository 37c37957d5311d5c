"""Tables that are tiny, constant, collinear, huge, wide or weighted out of proportion: a sensible fit, or one sentence."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from giantstep.errors import InputError
from giantstep.estimator import GiantStepClassifier, GiantStepRegressor

QUICK = {"width": 32, "scaling": "standard"}
rng = np.random.default_rng(0)
X = rng.standard_normal((60, 4))
y = X[:, 0] + X[:, 1] ** 2


def fitted(X, y, **weights) -> np.ndarray:
    """The predictions of a fit, which must be finite."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # scikit-learn remarks on constant columns
        model = GiantStepRegressor(**QUICK).fit(X, y, **weights)
    found = model.predict(X)
    assert np.all(np.isfinite(found)) and np.isfinite(model.loo_error_)
    assert np.all(np.isfinite(model.transform(X))) and str(model.explain())
    return found


@pytest.mark.parametrize("d", [1, 3, 10])
@pytest.mark.parametrize("n", [2, 3, 4, 5, 6])
def test_a_few_rows(n, d):
    for seed in range(3):
        few = np.random.default_rng(seed).standard_normal((n, d))
        fitted(few, few[:, 0])
        model = GiantStepClassifier(**QUICK).fit(few, np.arange(n) % 2)
        assert set(model.predict(few)) <= {0, 1} and np.all(np.isfinite(model.predict_proba(few)))


def test_a_fold_of_one_row_in_single_precision():
    """Its features vary by rounding alone, so that their trace may be negative."""
    for seed in range(6):
        draw = np.random.default_rng(seed)
        fitted(draw.standard_normal((2, 1)).astype(np.float32), draw.standard_normal(2))


def test_fresh_rows_that_do_not_suffice_are_told():
    with pytest.raises(InputError, match='batch="fresh" with 3 steps needs at least 8 rows, not 6'):
        GiantStepRegressor(**QUICK, batch="fresh", steps=3).fit(X[:6], y[:6])


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e100, 1e153, 1e300])
def test_labels_of_any_size_are_fitted_alike(scale):
    np.testing.assert_allclose(fitted(X, y * scale) / scale, fitted(X, y), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize("scale", [1e-310, 1e-200, 1e200, 1e307])
def test_columns_of_any_size_are_fitted_alike(scale):
    np.testing.assert_allclose(fitted(X * scale, y), fitted(X, y), rtol=1e-6, atol=1e-6)
    one = X * np.array([scale, 1, 1, 1])
    np.testing.assert_allclose(fitted(one, y), fitted(X, y), rtol=1e-6, atol=1e-6)


@pytest.mark.parametrize(
    "table", [np.ones((60, 4)), np.zeros((60, 4)), np.tile(X[:1], (60, 1)), np.full((60, 1), 1e300)]
)
def test_rows_that_are_all_equal_give_the_mean(table):
    np.testing.assert_allclose(fitted(table, y), y.mean(), rtol=1e-6)


@pytest.mark.parametrize("value", [0.0, 3.0, -1e300])
def test_labels_that_are_all_equal_give_that_number(value):
    np.testing.assert_allclose(fitted(X, np.full(60, value)), value)


def test_collinear_columns_change_little():
    again = np.c_[X, X[:, :1], X @ rng.standard_normal((4, 3)), np.ones(60)]
    assert np.corrcoef(fitted(again, y), y)[0, 1] > 0.9


@pytest.mark.parametrize("weight", [1e308, 1e-308, 5e-324])
def test_a_common_factor_of_the_weights_changes_nothing(weight):
    np.testing.assert_allclose(fitted(X, y, sample_weight=np.full(60, weight)), fitted(X, y), rtol=1e-9)


def test_weights_out_of_all_proportion():
    with pytest.raises(InputError, match="two rows of positive weight"):
        fitted(X, y, sample_weight=np.r_[1e300, np.ones(59)])
    fitted(X, y, sample_weight=np.where(np.arange(60) % 2, 1e308, 1e-308))


def test_a_wide_table_is_the_dual_problem():
    wide = np.random.default_rng(1).standard_normal((30, 100_000))
    model = GiantStepRegressor(width=16, steps=0, memory=2.0).fit(wide, wide[:, 0])
    assert np.all(np.isfinite(model.predict(wide))) and model.directions_.components.shape[1] == 100_000
    np.testing.assert_allclose(np.linalg.norm(model.directions_.components, axis=1), 1.0, rtol=1e-9)


@pytest.mark.filterwarnings(
    "ignore:invalid value encountered in reduce"
)  # scikit-learn adds up the rows to look for NaN
def test_rows_far_outside_the_table_have_finite_predictions():
    for dtype in (np.float64, np.float32):
        model = GiantStepRegressor(**QUICK).fit(X.astype(dtype), y)
        far = np.full((2, 4), np.finfo(dtype).max) * np.array([[1], [-1]], dtype)
        assert np.all(np.isfinite(model.predict(far)))


@settings(max_examples=25)
@given(
    n=st.integers(2, 12),
    d=st.integers(1, 14),
    column=st.floats(-300, 300),
    label=st.floats(-300, 300),
    weight=st.floats(0, 600),
    kind=st.sampled_from(["normal", "integers", "constant", "two rows"]),
    single=st.booleans(),
    seed=st.integers(0, 99),
)
def test_any_table_is_fitted_or_refused_in_a_sentence(n, d, column, label, weight, kind, single, seed):
    draw = np.random.default_rng(seed)
    table = draw.standard_normal((n, d)) if kind == "normal" else draw.integers(-2, 3, (n, d)).astype(float)
    table = np.ones((n, d)) if kind == "constant" else table[[k % 2 for k in range(n)]] if kind == "two rows" else table
    table = table * 10.0**column
    table = table.astype(np.float32) if single and abs(column) < 30 else table
    labels, weights = draw.standard_normal(n) * 10.0**label, 10.0 ** draw.uniform(-weight / 2, weight / 2, n)
    try:
        fitted(table, labels, sample_weight=weights)
    except InputError as problem:
        assert len(str(problem)) < 300
