"""Logarithmic axes have a few round ticks in plain numbers."""

import numpy as np
import pytest

from giantstep.plot import style, ticks


@pytest.mark.parametrize("low", [1e-9, 0.0031, 0.4, 1.0, 870.0])
@pytest.mark.parametrize("ratio", [1.2, 1.9, 4.0, 60.0, 1e5])
def test_a_few_round_numbers_within_the_limits(low, ratio):
    with style.figure() as (_, ax):
        ax.set_ylim(low, low * ratio)
        ticks.logarithmic(ax)
        places = ax.get_yticks()
        assert ax.get_yscale() == "log" and 2 <= len(places) <= 6 and not len(ax.get_yticks(minor=True))
        assert np.all((places >= low * (1 - 1e-12)) & (places <= low * ratio * (1 + 1e-12)))
        assert len({label.get_text() for label in ax.get_yticklabels()}) == len(places)


def test_given_places_are_written_out():
    with style.figure() as (_, ax):
        ticks.logarithmic(ax, "x", (1500, 12000))
        assert [label.get_text() for label in ax.get_xticklabels()] == ["1500", "12000"]
        ticks.logarithmic(ax, "x", (1e3, 1e6, 1e9))
        assert [label.get_text() for label in ax.get_xticklabels()] == ["$10^{3}$", "$10^{6}$", "$10^{9}$"]
