"""Outliers of the first layer after two steps: there are several, and each lies along a learned direction."""

from collections.abc import Callable
from functools import partial
from typing import NamedTuple

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
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
    how="In every case the mean number of outliers must be above two, with a margin for a layer "
    "in ten that has one less. The cos² of outlier k with direction k of the target must be "
    "above 0.2, far beyond the 1/d of chance, with a margin of the order of chance. Theory "
    "chose the outliers that are compared: those that stand clear of the edge at these sizes.",
    seeds={"quick": Seeds(10, 50), "full": Seeds(20, 130)},
)


class OutlierCase(NamedTuple):
    """Exponents, batch, and how many outliers, which stand clear of the edge at these sizes, are compared."""

    alpha1: float
    alpha2: float
    batch: str
    clear: int

    def __str__(self) -> str:
        return f"α = {self.alpha1:g}, {self.alpha2:g}, {'fresh' if self.batch == 'fresh' else 'reused'}"


_FEW = (OutlierCase(0.2, 0.4, "fresh", 2), OutlierCase(0.4, 0.45, "fresh", 3), OutlierCase(0.4, 0.45, "reuse", 2))
CASES = {"quick": _FEW, "full": (*_FEW, OutlierCase(0.2, 0.4, "reuse", 2), OutlierCase(0.35, 0.4, "fresh", 2))}
DIMENSIONS = {"quick": 100, "full": 300}
MULTIPLE = 2  # outliers
COUNT = Tolerance(0.1, 0.7)  # of a mean number; below 1.3 there would be one outlier in most layers
LEARNED = 0.2  # a cos^2 with a direction of the target, far beyond the 1/d of chance
ALONG = Tolerance(0.02, 0.15)
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
    """Several outliers stand out of the bulk, and outlier k lies along a learned direction, which is direction k here."""
    at = [f"outlier {k + 1}, {CASES[size][i]}" for i, k in which(size)]
    count = layers.counts(measured)
    along = np.stack([measured["cosines"][i, k, k] for i, k in which(size)])
    return statistics.stated(
        statistics.compare("number of outliers", count, MULTIPLE, at=map(str, CASES[size]), side="above", within=COUNT),
        statistics.compare("cos² with a learned direction", along, LEARNED, at=at, side="above", within=ALONG),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, count = DIMENSIONS[size], layers.counts(measured).mean(axis=-1)
    own = [measured["cosines"][i, k, k].mean() for i, k in which(size)]
    return Verdict(
        sentence=f"After two steps {count.min():.1f} to {count.max():.1f} outliers stand out of the bulk on "
        f"average, depending on the layer. Outlier k has a cos² of {min(own):.2f} to {max(own):.2f} with "
        "direction k of the target.",
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=figure(size, measured, predicted),
        caption="The outliers of every trained layer stand where theory has them (left), along the directions that it "
        "names (right).",
        settings=tuple(layers.experiment(d, *case[:3]).id for case in CASES[size]),
    )


def figure(size: Size, measured: Data, predicted: Data) -> str:
    """Measured against predicted: positions on logarithmic axes, cos^2 on linear ones."""
    with _style.figure(2, width=3.6, height=3.4) as (fig, (ax, right)):
        for i, case in enumerate(CASES[size]):
            style = {"color": _style.COLOURS[i], "marker": "os^Dv"[i], "linestyle": "none", "alpha": 0.7}
            x, y = (data["values"][i, :4].ravel() for data in (predicted, measured))
            ax.plot(x, y, label=str(case), markerfacecolor="none", **style)
            own = np.arange(case.clear)
            x, y = (data["cosines"][i, own, own].ravel() for data in (predicted, measured))
            right.plot(x, y, markerfacecolor="none", **style)
        low, high = ax.get_xlim()
        ax.plot([low, high], [low, high], color=_style.INK, linewidth=0.8, zorder=0, label="equality")
        right.plot([0, 1], [0, 1], color=_style.INK, linewidth=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", xlabel="singular value of W, predicted", ylabel="measured")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(TICKS, [str(tick) for tick in TICKS])
            axis.set_ticks([], minor=True)
        right.set(
            xlabel="cos² of outlier k with direction k, predicted", ylabel="measured", xlim=(0, 1.02), ylim=(0, 1.02)
        )
        return _style.svg(fig, below=2)
