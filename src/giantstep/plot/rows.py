"""Numbers in rows: the name on the left, a dot with its interval, and what is allowed shaded behind it.

A row is a whole number, the first one on top. ``beside`` moves a mark off its row, in rows, so that several stand in one.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.plot.frame import entry
from giantstep.plot.style import INK, dots

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHADE: dict[str, Any] = {"color": INK, "alpha": 0.1}
THICK = 0.8  # of a row is shaded
SCATTER = 0.28  # of a row on either side over which single runs are spread
HEIGHT, FRAME = 0.32, 0.95  # inches of a row, and of the axis and the legend below


def height(count: int, lines: int = 1) -> float:
    """Inches for a figure of so many rows, whose names have so many lines."""
    return FRAME + HEIGHT * count * (1 + 0.4 * (lines - 1))


def name_rows(ax: "Axes", names: Sequence[str]) -> None:
    """Give every row its name and its place."""
    ax.set_yticks(range(len(names)), names)
    ax.set_ylim(len(names) - 0.5, -0.5)
    ax.tick_params(axis="y", length=0)
    ax.spines["left"].set_visible(False)


def allowed(ax: "Axes", row: float, low: Any, high: Any) -> None:
    """Shade on one row what a statement allows."""
    ax.fill_betweenx((row - THICK / 2, row + THICK / 2), low, high, linewidth=0, **SHADE)


def margin_entry(label: str) -> Any:
    """The shade for a legend."""
    return entry(label, "s", markersize=9, **SHADE)


def interval(ax: "Axes", row: float, mean: Any, half: Any = None, *, beside: float = 0.0, **look: Any) -> None:
    """A measured number as a dot with its interval along x."""
    dots(ax, [mean], [row + beside], xerr=None if half is None else [half], **{"zorder": 3, **look})


def runs(ax: "Axes", row: float, values: np.ndarray, *, beside: float = 0.0, **look: Any) -> None:
    """Single runs as small dots, spread over the height of the row in their order."""
    share = np.linspace(-SCATTER, SCATTER, len(values)) * (0.5 if beside else 1.0)
    ax.plot(values, row + beside + share, ".", **{"alpha": 0.35, "markersize": 4, "zorder": 2, **look})


def tick(ax: "Axes", row: float, value: float, *, beside: float = 0.0, reach: float = THICK / 2, **look: Any) -> None:
    """A predicted number as a short line across its row."""
    ends = (row + beside - reach, row + beside + reach)
    ax.plot((value, value), ends, **{"color": INK, "linewidth": 1.3, "zorder": 2, **look})
