"""Outliers of the first layer after two steps: how many, where, and along what, against the signal matrix."""

from typing import Any

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri_hassani import layers
from giantstep.plot import style as _style
from giantstep.theory.two_steps.predict import limit

CELLS = {"quick": ((0.2, 0.4), (0.4, 0.45)), "full": ((0.0, 0.3), (0.2, 0.4), (0.35, 0.4), (0.4, 0.45))}
BATCHES = ("fresh", "reuse")
SIZES = {"quick": (120, 4), "full": (400, 6)}  # d and seeds
ALLOWED = {"quick": (0.04, 0.06), "full": (0.02, 0.03)}  # of a position, and of a cos^2: terms of order 1/sqrt(d)
SURE = 4.0  # standard errors
NEEDED = 0.3  # a departure that must be seen
TICKS = (3, 5, 10, 20, 50)


def _calls(size: Size) -> list[tuple]:
    d, seeds = SIZES[size]
    return [((d, *cell, batch), seed) for cell in CELLS[size] for batch in BATCHES for seed in range(seeds)]


def _shape(size: Size) -> tuple[int, int]:
    return len(CELLS[size]), len(BATCHES)


def measure(size: Size) -> Data:
    """Values, thresholds and cos^2 of the trained layers, (cells, batches, 1, ..., seeds)."""
    return layers.joined(cache.each(layers.measured, _calls(size)), _shape(size))


def predict(size: Size) -> Data:
    """The same by theory, and the limit's counts."""
    spectra = layers.joined(cache.each(layers.predicted, _calls(size)), _shape(size))
    d, _ = SIZES[size]
    return spectra | {"limits": [limit(layers.experiment(d, a, b, BATCHES[0])) for a, b in CELLS[size]]}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (d, seeds), granted = SIZES[size], ALLOWED[size]
    counts, expected = layers.counts(measured), layers.counts(predicted)
    agree, sharp = layers.agree(measured, predicted), layers.sharp(measured, predicted)
    shown = np.min(layers.counts(predicted, layers.CLEAR), axis=-1)  # outliers that are clear for every seed
    clear = (np.arange(layers.TOP) < shown[..., None]) & (np.arange(layers.TOP) < layers.DIRECTIONS)
    places = compare(measured["values"] / predicted["values"], 1.0, level=SURE, granted=granted[0])[clear]
    own = np.arange(layers.DIRECTIONS)  # outlier k lies along direction k
    cosines = [data["cosines"][..., own, own, :] for data in (measured, predicted)]
    along = compare(cosines[0] - cosines[1], 0.0, level=SURE, granted=granted[1])[clear[..., own]]
    rows: list[Any] = [
        (*CELLS[size][i], BATCHES[j], int(k) + 1, _span(expected[i, j]), _span(counts[i, j]), predicted["limits"][i])
        + tuple(float(np.mean(x[i, j, 0, k])) for x in (predicted["values"], measured["values"]))
        + tuple(float(np.mean(x[i, j, 0, k])) for x in (cosines[1], cosines[0]))
        for i, j, _, k in np.argwhere(clear)
    ]
    missed = bool(np.any(places.missed)) or bool(np.any(along.missed)) or not bool(np.all(agree))
    off = [float(np.max(np.abs(x.mean - x.predicted), initial=0.0)) for x in (places, along)]
    largest = float(max(np.max(x.seen, initial=0.0) for x in (places, along)))
    return Verdict(
        outcome=decided(missed, largest if np.max(expected) > 2 else 1.0, NEEDED),
        sentence=f"The number of outliers is the predicted one in {np.sum(agree)} of {agree.size} layers, exactly in "
        f"{np.sum(counts == expected)}, {np.sum((counts == expected)[sharp])} of them among the {np.sum(sharp)} "
        f"without an outlier near the "
        f"edge. Of {places.mean.size} clear outliers the furthest position is off by {off[0]:.1%} "
        f"and the furthest cos² with its direction by {off[1]:.3f}. The limit's counts are "
        f"{', '.join(map(str, predicted['limits']))} for the step sizes in turn.",
        header=tuple("alpha1|alpha2|batch|outlier|count predicted|count measured|count in the limit|position predicted|"
                     "position measured|cos² predicted|cos² measured".split("|")),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=_figure(size, measured, predicted, clear),
        caption="Singular values of the first layer (the four largest of every seed) against those "
        "predicted for the same second layer and batches; the line is equality. On the right "
        "the cos² of outlier k with direction k of the target.",
        settings=tuple(layers.experiment(d, cell[0], cell[1], batch).id for cell in CELLS[size] for batch in BATCHES),
        power=f"Positions: {places.power('%', 100)} cos²: {along.power()}",
    )  # fmt: skip


def _span(counts: np.ndarray) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low}-{high}"


def _figure(size: Size, measured: Data, predicted: Data, clear: np.ndarray) -> str:
    """Measured against predicted: positions on logarithmic axes, cos^2 on linear ones."""
    own, marks = np.arange(layers.DIRECTIONS), "os"
    with _style.figure(2, width=3.6, height=3.4) as (fig, (ax, right)):
        for i, (a1, a2) in enumerate(CELLS[size]):
            for j, batch in enumerate(BATCHES):
                style = {"color": _style.COLOURS[i], "marker": marks[j], "linestyle": "none", "alpha": 0.7}
                label = rf"$\alpha$ = {a1:g}, {a2:g}; {batch}"
                x, y = (data["values"][i, j, 0, :4].ravel() for data in (predicted, measured))
                ax.plot(x, y, label=label, markerfacecolor="none", **style)
                known = clear[i, j, 0, own]
                x, y = (data["cosines"][i, j, 0, own, own][known].ravel() for data in (predicted, measured))
                right.plot(x, y, markerfacecolor="none", **style)
        high = ax.get_xlim()[1]
        ax.plot([2, 1.1 * high], [2, 1.1 * high], color=_style.INK, linewidth=0.8, zorder=0)
        right.plot([0, 1], [0, 1], color=_style.INK, linewidth=0.8, zorder=0)
        ax.set(xscale="log", yscale="log", xlabel="singular value of W, predicted", ylabel="measured")
        for axis in (ax.xaxis, ax.yaxis):
            axis.set_ticks(TICKS, [str(tick) for tick in TICKS])
            axis.set_ticks([], minor=True)
        right.set(
            xlabel="cos² of outlier k with direction k, predicted", ylabel="measured", xlim=(0.2, 1), ylim=(0.2, 1)
        )
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return _style.svg(fig)


CLAIM = claim("moniri_hassani/outliers", measure=measure, predict=predict, judge=judge)
