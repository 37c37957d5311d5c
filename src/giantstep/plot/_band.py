"""A prediction with its band: the band is shaded, and the line is dashed where the band is wide."""

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from matplotlib.axes import Axes

TRUSTED = 0.1  # half a band, against the value, up to which a predicted line is solid


def banded(
    ax: "Axes", x: np.ndarray, y: np.ndarray, band: np.ndarray, *, color: Any, label: str = "", **look: Any
) -> None:
    """Draw y against increasing x with its band (2, x); beyond trust the line is dashed, from the last point that is trusted."""
    low, high = band
    ax.fill_between(x, low, high, color=color, alpha=0.15, linewidth=0, zorder=1)
    trusted = ~(high - low > 2 * TRUSTED * np.abs(y))  # an unknown band is no reason for dashes
    styles: tuple[tuple[np.ndarray, Any], ...] = (
        (trusted, "-"),
        (~trusted | ~np.append(trusted[1:], True), (0, (3, 2))),
    )
    for inside, dashes in styles:
        if np.any(inside):
            known = np.where(inside, y, np.nan)
            ax.plot(x, known, color=color, label=label or None, **{"zorder": 2, **look, "linestyle": dashes})
            label = ""
