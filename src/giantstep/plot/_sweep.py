"""The picture of a sweep's Dataset: dots with error bars over seeds are measured, lines predicted, and a map has colours."""

from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from giantstep._given.plain import choice
from giantstep.errors import InputError
from giantstep.experiment._header import folded
from giantstep.plot import style
from giantstep.plot._band import banded
from giantstep.plot._errors import AXES
from giantstep.plot.formula import formula
from giantstep.plot.frame import OWN, POINTS, PictureFrame, aside, letters
from giantstep.plot.ticks import logarithmic
from giantstep.results.outcome import LABELS

if TYPE_CHECKING:
    from matplotlib.figure import Figure

PANELS, COLOURED, ROWS = 4, 6, 3
TITLE = 9.5  # points
FEWEST = 5  # values of both axes of a phase diagram
WIDE = 20  # the largest value over the smallest from which an axis is logarithmic
_NAMES = {"simulate": "simulation", "theory": "theory", "equivalent": "equivalent"}
_AXES = AXES | {
    "alpha": r"exponent $\alpha$ of the step $n^\alpha$",
    "n": "samples n",
    "d": "dimension d",
    "p": "width p",
    "width": "width p",
    "noise": "label noise",
}
_SYMBOLS = {"eta": "η", "alpha": "α", "penalty": "λ", "rate": "γ", "width": "p"}
_MARKS = ("o", "s", "D", "^", "v", "P")
_OTHER = ("route", "seed", "neuron", "direction", "other", "index", "end")


def picture(data: Any, what: str | None = None, frame: PictureFrame = OWN) -> "Figure":
    """Plot every measure that is one number, one row each, or the one named, against the longest numeric axis.

    The next axis gives the colours and the one after it the panels. Other axes stay at their first value, as the title says.
    Two axes of at least five numbers each give a phase diagram: a map of colours for each route.
    """
    if "route" not in data.dims or "ok" not in data:
        raise InputError("plot takes the Dataset of a sweep, as gs.sweep returns it")
    measures = [name for name in data if data[name].dims[-1:] == ("seed",) and name not in ("ok", "stored")]
    measures = [name for name in measures if not str(name).endswith("_se")] or ["ok"]
    chosen = measures[:ROWS] if what is None else [choice(what, tuple(map(str, measures)), "what")]
    along, colours, panels, fixed = _roles(data)
    if along and colours and _numeric(data, colours) and min(data.sizes[along], data.sizes[colours]) >= FEWEST:
        return _map(data.isel({name: 0 for name in (panels, *fixed) if name}), str(chosen[0]), along, colours, frame)
    shown = _some(range(data.sizes[panels] if panels else 1), PANELS)
    with style.canvas(frame.ax, len(shown), len(chosen), width=3.6 if len(shown) > 1 else 4.6, height=3.0) as (
        fig,
        axes,
    ):
        grid = np.reshape(np.atleast_1d(axes), (len(chosen), len(shown)))
        for row, name in zip(grid, chosen, strict=True):
            for own, k in zip(row, shown, strict=True):
                at = {name: 0 for name in fixed} | ({panels: k} if panels else {})
                _panel(own, data.isel(at), name, along, colours)
            row[0].set_ylabel(_label(name))
        for own in grid[-1]:
            own.set_xlabel(_AXES.get(along or "", along or ""))
        handles = dict(zip(*reversed(grid[0, 0].get_legend_handles_labels()), strict=True))
        if grid.size == 1 and frame.single:
            frame.explain(grid[0, 0], *_entries(data, colours))
        elif len(handles) > 1 and frame.legend is not False:
            entry = 0.55 + 0.07 * max(map(len, handles))  # inches that the longest entry takes
            ncols = max(1, min(4, len(handles), int(fig.get_figwidth() / entry)))
            fig.legend(handles.values(), handles.keys(), loc="outside lower center", ncols=ncols)
        for own, k in zip(grid[0], shown, strict=True):
            places = [(panels, k)] if panels else []
            at = [f"{_symbol(a)} = {_short(_value(data, a, i))}" for a, i in [*places, *((a, 0) for a in fixed)]]
            frame.entitle(own, *(_held(data) if grid.size == 1 else ()), *at)
        if grid.size > 1:
            _above(fig, data, frame)
    return fig


def _held(data: Any) -> list[str]:
    """What all points of the sweep have in common."""
    words = data.attrs.get("held", "")
    first, *others = words.split(", ") if words else [""]
    return [word for word in (formula(first), *others) if word]


