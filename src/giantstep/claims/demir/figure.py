"""The figure of a panel: half the error as on the poster, and beside it the same over half the variance of the labels."""

from typing import Any

import numpy as np

from giantstep.checks.claim import Data
from giantstep.claims.demir.panel import Panel, PanelCurve
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

APART = 0.02  # of the axis, between markers that would cover each other


def figure(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data) -> str:
    with _style.figure(2, len(curves), width=3.7, height=2.75) as (fig, axes):
        grid = np.asarray(axes).reshape(len(curves), 2)
        for pair, curve in zip(grid, curves, strict=True):
            errors, theory = measured[curve.name], predicted["errors"][curve.name]
            units = (np.ones_like(errors["variance"]), errors["variance"])
            for ax, unit, label in zip(pair, units, ("½ test error", "test error / Var(y)"), strict=True):
                _curve(ax, curve, errors, theory, unit)
                ax.set(xlabel=panel.axis, ylabel=label)
                ax.set_ylim(0, 1.06 * ax.get_ylim()[1])
            pair[1].axhline(1.0, color=_style.INK, linewidth=0.8, linestyle=":", zorder=0)
            pair[1].set_ylim(0, max(pair[1].get_ylim()[1], 1.15))
            pair[0].set_title(curve.name, loc="left")
            pair[1].set_title("normalised; dotted: predicting the mean", loc="left")
        fig.legend(*grid[0, 0].get_legend_handles_labels(), loc="outside lower center", ncols=5)
        return _style.svg(fig)


def _curve(ax: Any, curve: PanelCurve, errors: Data, theory: np.ndarray, unit: np.ndarray) -> None:
    """Network, network without its step, models and theory, each divided by a unit (x, populations)."""
    x, places = np.array(curve.x), curve.at(curve.predicted_at)
    blue, red, green, _, _, grey = _style.COLOURS
    shift, hollow = APART * np.ptp(x), {"markerfacecolor": "white"}
    scaled = errors["network"] / unit[:, None]
    mean, error = mean_and_error(scaled[:, 1])
    if places:
        line: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 24, "markeredgewidth": 1.4}
        style: dict[str, Any] = {"linestyle": "-"} if len(places) == len(x) else line
        expected = theory[:, 0] / unit[places, 0]
        if curve.populations:
            expected = [
                _beside(scaled[i, 1], row / unit[i, : len(row)])[0] for i, row in zip(places, theory, strict=True)
            ]
        ax.plot(x[places], expected, color=_style.INK, label="theory", zorder=1, **style)
    _style.dots(ax, x, mean, error, color=blue, label="network", zorder=3)
    every, given = curve.at(curve.x), curve.at(curve.some)
    for label, where, values, place, look in (
        ("network, η = 0", every, errors["network"][:, 0], -1, {"color": grey}),
        ("Hermite model", every, errors["hermite"], 1, {"color": red, "marker": "D"}),
        ("conditional model", given, errors["conditional"], 2, {"color": green, "marker": "^"}),
    ):
        pairs = [_beside(scaled[i, 1], row / unit[i, : len(row)]) for i, row in zip(where, values, strict=True)]
        if pairs:
            y, bars = np.array(pairs).T
            _style.dots(ax, x[where] + place * shift, y, bars, label=label, **look, **hollow)


def _beside(network: np.ndarray, other: np.ndarray) -> tuple[float, float]:
    """The mean of what shares the first draws with the network, moved to all draws, and the error of the difference."""
    here = network[: len(other)]
    ratio, (_, error) = other.mean() / here.mean(), mean_and_error(other - here)
    return float(network.mean() * ratio), float(error)
