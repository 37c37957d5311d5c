"""The picture of errors against the step size, the penalty or the rate: dots over lines, a colour for each setting or penalty."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from giantstep.experiment._header import shared
from giantstep.experiment.setting import Setting
from giantstep.plot._band import banded
from giantstep.plot._subjects import Subjects, subjects
from giantstep.plot.formula import formula
from giantstep.plot.frame import OWN, PictureFrame, aside
from giantstep.plot.style import COLOURS, INK, between, canvas, series
from giantstep.results.outcome import LABELS, Outcome

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

NAMED = 6  # penalties that get a legend entry and a colour of their own; more are shaded
NAMES = {"simulate": "simulation", "equivalent": "equivalent model", "theory": "theory", "limit": "published limit"}
AXES = {"eta": "step size η", "penalty": "penalty λ", "rate": "rate γ"}
LINES: dict[str, dict[str, Any]] = {
    "theory": {"linewidth": 1.5},
    "limit": {"linewidth": 0.9, "linestyle": (0, (4, 2)), "drawstyle": "steps-mid"},
}
SMOOTH = 25  # points of a prediction from which its line is smooth


def axis_of(o: Outcome) -> str | None:
    """The quantity along x."""
    return next((a for a in ("eta", "penalty", "rate") if a in o.axes), None)


class _Series(NamedTuple):
    """One line or one set of dots; ``penalty`` is given if the colours show the penalties, ``band`` (2, x) by a prediction."""

    penalty: float | None
    x: np.ndarray
    y: np.ndarray
    error: np.ndarray
    band: np.ndarray | None = None


def picture(
    outcomes: Sequence[Outcome], what: str, labels: Sequence[str] | None = None, frame: PictureFrame = OWN
) -> "Figure":
    """Every outcome, averaged over seeds, in the colour of its setting, or of its penalty if there is one setting."""
    kinds = _kinds(outcomes)
    groups = subjects(outcomes, labels, kinds)
    curves = [(i, groups.of[i], s) for i, o in enumerate(outcomes) for s in _series(_smooth(o), what)]
    colours = list(dict.fromkeys((group, s.penalty) for _, group, s in curves))
    axis = axis_of(outcomes[0])
    with canvas(frame.ax, width=4.2 if len(colours) == 1 else 5.0) as (fig, own):
        for i, group, one in curves:
            at = one if axis is not None else one._replace(x=one.x + group)
            before = _measured(kinds[j] for j in range(i) if groups.of[j] == group)
            _draw(own, kinds[i], at, _colour(len(colours), colours.index((group, one.penalty))), before)
        if axis is None:
            many = len(groups.names) > 1
            ticks = groups.names if many else (outcomes[0].setting.network.activation.name,)
            own.set_xticks(range(len(ticks)), ticks)
            own.set_xlim(-1, len(ticks))
        else:  # the measured points choose the scale: a line has more points in between
            _scale(own, next((s.x for i, _, s in curves if kinds[i] not in LINES), curves[0][2].x), AXES[axis])
        own.set_ylabel(LABELS[what])
        names, title = _entries(colours, groups, AXES["rate" if "rate" in outcomes[0].axes else "penalty"])
        shown = names if axis is not None or title else []
        if groups.marks and len(groups.names) > 1:  # a label says both, the mark and the colour
            places = dict.fromkeys((i, colours.index((group, one.penalty))) for i, group, one in curves)
            frame.explain(
                own, [_handle(kinds[i], groups.label(i, colours[c][1]), _colour(len(colours), c)) for i, c in places]
            )
        else:
            _legends(own, _marks(kinds, groups), shown, title, frame)
        frame.entitle(own, *_title([o.setting for o in outcomes]))
    return fig


def _kinds(outcomes: Sequence[Outcome]) -> list[str]:
    """What every outcome is: a key of NAMES."""
    return [_kind(o) for o in outcomes]


def _measured(kinds: Iterable[str]) -> int:
    """How many of them are drawn as dots, which the next one stands beside."""
    return sum(kind not in LINES for kind in kinds)


def _marks(kinds: Sequence[str], groups: Subjects) -> list[tuple[str, str]]:
    """Every kind of mark with its name: the user's, if the labels tell the marks of a setting apart."""
    names = groups.marks or [NAMES.get(kind, kind) for kind in kinds]
    return list(dict.fromkeys(zip(kinds, names, strict=True)))


def _kind(o: Outcome) -> str:
    """A key of NAMES."""
    return "limit" if o.regime == "limit" else o.route


def _path(o: Outcome) -> Any:
    """Penalties, or rates."""
    return o.rate if "rate" in o.axes else o.penalty


def _smooth(o: Outcome) -> Outcome:
    """A prediction at a few points, at more of them; of one step or none on Gaussian data, where that is fast."""
    axis, protocol = axis_of(o), o.setting.protocol
    few = axis is not None and len(getattr(o, axis)) < SMOOTH
    if _kind(o) != "theory" or not few or len(protocol.steps) > 1 or o.seeds is not None:
        return o
    from giantstep.errors import InputError
    from giantstep.experiment._finer import finer
    from giantstep.experiment.data.gaussian import Gaussian
    from giantstep.theory import theory

    setting = finer(o.setting)
    if setting is None or not isinstance(o.setting.data, Gaussian) or protocol.readout is None:
        return o
    try:
        return theory(setting)
    except InputError:  # what is drawn was predicted in another way
        return o


