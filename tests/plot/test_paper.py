"""Figures for papers: on axes of the user at the widths of a column and of a page no text overlaps, and nothing is cut."""

from typing import Any

import matplotlib as mpl
import numpy as np
import pytest
from legible import faults
from matplotlib.colors import to_hex
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from matplotlib.legend import Legend

import giantstep as gs
from giantstep.plot.style import COLOURS

COLUMN, PAGE = 3.3, 6.75  # inches


@pytest.fixture(scope="module")
def setting():
    return gs.Setting(
        gs.Gaussian(40),
        gs.target("x1 + H2(x1)/sqrt(2)", noise=0.3),
        gs.Network(60, "relu", centred=True),
        gs.Protocol((gs.GiantStep(120, [0.0, 1.0, 3.0, 10.0, 30.0]),), gs.Ridge(120, [0.01, 0.1, 1.0])),
    )


@pytest.fixture(scope="module")
def measured(setting):
    return gs.simulate(setting, range(3), n_test=200)


@pytest.fixture(scope="module")
def everything(setting, measured):
    return [measured, gs.equivalent(setting, seed=range(3), n_test=200), gs.theory(setting)]


@pytest.fixture(scope="module")
def one(setting):
    return gs.simulate(setting.with_(eta=10.0, penalty=0.1), range(2), n_test=50, spectrum=True)


@pytest.fixture(scope="module")
def swept(setting):
    axes = {"n": [80, 120, 240], "penalty": [0.01, 0.1, 1.0, 10.0]}
    return gs.sweep(setting.with_(eta=3.0), axes, seeds=range(2), routes=["simulate", "equivalent", "theory"])


@pytest.fixture(scope="module")
def mapped(setting):
    axes = {"eta": [2.0, 5.0, 10.0, 20.0, 40.0], "n": [80, 120, 160, 240, 320]}
    return gs.sweep(setting.with_(eta=1.0, penalty=0.1), axes, seeds=range(1))


@pytest.fixture(scope="module")
def path(setting):
    return gs.simulate.evolution(setting.with_(eta=3.0, penalty=0.1))


PICTURES = {
    "errors": ("everything", "test_error"),
    "spectrum": ("one", "spectrum"),
    "sweep": ("swept", "test_error"),
    "map": ("mapped", "test_error"),
    "shares": ("path", "shares"),
    "neurons": ("path", "neurons"),
}


@pytest.mark.parametrize("legend", [None, "inside", False])
@pytest.mark.parametrize("columns", [1, 2])
@pytest.mark.parametrize("name", PICTURES)
def test_nothing_overlaps_or_is_cut_in_a_paper(request, name, columns, legend):
    given, what = PICTURES[name]
    with mpl.rc_context({"font.size": 8}):
        figure = Figure(figsize=(COLUMN if columns == 1 else PAGE, 2.6))
        for ax in figure.subplots(1, columns, squeeze=False)[0]:
            assert gs.plot(request.getfixturevalue(given), what, ax=ax, legend=legend) is figure
            assert ax.get_xlabel() and ax.get_ylabel() and not ax.get_title(loc="left")
        assert faults(figure) == []
        for ax in figure.axes:
            assert len(ax.findobj(Legend)) <= (legend is not False)
            for each in ax.findobj(Legend) if legend is None else []:
                box = each.get_window_extent()
                assert box.y0 >= ax.bbox.y1 or box.x0 >= ax.bbox.x1


def test_a_title_that_is_asked_for_lies_above_the_legend(everything):
    with mpl.rc_context({"font.size": 8}):
        figure = Figure(figsize=(COLUMN, 2.6))
        ax = figure.subplots()
        gs.plot(everything, ax=ax, title="(a) one step")
        assert faults(figure) == [] and ax.get_title(loc="left") == "(a) one step"
        gs.plot(everything, ax=ax, title=True)
        assert ax.get_title(loc="left").startswith("x₁ + H₂(x₁)/√2")
    assert gs.plot(everything).axes[0].get_title(loc="left").startswith("x₁ + H₂(x₁)/√2")
    assert gs.plot(everything, title=False).axes[0].get_title(loc="left") == ""
    wrong: Any
    for wrong in ({"title": 3}, {"legend": "left"}, {"legend": True}):
        with pytest.raises(gs.InputError, match=f"{next(iter(wrong))} must be"):
            gs.plot(everything, **wrong)
    with pytest.raises(gs.InputError, match="legend= is an option for outcomes"):
        gs.plot(gs.explain("x1"), legend=False)


def test_theory_has_the_colour_of_its_dots_whatever_the_labels(everything):
    ax = gs.plot(everything, labels=["ours", "Gaussian", "predicted"]).axes[0]
    dots = [to_hex(line.get_color()) for line in ax.get_lines() if line.get_marker() == "o"]
    lines = [
        to_hex(line.get_color())
        for line in ax.get_lines()
        if line.get_linestyle() != "None" and line.get_marker() == "None"
    ]
    assert dots == list(COLOURS[:3]) and set(lines) == set(dots)
    words = {text.get_text() for legend in ax.findobj(Legend) for text in legend.texts}
    assert words >= {"ours", "Gaussian", "predicted"}


def test_labels_of_two_settings_and_their_theories_are_four_entries_in_two_colours(setting):
    both = [setting.with_(eta=[1.0, 3.0], penalty=0.1, activation=name) for name in ("relu", "tanh")]
    outcomes = [verb(s) for s in both for verb in (lambda s: gs.simulate(s, range(2), n_test=50), gs.theory)]
    ax = gs.plot(outcomes, labels=["relu", "relu, theory", "tanh", "tanh, theory"]).axes[0]
    legend = ax.get_legend()
    assert legend is not None
    assert [text.get_text() for text in legend.texts] == ["relu", "relu, theory", "tanh", "tanh, theory"]
    assert [to_hex(line.get_color()) for line in legend.get_lines()] == [c for c in COLOURS[:2] for _ in range(2)]


def test_an_equivalent_model_stands_beside_the_dots(everything):
    figure = gs.plot(everything)
    ax = figure.axes[0]
    figure.draw_without_rendering()
    marks = {mark: drawn(ax, mark) for mark in ("o", "D")}
    size = 4.5 * figure.dpi / 72
    np.testing.assert_array_less(size, marks["D"] - marks["o"])


def drawn(ax, mark: str) -> np.ndarray:
    """Where on the page the dots of every curve stand, along x."""
    lines = [each.lines[0] for each in ax.containers if isinstance(each, ErrorbarContainer)]
    return np.array(
        [line.get_transform().transform(line.get_xydata())[:, 0] for line in lines if line.get_marker() == mark]
    )
