"""A Gaussian mixture fitted to images: its theory against networks on draws of that mixture and on
the images."""

from dataclasses import replace
from functools import cache
from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    judging,
    statistics,
)
from giantstep.checks import cache as _cache
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.demir.fashion import NAMES, SOURCES, errors, read
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=8,
    of="giantstep",
    statement="A Gaussian mixture fitted to images predicts the learning curve on draws of the "
    "mixture itself. Networks on the images have smaller test errors than predicted, by up to a "
    "third.",
    where="gs.Dataset.fitted and gs.theory, on the experiment of Demir and Dogan (2025)",
    how="For draws of the mixture log(measured/predicted) of the test error at several widths "
    "must be 0. For the images it must be between −0.4 and 0 in every cell, and at least a "
    "twentieth below 0 on average. This runs at full size only, because the "
    "sample has too few images.",
    judges=(
        Judge(
            "log mixture/predicted",
            margin=0.05,
            departure=0.1,
            mean=(0.02, 0.04),
            because="corrections of order 1/√m",
        ),
        Judge(
            "log images/predicted",
            margin=0.03,
            departure=0.08,
            because="corrections of order 1/√m",
        ),
        Judge(
            "log images/predicted, mean of all",
            side="below",
            margin=0.02,
            departure=0.04,
            because="corrections of order 1/√m",
        ),
    ),
    seeds={"full": Seeds(12, 140)},
)

PAIRS = {"quick": ((0, 1),), "full": ((0, 1), (5, 9))}
SIZES = {"quick": 250, "full": 500}  # m
RATIOS = {"quick": (0.2, 5.0), "full": (0.1, 0.5, 1.0, 5.0)}  # k/m
ETA, PENALTY = 1.0, 1e-4  # as in the paper's figure 3
SPIKES = 20  # of every class
NODES = {"quick": 128, "full": 512}  # Sobol points of the prediction
CONTROL, IMAGES = "draws of the mixture", "images"
EASIER = 0.4  # the most by which the logarithm of an error on images may be below the prediction
HARDER = 0.0  # and above it
BELOW = 0.05  # how far it is below, on average, at least


def experiment(size: Size, pair: Any, ratio: float) -> gs.Setting:
    m = SIZES[size]
    return gs.presets.fashion(m, round(ratio * m), tuple(pair), ETA, PENALTY, path=SOURCES[size])


def mixture(size: Size, pair: Any, ratio: float) -> gs.Setting:
    """The experiment with the images replaced by the mixture fitted to them."""
    return replace(experiment(size, pair, ratio), data=fitted(size, *pair))


@cache
def fitted(size: Size, *pair: int) -> gs.Mixture:
    return experiment(size, pair, 1.0).data.fitted(spikes=SPIKES)  # type: ignore[union-attr]


def prediction(size: Size, first: int, second: int, ratio: float) -> list[float]:
    """The test error and its error of quadrature."""
    outcome = gs.theory(mixture(size, (first, second), ratio), nodes=NODES[size])
    return [float(outcome.test_error), float(outcome.test_error_se or 0.0)]


def cells(size: Size) -> list[tuple[Any, float]]:
    return [(pair, ratio) for pair in PAIRS[size] for ratio in RATIOS[size]]


def measure(size: Size, seeds: range) -> Data:
    """Test errors on the images and on draws of the mixture, (cells, seeds)."""
    every = cells(size)
    return {
        IMAGES: np.array(
            [errors(size, read(experiment(size, pair, r)), seeds) for pair, r in every]
        ),
        CONTROL: np.array([errors(size, mixture(size, pair, r), seeds) for pair, r in every]),
    }


def predict(size: Size) -> Data:
    """Test errors and their errors of quadrature, (cells)."""
    read(experiment(size, PAIRS[size][0], 1.0))
    runs = np.array(_cache.each(prediction, [(size, *pair, ratio) for pair, ratio in cells(size)]))
    return {"errors": runs[:, 0], "nodes": runs[:, 1]}


def gaps(measured: Data, predicted: Data, what: str) -> np.ndarray:
    """log(measured) - log(predicted), (cells, seeds)."""
    return np.log(measured[what] / predicted["errors"][:, None])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Draws of the mixture have the predicted errors, and images smaller ones within bounds."""
    images, control = (gaps(measured, predicted, what) for what in (IMAGES, CONTROL))
    at = [f"{pair[0]} vs {pair[1]}, k = {ratio:g}m" for pair, ratio in cells(size)]
    judge = judging(CLAIM, size)
    return statistics.stated(
        *judge.each_and_mean("log mixture/predicted", control, at=at),
        judge("log images/predicted", images, -EASIER, at=at, side="above"),
        judge("log images/predicted", images, HARDER, at=at, side="below"),
        judge("log images/predicted, mean of all", images.mean(axis=0), -BELOW),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    images, control = (gaps(measured, predicted, what).mean(axis=-1) for what in (IMAGES, CONTROL))
    words = (
        f"Networks on draws of the mixture are within {100 * np.abs(control).max():.1f}% of the "
        "prediction. On the images they err less than predicted, by "
        f"{-100 * np.expm1(images.mean()):.0f}% on average and by "
        f"{-100 * np.expm1(images.min()):.0f}% at most."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"m = {SIZES[size]}, d = 784; λ = {PENALTY:g}, η = {ETA:g}; relu; {SPIKES} spikes "
        f"for each class; {NAMES[size]}; k/m = {', '.join(f'{r:g}' for r in RATIOS[size])}",
        figure=_figure(size, measured, predicted),
        caption="Networks on draws of the fitted mixture follow its theory. On the images they "
        f"err up to {-100 * np.expm1(images.min()):.0f}% less.",
        settings=tuple(experiment(size, pair, ratio).id for pair, ratio in cells(size)),
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    """Learning curves, and how far the measurements are from the prediction;
    one row for each pair of classes."""
    x, count = np.array(RATIOS[size]), len(RATIOS[size])
    with style.figure(2, len(PAIRS[size]), width=3.9, height=3.0) as (fig, axes):
        for i, ((left, right), pair) in enumerate(
            zip(axes.reshape(-1, 2), PAIRS[size], strict=True)
        ):
            part = slice(i * count, (i + 1) * count)
            left.plot(
                x,
                predicted["errors"][part],
                "-",
                marker="d",
                color=style.COLOURS[1],
                label="prediction",
            )
            for what, colour, mark in (
                (CONTROL, style.COLOURS[2], "s"),
                (IMAGES, style.COLOURS[0], "o"),
            ):
                look = {"color": colour, "marker": mark}
                style.dots(left, x, *mean_and_error(measured[what][part]), **look, label=what)
                off = 100 * gaps(measured, predicted, what)[part]
                style.dots(right, x, *mean_and_error(off), **look)
            right.axhline(0, color=style.COLOURS[1])
            left.set_title(f"classes {pair[0]} and {pair[1]}")
            left.set_ylabel("test error / Var y")
            right.set_ylabel("log(measured / predicted), %")
            for ax in (left, right):
                ax.set(xlabel="width k/m")
                ticks.logarithmic(ax, "x", x)
        return style.svg(fig, below=3)