def _above(fig: "Figure", data: Any, frame: PictureFrame) -> None:
    """Write what all points have in common above all panels of a figure of its own."""
    width = letters(fig.get_figwidth() * POINTS, TITLE)
    if frame.ax is None and frame.title is not False and (words := folded(_held(data), width)):
        fig.suptitle("\n".join(words), x=0.01, ha="left", fontsize=TITLE)


def _label(name: Any) -> str:
    return LABELS.get(name, str(name).replace("_", " "))


def _numeric(data: Any, name: str) -> bool:
    return data[name].dtype.kind in "if"


def _roles(data: Any) -> tuple[str | None, str | None, str | None, list[str]]:
    """The x axis, colours, panels, and the rest."""
    axes = [str(name) for name in data["ok"].dims if name not in _OTHER]
    numeric = [name for name in axes if _numeric(data, name)]
    along = max(numeric or axes, key=lambda name: data.sizes[name], default=None)
    rest: list[Any] = [name for name in axes if name != along and data.sizes[name] > 1]
    short = [name for name in axes if name != along and data.sizes[name] == 1]
    colours, panels, *others = [*rest, None, None]
    return along, colours, panels, [name for name in [*others, *short] if name is not None]


def _panel(ax: Any, data: Any, name: Any, along: str | None, colours: str | None) -> None:
    x, names = _places(data, along)
    lines = _lines(data, colours)
    measured = 0
    for r, route in enumerate(map(str, data.route.values)):
        random = not route.startswith("theory")
        mark = _MARKS[measured % len(_MARKS)]
        measured += random
        for c, k in enumerate(lines):
            part = data.isel(route=r, **({colours: k} if colours else {}))
            values = np.where(part.ok, part[name], np.nan).reshape(len(x), -1)
            label = _curve(route, colours, data, k)
            if not random:
                _line(ax, x, _predicted(part, name, values), names is None, color=style.COLOURS[c], label=label)
                continue
            mean, error = _mean(values)
            face = style.COLOURS[c] if measured == 1 else "none"
            look = {"transform": aside(ax, measured - 1)} if measured > 1 else {}
            style.dots(
                ax, x, mean, error, color=style.COLOURS[c], marker=mark, markerfacecolor=face, label=label, **look
            )
    if names is not None:
        ax.set_xticks(x, names)
    elif len(x) > 2 and _wide(x):
        logarithmic(ax, "x")


def _lines(data: Any, colours: str | None) -> list[int]:
    """The places along the axis of the colours that are drawn."""
    return _some(range(data.sizes[colours] if colours else 1), COLOURED)


def _entries(data: Any, colours: str | None) -> tuple[list[Any], list[Any]]:
    """The entries of a short legend: a mark for each route, and a colour for each value."""
    from matplotlib.lines import Line2D

    routes, entries, measured = [str(route) for route in data.route.values], [], 0
    values: list[Any] = []
    ink = style.INK if colours else style.COLOURS[0]
    for route in routes if len(routes) > 1 else []:
        name = _curve(route, None, data, 0)
        if route.startswith("theory"):
            entries.append(Line2D([], [], color=ink, label=name))
            continue
        mark, face = _MARKS[measured % len(_MARKS)], "none" if measured else ink
        measured += 1
        entries.append(Line2D([], [], color=ink, linestyle="none", marker=mark, markerfacecolor=face, label=name))
    for c, k in enumerate(_lines(data, colours) if colours else []):
        name = f"{_symbol(str(colours))} = {_short(_value(data, str(colours), k))}"
        values.append(Line2D([], [], color=style.COLOURS[c], linestyle="none", marker="o", label=name))
    return entries, values


def _predicted(part: Any, name: Any, values: np.ndarray) -> np.ndarray:
    """The prediction along x, and the two ends of its band where it has one: (x, 1) or (x, 3)."""
    band = f"{name}_band"
    if band not in part or not np.any(np.isfinite(part[band])):
        return values[:, :1]
    ends = np.where(part.ok.values[..., None], part[band], np.nan).reshape(*values.shape, 2)
    return np.column_stack([values[:, 0], ends[:, 0]])


def _line(ax: Any, x: np.ndarray, columns: np.ndarray, numbers: bool, **look: Any) -> None:
    """A prediction, in its band: a smooth line through numbers in order that are all known, else straight lines between
    what is known."""
    if not numbers or len(x) == 1 or np.any(np.diff(x) <= 0):
        ax.plot(x, columns[:, 0], marker="" if len(x) > 1 else "_", **look)
        return
    if len(x) > 2 and np.all(np.isfinite(columns)):
        ratio = _wide(x)
        x, columns = style.between(np.log(x) if ratio else x, columns)
        x = np.exp(x) if ratio else x
    if columns.shape[1] == 1:
        ax.plot(x, columns[:, 0], **look)
    else:
        banded(ax, x, columns[:, 0], columns[:, 1:].T, **look)


