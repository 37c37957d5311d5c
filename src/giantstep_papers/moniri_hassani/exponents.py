"""How the outliers' singular values grow with the width at fixed exponents of the step sizes."""

from collections.abc import Callable
from typing import Any

import numpy as np

from giantstep.checks import (
    EXPONENT,
    LIMIT,
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
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import rounded
from giantstep_papers.moniri_hassani import layers, limit
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=4,
    of="giantstep",
    statement="In the limit outlier k grows with the width as p to the α₂ − k(1/2 − α₁), k = 0, 1, "
    "…; at finite width the outliers grow as those of the signal matrix, which reaches these "
    "exponents as p^(α₁ − 1/2) vanishes.",
    where="our inference from the number of outliers, ⌊α₂/(1/2 − α₁)⌋; the abstract states no "
    "exponent",
    how="At hand we compare the exponents in p of the first two outliers at three widths with "
    "those of the signal matrix for the same second layer and batches. In the limit we "
    "compare the local exponents of the signal matrix at N = 10¹² with α₂ − k(1/2 − α₁).",
    judges=(
        Judge(
            "exponent less that of the signal matrix",
            margin=EXPONENT,
            departure=(0.15, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "exponent of the signal matrix at a large width",
            margin=LIMIT,
            departure=0.1,
            because="the corrections that are left at that width",
        ),
    ),
    seeds={"quick": Seeds(16, 90), "full": Seeds(16, 64)},
)

ALPHAS = (0.35, 0.4)
SPIKES = 2  # that stand clear of the bulk at every size
FAR = 1e12  # the width at which the signal matrix is followed
DIMENSIONS = {"quick": (60, 100, 160), "full": (100, 200, 400)}
SLOPE_FAR = "exponent of the signal matrix at a large width"  # a judge


def limits() -> np.ndarray:
    """alpha_2 - k (1/2 - alpha_1)."""
    return ALPHAS[1] - np.arange(SPIKES) * (0.5 - ALPHAS[0])


def _positions(function: Callable[..., Data], size: Size, seeds: range) -> np.ndarray:
    """The first singular values, (sizes, spikes, seeds)."""
    cells = [((d, *ALPHAS, "fresh"),) for d in DIMENSIONS[size]]
    return cache.over(function, cells, seeds)["values"][:, 0, :SPIKES]


def controls(d: int, seed: int) -> list[float]:
    """Numbers of the draws whose mean is zero.

    They are moments of a, and those of the second batch that carry the two outliers.
    """
    of = layers.experiment(d, *ALPHAS, "fresh")
    (_, a), (X, y) = draw.weights(of, seed), draw.rows(of, seed, draw.step_batches(of)[1])
    moments = np.mean(a**2), np.mean(a**4) / 3, np.mean(y * X[:, 0]), np.mean(y * X[:, 0] * X[:, 1])
    return [float(moment) - 1 for moment in moments]


def measure(size: Size, seeds: range) -> Data:
    """Singular values, (sizes, spikes, seeds), and controls, (sizes, controls, seeds)."""
    known = cache.over(controls, [(d,) for d in DIMENSIONS[size]], seeds)
    return {"positions": _positions(layers.measured, size, seeds), "controls": known}


def adjusted(size: Size, measured: Data) -> np.ndarray:
    """The exponents without the part of their noise that the controls explain, (spikes, seeds)."""
    pairs = zip(np.log(measured["positions"]), measured["controls"], strict=True)
    return statistics.exponent(
        DIMENSIONS[size], np.exp([controlled(own, known) for own, known in pairs])
    )


def predict_draws(size: Size, seeds: range) -> Data:
    """The same from the signal matrix, on every second seed.

    Differences from it have little noise.
    """
    return {"positions": _positions(layers.predicted, size, seeds[::2])}


def predict(size: Size) -> Data:
    """Local exponents of the signal matrix at a width far beyond those measured."""
    return {"far": limit.exponents(FAR, *ALPHAS, SPIKES)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """At hand: exponents against those of the signal matrix for the same draws.

    In the limit: its own against the formula's.
    """
    at = [f"outlier {k + 1}" for k in range(SPIKES)]
    slopes, expected = (
        statistics.exponent(DIMENSIONS[size], data["positions"]) for data in (measured, predicted)
    )
    less = slopes[:, ::2] - expected
    what = f"exponent of the signal matrix at N = {FAR:.0e}"
    judge = judging(CLAIM, size)
    hand = judge("exponent less that of the signal matrix", less, at=at)
    far = judge(what, predicted["far"], limits(), by=SLOPE_FAR, at=at, noisy=False)
    return Evidence((hand,), limit=(far,))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = DIMENSIONS[size]
    mean, error = mean_and_error(adjusted(size, measured))
    expected = statistics.exponent(sizes, predicted["positions"]).mean(axis=-1)
    off, left = (np.max(np.abs(a - b)) for a, b in ((mean, expected), (predicted["far"], limits())))
    growth = layers.CONSTANTS[0] * (layers.WIDTH * sizes[-1]) ** (ALPHAS[0] - 0.5)
    return Verdict(
        sentence=f"The first two outliers grow as p to the {mean[0]:.2f} and {mean[1]:.2f}. At "
        f"these widths the signal matrix has the same exponents within {off:.2f}. At N = "
        f"{rounded(FAR)} it has those of the limit within {left:.3f}.",
        trend=f"At p = {layers.WIDTH * sizes[-1]} the first correction to the limit is of relative "
        f"order {growth:.1f}.",
        header=(
            "outlier",
            "exponent",
            "± s.e.",
            "signal matrix",
            f"at N = {rounded(FAR)}",
            "limit",
        ),
        rows=tuple(
            (k + 1, *(float(x[k]) for x in (mean, error, expected, predicted["far"], limits())))
            for k in range(SPIKES)
        ),
        sizes=f"d = {', '.join(map(str, sizes))}, {layers.SHAPE}; α = {ALPHAS[0]}, {ALPHAS[1]}; "
        f"{layers.SMOOTH}, fresh batches",
        figure=_figure(size, measured["positions"], predicted["positions"]),
        caption="The first outlier grows with the width at the slope of the limit, and the second "
        "still grows faster.",
        settings=tuple(layers.experiment(d, *ALPHAS, "fresh").id for d in sizes),
    )


def _figure(size: Size, measured: np.ndarray, predicted: np.ndarray) -> str:
    p = layers.WIDTH * np.array(DIMENSIONS[size])
    dashed: Any = {"linestyle": (0, (4, 2)), "linewidth": 0.9}
    with style.figure(width=4.4, height=3.2) as (fig, ax):
        for k, marker in zip(range(SPIKES), "os", strict=True):
            colour, line = style.COLOURS[k], predicted[:, k].mean(axis=-1)
            ax.plot(p, line, color=colour)
            ax.plot(p, line[0] * (p / p[0]) ** limits()[k], color=colour, **dashed)
            look = {"color": colour, "marker": marker, "label": f"outlier {k + 1}"}
            style.dots(ax, p, *mean_and_error(measured[:, k]), **look)
        ax.plot([], [], color=style.INK, label="signal matrix")
        ax.plot([], [], color=style.INK, label="slope of the limit", **dashed)
        ax.set(xlabel="width p", ylabel="singular value of W")
        ticks.logarithmic(ax, "x", p)
        ticks.logarithmic(ax)
        return style.svg(fig, below=2)
