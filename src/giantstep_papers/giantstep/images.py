"""The learning curve of networks on images, predicted from the law of the images' own coordinates
before a network is trained."""

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
from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.demir.fashion import NAMES, SOURCES, errors, read

CLAIM = Claim(
    order=9,
    of="giantstep",
    statement="The images' own coordinates along the directions of a fitted mixture predict the "
    "learning curve of networks on the images within 10%, before a network is trained.",
    where="gs.theory on a data set, on the experiment of Demir and Dogan (2025)",
    how="The test error's log(measured/predicted) must be 0. Quick size affords one width and "
    "256 nodes. The mixture alone is up to a quarter off.",
    judges=(
        Judge(
            "log images/predicted",
            margin=(0.05, 0.07),
            departure=(0.2, 0.1),
            because="directions beyond the 20 of each class, and at quick size of few nodes",
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(12, 230)},
)

PAIRS = {"quick": ((0, 1),), "full": ((0, 1), (5, 9))}
SIZES = {"quick": 250, "full": 500}  # m
RATIOS = {"quick": (5.0,), "full": (0.1, 1.0, 5.0)}  # k/m
ETA, PENALTY = 1.0, 1e-4  # as in the figure of Demir and Dogan
NODES = {"quick": 256, "full": 512}
WHAT = "log images/predicted"


def experiment(size: Size, first: int, second: int, ratio: float) -> gs.Setting:
    m = SIZES[size]
    return gs.presets.fashion(
        m, round(ratio * m), (first, second), ETA, PENALTY, path=SOURCES[size]
    )


def prediction(size: Size, first: int, second: int, ratio: float) -> list[float]:
    """The test error and its error of quadrature."""
    outcome = gs.theory(experiment(size, first, second, ratio), nodes=NODES[size])
    return [float(outcome.test_error), float(outcome.test_error_se or 0.0)]


def cells(size: Size) -> list[tuple[int, int, float]]:
    return [(*pair, ratio) for pair in PAIRS[size] for ratio in RATIOS[size]]


def measure(size: Size, seeds: range) -> Data:
    """Test errors on the images, (cells, seeds)."""
    every = (read(experiment(size, *cell)) for cell in cells(size))
    return {"images": np.array([errors(size, each, seeds) for each in every])}


def predict(size: Size) -> Data:
    """Test errors and their errors of quadrature, (cells)."""
    read(experiment(size, *cells(size)[0]))
    runs = np.array(_cache.each(prediction, [(size, *cell) for cell in cells(size)]))
    return {"errors": runs[:, 0], "nodes": runs[:, 1]}


def gaps(measured: Data, predicted: Data) -> np.ndarray:
    """log(measured) - log(predicted), (cells, seeds)."""
    return np.log(measured["images"] / predicted["errors"][:, None])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The images have the predicted errors."""
    at = [f"{a} vs {b}, k = {ratio:g}m" for a, b, ratio in cells(size)]
    judge = judging(CLAIM, size)
    return statistics.stated(judge(WHAT, gaps(measured, predicted), at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    off = 100 * np.expm1(gaps(measured, predicted).mean(axis=-1))
    most = float(off[np.argmax(np.abs(off))])
    return Verdict(
        sizes=f"m = {SIZES[size]}, d = 784; λ = {PENALTY:g}, η = {ETA:g}; relu; 20 spikes for each "
        f"class; {NAMES[size]}; k/m = {', '.join(f'{r:g}' for r in RATIOS[size])}; {NODES[size]} "
        "nodes",
        figure=_figure(size, measured, predicted, ruling),
        caption="Networks on images have the error that is predicted before they are trained: "
        f"the mean is {abs(most):.1f}% {'below' if most < 0 else 'above'} "
        f"it{' at most' if len(off) > 1 else ''}.",
        settings=tuple(experiment(size, *cell).id for cell in cells(size)),
    )


def _figure(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> str:
    """How far images are from their prediction, a row for each pair of classes and width."""
    names = [f"classes {a}, {b}\nk = {ratio:g}m" for a, b, ratio in cells(size)]
    judged = ruling.stated.of(WHAT)
    margin = 100 * judging(CLAIM, size).tolerance(WHAT).margin
    off = 100 * gaps(measured, predicted)
    height = rows.height(len(names), lines=2) + 0.8
    with style.figure(width=style.COLUMN, height=height) as (fig, ax):
        ax.axvline(0, color=style.INK, linewidth=0.8)
        found = zip(off, judged.difference, judged.half, strict=True)
        for row, (each, mean, half) in enumerate(found):
            nodes = 100 * predicted["nodes"][row] / predicted["errors"][row]
            rows.runs(ax, row, each, color=style.COLOURS[0])
            rows.interval(ax, row, 0, nodes, beside=0.42, color=style.COLOURS[1], marker="|")
            rows.interval(ax, row, 100 * mean, 100 * half, color=style.COLOURS[0])
            rows.allowed(ax, row, -margin, margin)
        rows.name_rows(ax, names)
        ax.set_xlabel("log(images / prediction), %")
        explain_below(
            fig,
            [
                entry("mean, interval of the test", "o", color=style.COLOURS[0]),
                entry("one network", ".", color=style.COLOURS[0], alpha=0.5, markersize=4),
                entry("prediction, error of its nodes", "|", color=style.COLOURS[1]),
                rows.margin_entry(f"margin, ±{margin:g}%"),
            ],
        )
        return style.svg(fig)
