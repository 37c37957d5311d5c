"""The house style of pictures: a figure off screen, its colours, dots over lines, a spectrum, SVG as text."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep import measure
from giantstep._given.declared import at_least, given
from giantstep.errors import InputError, quoted

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from giantstep.theory import Law

COLOURS = ("#0b6e99", "#c8553d", "#3a7d44", "#8a5a9e", "#b8860b", "#4a4e69")
INK = "#22262b"
COLUMN = 3.5  # inches: in the 3.3 of a paper's column the letters of a legend have eight points
SMOOTH = 200  # points of a smooth line
STYLE: dict[Any, Any] = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "figure.dpi": 160,
    "axes.titlesize": 10,
    "axes.titlelocation": "left",
    "axes.labelsize": 9.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "axes.edgecolor": INK,
    "axes.labelcolor": INK,
    "axes.linewidth": 0.8,
    "axes.prop_cycle": None,
    "xtick.color": INK,
    "ytick.color": INK,
    "text.color": INK,
    "legend.frameon": False,
    "legend.fontsize": 8.5,
    "lines.linewidth": 1.4,
    "lines.markersize": 4.5,
    "figure.facecolor": "white",
    "savefig.facecolor": "white",
    "svg.fonttype": "path",
    "svg.hashsalt": "giantstep",
}


@contextmanager
def figure(columns: int = 1, rows: int = 1, *, width: float = 4.2, height: float = 3.1) -> Iterator[Any]:
    """A figure in the house style and its axes (an array when there are several), drawn off screen."""
    import matplotlib as mpl
    from cycler import cycler

    from giantstep.plot._picture import Picture  # here, as all of matplotlib: it is slow to import

    with mpl.rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        fig = Picture(figsize=(width * columns, height * rows), layout="constrained")
        yield fig, fig.subplots(rows, columns)


@contextmanager
def canvas(ax: Any = None, columns: int = 1, rows: int = 1, **size: float) -> Iterator[Any]:
    """The axes given, with their figure, or a new figure as ``figure`` makes it."""
    if ax is None:
        with figure(columns, rows, **size) as made:
            yield made
        return
    if columns * rows > 1:
        raise InputError(f"ax= holds one panel, and this picture has {columns * rows}: leave ax= out")
    if not hasattr(ax, "errorbar"):
        raise InputError(f"ax must be axes of matplotlib, not {type(ax).__name__}")
    import matplotlib as mpl

    _make_room(ax)
    # marks of the house's size leave room beside them; the fonts are the user's
    largest, own = STYLE["lines.markersize"], mpl.rcParams["lines.markersize"]
    with mpl.rc_context({"lines.markersize": min(own, largest)}):
        yield ax.figure, ax


def _make_room(ax: Any) -> None:
    """Let the figure leave room for its labels and legends, unless its author has arranged it."""
    import matplotlib as mpl

    usual: Any = mpl.rcParams
    fig = ax.figure
    while not hasattr(fig, "set_layout_engine"):  # a part of a figure
        fig = fig.figure
    sides = ("left", "right", "bottom", "top")
    as_made = all(getattr(fig.subplotpars, side) == usual[f"figure.subplot.{side}"] for side in sides)
    if fig.get_layout_engine() is None and ax.get_subplotspec() is not None and as_made:
        fig.set_layout_engine("constrained")


def drawn(value: Any, what: str) -> "Figure":
    """A figure of matplotlib, which is imported where one is drawn."""
    if not hasattr(value, "savefig") or isinstance(value, type):
        raise InputError(f"{what} must be a figure of matplotlib, not {quoted(value)}")
    return value


def drawable(value: Any, what: str) -> "Axes":
    """Axes of matplotlib."""
    if not hasattr(value, "errorbar") or isinstance(value, type):
        raise InputError(f"{what} must be axes of matplotlib, not {quoted(value)}")
    return value


@given(fig=drawn, below=at_least(0), above=at_least(0))
def svg(fig: "Figure", *, below: int = 0, above: int = 0, **look: Any) -> str:
    """The figure as SVG text, the same bytes for the same figure.

    ``below`` or ``above`` all panels stands the legend of the first panel, in so many columns; ``look`` is its style.
    """
    import matplotlib as mpl

    from giantstep.plot._picture import SvgCanvas

    if columns := below or above:
        side = "outside lower center" if below else "outside upper center"
        fig.legend(*fig.axes[0].get_legend_handles_labels(), loc=side, ncols=columns, **look)
    canvas, dpi = fig.canvas, fig.dpi
    with mpl.rc_context({"svg.hashsalt": "giantstep", "svg.fonttype": "path"}):
        text = SvgCanvas(fig).written()
    fig.set_canvas(canvas)
    fig.dpi = dpi
    return text


def dots(ax: "Axes", x: Any, y: Any, error: Any = None, **style: Any) -> None:
    """Measured values: dots with error bars (one standard error)."""
    error = None if error is None or not np.all(np.isfinite(np.asarray(error, dtype=float))) else error
    ax.errorbar(x, y, error, **{"marker": "o", "linestyle": "none", "capsize": 2, "elinewidth": 1, **style})


def curve(ax: "Axes", x: Any, y: Any, *, log: str = "", **style: Any) -> None:
    """Predicted values: a smooth line through them that has no extremum of its own (Fritsch and Carlson 1980).

    ``log`` names the logarithmic axes, "x", "y" or "xy".
    """
    x, y = np.asarray(x, dtype=float), np.asarray(y, dtype=float)
    known = np.isfinite(y)
    drawn = between(*(np.log(v[known]) if name in log else v[known] for name, v in (("x", x), ("y", y))))
    ax.plot(*(np.exp(v) if name in log else v for name, v in zip("xy", drawn, strict=True)), **style)


def between(x: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Many points of a smooth line through (x, y), or through each column of y, that has no extremum of its own."""
    from scipy.interpolate import PchipInterpolator

    if len(x) < 2:
        return x, y
    fine = np.linspace(x[0], x[-1], SMOOTH)
    return fine, PchipInterpolator(x, y)(fine)


