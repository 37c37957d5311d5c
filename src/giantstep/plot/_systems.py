"""Pictures of findings, one panel for each curve, and of evolutions: the neurons and their shares step by step.

Measured values are dots with error bars; predicted ones are lines.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.errors import InputError
from giantstep.measure import mean_and_error
from giantstep.plot._errors import NAMES
from giantstep.plot.frame import OWN, PictureFrame
from giantstep.plot.style import COLOURS, INK, canvas, figure, series
from giantstep.results.system import Curve, Finding
from giantstep.results.trajectory import Evolution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

ACROSS = 3  # panels beside each other


def panels(findings: Sequence[Finding]) -> "Figure":
    """Every curve of the findings; curves of the same name share a panel."""
    names = list(dict.fromkeys(name for f in findings for name in f.curves))
    if not names:
        raise InputError("there is no curve to draw: the results of this system are single numbers")
    down = -(-len(names) // ACROSS)
    across = -(-len(names) // down)  # four panels are two rows of two
    with figure(across, down, width=3.6, height=2.8) as (fig, axes):
        every: list[Any] = [axes] if across * down == 1 else list(axes.flat)
        for ax, name in zip(every, names, strict=False):
            for f in findings:
                if name in f.curves:
                    _curve(ax, f.curves[name], f.route)
            ax.set_title(findings[0].system.said(name), loc="left")
        for ax in every[len(names) :]:
            ax.set_visible(False)
        handles, labels = every[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=len(labels))
        return fig


def _curve(ax: "Axes", c: Curve, route: str) -> None:
    predicted = route == "theory"
    style = {"color": INK, "linewidth": 1.3, "label": "theory"} if predicted else {"label": "simulation"}
    series(ax, c.x, c.y, c.se, predicted=predicted, **{"color": COLOURS[0], **style})
    ax.set_xlabel(c.along)
    if "x" in c.log:
        ax.set_xscale("log")
    if "y" in c.log:
        ax.set_yscale("log")


def in_plane(path: Evolution) -> tuple[np.ndarray, tuple[str, str]]:
    """The cosines of the neurons with the first two directions, (T + 1, p, 2), and their names.

    For a target of one direction, the second axis is the rest of the neuron.
    """
    cosines = path.M / np.sqrt(np.diagonal(path.Q, axis1=1, axis2=2))[:, :, None]
    names = plane_names(cosines.shape[2])
    if cosines.shape[2] > 1:
        return cosines[:, :, :2], names
    rest = np.sqrt(np.maximum(1 - cosines**2, 0.0))
    return np.concatenate([cosines, rest], axis=2), names


def plane_names(rank: int) -> tuple[str, str]:
    """The names of the plane's axes for a target of so many directions."""
    return "cosine with w1", "cosine with w2" if rank > 1 else "share of the rest, as a sine"


def neurons(path: Evolution, frame: PictureFrame = OWN) -> "Figure":
    """The path of every neuron in the target's plane; blue if its second-layer weight is positive, red if it is negative."""
    places, names = in_plane(path)
    with canvas(frame.ax, width=3.6, height=3.6) as (fig, ax):
        turn = np.linspace(0, 2 * np.pi, 200)
        ax.plot(np.cos(turn), np.sin(turn), color=INK, linewidth=0.6)
        for i, a in enumerate(path.a):
            colour = COLOURS[0] if a > 0 else COLOURS[1]
            ax.plot(*places[:, i].T, color=colour, linewidth=0.8, alpha=0.5)
            ax.plot(*places[-1, i], "o", color=colour)
        ax.set(xlim=(-1.08, 1.08), ylim=(-1.08, 1.08), aspect="equal", xlabel=names[0], ylabel=names[1])
        frame.entitle(ax, f"after {len(places) - 1} steps")
    return fig


def shares(paths: Sequence[Evolution], frame: PictureFrame = OWN) -> "Figure":
    """The mean share of a neuron along every direction against the steps: simulated dots over predicted lines."""
    with canvas(frame.ax) as (fig, ax):
        for path in paths:
            steps = np.arange(len(path.M))
            for k in range(path.M.shape[2]):
                style = {"color": COLOURS[k % len(COLOURS)], "label": f"$w_{k + 1}$, {NAMES[path.route]}"}
                series(ax, steps, *mean_and_error(path.shares[:, :, k]), predicted=path.route == "theory", **style)
        ax.set(xlabel="giant steps taken", ylabel="mean cos² with the direction")
        ax.set_xticks(np.arange(len(paths[0].M)))
        if frame.single:
            frame.explain(ax, ax.get_legend_handles_labels()[0])
        else:
            ax.legend()
        if isinstance(frame.title, str):
            frame.entitle(ax, frame.title)
    return fig
