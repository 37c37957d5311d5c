"""The figures of claims, drawn at the width of a column or of a page."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from unittest import mock

import kept
from matplotlib.figure import Figure

from giantstep.checks.claim import Claim
from giantstep.checks.verdict import Verdict, rule
from giantstep.plot import _picture as picture
from giantstep.plot import style

COLUMN, PAGE = 3.3, 6.75  # inches
LETTERS = 8  # points
FLAT = 0.9  # of its height that a figure has in a column


def drawn(claim: Claim, width: float | None = None) -> tuple[Verdict, list[Figure]]:
    """The verdict on the kept measurements and its figures, at a width with letters for it or as they are."""
    figures: list[Figure] = []
    write = style.svg

    def keep(figure: Figure, **options: Any) -> str:
        figures.append(figure)
        return write(figure, **options)

    with mock.patch.object(style, "svg", keep), on_paper(width):
        return rule(claim, kept.least(claim), *kept.load(claim)), figures


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
