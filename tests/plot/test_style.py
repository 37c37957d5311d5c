"""Lines through predicted values, and the figure as text."""

from io import BytesIO, StringIO

import matplotlib as mpl
import numpy as np
import pytest
from matplotlib.backends.backend_agg import RendererAgg

from giantstep.plot import style


@pytest.mark.parametrize("log", ["", "x", "y", "xy"])
def test_a_smooth_line_goes_through_the_values_and_not_beyond_them(log):
    x, y = np.array([0.1, 0.2, 0.5, 1.0, 3.0]), np.array([1.0, 0.4, 0.3, np.nan, 0.9])
    with style.figure() as (_, ax):
        style.curve(ax, x, y, log=log)
        line = ax.lines[0]
        own, drawn = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
    known = np.isfinite(y)
    assert np.allclose(np.interp(x[known], own, drawn), y[known], rtol=0.02)
    assert np.isclose(own[0], 0.1) and np.isclose(own[-1], 3.0)
    assert drawn.min() >= 0.3 - 1e-12 and drawn.max() <= 1 + 1e-12


def test_the_text_of_a_figure_is_what_savefig_writes_and_the_figure_stays_as_it_was():
    with style.figure(2) as (fig, axes):
        axes[0].plot([1, 2], [3, 1], label="a line")
        axes[1].set_title("$x^2$")
        before, found = (fig.canvas, fig.dpi), style.svg(fig, below=1)
        assert (fig.canvas, fig.dpi) == before
        saved = StringIO()
        fig.savefig(saved, format="svg", metadata={"Date": None, "Creator": None})
    assert found == saved.getvalue() and found == style.svg(fig)


@pytest.mark.parametrize("kind", ["pdf", "ps"])
def test_the_fonts_of_a_file_are_truetype_and_the_settings_of_matplotlib_stay(kind):
    with style.figure() as (fig, ax):
        ax.set_title("η of $x^2$")
    file, before = BytesIO(), dict(mpl.rcParams)
    fig.savefig(file, format=kind)
    names = {"pdf": (b"/Subtype /Type3", b"/FontFile2"), "ps": (b"/FontType 3 def", b"/FontType 42 def")}
    type3, truetype = names[kind]
    assert truetype in file.getvalue() and type3 not in file.getvalue()
    assert dict(mpl.rcParams) == before


def test_a_part_that_is_an_image_takes_no_larger_canvas_than_the_figure(monkeypatch):
    """The renderer for images is made for the whole figure: in a wrong unit it has thousands of times as many points."""
    sizes, made = [], lambda *size: sizes.append(size[:2]) or RendererAgg(*size)
    monkeypatch.setattr("matplotlib.backends.backend_mixed.RendererAgg", made)
    with style.figure() as (fig, ax):
        ax.pcolormesh([[1.0, 2.0], [3.0, 1.0]], rasterized=True)
        assert "<image" in style.svg(fig)
    assert np.allclose(sizes, [fig.dpi * fig.get_size_inches()])
