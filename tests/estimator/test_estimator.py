"""The estimators as scikit-learn's users meet them."""

import pickle
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris
from sklearn.exceptions import NotFittedError
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, cross_val_score, train_test_split
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

import giantstep as gs
from giantstep import InputError
from giantstep.estimator import GiantStepClassifier, GiantStepRegressor

CHOICES = (
    "what is chosen depends on which rows are held out: a repeated row can be on both sides; with all choices made by the user"
    " weights are repetitions (test_weights_are_repetitions_where_nothing_is_chosen)"
)


def explained(estimator):
    return {"check_sample_weight_equivalence_on_dense_data": CHOICES}


@parametrize_with_checks([GiantStepRegressor(), GiantStepClassifier()], expected_failed_checks=explained)
def test_scikit_learn(estimator, check):
    check(estimator)


def staircase(n: int, d: int, seed: int):
    X = np.random.default_rng(seed).standard_normal((n, d))
    return X, (X[:, 0] + X[:, 0] * X[:, 1]) / np.sqrt(2)


@pytest.fixture(scope="module")
def learned():
    return GiantStepRegressor().fit(*staircase(2000, 40, 0))


def test_a_staircase_is_climbed(learned):
    X, y = staircase(5000, 40, 1)
    error = np.mean((learned.predict(X) - y) ** 2)
    random = GiantStepRegressor(steps=0).fit(*staircase(2000, 40, 0))
    assert random.eta_ == () and random.steps_ == 0
    assert error < 0.02  # 0.003 measured
    assert np.mean((random.predict(X) - y) ** 2) > 0.4
    assert learned.steps_ == 3 and learned.loo_errors_[0] > 10 * learned.loo_error_


def test_its_directions_are_found(learned):
    d = learned.directions_
    assert d.count == 2
    assert np.sum(d.components[:2, :2] ** 2) > 1.98  # of 2: the span of x1 and x2
    assert d.share[1] > 0.98 > 0.9 > d.share[0] > 0.3
    np.testing.assert_allclose(d.components @ d.components.T, np.eye(len(d.components)), atol=1e-9)
    np.testing.assert_allclose(learned.transform(np.eye(40)).shape, (40, 2))


def test_explain_says_it(learned):
    told = learned.explain()
    text = str(told)
    assert text.startswith("The model explains ") and "2 directions stand out from chance in 40 columns." in text
    assert "random features" in text and "x1" in text and "too small" not in text
    assert "times the variance of the labels." in text  # the unit of the error without a direction
    plain = told.to_dict()
    assert plain["directions"] == 2 and plain["loo_error"] == learned.loo_error_
    assert sum(plain["weights"].values()) == pytest.approx(1)
    # without x1 nothing is left of (x1 + x1 x2) / sqrt 2; without x2 half of its variance
    np.testing.assert_allclose(plain["loo_error_without"][:2], [1.0, 0.5], atol=0.1)
    figure = told.plot()
    assert len(figure.axes) == 4 and figure.axes[0].get_title(loc="left") == "2 learned"
    assert figure.axes[1].get_xlabel() == "error without the direction / variance"


def test_a_fitted_model_is_plotted_as_its_explanation_and_one_direction_does_not_fill_its_panel(learned):
    figures = [gs.plot(x) for x in (learned, learned.explain())]
    assert [figure.axes[0].get_title(loc="left") for figure in figures] == ["2 learned"] * 2
    X = np.random.default_rng(0).standard_normal((300, 5))
    ax = gs.plot(GiantStepRegressor().fit(X, X[:, 0])).axes[1]
    (bar,) = ax.patches[:1]
    assert bar.get_window_extent().height < 0.25 * ax.bbox.height
    legend = ax.get_legend()
    assert legend is not None and not legend.get_window_extent().overlaps(bar.get_window_extent())
    with pytest.raises(gs.InputError, match="ax= is an option for outcomes"):
        gs.plot(learned, ax=ax)
    with pytest.raises(NotFittedError):
        gs.plot(GiantStepRegressor())


def test_the_same_every_time_and_after_pickling(learned):
    X, y = staircase(2000, 40, 0)
    again: Any = clone(learned)
    again.fit(X, y)
    np.testing.assert_array_equal(again.predict(X), learned.predict(X))
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(learned)).predict(X), learned.predict(X))
    other = GiantStepRegressor(random_state=1).fit(X, y)
    assert np.any(other.predict(X) != learned.predict(X))


def test_single_precision_is_close(learned):
    X, y = staircase(2000, 40, 0)
    T, t = staircase(3000, 40, 1)
    single = GiantStepRegressor().fit(X.astype(np.float32), y)
    assert single.predict(T.astype(np.float32)).dtype == np.float32
    one, two = (np.mean((m.predict(T.astype(m_type)) - t) ** 2) for m, m_type in ((single, "f4"), (learned, "f8")))
    assert one < 2 * two + 1e-3


def test_every_choice_can_be_made_and_read():
    X, y = staircase(500, 10, 2)
    m = GiantStepRegressor(
        width=50, activation="gelu", steps=2, eta=5.0, batch="fresh", penalty=0.01, scaling="normal", random_state=3
    )
    m.fit(X, y)
    assert (m.width_, m.steps_, m.eta_, m.batch_, m.penalty_, m.scaling_) == (
        50,
        2,
        (5.0, 5.0),
        "fresh",
        0.01,
        "normal",
    )


