"""The picture of an Outcome. What was measured is dots with error bars; lines are limits and predictions."""

from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep._callable import callable_module
from giantstep._errors import InputError
from giantstep.canvas import COLOURS, dots, figure, spectrum_panel, svg
from giantstep.outcome import LABELS, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["plot", "svg"]
NAMED = 6  # penalties that get a legend entry and a colour of their own; more are shaded


def plot(outcome: Outcome, what: str = "test_error") -> "Figure":
    """An error against the step size or the penalty; or what="spectrum": histograms of the singular values.

    With several step sizes they are the x axis and each penalty is a colour; with penalties alone they are the x axis.
    Seeds are averaged; bars are one standard error.
    """
    if not isinstance(outcome, Outcome):
        raise InputError(f"plot takes an Outcome, not {type(outcome).__name__}")
    if what == "spectrum":
        return _spectrum(outcome)
    if not isinstance(what, str) or what not in LABELS or getattr(outcome, what) is None:
        raise InputError(
            f"cannot plot {what!r}: this outcome has {', '.join(k for k in LABELS if getattr(outcome, k) is not None)}"
        )
    o = outcome.mean()
    values, errors = np.asarray(getattr(o, what)), getattr(o, f"{what}_se")
    errors = np.full(values.shape, np.nan) if errors is None else np.asarray(errors)
    s = outcome.setting
    with figure() as (fig, ax):
        if "eta" in o.axes:
            etas = np.asarray(o.eta)
            lines = values.reshape(len(etas), -1).T, errors.reshape(len(etas), -1).T
            penalties = list(o.penalty) if "penalty" in o.axes else [None]
            for i, (y, e) in enumerate(zip(*lines, strict=True)):
                dots(ax, etas, y, e, label=_label(penalties, i), color=_colour(len(penalties), i))
            _scale(ax, etas, "step size η")
            if "penalty" in o.axes:
                ax.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), title="penalty λ")
        elif "penalty" in o.axes:
            dots(ax, o.penalty, values, errors)
            _scale(ax, o.penalty, "penalty λ")
        else:
            dots(ax, [0], [float(values)], [float(errors)])
            ax.set_xticks([0], [s.network.activation.name])
        ax.set_ylabel(LABELS[what])
        ax.set_title(f"{s.target.name},  d = {s.d}, p = {s.p}, n = {_samples(outcome)}", loc="left")
    return fig


def _label(penalties: list, i: int) -> str | None:
    """The penalty; of many only the first, the middle and the last are named."""
    last = len(penalties) - 1
    if penalties[i] is None or (last >= NAMED and i not in (0, last // 2, last)):
        return None
    return f"{penalties[i]:.3g}"


def _colour(count: int, i: int) -> Any:
    """A colour of its own for a few, a shade for many."""
    if count <= NAMED:
        return COLOURS[i]
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * i / (count - 1))


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
    etas: list = list(np.ravel(outcome.eta)) if outcome.eta is not None else [None]
    shown = np.unique(np.linspace(0, len(panels) - 1, min(len(panels), 4)).astype(int))
    with figure(len(shown), width=3.2) as (fig, axes):
        for ax, e in zip(np.atleast_1d(axes), shown, strict=True):
            spectrum_panel(ax, panels[e])
            if etas[e] is not None:
                ax.set_title(f"η = {etas[e]:.3g}", loc="left")
    return fig


callable_module(__name__, plot)
