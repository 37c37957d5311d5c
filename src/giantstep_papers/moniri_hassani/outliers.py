"""Outliers of the first layer after two steps: several, each along a learned direction."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.plot import style as _style
from giantstep_papers.moniri_hassani import layers

CLAIM = Claim(
    order=1,
    quote="We derive a spectral characterization of the updated weights, demonstrating they behave "
    "as a spiked random matrix with multiple outliers, each corresponding to a learned "
    "direction.",
    place="abstract only",
    kind="theorem",
    statement="The updated weights behave as a spiked random matrix with multiple outliers, each "
    "corresponding to a learned direction.",
    where="the spectral characterisation of the second step; here for the target x1 + x1 x2 + "
    "h2(x1) x3, whose directions are x1, x2, x3",
    how="In every case the mean number of outliers must be above two. The cos² of outlier k with "
    "direction k of the target must be above 0.2, far beyond the 1/d of chance. Theory chose the "
    "outliers that are compared: those that stand clear of the edge at these sizes.",
    judges=(
        Judge(
            "number of outliers",
            side="above",
            margin=0.1,
            departure=0.7,
            because="a layer in ten that has one less",
        ),
        Judge(
            "cos² with a learned direction",
            side="above",
            margin=0.02,
            departure=0.15,
            because="what chance gives, of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(10, 50), "full": Seeds(20, 130)},
)


class OutlierCase(NamedTuple):
    """Exponents, batch, and how many outliers are compared: those clear of the edge."""

    alpha1: float
    alpha2: float
    batch: str
    clear: int

    def __str__(self) -> str:
        batch = "fresh" if self.batch == "fresh" else "reused"
        return f"α = {self.alpha1:g}, {self.alpha2:g}, {batch}"


_FEW = (
    OutlierCase(0.2, 0.4, "fresh", 2),
    OutlierCase(0.4, 0.45, "fresh", 3),
    OutlierCase(0.4, 0.45, "reuse", 2),
)
CASES = {
    "quick": _FEW,
    "full": (*_FEW, OutlierCase(0.2, 0.4, "reuse", 2), OutlierCase(0.35, 0.4, "fresh", 2)),
}
DIMENSIONS = {"quick": 100, "full": 300}
MULTIPLE = 2  # outliers
LEARNED = 0.2  # a cos^2 with a direction of the target, far beyond the 1/d of chance
TICKS = (2, 3, 5, 10, 20, 50)


def _spectra(function: Callable[..., Data], size: Size, seeds: range) -> Data:
    """Values, thresholds and cos^2, (cases, ..., seeds)."""
    found = cache.over(function, [((DIMENSIONS[size], *case[:3]),) for case in CASES[size]], seeds)
    return {key: value[:, 0] for key, value in found.items()}  # one second step size


measure, predict_draws = partial(_spectra, layers.measured), partial(_spectra, layers.predicted)


def which(size: Size) -> list[tuple[int, int]]:
    """Case and number of the outliers that are compared."""
    return [(i, k) for i, case in enumerate(CASES[size]) for k in range(case.clear)]


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Several outliers stand out of the bulk, and outlier k lies along learned direction k."""
    at = [f"outlier {k + 1}, {CASES[size][i]}" for i, k in which(size)]
    count = layers.counts(measured)
    along = np.stack([measured["cosines"][i, k, k] for i, k in which(size)])
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("number of outliers", count, MULTIPLE, at=map(str, CASES[size])),
        judge("cos² with a learned direction", along, LEARNED, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, count = DIMENSIONS[size], layers.counts(measured).mean(axis=-1)
    own = [measured["cosines"][i, k, k].mean() for i, k in which(size)]
    return Verdict(
        sentence=f"After two steps {count.min():.1f} to {count.max():.1f} outliers stand out of "
        f"the bulk on average, depending on the layer. Outlier k has a cos² of {min(own):.2f} to "
        f"{max(own):.2f} with direction k of the target.",
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = "
        f"{layers.CONSTANTS[1]}",
        figure=figure(size, measured, predicted),
        caption="The outliers of every trained layer stand where theory has them (left), along the "
        "directions that it names (right).",
        settings=tuple(layers.experiment(d, *case[:3]).id for case in CASES[size]),
    )


def figure(size: Size, measured: Data, predicted: Data) -> str:
    """Measured against predicted: positions on logarithmic axes, cos^2 on linear ones."""
    with _style.figure(2, width=3.6, height=3.4) as (fig, (ax, right)):
        for i, case in enumerate(CASES[size]):
            style: Any = {"color": _style.COLOURS[i], "marker": "os^Dv"[i]}
            style |= {"linestyle": "none", "alpha": 0.7}
            x, y = (data["values"][i, :4].ravel() for data in (predicted, measured))
            ax.plot(x, y, label=str(case), markerfacecolor="none", **style)
            own = np.arange(case.clear)
            x, y = (data["cosines"][i, own, own].ravel() for data in (predicted, measured))
            right.plot(x, y, markerfacecolor="none", **style)
        low, high = ax.get_xlim()
        ax.plot(
            [low, high], [low, high], color=_style.INK, linewidth=0.8, zorder=0, label="equality"
        )
        right.plot([0, 1], [0, 1], color=_style.INK, linewidth=0.8, zorder=0)
        ax.set(
            xscale="log", yscale="log", xlabel="singular value of W, predicted", ylabel="measured"
        )
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(TICKS, [str(tick) for tick in TICKS])
            axis.set_ticks([], minor=True)
        right.set(
            xlabel="cos² of outlier k with direction k, predicted",
            ylabel="measured",
            xlim=(0, 1.02),
            ylim=(0, 1.02),
        )
        return _style.svg(fig, below=2)
