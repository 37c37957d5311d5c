"""The picture of outcomes. Measured values are dots with error bars; predicted ones are lines."""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giantstep._machine.callable import callable_module
from giantstep._machine.plain import choice
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.explain.explanation import Explanation
from giantstep.plot.style import COLOURS, INK, figure, law_panel, series, spectrum_panel, svg
from giantstep.plot.systems import neurons, panels, shares
from giantstep.results.outcome import LABELS, Outcome
from giantstep.results.system import Finding
from giantstep.results.trajectory import Evolution

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from giantstep.theory import Law

__all__ = ["plot", "svg"]
NAMED = 6  # penalties that get a legend entry and a colour of their own; more are shaded
PANELS = 4  # step sizes whose spectrum is shown
NAMES = {"simulate": "simulation", "equivalent": "equivalent model", "theory": "theory", "limit": "published limit"}
TRUSTED = 0.1  # half a band, against the value, up to which a predicted line is solid
AXES = {"eta": "step size η", "penalty": "penalty λ", "rate": "rate γ"}
LINES = {"theory": {"linewidth": 1.5}, "limit": {"linewidth": 0.9, "linestyle": (0, (4, 2)), "drawstyle": "steps-mid"}}


def plot(
    outcome: "Outcome | Iterable[Outcome] | Finding | Iterable[Finding] | Evolution | Iterable[Evolution] | Explanation",
    what: str = "test_error",
) -> "Figure":
    """An error against the step size, the penalty or the rate; or what="spectrum": histograms of the singular values.

    Several outcomes are drawn over each other: measured ones as dots (equivalent models hollow), those of ``theory`` as lines,
    the published limit as dashed lines. Several step sizes are the x axis, and each penalty is a colour; without them the
    penalties are the x axis. Seeds are averaged; bars are one standard error. The band of a prediction is shaded, and its line is
    dashed where the band is wider than 10% on either side.

    Args:
        outcome: an outcome or several, also a Comparison; or findings about one system, whose curves are then drawn.
            Evolutions, simulated or predicted, are drawn as what="neurons" (the first of them) or what="shares". An
            explanation is drawn as its staircase with the terms that are fitted.
        what: "test_error", "risk", "train_error", "train_objective" or "spectrum".

    Beside an outcome of ``theory`` a spectrum is predicted (``theory.spectrum``), which takes a while; a Comparison made with
    ``spectrum=True`` has it already.
    """
    if isinstance(outcome, Explanation):
        from giantstep.plot.staircase import picture

        return picture(outcome)
    given = tuple(outcome) if isinstance(outcome, Iterable) else (outcome,)
    paths = [e for e in given if isinstance(e, Evolution)]
    if paths:
        choice(what, ("neurons", "shares"), "what")
        return neurons(paths[0]) if what == "neurons" else shares(paths)
    findings = [f for f in given if isinstance(f, Finding)]
    if findings:
        return panels(findings)
    outcomes = (outcome,) if isinstance(outcome, Outcome) else _several(outcome)
    if what == "spectrum":
        # a Prediction or a Comparison has its theory at the step sizes listed, and may have the spectra already
        return _spectrum((getattr(outcome, "theory", outcomes[-1]), *outcomes), getattr(outcome, "laws", None))
    for o in outcomes:
        if not isinstance(what, str) or what not in LABELS or getattr(o, what) is None:
            known = ", ".join(k for k in LABELS if getattr(o, k) is not None)
            raise InputError(f"cannot plot {what!r}: this outcome has {known}")
    return _errors([o.mean() for o in outcomes], what)


def _several(given: Any) -> tuple[Outcome, ...]:
    outcomes = tuple(given) if isinstance(given, Iterable) else (given,)
    if not outcomes or not all(isinstance(o, Outcome) for o in outcomes):
        wrong = next((type(o).__name__ for o in outcomes if not isinstance(o, Outcome)), "nothing")
        raise InputError(f"plot takes an Outcome or several, not {wrong}")
    if len({_axis(o) for o in outcomes}) > 1:
        raise InputError(
            "outcomes drawn together need one axis: list the step sizes in all of them, or in none, and the penalties too"
        )
    return outcomes


def _axis(o: Outcome) -> str | None:
    """The quantity along x."""
    return next((a for a in ("eta", "penalty", "rate") if a in o.axes), None)


def _path(o: Outcome) -> Any:
    """Penalties, or rates."""
    return o.rate if "rate" in o.axes else o.penalty


