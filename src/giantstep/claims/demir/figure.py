"""The verdict on a panel and its figure: half the error as on the poster, and beside it the error over the labels' variance."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy.interpolate import CubicSpline

from giantstep.checks.claim import Data, Ruling, Size, Verdict
from giantstep.claims.demir.evidence import compare, gaps, raw_change
from giantstep.claims.demir.panel import PENALTY, SIZES, Panel, PanelCurve, experiment, measure, predict
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

APART = 0.012  # of the axis, between markers that would cover each other
LONG = 36  # letters of a name, above which two stand side by side
MARKS = ("o", "s", "^")


def functions(panel: Panel) -> tuple[Callable[..., Any], ...]:
    """``measure``, ``predict``, ``compare`` and ``describe`` of the claim on a panel."""
    return tuple(partial(each, panel) for each in (measure, predict, compare, describe))


def describe(panel: Panel, size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, curves = SIZES[size], panel.curves[size]
    return Verdict(
        sentence=_sentence(panel, size, measured, predicted, ruling),
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}; "
        + "; ".join(f"{c.name}: {panel.symbol} = {', '.join(f'{x:g}' for x in c.x)}" for c in curves),
        figure=figure(panel, curves, measured, predicted),
        caption="Half the test error as on the poster (left), and the test error over the variance of the labels (right), "
        f"against {panel.symbol}. "
        + "; ".join(_span(c, measured[c.name]) for c in curves)
        + ". Filled dots are the network, hollow ones the network without its step, crosses the Hermite model, and lines "
        "theory, interpolated between "
        + ", ".join(f"{len(c.line)}" for c in curves if c.line)
        + " values."
        + " ".join(["", *(_step(panel, c, measured[c.name]) for c in curves)]),
        settings=tuple(experiment(n, c, x).id for c in curves for x in c.x),
    )


def _sentence(panel: Panel, size: Size, measured: Data, predicted: Data, ruling: Ruling) -> str:
    """What the axis does to the error, how far the models are apart, and what fails if anything does."""
    words = []
    if panel.better is not None:
        factor = np.exp(raw_change(panel, size, measured, predicted).mean())
        where = "below" if factor < 1 else "above"
        words.append(
            f"The error at {panel.symbol} = {panel.better:g} is {100 * abs(factor - 1):.0f}% {where} that at {panel.worse:g}."
        )
    off = [gaps(c, measured[c.name]).mean() for c in panel.curves[size] if c.aligned]
    words.append(f"The Hermite model is within {100 * np.abs(off).max():.1f}% of the network on average over a curve.")
    if panel.better is not None:
        words.append("How much of the change is that of the labels is the question of giantstep/labels-shrink.")
    return " ".join(words if ruling.stated.outcome == "holds" else [*words, ruling.stated.sentence])


def _span(curve: PanelCurve, errors: Data) -> str:
    raw = errors["network"][:, 1].mean(axis=-1)
    over = (errors["network"][:, 1] / errors["variance"]).mean(axis=-1)
    return f"{curve.name}: from {raw[0]:.3g} to {raw[-1]:.3g}, and from {over[0]:.2f} to {over[-1]:.2f}"


def _step(panel: Panel, curve: PanelCurve, errors: Data) -> str:
    """What the step does at most, in words."""
    none, here = errors["network"].mean(axis=-1).T
    change = here / none - 1
    most = int(np.argmax(np.abs(change)))
    return f"{curve.name}: the step changes the error by {100 * change[most]:+.1f}% at most ({panel.symbol} = {curve.x[most]:g})."


def figure(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data) -> str:
    with style.figure(2, width=4.1, height=3.4) as (fig, (left, right)):
        for i, curve in enumerate(curves):
            errors, theory = measured[curve.name], predicted.get(curve.name, np.zeros((2, 0)))
            _curve(left, panel, curve, errors, theory, i, normalised=False)
            _curve(right, panel, curve, errors, theory, i, normalised=True)
        right.axhline(1.0, color=style.INK, linewidth=0.8, linestyle=":", zorder=0)
        right.annotate(
            "predicting the mean", (0.99, 1.0), (0, 2), xycoords=("axes fraction", "data"),
            textcoords="offset points", fontsize=8, ha="right", va="bottom",
        )  # fmt: skip
        for ax, label in ((left, "½ test error"), (right, "test error / Var(y)")):
            ax.set(xlabel=panel.axis, ylabel=label)
            if panel.log:
                ticks.logarithmic(ax, "x")
        ticks.logarithmic(left)
        right.set_ylim(min(right.get_ylim()[0], 0.75), max(right.get_ylim()[1], 1.15))
        handles, names = left.get_legend_handles_labels()
        if any(curve.line for curve in curves):
            handles.append(right.plot([], [], color=style.INK)[0])
            names.append("theory")
        wide = max(map(len, names)) > LONG
        fig.legend(handles, names, loc="outside lower center", ncols=2 if wide else 3)
        return style.svg(fig)


def _curve(
    ax: Any, panel: Panel, curve: PanelCurve, errors: Data, theory: np.ndarray, i: int, *, normalised: bool
) -> None:
    """Network, network without its step, Hermite model and theory, raw or over half the variance."""
    x, colour, mark = np.array(curve.x), style.COLOURS[i], MARKS[i % len(MARKS)]
    ends = panel.curves["full"][0].x
    at_side = (
        (lambda k: x * (ends[-1] / ends[0]) ** (k * APART)) if panel.log else (lambda k: x + k * APART * np.ptp(ends))
    )
    unit = errors["variance"] if normalised else np.ones_like(errors["variance"])
    if curve.line:
        there = np.log(curve.line) if panel.log else np.array(curve.line)
        fine, values = np.linspace(there[0], there[-1], 80), np.log(theory[0] / (theory[1] if normalised else 1.0))
        ax.plot(np.exp(fine) if panel.log else fine, np.exp(CubicSpline(there, values)(fine)), color=colour, zorder=1)
    scaled = errors["network"] / unit[:, None]
    none, here = (mean_and_error(scaled[:, e]) for e in (0, 1))
    style.dots(ax, at_side(-1), *none, color=colour, marker=mark, markerfacecolor="white", label=f"{curve.name}, η = 0")
    style.dots(ax, x, *here, color=colour, marker=mark, zorder=3, label=f"{curve.name}, network")
    if curve.aligned:
        at = [curve.x.index(a) for a in curve.aligned]
        mean, error = mean_and_error(gaps(curve, errors))
        values = here[0][at]
        look = {"color": style.INK, "marker": "x", "markersize": 5.5, "zorder": 4}
        style.dots(
            ax, at_side(1)[at], values * (1 + mean), values * error, label="Hermite model" if i == 0 else None, **look
        )
