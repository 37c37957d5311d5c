"""Logarithmic axes named in plain numbers."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Literal

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FEW, MANY = 3, 6  # ticks that an axis has at least, if numbers as round as these can give them, and at most
STEPS = ((1,), (1, 3), (1, 2, 5), (1, 1.5, 2, 3, 5, 7), tuple(range(1, 10)), tuple(np.arange(10, 100) / 10))
PLAIN = (-4, 5)  # decades that are written out


def logarithmic(ax: "Axes", which: Literal["x", "y"] = "y", at: Iterable[float] | None = None) -> None:
    """Make the axis logarithmic with ticks ``at`` these numbers, else at the roundest ones within its limits."""
    from matplotlib.ticker import NullLocator

    getattr(ax, f"set_{which}scale")("log")
    places = _round(*getattr(ax, f"get_{which}lim")()) if at is None else [float(x) for x in at]
    getattr(ax, f"set_{which}ticks")(places, _names(np.array(places)))
    getattr(ax, f"{which}axis").set_minor_locator(NullLocator())


def _round(low: float, high: float) -> list[float]:
    """Round numbers between the limits: few enough to read, and three at least where that can be."""
    first, last = int(np.floor(np.log10(low))), int(np.ceil(np.log10(high)))
    places: list[float] = []
    for steps in STEPS:
        places = [m * 10.0**k for k in range(first, last + 1) for m in steps if low <= m * 10.0**k <= high]
        if len(places) >= FEW:
            break
    return places[:: -(-len(places) // MANY)]


def _names(places: np.ndarray) -> list[str]:
    """Plain numbers, or powers of ten if a plain one would be long."""
    decades = np.log10(places)
    if np.all((decades >= PLAIN[0]) & (decades <= PLAIN[1])):
        return [f"{x:g}" for x in places]
    whole = np.allclose(decades, np.round(decades))
    return [f"$10^{{{k:.0f}}}$" for k in decades] if whole else [f"{x:g}" for x in places]
