"""The figure of a panel: half the error as on the poster, and beside it the same over half the variance of the labels."""

from typing import TYPE_CHECKING, Any

from giantstep.claims.demir.panel import Curve, Panel
from giantstep.lab.verdict import Data

if TYPE_CHECKING:
    import numpy as np

APART = 0.02  # of the axis, between markers that would cover each other


def figure(panel: Panel, curves: tuple[Curve, ...], measured: Data, predicted: Data) -> str:
    import numpy as np

    from giantstep import canvas

    with canvas.figure(2, len(curves), width=3.7, height=2.75) as (fig, axes):
        grid = np.asarray(axes).reshape(len(curves), 2)
        for pair, curve in zip(grid, curves, strict=True):
            found, theory = measured[curve.name], predicted["errors"][curve.name]
            one = np.ones_like(found["variance"])
            for ax, unit, label in zip(pair, (one, found["variance"]), ("½ test error", "test error / Var(y)"), strict=True):  # fmt: skip
                _curve(ax, curve, found, theory, unit)
                ax.set(xlabel=panel.axis, ylabel=label)
                ax.set_ylim(0, None)
            pair[1].axhline(1.0, color=canvas.INK, linewidth=0.8, linestyle=":", zorder=0)
            low, high = pair[1].get_ylim()
            pair[1].set_ylim(low, max(high, 1.15))
            pair[0].set_title(curve.name, loc="left")
            pair[1].set_title("normalised; dotted: predicting the mean", loc="left")
        named = dict(zip(*reversed(grid[0, 0].get_legend_handles_labels()), strict=True))
        fig.legend(named.values(), named.keys(), loc="outside lower center", ncols=5)
        return canvas.svg(fig)


def _curve(ax: Any, curve: Curve, found: Data, theory: "np.ndarray", unit: "np.ndarray") -> None:
    """Network, network without its step, models and theory, each divided by a unit (x, populations)."""
    import numpy as np

    from giantstep import canvas
    from giantstep.measure import mean_and_error

    x, at = np.array(curve.x), curve.at
    shift = APART * np.ptp(x)
    blue, red, green, _, _, grey = canvas.COLOURS
    hollow = {"markerfacecolor": "white"}
    marks: tuple[tuple[str, Any, Any, int, dict[str, Any]], ...] = (
        ("network, η = 0", range(len(x)), found["network"][:, 0], -1, {"color": grey, **hollow}),
        ("network", range(len(x)), found["network"][:, 1], 0, {"color": blue}),
        ("Hermite model", range(len(x)), found["hermite"], 1, {"color": red, "marker": "D", **hollow}),
        ("conditional model", at, found["conditional"], 2, {"color": green, "marker": "^", **hollow}),
    )
    expected = (theory / unit[at][:, : theory.shape[1]]).mean(axis=1)
    if curve.populations:  # beside the same populations' networks
        expected *= _share(found, unit, at, theory.shape[1])
    line = len(at) == len(x)
    style: dict[str, Any] = {"linestyle": "-"} if line else {"linestyle": "none", "marker": "_", "markersize": 17}
    ax.plot(x[at], expected, color=canvas.INK, label="theory", zorder=1, **style)
    for label, where, values, place, look in marks:
        mean, error = mean_and_error(values / unit[list(where)])
        canvas.dots(ax, x[list(where)] + place * shift, mean, error, label=label, **look)


def _share(found: Data, unit: "np.ndarray", at: list[int], count: int) -> "np.ndarray":
    """The mean over all populations over that of the first ones."""
    values = found["network"][at, 1] / unit[at]
    return values.mean(axis=1) / values[:, :count].mean(axis=1)