def series(ax: "Axes", x: Any, y: Any, error: Any = None, *, predicted: bool, **style: Any) -> None:
    """A predicted series is a line; a measured one is dots with error bars, over the lines."""
    if predicted:
        ax.plot(x, y, **{"zorder": 2, **style})
    else:
        dots(ax, x, y, error, **{"zorder": 3, **style})


def spectrum_panel(
    ax: "Axes", values: np.ndarray, out: np.ndarray | None = None, names: Sequence[str] = (), *, show_edge: bool = True
) -> None:
    """Density of the bulk, its edge, and the outliers as triangles with their names; outliers not in ``out`` are hollow.

    The values are those of one seed, or have a row for each seed: the seeds share the histogram, and the edge is their mean.
    """
    edge, above, heights, bins = histogram(values)
    out = above if out is None else np.asarray(out)
    ax.hist(bins[:-1], bins.tolist(), weights=heights, color=COLOURS[0], alpha=0.55, linewidth=0, label="bulk")
    if show_edge:
        ax.axvline(edge, color=INK, linewidth=0.8, linestyle=":", label="bulk edge")
    across = ax.get_xaxis_transform()  # x in data, y as a share of the height
    for marks, fill in ((out, COLOURS[1]), (np.setdiff1d(above, out), "none")):
        label = "outlier" if len(marks) and fill != "none" else None
        ax.plot(
            marks, np.full(len(marks), 0.03), "v", color=COLOURS[1], markerfacecolor=fill, transform=across, label=label
        )
    for value, name in zip(out, names, strict=False):
        ax.annotate(
            name, (value, 0.03), (0, 6), xycoords=across, textcoords="offset points", ha="center", color=COLOURS[1]
        )
    ax.set_xlim(0, 1.1 * max(edge, *above) if len(above) else 1.15 * edge)
    _name_spectrum(ax)


def histogram(values: np.ndarray) -> tuple[float, np.ndarray, np.ndarray, np.ndarray]:
    """The bulk's edge, the outliers above it, and the density of the bulk on bins: heights and the bins' ends.

    With a row of values for each seed the outliers and the bulk are those of all seeds, and the edge is the mean of their edges.
    """
    spectra = np.atleast_2d(values)
    edges = [measure.bulk_edge(row) if len(row) >= measure.FEWEST else float(np.max(row)) for row in spectra]
    above = [measure.outliers(row, edge) for row, edge in zip(spectra, edges, strict=True)]
    bulk = np.concatenate([np.sort(row)[: len(row) - len(out)] for row, out in zip(spectra, above, strict=True)])
    heights, bins = np.histogram(bulk, bins=int(np.clip(len(bulk) / 15, 8, 50)), density=True)
    return float(np.mean(edges)), np.concatenate(above), heights, bins


def law_panel(ax: "Axes", law: "Law") -> None:
    """A predicted spectrum: the density of the bulk as a line and the outliers as dashed lines, over any histogram."""
    x, density = law_line(law)
    ax.plot(x, density, color=INK, linewidth=1.3, label="bulk, theory")
    for i, one in enumerate(law.outliers):
        label = "outlier, theory" if i == 0 else None
        ax.axvline(one.position, 0, 0.5, color=INK, linewidth=0.9, linestyle=(0, (4, 2)), label=label, zorder=1)
    furthest = max([law.edge, *(one.position for one in law.outliers)])
    ax.set_xlim(0, max(1.1 * furthest, ax.get_xlim()[1] if ax.patches else 0.0))
    ax.set_ylim(0, max(ax.get_ylim()[1], 1.05 * float(np.max(density))))
    _name_spectrum(ax)


def law_line(law: "Law") -> tuple[np.ndarray, np.ndarray]:
    """The density of a predicted bulk up to its ends; one that starts above zero starts as a square root."""
    start = ([law.low], [0.0]) if law.low > 0 else ([], [])
    return np.concatenate([start[0], law.x, [law.edge]]), np.concatenate([start[1], law.density, [0.0]])


def layer_panel(ax: "Axes", layer: measure.LayerSpectrum) -> None:
    """Spectrum of a first layer on a logarithmic axis: its bulk as a histogram, the edge, and the outliers as triangles."""
    bulk, highest = layer.values[layer.count :], max(layer.values[0], layer.edge)
    ax.hist(bulk, bins=int(np.clip(len(bulk) / 10, 8, 50)), color=COLOURS[0], alpha=0.55, linewidth=0, label="bulk")
    ax.axvline(layer.edge, color=INK, linewidth=0.8, linestyle=":", label="bulk edge")
    if layer.count:
        height = np.full(layer.count, 0.03)
        ax.plot(layer.positions, height, "v", color=COLOURS[1], transform=ax.get_xaxis_transform(), label="outlier")
    ax.set_xscale("log")
    lowest = 0.9 * max(bulk[-1], 0.05 * layer.edge)
    ticks = [tick for tick in (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500) if lowest < tick < 1.3 * highest]
    ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
    ax.set_xticks([], minor=True)
    ax.set(xlim=(lowest, 1.3 * highest), xlabel="singular values of W", ylabel="number")
    ax.legend()


def _name_spectrum(ax: "Axes") -> None:
    ax.set_xlabel("singular values of F/√n")
    ax.set_ylabel("density")