def _series(o: Outcome, what: str) -> list[_Series]:
    y, error = np.asarray(getattr(o, what)), getattr(o, f"{what}_se")
    error = np.full(y.shape, np.nan) if error is None else np.asarray(error)
    band = getattr(o, f"{what}_band", None)
    if axis_of(o) != "eta":
        x = np.asarray(_path(o)) if axis_of(o) else np.zeros(1)
        ends = None if band is None else np.asarray(band).reshape(-1, 2).T
        return [_Series(None, x, np.atleast_1d(y), np.atleast_1d(error), ends)]
    etas = np.asarray(o.eta)
    penalties = list(_path(o)) if {"penalty", "rate"} & {*o.axes} else [None]
    values, errors = y.reshape(len(etas), -1).T, error.reshape(len(etas), -1).T
    ends = [None] * len(values) if band is None else np.asarray(band).reshape(len(etas), -1, 2).transpose(1, 2, 0)
    every = zip(penalties, values, errors, ends, strict=True)
    return [_Series(penalty, etas, value, error, own) for penalty, value, error, own in every]


def _draw(ax: "Axes", kind: str, s: _Series, colour: Any, before: int) -> None:
    """A curve; an equivalent model stands beside the dots that were drawn ``before`` it."""
    if kind in LINES and len(s.x) == 1:
        ax.hlines(s.y, s.x - 0.3, s.x + 0.3, color=colour, linewidth=1.2, linestyle=LINES[kind].get("linestyle", "-"))
        return
    s = _fine(s) if kind == "theory" else s
    order, hollow = np.argsort(s.x), {"markerfacecolor": "white", "marker": "D", "markersize": 4.5}
    style: dict[str, Any] = LINES.get(kind, hollow if kind == "equivalent" else {})
    if kind == "equivalent" and before:
        style = {**style, "transform": aside(ax, before)}
    if s.band is None or kind not in LINES:
        series(ax, s.x[order], s.y[order], s.error[order], predicted=kind in LINES, color=colour, **style)
        return
    banded(ax, s.x[order], s.y[order], s.band[:, order], color=colour, **style)


def _fine(s: _Series) -> _Series:
    """A prediction that is known at a few points only, as a smooth line with its band; x may be listed in any order."""
    columns = np.stack([s.y, *([] if s.band is None else s.band)], axis=-1)
    known = len(np.unique(s.x)) == len(s.x) and np.all(np.isfinite(columns))
    if not 2 < len(s.x) < SMOOTH or not known or np.min(s.x) < 0:
        return s
    order, unit = np.argsort(s.x), np.min(s.x[s.x > 0])
    u, values = between(np.arcsinh(s.x[order] / unit), columns[order])  # straight near zero, a logarithm far from it
    y, *band = values.T
    return s._replace(x=unit * np.sinh(u), y=y, error=np.full(y.shape, np.nan), band=np.array(band) if band else None)


def _entries(colours: list[tuple[int, float | None]], groups: Subjects, title: str) -> tuple[list[str], str]:
    """What the colours mean: the penalties of one setting, the settings, or both; and the title of that legend."""
    if len(groups.names) == 1:
        named = [f"{penalty:.3g}" for _, penalty in colours if penalty is not None]
        return named, title if named else ""
    return [
        groups.names[group] if penalty is None else f"{groups.names[group]}, {title.split()[-1]} = {penalty:.3g}"
        for group, penalty in colours
    ], ""


def _legends(ax: "Axes", marks: list[tuple[str, str]], names: list[str], title: str, frame: PictureFrame) -> None:
    """What marks and colours mean: in one legend, or on a figure of its own with the colours beside the axes."""
    ink = INK if len(names) > 1 else COLOURS[0]
    kinds = [_handle(kind, name, ink) for kind, name in marks] if len(marks) > 1 else []
    last = len(names) - 1
    shown = range(len(names)) if last < NAMED else (0, last // 2, last)
    said = [f"{title.split()[-1]} = {name}" if title and frame.single else name for name in names]
    colours = [_handle("simulate", said[i], _colour(len(names), i)) for i in shown]
    if frame.single:
        frame.explain(ax, kinds, colours if len(names) > 1 or not kinds else [])
        return
    if kinds:
        legend = ax.legend(handles=kinds)
        if names:
            ax.add_artist(legend)  # a second legend would replace it
    if names:
        ax.legend(handles=colours, title=title or None, loc="center left", bbox_to_anchor=(1.0, 0.5))


def _handle(kind: str, name: str, colour: Any) -> Any:
    """An entry of a legend."""
    from matplotlib.lines import Line2D

    if kind in LINES:
        return Line2D([], [], color=colour, **LINES[kind], label=name)
    look: dict[str, Any] = {"marker": "D", "markerfacecolor": "white"} if kind == "equivalent" else {"marker": "o"}
    return Line2D([], [], color=colour, linestyle="none", label=name, **look)


def _colour(count: int, i: int) -> Any:
    """A few curves get colours of their own, many get shades."""
    if count <= NAMED:
        return COLOURS[i]
    from matplotlib import colormaps

    return colormaps["viridis"](0.9 * i / (count - 1))


def _title(settings: Sequence[Setting]) -> list[str]:
    """The target and what fixes the error, as far as all settings share them."""
    names = {formula(s.target.name) for s in settings}
    return [*(names if len(names) == 1 else ()), *shared(settings, symbols=True).values()]


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
