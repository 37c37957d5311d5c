"""Figures and captions of claims on kept measurements: nothing overlaps or is cut, and one sentence says what is seen."""

import re
from functools import cache

import kept
import pytest
from legible import faults, legends, shown, smallest, struck
from matplotlib.container import ErrorbarContainer
from matplotlib.figure import Figure
from pictures import COLUMN, LETTERS, PAGE, drawn

from giantstep.claims import select

PAPERS = ("ba", "cui", "dandi", "hu_lu", "mei_montanari", "moniri", "moniri_hassani")
NAMES = [claim.name for claim in select() if claim.name.partition("/")[0] in PAPERS]
NARROW = {
    *(f"dandi/{name}" for name in ("floors", "table", "one-step", "small-batches", "scaling")),
    *(f"moniri_hassani/{name}" for name in ("phase-diagram", "alignments", "degenerate")),
    *(f"moniri/{name}" for name in ("third-spike", "alignment")),
}  # figures that are read in a column
NUMBER = re.compile(r"\d+\.\d+|\d+%")  # that a machine has inserted


@cache
def shown_at(name: str, width: float | None = None) -> tuple[Figure, str]:
    """The figure of a claim at a width with letters for it, or as it is, and its caption."""
    (claim,) = select([name])
    verdict, (figure,) = drawn(claim, width)
    return figure, verdict.caption


@pytest.mark.parametrize("name", NAMES)
def test_nothing_overlaps_or_is_cut(name):
    assert faults(shown_at(name)[0]) == []


@pytest.mark.parametrize("name", sorted(NARROW))
@pytest.mark.parametrize("width", [COLUMN, PAGE])
def test_nothing_overlaps_or_is_cut_at_a_width(name, width):
    assert faults(shown_at(name, width)[0]) == []


@pytest.mark.parametrize("name", sorted(NARROW))
def test_it_is_read_in_a_column(name):
    assert smallest(shown_at(name)[0], COLUMN) >= LETTERS


@pytest.mark.parametrize("name", NAMES)
def test_a_caption_is_a_sentence_with_two_numbers_at_most(name):
    caption = shown_at(name)[1]
    assert caption.endswith(".") and ". " not in caption and ";" not in caption
    assert len(NUMBER.findall(caption)) <= 2 and len(caption) < 150


@pytest.mark.parametrize("name", NAMES)
def test_a_training_error_has_one_name(name):
    figure, caption = shown_at(name)
    texts = [caption, *(text.get_text() for text in shown(figure))]
    assert not any(re.search("training loss|train error", text) for text in texts)


def test_no_line_runs_through_the_numbers_of_a_phase_diagram():
    figure = shown_at("moniri_hassani/phase-diagram")[0]
    assert figure.axes[0].texts and struck(figure) == []


@pytest.mark.parametrize("name", sorted(NARROW))
def test_it_has_four_kinds_of_marks_at_most(name):
    lines = [line for ax in shown_at(name)[0].axes for line in ax.get_lines() if line.get_linestyle() == "None"]
    # the ends of error bars are lines of their own, whose marks are "|" or "_"
    assert len({str(line.get_marker()) for line in lines} - {"|", "_", "None"}) <= 4


@pytest.mark.parametrize("name", ["moniri_hassani/alignments", "moniri_hassani/degenerate"])
def test_measurements_are_dots_with_intervals_and_predictions_lines(name):
    (ax,) = shown_at(name)[0].axes
    (dots,) = ax.containers
    assert isinstance(dots, ErrorbarContainer) and dots.has_xerr and not ax.patches
    predicted = [each for each in ax.collections if each.get_label() == "signal matrix"]
    assert len(predicted) == 1 and len(predicted[0].get_paths()) == len(ax.get_yticks())


def test_the_margin_of_an_alignment_is_shaded():
    (margin,) = shown_at("moniri/alignment")[0].axes[1].patches
    low, high = margin.get_path().transformed(margin.get_patch_transform()).get_extents().intervaly
    assert (low, high) == pytest.approx((-0.01, 0.01))


def test_spikes_are_means_over_all_seeds():
    (claim,) = select(["moniri/third-spike"])
    seeds = kept.load(claim)[0]["leading"].shape[-1]
    texts = [text.get_text() for legend in legends(shown_at(claim.name)[0]) for text in legend.texts]
    assert f"mean of {seeds} seeds" in texts
