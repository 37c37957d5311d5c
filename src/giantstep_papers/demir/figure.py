"""The verdict on a panel and its figure: half the test error, as on the poster."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from giantstep.checks.claim import Claim, Data, Size
from giantstep.checks.verdict import Ruling, Verdict
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.frame import aside, entry, explain_below
from giantstep_papers.demir.evidence import compare, gaps, raw_change
from giantstep_papers.demir.panel import (
    PENALTY,
    SIZES,
    Panel,
    PanelCurve,
    experiment,
    measure,
    predict,
)
from giantstep_papers.shared import said

MARKS = ("o", "s", "^", "v")
FELT = 0.02  # of the logarithm of the error: a step that does less has no arrow


def functions(claim: Claim, panel: Panel) -> tuple[Callable[..., Any], ...]:
    """``measure``, ``predict``, ``compare`` and ``describe`` of the claim on a panel."""
    compared = partial(compare, claim, panel)
    return partial(measure, panel), partial(predict, panel), compared, partial(describe, panel)


def describe(panel: Panel, size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, curves = SIZES[size], panel.curves[size]
    return Verdict(
        sentence=_sentence(panel, size, measured, predicted, ruling),
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}; "
        + "; ".join(
            f"{c.name}: {panel.symbol} = {', '.join(f'{x:g}' for x in c.x)}" for c in curves
        ),
        figure=figure(panel, curves, measured, predicted),
        caption=panel.caption.format(**_numbers(panel, size, measured, predicted)),
        settings=tuple(experiment(n, c, x).id for c in curves for x in c.x),
    )


def _sentence(panel: Panel, size: Size, measured: Data, predicted: Data, ruling: Ruling) -> str:
    """What the axis does to the error, how far models are apart, and what fails if it does."""
    words = []
    if panel.better is not None and panel.worse is not None:
        factor = np.exp(raw_change(panel, size, measured, predicted).mean())
        where = "below" if factor < 1 else "above"
        words.append(
            f"The error at {panel.symbol} = {said.signed(panel.better)} is "
            f"{100 * abs(factor - 1):.0f}% {where} that at {said.signed(panel.worse)}."
        )
    off = [gaps(c, measured[c.name]).mean() for c in panel.curves[size] if c.aligned]
    words.append(
        f"Averaged over a curve, the Hermite model is within {100 * np.abs(off).max():.1f}% of the "
        "network."
    )
    if panel.better is not None:
        words.append(
            "How much of the change is due to the labels is tested in giantstep/labels-shrink."
        )
    return " ".join(words if ruling.stated.outcome == "holds" else [*words, ruling.stated.sentence])


def _numbers(panel: Panel, size: Size, measured: Data, predicted: Data) -> dict[str, float]:
    """What a caption may name: the most that a step does, and the change along the axis.

    The change of the error is there in % and as a factor.
    """
    effects = [
        np.log(here / none)
        for none, here in (_levels(measured[c.name]) for c in panel.curves[size])
    ]
    step = 100 * max(np.abs(np.expm1(each)).max() for each in effects)
    if panel.better is None:
        return {"step": step}
    factor = np.exp(raw_change(panel, size, measured, predicted).mean())
    return {"step": step, "change": 100 * abs(factor - 1), "times": 1 / factor}


def _levels(errors: Data) -> np.ndarray:
    """Mean errors of the network, (without and with its step, x)."""
    return errors["network"].mean(axis=-1).T


def figure(panel: Panel, curves: tuple[PanelCurve, ...], measured: Data, predicted: Data) -> str:
    """Half the test error on a logarithmic axis, a colour and a shape for each curve."""
    with style.figure(width=style.COLUMN, height=3.7) as (fig, ax):
        for i, curve in enumerate(curves):
            _curve(ax, curve, measured[curve.name], predicted.get(curve.name, np.zeros((2, 0))), i)
        ax.set(xlabel=panel.axis, ylabel="½ test error")
        ax.margins(x=0.1, y=0.1)
        ticks.logarithmic(ax)
        places = sorted({x for curve in curves for x in curve.x})
        if panel.log:
            ticks.logarithmic(ax, "x", places)
        else:
            ax.set_xticks(places, [f"{x:g}" for x in places])
        explain_below(fig, _kinds(curves, measured), _colours(curves))
        return style.svg(fig)


def _curve(ax: Any, curve: PanelCurve, errors: Data, theory: np.ndarray, i: int) -> None:
    """The network, the Hermite model beside it, the way that the step takes, and theory."""
    x, colour, mark = np.array(curve.x), style.COLOURS[i], MARKS[i]
    if curve.line:
        ax.plot(
            curve.line,
            theory[0],
            marker="|",
            markersize=7,
            linewidth=0.7,
            color=colour,
            alpha=0.7,
            zorder=1,
        )
    mean, error = mean_and_error(errors["network"][:, 1])
    if curve.own:
        ax.plot(x, errors["network"][:, 1], ".", color=colour, markersize=4, alpha=0.3, zorder=1)
    style.dots(ax, x, mean, error, color=colour, marker=mark, zorder=3)
    for at, none, here in zip(x, *_levels(errors), strict=True):
        if abs(np.log(here / none)) > FELT:
            look = {
                "arrowstyle": "-|>",
                "color": colour,
                "linewidth": 0.9,
                "shrinkA": 0,
                "shrinkB": 0,
                "mutation_scale": 7,
            }
            beside = aside(ax, -1)
            ax.annotate("", (at, here), (at, none), beside, beside, arrowprops=look)
            ax.update_datalim([(at, none)])
    if curve.aligned:
        off, off_error = mean_and_error(gaps(curve, errors))
        values = mean[[curve.x.index(a) for a in curve.aligned]]
        look = {"color": colour, "marker": mark, "markersize": 4, "markerfacecolor": "white"}
        look |= {"transform": aside(ax, 1), "zorder": 2}
        style.dots(ax, curve.aligned, values * (1 + off), values * off_error, **look)


def _colours(curves: tuple[PanelCurve, ...]) -> list[Any]:
    """The entries of the legend for the curves."""
    return [entry(curve.name, MARKS[i], color=style.COLOURS[i]) for i, curve in enumerate(curves)]


def _kinds(curves: tuple[PanelCurve, ...], measured: Data) -> list[Any]:
    """The entries of the legend for the other marks that are there."""
    felt = any(
        np.abs(np.log(here / none)).max() > FELT
        for none, here in (_levels(measured[c.name]) for c in curves)
    )
    shown = (
        (any(c.own for c in curves), entry("one population", ".", markersize=4, alpha=0.5)),
        (True, entry("Hermite model", "o", markersize=4, markerfacecolor="white")),
        (
            any(c.line for c in curves),
            entry("theory", "|", markersize=7, linestyle="-", linewidth=0.7),
        ),
        (felt, entry("what the step does", r"$\downarrow$", markersize=7)),
    )
    return [mark for there, mark in shown if there]
