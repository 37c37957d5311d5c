"""What is wrong with a picture on paper, and the figures of claims drawn at the width of a column or of a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any
from unittest import mock

import kept
from matplotlib.figure import Figure
from matplotlib.legend import Legend
from matplotlib.text import Text

from giantstep.checks.claim import Claim, Verdict
from giantstep.plot import picture, style

COLUMN, PAGE = 3.3, 6.75  # inches
LETTERS = 8  # points
FLAT = 0.9  # of its height that a figure has in a column
SLACK = 0.5  # points by which boxes may overlap


def shown(figure: Figure) -> list[Text]:
    return [
        text
        for text in figure.findobj(Text)
        if isinstance(text, Text) and text.get_visible() and text.get_text().strip() and ticked(text)
    ]


def ticked(text: Text) -> bool:
    """Whether a text is within its axes, if it is the name of a tick."""
    for axis in [axis for ax in getattr(text.figure, "axes", []) for axis in (ax.xaxis, ax.yaxis)]:
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        if any(text is label for tick in ticks for label in (tick.label1, tick.label2)):
            drawn = axis._update_ticks()  # the ticks that are drawn
            return any(text in (tick.label1, tick.label2) for tick in drawn)
    return True


def faults(figure: Figure) -> list[str]:
    """Texts on each other and texts, legends and axes beyond the edge, in words."""
    figure.draw_without_rendering()
    texts, page, slack = shown(figure), figure.bbox, SLACK * figure.dpi / 72
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    found = [
        f"{one!r} lies on {other!r}"
        for (one, a), (other, b) in combinations(boxes, 2)
        if min(a.x1, b.x1) - max(a.x0, b.x0) > slack and min(a.y1, b.y1) - max(a.y0, b.y0) > slack
    ]
    boxes += [("a legend", legend.get_window_extent()) for legend in legends(figure)]
    boxes += [("axes", box) for ax in figure.axes if (box := ax.get_tightbbox()) is not None]
    cut = [
        f"{name!r} is cut"
        for name, box in boxes
        if min(box.x0 - page.x0, page.x1 - box.x1, box.y0 - page.y0, page.y1 - box.y1) < -slack
    ]
    return found + cut


def legends(figure: Figure) -> list[Legend]:
    return [each for each in figure.findobj(Legend) if isinstance(each, Legend)]


def drawn(claim: Claim, width: float | None = None) -> tuple[Verdict, list[Figure]]:
    """The verdict on the kept measurements and its figures, at a width with letters for it or as they are."""
    figures: list[Figure] = []
    write = style.svg

    def keep(figure: Figure, **options: Any) -> str:
        figures.append(figure)
        return write(figure, **options)

    with mock.patch.object(style, "svg", keep), on_paper(width):
        return claim.rule(kept.least(claim), *kept.load(claim)), figures


@contextmanager
def on_paper(width: float | None) -> Iterator[None]:
    """Figures in the house style have this width and letters of eight points."""
    if width is None:
        yield
        return
    share = LETTERS / style.STYLE["font.size"]
    sizes = {name: share * value for name, value in style.STYLE.items() if name.endswith(("size", "fontsize"))}

    class Sheet(picture.Picture):
        def __init__(self, figsize: tuple[float, float], **options: Any):
            super().__init__(figsize=(width, figsize[1] * (FLAT if width == COLUMN else 1.0)), **options)

    with mock.patch.object(picture, "Picture", Sheet), mock.patch.dict(style.STYLE, sizes):
        yield
