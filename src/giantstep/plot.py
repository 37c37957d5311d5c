"""Pictures. What was measured is dots with error bars; lines are limits and predictions."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import StringIO
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep import measure
from giantstep._callable import callable_module
from giantstep._errors import InputError
from giantstep.outcome import LABELS, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = ("#0b6e99", "#c8553d", "#3a7d44", "#8a5a9e", "#b8860b", "#4a4e69")
INK = "#22262b"
STYLE = {
    "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans"],
    "font.size": 9.5,
    "axes.titlesize": 10,
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
    from matplotlib.figure import Figure

    with mpl.rc_context({**STYLE, "axes.prop_cycle": cycler(color=COLOURS)}):
        fig = Figure(figsize=(width * columns, height * rows), layout="constrained")
        yield fig, fig.subplots(rows, columns)


def svg(fig: "Figure") -> str:
    """The figure as SVG text, the same bytes for the same figure."""
    import matplotlib as mpl

    buffer = StringIO()
    with mpl.rc_context({"svg.hashsalt": "giantstep", "svg.fonttype": "path"}):
        fig.savefig(buffer, format="svg", metadata={"Date": None, "Creator": None})
    return buffer.getvalue()


def dots(ax: "Axes", x: Any, y: Any, error: Any = None, **style: Any) -> None:
    """Measured values: dots with error bars (one standard error)."""
    error = None if error is None or not np.all(np.isfinite(np.asarray(error, dtype=float))) else error
    ax.errorbar(x, y, error, fmt="o", capsize=2, elinewidth=1, **style)


def plot(outcome: Outcome, what: str = "test_error") -> "Figure":
    """An error against the step size or the penalty; or what="spectrum": histograms of the singular values.

    With several step sizes they are the x axis and each penalty is a colour; with penalties alone they are the x axis.
    Seeds are averaged; bars are one standard error.
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"plot takes an Outcome, not {type(outcome).__name__}")
    if what == "spectrum":
        return _spectrum(outcome)
    if what not in LABELS or getattr(outcome, what) is None:
        raise InputError(
            f"cannot plot {what!r}: this outcome has {', '.join(k for k in LABELS if getattr(outcome, k) is not None)}"
        )
    o = outcome.mean()
    values, errors = np.asarray(getattr(o, what)), getattr(o, f"{what}_se")
    errors = np.full(values.shape, np.nan) if errors is None else np.asarray(errors)
    s = outcome.setting
    with figure() as (fig, ax):
        if "eta" in o.axes:
            lines = values.reshape(len(o.eta or ()), -1).T, errors.reshape(len(o.eta or ()), -1).T
            penalties = o.penalty if "penalty" in o.axes else [None]
            for i, (y, e) in enumerate(zip(*lines, strict=True)):
                label = None if penalties[i] is None else f"penalty {penalties[i]:.3g}"
                dots(ax, o.eta, y, e, label=label, color=COLOURS[i % len(COLOURS)])
            _scale(ax, o.eta, "step size η")
            if "penalty" in o.axes:
                ax.legend()
        elif "penalty" in o.axes:
            dots(ax, o.penalty, values, errors)
            _scale(ax, o.penalty, "penalty λ")
        else:
            dots(ax, [0], [float(values)], [float(errors)])
            ax.set_xticks([0], [s.network.activation.name])
        ax.set_ylabel(LABELS[what])
        ax.set_title(f"{s.target.name},  d = {s.d}, p = {s.p}, n = {_samples(outcome)}", loc="left")
    return fig


def _samples(outcome: Outcome) -> str:
    sizes = outcome.setting.protocol.sizes()
    return ", ".join(map(str, dict.fromkeys(sizes))) if sizes else str(outcome.setting.protocol.readout_size)


def _scale(ax: "Axes", x: Any, label: str) -> None:
    """A log axis when the values are positive and spread over more than a decade."""
    x = np.asarray(x)
    if np.all(x > 0) and x.max() > 10 * x.min():
        ax.set_xscale("log")
    elif np.all(x >= 0) and x.max() > 10 * x[x > 0].min(initial=np.inf):
        ax.set_xscale("symlog", linthresh=float(x[x > 0].min()))
    ax.set_xlabel(label)


def _spectrum(outcome: Outcome) -> "Figure":
    """Histogram of the singular values of F / sqrt(n), first seed, one panel per step size, outliers as ticks."""
    if outcome.singular_values is None:
        raise InputError("this outcome has no spectrum: simulate with spectrum=True")
    values = np.asarray(outcome.singular_values)
    if "seed" in outcome.axes:
        values = np.take(values, 0, axis=1 if "eta" in outcome.axes else 0)
    panels = np.atleast_2d(values)
    etas = outcome.eta if "eta" in outcome.axes else [outcome.eta]
    shown = np.unique(np.linspace(0, len(panels) - 1, min(len(panels), 4)).astype(int))
    with figure(len(shown), width=3.2) as (fig, axes):
        for ax, e in zip(np.atleast_1d(axes), shown, strict=True):
            spectrum_panel(ax, panels[e])
            if etas[e] is not None:  # type: ignore[index]
                ax.set_title(f"η = {etas[e]:.3g}", loc="left")  # type: ignore[index]
    return fig


def spectrum_panel(ax: "Axes", values: np.ndarray, out: np.ndarray | None = None, names: Sequence[str] = ()) -> None:
    """Density of the bulk, its edge, and the outliers as triangles with their names; outliers not in ``out`` are hollow."""
    edge = measure.bulk_edge(values)
    above = measure.outliers(values, edge)
    out = above if out is None else np.asarray(out)
    bulk = np.sort(values)[: len(values) - len(above)]
    bins = int(np.clip(len(bulk) / 15, 8, 50))
    ax.hist(bulk, bins=bins, density=True, color=COLOURS[0], alpha=0.55, linewidth=0, label="bulk")
    ax.axvline(edge, color=INK, linewidth=0.8, linestyle=":", label="bulk edge")
    for marks, fill in ((out, COLOURS[1]), (np.setdiff1d(above, out), "none")):
        at = ax.get_xaxis_transform()  # x in data, y as a share of the height
        ax.plot(marks, np.full(len(marks), 0.03), "v", color=COLOURS[1], markerfacecolor=fill, transform=at)
    for value, name in zip(out, names, strict=False):
        place, style = (value, 0.03), {"ha": "center", "color": COLOURS[1]}
        ax.annotate(name, place, (0, 6), xycoords=ax.get_xaxis_transform(), textcoords="offset points", **style)
    ax.set_xlim(0, 1.1 * max(edge, *above) if len(above) else 1.15 * edge)
    ax.set_xlabel("singular values of F/√n")
    ax.set_ylabel("density")


callable_module(__name__, plot)
