"""A figure of a report: an SVG file beside the page that shows it."""

import re
from dataclasses import dataclass

_LEAST, _PHONE = 0.65, 260  # of the width of a figure, in report.css; points across a phone
_ENLARGED = 1.2  # letters of 10 points in a figure look as large as the text of the page


@dataclass(frozen=True)
class Figure:
    """``svg`` is the text of the file. On the page it takes ``width`` times ``height`` points.

    They are None if the file has no size.
    """

    svg: str
    width: int | None
    height: int | None

    @property
    def wide(self) -> bool:
        """Whether it is wider than a phone at the least size that the style of the page allows."""
        return self.width is not None and _LEAST * self.width > _PHONE


def figure(svg: str) -> Figure | None:
    """The ``<svg>`` element of a document, as a document of its own; None without one."""
    element = re.search(r"<svg\b.*</svg>", svg, flags=re.DOTALL)
    if element is None:
        return None
    opening = element[0].partition(">")[0]
    return Figure(element[0] + "\n", _points("width", opening), _points("height", opening))


def _points(name: str, opening: str) -> int | None:
    found = re.search(rf'\s{name}="([\d.]+)(?:pt)?"', opening)
    return round(_ENLARGED * float(found[1])) if found else None
