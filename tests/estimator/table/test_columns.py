"""A table whose columns are no numbers, or share a name: the sentence names the column."""

import numpy as np
import pandas as pd
import pytest

from giantstep.errors import InputError
from giantstep.estimator import GiantStepClassifier, GiantStepRegressor

ROWS = np.random.default_rng(0).standard_normal((30, 2))
LABELS = (ROWS[:, 0] > 0).astype(int)


def frame(**more):
    return pd.DataFrame({"age": ROWS[:, 0], "height": ROWS[:, 1], **more})


@pytest.mark.parametrize("model", [GiantStepRegressor, GiantStepClassifier])
@pytest.mark.parametrize(
    "entries",
    [["x"] * 30, [object()] * 30, pd.date_range("2020-01-01", periods=30), [1j] * 30, [[1.0]] * 30],
    ids=["texts", "objects", "dates", "complex", "lists"],
)
def test_the_column_is_named(model, entries):
    with pytest.raises(InputError, match="the column 'town' has entries that are no numbers"):
        model().fit(frame(town=entries), LABELS)


@pytest.mark.parametrize("model", [GiantStepRegressor, GiantStepClassifier])
def test_two_columns_of_one_name(model):
    table = frame().rename(columns={"height": "age"})
    with pytest.raises(InputError, match="two columns of the name 'age'"):
        model().fit(table, LABELS)


def test_an_array_of_texts_has_places():
    table = ROWS.astype(str)
    table[3, 1] = "x"
    with pytest.raises(InputError, match=r"the column X\[:, 1\]"):
        GiantStepRegressor().fit(table, LABELS)


def test_rows_to_predict_are_checked_alike():
    model = GiantStepRegressor(width=20).fit(frame(), LABELS)
    with pytest.raises(InputError, match="the column 'height'"):
        model.predict(frame(height=["x"] * 30))
    assert model.predict(frame()).shape == (30,)
