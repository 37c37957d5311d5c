"""Figures as narrow as a column: a line for every measured number and what theory says of it.

The intervals are those that decide the verdict, which are simultaneous over all numbers that are
compared.
"""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

import numpy as np

from giantstep.plot import style

LINE, BELOW = 0.2, 1.1  # inches: of a line, and of what stands below the lines
CLEAR = {"facecolor": "white", "edgecolor": "none", "pad": 0.5}  # nothing runs through a title
MARKS = (
    {"color": style.COLOURS[0], "marker": "o"},
    {"color": style.COLOURS[1], "marker": "s"},
)


class ColumnRow(NamedTuple):
    """One number: half of its interval, what theory says (NaN: nothing), and its mark."""

    name: str
    mean: float
    half: float = np.nan
    theory: float = np.nan
    mark: int = 0


@contextmanager
def figure(
    blocks: Mapping[str, Sequence[ColumnRow]], names: Sequence[str], theory: str = "theory"
) -> Iterator[tuple[Any, Any, np.ndarray]]:
    """The figure, its axes and the heights of the rows.

    A block has its title, if any, on a line of its own.
    ``names`` are those of the marks and ``theory`` that of the short lines, for a legend.
    """
    lines = [line for title, rows in blocks.items() for line in (title, *rows) if line]
    placed = [(line, -float(i)) for i, line in enumerate(lines) if isinstance(line, ColumnRow)]
    rows, heights = zip(*placed, strict=True)
    with style.figure(width=style.COLUMN, height=BELOW + LINE * (len(lines) - 1)) as (fig, ax):
        for i, line in enumerate(lines):
            if isinstance(line, str):
                _name(ax, line, -float(i))
        for mark, name in enumerate(names):
            own = [(row.mean, height, row.half) for row, height in placed if row.mark == mark]
            if own:
                x, y, half = np.transpose(own)
                style.dots(ax, x, y, xerr=half, label=name, **MARKS[mark])
        said, y = np.array([row.theory for row in rows]), np.array(heights)
        ax.vlines(said, y - 0.4, y + 0.4, color=style.INK, linewidth=1.6, label=theory, zorder=1)
        ax.set_yticks(y, [row.name for row in rows])
        ax.tick_params(axis="y", length=0)
        ax.set_ylim(0.4 - len(lines), 0.6)
        yield fig, ax, y


def _name(ax: Any, title: str, height: float) -> None:
    """Write the title of a block at the left end of its line."""
    across = ax.get_yaxis_transform()  # x as a share of the width, y in data
    look = {"va": "center", "weight": "bold", "fontsize": 9, "bbox": CLEAR}
    ax.text(0.01, height, title, transform=across, **look)