def test_weights_are_repetitions_where_nothing_is_chosen():
    X, y = staircase(300, 6, 3)
    weights = np.random.default_rng(0).integers(0, 4, 300)
    m = GiantStepRegressor(width=40, steps=2, eta=30.0, batch="reuse", penalty=1e-3, scaling="standard")
    one: Any = clone(m)
    two: Any = clone(m)
    one.fit(X, y, sample_weight=weights)
    two.fit(np.repeat(X, weights, axis=0), np.repeat(y, weights))
    np.testing.assert_allclose(one.predict(X), two.predict(X), rtol=1e-7, atol=1e-8)


def test_several_outputs_and_data_frames():
    pd = pytest.importorskip("pandas")
    X, y = staircase(1200, 8, 4)
    frame = pd.DataFrame(X, columns=[f"column {j}" for j in range(8)])
    m = GiantStepRegressor().fit(frame, np.stack([y, X[:, 3] ** 2], axis=1))
    T, t = staircase(1000, 8, 5)
    assert m.predict(pd.DataFrame(T, columns=frame.columns)).shape == (1000, 2)
    assert m.score(pd.DataFrame(T, columns=frame.columns), np.stack([t, T[:, 3] ** 2], axis=1)) > 0.9
    assert list(m.feature_names_in_) == list(frame.columns)  # type: ignore[attr-defined]
    assert set(m.directions_.names) == set(frame.columns)
    shown = m.set_output(transform="pandas").transform(frame)
    assert list(shown.columns) == [f"giantstepregressor{j}" for j in range(m.directions_.count)]


def test_pipeline_and_grid_search():
    X, y = load_diabetes(return_X_y=True)
    pipe = make_pipeline(StandardScaler(), GiantStepRegressor(width=32))
    search = GridSearchCV(pipe, {"giantstepregressor__steps": [0, 1]}, cv=3).fit(X, y)
    assert search.best_score_ > 0.4  # 0.47 measured; a ridge regression has 0.48


def test_classes_and_probabilities():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    assert cross_val_score(GiantStepClassifier(), X, names, cv=3).mean() > 0.93
    m = GiantStepClassifier().fit(X, names)
    p = m.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(m.classes_[p.argmax(axis=1)], m.predict(X))


def test_probabilities_are_calibrated_on_rows_left_out():
    X, y = load_breast_cancer(return_X_y=True)
    train, test, a, b = train_test_split(X, y, random_state=0, stratify=y)
    m = GiantStepClassifier(random_state=0).fit(train, a)
    scores = m.decision_function(test)
    fitted, blunt, sharp = (log_loss(b, 1 / (1 + np.exp(-k * scores))) for k in (m.sharpness_, 1.0, 30.0))
    np.testing.assert_allclose(m.predict_proba(test)[:, 1], 1 / (1 + np.exp(-m.sharpness_ * scores)), rtol=1e-9)
    assert fitted < 0.5 * blunt and fitted < sharp


def test_weights_of_classes_are_weights_of_rows():
    X, y = load_breast_cancer(return_X_y=True)
    rows = np.where(y == 0, 5.0, 1.0)
    one = GiantStepClassifier(steps=0, width=32, class_weight={0: 5.0, 1: 1.0}).fit(X, y)
    two = GiantStepClassifier(steps=0, width=32).fit(X, y, sample_weight=rows)
    np.testing.assert_allclose(one.predict_proba(X), two.predict_proba(X), rtol=1e-7)
    plain = GiantStepClassifier(steps=0, width=32).fit(X, y)
    assert one.predict(X).mean() < plain.predict(X).mean()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"steps": 4}, 'steps is "auto" or a whole number from 0 to 3, not 4'),
        ({"steps": True}, "steps is"),
        ({"eta": -1}, 'eta is "auto" or a positive number, not -1'),
        ({"penalty": float("nan")}, "penalty is"),
        ({"width": 0}, 'width is "auto" or a whole number of at least 1, not 0'),
        ({"batch": "old"}, 'batch is "auto", "fresh" or "reuse"'),
        ({"scaling": "log"}, 'scaling is "auto", "standard", "common", "normal", not "log"'),
        ({"model": "forest"}, 'model is "auto" or "network", not'),
        ({"device": "tpu"}, 'device is "auto", "cpu" or "gpu"'),
        ({"activation": "sign"}, "has no useful slope"),
        ({"activation": "__import__('os')"}, ""),
        ({"memory": 0.001, "width": 2000}, "needs at least"),
    ],
)
def test_bad_input_is_one_sentence(wrong, sentence):
    X, y = staircase(50, 3, 0)
    with pytest.raises(InputError) as error:
        GiantStepRegressor(**wrong).fit(X, y)
    assert sentence in str(error.value)
    assert "\n" not in str(error.value) or "^" in str(error.value)  # a formula is shown with the place


def test_an_absent_gpu_is_said():
    from giantstep._machine.backend import jax

    if jax.default_backend() != "cpu":
        pytest.skip("there is a GPU")
    with pytest.raises(InputError, match="there is none"):
        GiantStepRegressor(device="gpu").fit(*staircase(50, 3, 0))


def test_one_class_and_too_few_rows():
    with pytest.raises(InputError, match="one class"):
        GiantStepClassifier().fit(np.eye(4), ["a"] * 4)
    with pytest.raises(ValueError, match="minimum of 2"):
        GiantStepRegressor().fit(np.eye(1), [1.0])


def test_verbose_tells_every_stage(capsys):
    GiantStepRegressor(verbose=True, steps=1).fit(*staircase(200, 4, 0))
    assert capsys.readouterr().out.count("leave-one-out error") == 2


def test_the_host_needs_no_jax():
    fit = "from giantstep.estimator import GiantStepRegressor as G; X = np.eye(30); G().fit(X, X[:, 0])"
    code = f"import sys, numpy as np; {fit}; print('jax' in sys.modules)"
    done = subprocess.run([sys.executable, "-P", "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "False"
