"""Logarithmic axes named in plain numbers."""

from typing import Any

PLACES = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 1, 2, 3, 5, 10, 20, 50, 100, 1000)


def plain(ax: Any, which: str = "y") -> None:
    """Make the axis logarithmic, with its numbers written out."""
    getattr(ax, f"set_{which}scale")("log")
    low, high = getattr(ax, f"get_{which}lim")()
    at = [x for x in PLACES if low <= x <= high]
    getattr(ax, f"set_{which}ticks")(at, [f"{x:g}" for x in at])
    ax.minorticks_off()