def _kind(o: Outcome) -> str:
    """A key of NAMES."""
    return "limit" if any(note.startswith("published limit") for note in o.status.notes) else o.route


class _Series(NamedTuple):
    """One line or one set of dots; ``penalty`` is given if the colours show the penalties, ``band`` (2, x) by a prediction."""

    penalty: float | None
    x: np.ndarray
    y: np.ndarray
    error: np.ndarray
    band: np.ndarray | None = None


def _series(o: Outcome, what: str) -> list[_Series]:
    y, error = np.asarray(getattr(o, what)), getattr(o, f"{what}_se")
    error = np.full(y.shape, np.nan) if error is None else np.asarray(error)
    band = getattr(o, f"{what}_band", None)
    if _axis(o) != "eta":
        x = np.asarray(_path(o)) if _axis(o) else np.zeros(1)
        ends = None if band is None else np.asarray(band).reshape(-1, 2).T
        return [_Series(None, x, np.atleast_1d(y), np.atleast_1d(error), ends)]
    etas = np.asarray(o.eta)
    penalties = list(_path(o)) if {"penalty", "rate"} & {*o.axes} else [None]
    values, errors = y.reshape(len(etas), -1).T, error.reshape(len(etas), -1).T
    ends = [None] * len(values) if band is None else np.asarray(band).reshape(len(etas), -1, 2).transpose(1, 2, 0)
    every = zip(penalties, values, errors, ends, strict=True)
    return [_Series(penalty, etas, value, error, own) for penalty, value, error, own in every]


def _errors(outcomes: Sequence[Outcome], what: str) -> "Figure":
    curves = [(_kind(o), s) for o in outcomes for s in _series(o, what)]
    penalties = list(dict.fromkeys(s.penalty for _, s in curves))
    kinds = list(dict.fromkeys(kind for kind, _ in curves))
    s = outcomes[0].setting
    with figure() as (fig, ax):
        for kind, one in curves:
            _draw(ax, kind, one, _colour(len(penalties), penalties.index(one.penalty)))
        axis = _axis(outcomes[0])
        if axis is None:
            ax.set_xticks([0], [s.network.activation.name])
            ax.set_xlim(-1, 1)
        else:  # the measured points choose the scale: a line has more points in between
            at = next((one.x for kind, one in curves if kind not in LINES), curves[0][1].x)
            _scale(ax, at, AXES[axis])
        ax.set_ylabel(LABELS[what])
        ax.set_title(f"{s.target.name},  d = {s.d}, p = {s.p}, n = {_samples(s)}", loc="left")
        _legends(ax, kinds, penalties, AXES["rate" if "rate" in outcomes[0].axes else "penalty"])
    return fig


def _draw(ax: "Axes", kind: str, s: _Series, colour: Any) -> None:
    if kind in LINES and len(s.x) == 1:
        ax.hlines(s.y, s.x - 0.3, s.x + 0.3, color=colour, linewidth=1.2, linestyle=LINES[kind].get("linestyle", "-"))
        return
    order, hollow = np.argsort(s.x), {"markerfacecolor": "white", "marker": "D", "markersize": 4.5}
    style = LINES.get(kind, hollow if kind == "equivalent" else {})
    if s.band is None or kind not in LINES:
        series(ax, s.x[order], s.y[order], s.error[order], predicted=kind in LINES, color=colour, **style)
        return
    low, high = s.band[:, order]
    ax.fill_between(s.x[order], low, high, color=colour, alpha=0.15, linewidth=0, zorder=1)
    trusted = high - low <= 2 * TRUSTED * np.abs(s.y[order])
    for inside, dashes in ((trusted, {}), (~trusted | ~np.append(trusted[1:], True), {"linestyle": (0, (3, 2))})):
        if np.any(inside):  # beyond trust the line is dashed, from the last point that is trusted on
            series(
                ax, s.x[order], np.where(inside, s.y[order], np.nan), predicted=True, color=colour, **(style | dashes)
            )


