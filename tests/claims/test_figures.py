"""Figures and captions of the claims, drawn from the kept measurements: legible on paper, and short."""

import re

import numpy as np
import pytest
from kept import FOLDER, load
from legible import faults, legends, smallest
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from pictures import COLUMN, LETTERS, PAGE, drawn

from giantstep.claims import select
from giantstep_papers.demir import alignment, ratio, strength, weighting, width

GROUPS = ("demir", "nishikawa", "bubeck", "nguwi", "wang_ma", "liu", "lobo", "saad_solla", "giantstep")
PANELS = {"width": width, "weighting": weighting, "strength": strength, "ratio": ratio, "alignment": alignment}
NARROW = (  # as legible in a column as on a page
    *(f"demir/{name}" for name in (*PANELS, "rank", "fashion-step")),
    *(f"giantstep/{name}" for name in ("images", "labels-shrink", "dual-rates", "function-gap", "mixtures")),
    *("giantstep/conditional-steps", "nishikawa/certified", "nishikawa/generalisation", "bubeck/width"),
)
NUMBER = re.compile(r"(?:^|\s)[-−]?\d+(?:\.\d+)?")
CAPTION = 170  # letters


def kept_claims():
    return [each for each in select(GROUPS) if (FOLDER / f"{each.name.replace('/', '-')}.json").exists()]


@pytest.mark.parametrize("claim", kept_claims(), ids=lambda each: each.name)
def test_a_figure_is_legible_on_a_page_and_its_caption_short(claim):
    verdict, figures = drawn(claim, PAGE)
    assert len(figures) == 1
    assert faults(figures[0]) == []
    assert len(NUMBER.findall(verdict.caption)) <= 2, verdict.caption
    assert len(verdict.caption) <= CAPTION and len(re.findall(r"\.(?:\s|$)", verdict.caption)) <= 2
    assert not re.search("training loss|train error|interpolated", verdict.caption)


@pytest.mark.parametrize("name", NARROW)
def test_a_figure_of_one_message_is_one_panel_that_is_legible_in_a_column(name):
    (claim,) = select([name])
    for size in (COLUMN, None):
        (figure,) = drawn(claim, size)[1]
        assert faults(figure) == [] and len(figure.axes) == 1
        assert len(legends(figure)) == 1
    assert smallest(figure, COLUMN) >= LETTERS
    assert len(marks(figure)) <= 4, marks(figure)


def marks(figure: Figure) -> set[str]:
    """The kinds of marks in the figure, hollow ones apart; the ticks of a line are its own."""
    (ax,) = figure.axes
    caps = [cap for each in ax.containers if isinstance(each, ErrorbarContainer) for cap in each.lines[1]]
    lines = [line for line in ax.get_lines() if line not in caps and line.get_linestyle() == "None"]
    return {"hollow" if line.get_markerfacecolor() == "white" else str(line.get_marker()) for line in lines}


@pytest.mark.parametrize("name", PANELS)
def test_theory_is_drawn_where_it_is_computed(name):
    (claim,) = select([f"demir/{name}"])
    (figure,) = drawn(claim)[1]
    _, predicted = load(claim)
    lines = [line for line in figure.axes[0].get_lines() if line.get_marker() == "|" and line.get_linestyle() == "-"]
    computed = [curve for curve in PANELS[name].PANEL.curves["quick"] if curve.line]
    assert len(lines) == len(computed) > 0
    for line, curve in zip(lines, computed, strict=True):
        np.testing.assert_allclose(np.asarray(line.get_xdata()), curve.line)
        np.testing.assert_allclose(np.asarray(line.get_ydata()), predicted[curve.name][0])
