"""Numbers in rows: names, intervals, what is allowed, and the legend below."""

import numpy as np
import pytest
from legible import faults, legends
from pictures import COLUMN

from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below


def test_rows_run_from_the_top_and_have_their_names():
    with style.figure(width=COLUMN, height=rows.height(3)) as (fig, ax):
        for row, mean in enumerate((1.0, 2.0, 3.0)):
            rows.interval(ax, row, mean, 0.5)
        rows.name_rows(ax, ["one", "two", "three"])
        places = [ax.transData.transform((0, row))[1] for row in range(3)]
        assert [each.get_text() for each in ax.get_yticklabels()] == ["one", "two", "three"]
        assert places[0] > places[1] > places[2] and faults(fig) == []


def test_what_is_allowed_is_shaded_on_its_row_alone():
    with style.figure() as (_, ax):
        rows.allowed(ax, 1, -2.0, 2.5)
        (shade,) = ax.collections
        box = shade.get_datalim(ax.transData)
        assert (box.x0, box.x1) == pytest.approx((-2.0, 2.5))
        assert (box.y0, box.y1) == pytest.approx((1 - rows.THICK / 2, 1 + rows.THICK / 2))


def test_single_runs_stay_in_their_row():
    with style.figure() as (_, ax):
        rows.runs(ax, 2, np.arange(5.0))
        y = np.asarray(ax.get_lines()[0].get_ydata())
        assert np.all(np.abs(y - 2) < rows.THICK / 2) and len(set(y)) == 5


@pytest.mark.parametrize("letters", [1, 20])
def test_the_legend_below_has_as_many_columns_as_fit(letters):
    with style.figure(width=COLUMN, height=3) as (fig, ax):
        ax.plot([0, 1], [0, 1])
        explain_below(fig, [entry("m" * letters, "o") for _ in range(4)], [entry("x", "s")])
        assert len(legends(fig)) == 1 and faults(fig) == []
        columns = {round(text.get_window_extent().x0) for text in legends(fig)[0].get_texts()}
        assert len(columns) == (5 if letters == 1 else 2)