def _legends(ax: "Axes", kinds: list[str], penalties: list, title: str) -> None:
    """A legend of the marks inside the axes if there are several, and one of the penalties or rates outside."""
    from matplotlib.lines import Line2D

    marks = {"simulate": "o", "equivalent": "D"}
    colour = INK if len(penalties) > 1 else COLOURS[0]
    if len(kinds) > 1:
        handles = [
            Line2D([], [], color=colour, **LINES[k], label=NAMES[k])
            if k in LINES
            else Line2D([], [], color=colour, marker=marks.get(k, "o"), linestyle="none", label=NAMES.get(k, k),
                        markerfacecolor="white" if k == "equivalent" else colour)
            for k in kinds
        ]  # fmt: skip
        legend = ax.legend(handles=handles)
        if penalties != [None]:
            ax.add_artist(legend)  # a second legend would replace it
    if penalties != [None]:
        last = len(penalties) - 1
        shown = range(len(penalties)) if last < NAMED else (0, last // 2, last)
        handles = [
            Line2D([], [], color=_colour(len(penalties), i), marker="o", linestyle="none", label=f"{penalties[i]:.3g}")
            for i in shown
        ]
        ax.legend(handles=handles, loc="center left", bbox_to_anchor=(1.0, 0.5), title=title)


def _colour(count: int, i: int) -> Any:
    """A few curves get colours of their own, many get shades."""
    if count <= NAMED:
        return COLOURS[i]
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * i / (count - 1))


def _samples(setting: Setting) -> str:
    sizes = setting.protocol.sizes()
    return ", ".join(map(str, dict.fromkeys(sizes))) if sizes else str(setting.protocol.readout_size)


def _scale(ax: "Axes", x: Any, label: str) -> None:
    """A log axis for positive values over more than a decade; it is linear near zero if zero is one of the values."""
    x = np.asarray(x)
    least, most = x[x > 0].min(initial=np.inf), x.max()
    if np.all(x > 0) and most > 10 * least:
        ax.set_xscale("log")
    elif np.all(x >= 0) and most > 10 * least:
        ax.set_xscale("asinh", linear_width=float(least))
        decades = range(int(np.floor(np.log10(least))), int(np.floor(np.log10(most))) + 1)
        ticks = [m * 10.0**k for k in decades for m in ((1, 3) if len(decades) < 4 else (1,))]
        ticks = [0.0, *(tick for tick in ticks if 0.98 * least <= tick <= 1.02 * most)]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
    ax.set_xlabel(label)


def _spectrum(outcomes: Sequence[Outcome], laws: "Sequence[Law] | None") -> "Figure":
    """Singular values of F / sqrt(n), one panel for each step size: the histogram of the first seed and the predicted density."""
    measured = next((o for o in outcomes if o.singular_values is not None), None)
    predicted = next((o for o in outcomes if o.route == "theory"), None)
    shape = measured or predicted
    if shape is None:
        raise InputError("this outcome has no spectrum: simulate with spectrum=True")
    etas = [None] if shape.eta is None else list(np.ravel(shape.eta))
    shown = np.unique(np.linspace(0, len(etas) - 1, min(len(etas), PANELS)).astype(int))
    if laws is not None:
        laws = [laws[e] for e in shown]
    elif predicted is not None:
        laws = _laws(shape.setting, [etas[e] for e in shown])
    with figure(len(shown), width=3.2) as (fig, axes):
        for i, (ax, e) in enumerate(zip(np.atleast_1d(axes), shown, strict=True)):
            if measured is not None:
                spectrum_panel(ax, _first(measured)[e], show_edge=laws is None)
            if laws is not None:
                law_panel(ax, laws[i])
            if etas[e] is not None:
                ax.set_title(f"η = {etas[e]:.3g}", loc="left")
        if laws is not None:
            fig.legend(
                *_first_labels(np.atleast_1d(axes)), loc="outside lower center", ncols=4 if len(shown) > 1 else 2
            )
    return fig


def _first(o: Outcome) -> np.ndarray:
    """The singular values of the first seed, one row for each step size."""
    values = np.asarray(o.singular_values)
    if "seed" in o.axes:
        values = np.take(values, 0, axis=1 if "eta" in o.axes else 0)
    return np.atleast_2d(values)


def _first_labels(axes: Iterable["Axes"]) -> tuple[list, list]:
    """The handles and labels of a legend, with every label once."""
    handles: dict[str, Any] = {}
    for ax in axes:
        for handle, label in zip(*ax.get_legend_handles_labels(), strict=True):
            handles.setdefault(label, handle)
    return list(handles.values()), list(handles)


def _laws(setting: Setting, etas: list) -> "list[Law]":
    from giantstep.theory import spectrum

    if setting.protocol.steps and setting.protocol.steps[0].listed:
        step = replace(setting.protocol.steps[0], eta=tuple(etas))
        setting = replace(setting, protocol=replace(setting.protocol, steps=(step,)))
    laws = spectrum(setting)
    return list(laws) if isinstance(laws, tuple) else [laws]


callable_module(__name__, plot)
