"""Several outputs of a mean-field network: one output in a table is one output, and two are learned by shared neurons."""

import numpy as np
import pytest

import giantstep as gs
from giantstep.systems.mean_field._several_outputs import asked
from giantstep.systems.mean_field.bases import basis

GRID = np.linspace(0, 1, 20)
HOW = {"count": 4, "penalty": 0.05, "particles": 600, "pool": 512}


def curves(n, seed):
    """Curves of four cosines, and two labels that depend on the first two of them."""
    x = np.random.default_rng(seed).standard_normal((n, 4)) / np.arange(1, 5)
    return x @ basis(GRID, 4).T, np.stack([np.tanh(2 * x[:, 0]), np.tanh(x[:, 0] - 4 * x[:, 1])], axis=1)


def test_a_table_of_one_column_is_a_list_of_labels():
    x, y = curves(12, 0)
    one, table = (gs.mean_field.fit(x, each, GRID, passes=2, **HOW) for each in (y[:, 0], y[:, :1]))
    assert table.gap == one.gap and table.field.objective == one.field.objective
    np.testing.assert_array_equal(table.predict(x)[:, 0], one.predict(x))


def test_two_outputs_are_learned_and_certified():
    """The certificate holds, and the error on other curves is below half of the labels' variance in each output."""
    (x, y), (other, wanted) = curves(60, 1), curves(400, 2)
    fit = gs.mean_field.fit(x, y, GRID, passes=15, **HOW)
    assert fit.field.neurons.shape == (600, 6) and fit.gap < 0.1 * fit.field.objective
    found = fit.predict(other)
    assert found.shape == (400, 2)
    assert np.all(np.mean((found - wanted) ** 2, axis=0) < 0.5 * np.var(wanted, axis=0))
    swapped = asked(np.array([[5.0, 6.0, 1.0], [7.0, 8.0, 1.0]]), 2)
    np.testing.assert_array_equal(swapped, [[5, 6, 1, 0], [5, 6, 0, 1], [7, 8, 1, 0], [7, 8, 0, 1]])


@pytest.mark.parametrize(
    ("rows", "options", "sentence"),
    [(5, {}, "y must have 6 rows"), (6, {"intercept": False}, "several outputs need intercept=True")],
)
def test_what_is_no_table_of_labels_is_refused(rows, options, sentence):
    x, y = curves(6, 0)
    with pytest.raises(gs.InputError, match=sentence):
        gs.mean_field.fit(x, y[:rows], GRID, count=4, **options)
