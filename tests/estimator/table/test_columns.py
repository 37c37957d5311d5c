"""A table whose columns are no numbers, or share a name: the sentence names the column."""

import numpy as np
import pandas as pd
import pytest
from sklearn.compose import make_column_transformer
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

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


WORDS = ["low", "high", "low"] * 10


def told(table, fit=lambda table: GiantStepRegressor().fit(table, LABELS)):
    with pytest.raises(InputError) as error:
        fit(table)
    return str(error.value)


@pytest.mark.parametrize(
    "entries", [WORDS, pd.Categorical(WORDS), pd.array(WORDS, dtype="string")], ids=["object", "category", "string"]
)
def test_a_column_of_words_is_told_its_transformer(entries):
    said = told(frame(level=entries))
    assert "ColumnTransformer, such as make_column_transformer((OneHotEncoder(sparse_output=False), ['level'])" in said


@pytest.mark.parametrize("made", [list, np.array], ids=["rows", "array"])
def test_lists_and_arrays_of_objects_are_told_it_too(made):
    rows = [[float(x), word] for x, word in zip(ROWS[:, 0], WORDS, strict=True)]
    said = told(made(rows) if made is list else np.array(rows, dtype=object))
    assert "the column X[:, 1] has entries that are no numbers" in said and "[1]), remainder='passthrough')" in said


def test_dates_have_no_values_to_encode():
    said = told(frame(day=pd.date_range("2020-01-01", periods=30)))
    assert "the column 'day'" in said and "turn it into numbers" in said and "OneHot" not in said


def test_the_transformer_of_the_sentence_works():
    table, words = frame(level=pd.Categorical(WORDS)), ["level"]
    encode = make_column_transformer((OneHotEncoder(sparse_output=False), words), remainder="passthrough")
    assert make_pipeline(encode, GiantStepRegressor(width=20)).fit(table, LABELS).predict(table).shape == (30,)
