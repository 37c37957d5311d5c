"""The figure of a sweep: dots with error bars over seeds show measurements, and lines show predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep.lab.sweep.axis import Axis
from giantstep.lab.sweep.sweep import Sweep
from giantstep.plot import style
from giantstep.results.outcome import LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["picture"]

PANELS, COLOURED, ROWS = 4, 6, 3
_NAMES = {"simulate": "simulation", "theory": "theory", "equivalent": "equivalent"}
_MARKS = ("o", "s", "D", "^", "v", "P")


def picture(sweep: Sweep, data: Any) -> "Figure":
    """Plot every measure that is one number, one row each, against the longest numeric axis.

    The next axis gives the colours and the one after it the panels. Other axes stay at their first value, as the title says.
    """
    along, colours, panels, fixed = _roles(sweep)
    measures = [name for name in sweep.measures if data[name].dims[-1] == "seed"][:ROWS] or ["ok"]
    shown = _some(range(len(panels) if panels else 1), PANELS)
    with style.figure(len(shown), len(measures), width=3.6 if len(shown) > 1 else 4.6, height=3.0) as (fig, axes):
        grid = np.reshape(axes, (len(measures), len(shown)))
        for row, name in zip(grid, measures, strict=True):
            for ax, k in zip(row, shown, strict=True):
                at = {axis.name: 0 for axis in fixed} | ({panels.name: k} if panels else {})
                _panel(ax, sweep, data.isel(at), name, along, colours)
            row[0].set_ylabel(LABELS.get(name, name.replace("_", " ")))
        for ax, k in zip(grid[0], shown, strict=True):
            shown_at = [(panels, k)] if panels else []
            title = ", ".join(
                f"{a.name} = {_short(_value(data, a, i))}" for a, i in [*shown_at, *((a, 0) for a in fixed)]
            )
            ax.set_title(title, loc="left")
        for ax in grid[-1]:
            ax.set_xlabel(along.name if along else "")
        handles = dict(zip(*reversed(grid[0, 0].get_legend_handles_labels()), strict=True))
        if len(handles) > 1:
            fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=min(4, len(handles)))
        return fig


def _roles(sweep: Sweep) -> tuple[Axis | None, Axis | None, Axis | None, list[Axis]]:
    """The x axis, colours, panels, and the rest."""
    numeric = [axis for axis in sweep.axes if all(isinstance(v, int | float) for v in axis.column(axis.name))]
    along = max(numeric or sweep.axes, key=len, default=None)
    rest: list[Any] = [axis for axis in sweep.axes if axis is not along and len(axis) > 1]
    short = [axis for axis in sweep.axes if axis is not along and len(axis) == 1]
    colours, panels, *others = [*rest, None, None]
    return along, colours, panels, [axis for axis in [*others, *short] if axis is not None]


def _panel(ax: Any, sweep: Sweep, data: Any, name: str, along: Axis | None, colours: Axis | None) -> None:
    x, names = _places(data, along)
    lines = _some(range(len(colours) if colours else 1), COLOURED)
    measured = 0
    for r, route in enumerate(sweep.routes):
        mark = _MARKS[measured % len(_MARKS)]
        measured += route.random
        for c, k in enumerate(lines):
            part = data.isel(route=r, **({colours.name: k} if colours else {}))
            values = np.where(part.ok, part[name], np.nan).reshape(len(x), -1)
            label = _label(data.route.values[r], colours, data, k)
            if not route.random:
                ax.plot(x, values[:, 0], color=style.COLOURS[c], label=label, marker="" if len(x) > 1 else "_")
                continue
            mean, error = _mean(values)
            face = style.COLOURS[c] if measured == 1 else "none"
            style.dots(ax, x, mean, error, color=style.COLOURS[c], marker=mark, markerfacecolor=face, label=label)
    if names is not None:
        ax.set_xticks(x, names)
    elif len(x) > 2 and min(x) > 0 and max(x) / min(x) >= 20:
        ax.set_xscale("log")


def _places(data: Any, along: Axis | None) -> tuple[np.ndarray, list[str] | None]:
    """The x coordinates of the points, and their names if they are not numbers."""
    if along is None:
        return np.zeros(1), [""]
    values = data[along.name].values
    if values.dtype.kind in "if":
        return values.astype(float), None
    return np.arange(len(values), dtype=float), [str(value) for value in values]


def _mean(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    count = np.sum(~np.isnan(values), axis=1)
    with np.errstate(all="ignore"):
        mean = np.nansum(values, axis=1) / count
        spread = np.sqrt(np.nansum((values - mean[:, None]) ** 2, axis=1) / (count - 1) / count)
    return mean, None if np.all(count < 2) else np.where(count > 1, spread, 0.0)


def _label(route: str, colours: Axis | None, data: Any, k: int) -> str:
    verb, _, options = str(route).partition("(")
    label = f"{_NAMES[verb]} ({options}" if options else _NAMES[verb]
    return f"{label}, {colours.name} = {_short(_value(data, colours, k))}" if colours else label


def _value(data: Any, axis: Axis, index: int) -> Any:
    values = data[axis.name].values
    return values[index] if values.ndim else values.item()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _some(every: range, most: int) -> list[int]:
    """At most ``most`` of them, evenly spread, with both ends."""
    if len(every) <= most:
        return list(every)
    return sorted({every[round(i * (len(every) - 1) / (most - 1))] for i in range(most)})
