"""The picture of findings: one panel a curve. What was measured is dots with error bars; what is predicted is a line."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from giantstep._errors import InputError
from giantstep.canvas import COLOURS, INK, dots, figure
from giantstep.finding import Curve, Finding

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3  # panels beside each other


def panels(found: Sequence[Finding]) -> "Figure":
    """Every curve of the findings, those of one name over each other."""
    names = list(dict.fromkeys(name for f in found for name in f.curves))
    if not names:
        raise InputError("there is no curve to draw: this system has numbers alone")
    across = min(ACROSS, len(names))
    down = -(-len(names) // across)
    with figure(across, down, width=3.6, height=2.8) as (fig, axes):
        every: list[Any] = [axes] if across * down == 1 else list(axes.flat)
        for ax, name in zip(every, names, strict=False):
            for f in found:
                if name in f.curves:
                    _curve(ax, f.curves[name], f.route)
            ax.set_title(found[0].system.said(name), loc="left")
        for ax in every[len(names) :]:
            ax.set_visible(False)
        handles, labels = every[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return fig


def _curve(ax: "Axes", c: Curve, route: str) -> None:
    if route == "theory":
        ax.plot(c.x, c.y, color=INK, linewidth=1.3, label="theory", zorder=1)
    else:
        dots(ax, c.x, c.y, c.se, color=COLOURS[0], label="simulation")
    ax.set_xlabel(c.along)
    if "x" in c.log:
        ax.set_xscale("log")
    if "y" in c.log:
        ax.set_yscale("log")