def _map(data: Any, name: str, across: str, up: str, frame: PictureFrame) -> "Figure":
    """A panel for each route: the mean of a measure over seeds as colours, on one scale, against two axes."""
    routes = _some(range(data.sizes["route"]), PANELS)
    data = data.sortby([across, up])
    borders = [_borders(data[axis].values) for axis in (across, up)]
    kept = data[name].where(data.ok).isel(route=routes).transpose("route", up, across, "seed")
    values = np.reshape(kept.values, (-1, kept.shape[-1]))
    means = np.reshape(_mean(values)[0], kept.shape[:-1])
    ends = {"vmin": float(np.nanmin(means)), "vmax": float(np.nanmax(means))} if np.isfinite(means).any() else {}
    with style.canvas(frame.ax, len(routes), width=4.2 if len(routes) == 1 else 3.6) as (fig, axes):
        mesh = None
        for own, part, r in zip(np.atleast_1d(axes), means, routes, strict=True):
            mesh = own.pcolormesh(*borders, part, cmap="viridis", rasterized=True, **ends)
            own.set(xlabel=_AXES.get(across, across), ylabel=_AXES.get(up, up))
            frame.entitle(own, _curve(str(data.route.values[r]), None, data, 0))
            sides: tuple[tuple[Literal["x", "y"], Any], ...] = (("x", data[across].values), ("y", data[up].values))
            for side, values_at in sides:
                if _geometric(values_at):
                    logarithmic(own, side)
        fig.colorbar(mesh, ax=axes, label=_label(name))
        _above(fig, data, frame)
    return fig


def _geometric(values: np.ndarray) -> bool:
    """Whether positive values are spaced more evenly by their ratios than by their differences."""
    if values.min() <= 0:
        return False
    steps, ratios = np.diff(values.astype(float)), np.diff(np.log(values))
    return bool(np.std(ratios) / np.mean(ratios) < np.std(steps) / np.mean(steps))


def _borders(values: np.ndarray) -> np.ndarray:
    """The borders of cells around increasing values: their means, which are geometric on a logarithmic axis."""
    geometric = _geometric(values)
    places = np.log(values) if geometric else values.astype(float)
    inner = (places[:-1] + places[1:]) / 2
    # the first and the last value lie in the middle of their cells
    borders = np.concatenate([[2 * places[0] - inner[0]], inner, [2 * places[-1] - inner[-1]]])
    return np.exp(borders) if geometric else borders


def _wide(values: np.ndarray) -> bool:
    """Whether positive values reach so far that their axis is logarithmic."""
    return bool(values.min() > 0 and values.max() >= WIDE * values.min())


def _places(data: Any, along: str | None) -> tuple[np.ndarray, list[str] | None]:
    """The x coordinates of the points, and their names if they are not numbers."""
    if along is None:
        return np.zeros(1), [""]
    values = data[along].values
    if values.dtype.kind in "if":
        return values.astype(float), None
    return np.arange(len(values), dtype=float), [str(value) for value in values]


def _mean(values: np.ndarray) -> tuple[np.ndarray, np.ndarray | None]:
    count = np.sum(~np.isnan(values), axis=1)
    with np.errstate(all="ignore"):
        mean = np.nansum(values, axis=1) / count
        spread = np.sqrt(np.nansum((values - mean[:, None]) ** 2, axis=1) / (count - 1) / count)
    return mean, None if np.all(count < 2) else np.where(count > 1, spread, 0.0)


def _curve(route: str, colours: str | None, data: Any, k: int) -> str:
    verb, _, options = route.partition("(")
    label = f"{_NAMES[verb]} ({options}" if options else _NAMES[verb]
    return f"{label}, {_symbol(colours)} = {_short(_value(data, colours, k))}" if colours else label


def _symbol(axis: str) -> str:
    return _SYMBOLS.get(axis, axis)


def _value(data: Any, axis: str, index: int) -> Any:
    values = data[axis].values
    return values[index] if values.ndim else values.item()


def _short(value: Any) -> str:
    return f"{value:.4g}" if isinstance(value, float | np.floating) else str(value)


def _some(every: range, most: int) -> list[int]:
    """At most ``most`` of them, evenly spread, with both ends."""
    if len(every) <= most:
        return list(every)
    return sorted({every[round(i * (len(every) - 1) / (most - 1))] for i in range(most)})
