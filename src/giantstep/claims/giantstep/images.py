"""The learning curve of networks on images, predicted from the law of the images' own coordinates before a network is trained."""

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.checks import cache as _cache
from giantstep.claims.demir.fashion import NAMES, SOURCES, errors, read
from giantstep.measure import mean_and_error
from giantstep.plot import style

PAIRS = {"quick": ((0, 1),), "full": ((0, 1), (5, 9))}
SIZES = {"quick": 250, "full": 500}  # m
RATIOS = {"quick": (5.0,), "full": (0.1, 1.0, 5.0)}  # k/m
SEEDS: dict[Size, Seeds] = {"quick": Seeds(8, 40), "full": Seeds(12, 230)}
ETA, PENALTY = 1.0, 1e-4  # as in the figure of Demir and Dogan
NODES = {"quick": 256, "full": 512}
CELL = {"quick": Tolerance(0.05, 0.2), "full": Tolerance(0.07, 0.1)}


def experiment(size: Size, first: int, second: int, ratio: float) -> gs.Setting:
    m = SIZES[size]
    return gs.presets.fashion(m, round(ratio * m), (first, second), ETA, PENALTY, path=SOURCES[size])


def prediction(size: Size, first: int, second: int, ratio: float) -> list[float]:
    """The test error and its error of quadrature."""
    outcome = gs.theory(experiment(size, first, second, ratio), nodes=NODES[size])
    return [float(outcome.test_error), float(outcome.test_error_se or 0.0)]


def cells(size: Size) -> list[tuple[int, int, float]]:
    return [(*pair, ratio) for pair in PAIRS[size] for ratio in RATIOS[size]]


def measure(size: Size, seeds: range) -> Data:
    """Test errors on the images, (cells, seeds)."""
    return {"images": np.array([errors(size, read(experiment(size, *cell)), seeds) for cell in cells(size)])}


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
    return statistics.stated(
        statistics.compare("log images/predicted", gaps(measured, predicted), at=at, within=CELL[size])
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    off = 100 * np.expm1(gaps(measured, predicted).mean(axis=-1))
    span = ", ".join(f"{x:+.1f}%" for x in off)
    return Verdict(
        sizes=f"m = {SIZES[size]}, d = 784; λ = {PENALTY:g}, η = {ETA:g}; relu; 20 spikes for each class; {NAMES[size]}; "
        f"k/m = {', '.join(f'{r:g}' for r in RATIOS[size])}; {NODES[size]} nodes",
        figure=_figure(size, measured, predicted),
        caption="Test error over the labels' variance against the width k/m: the prediction from the images' own coordinates, "
        f"with the error of its nodes, and networks on the images, one dot each. The images are {span} off the prediction.",
        settings=tuple(experiment(size, *cell).id for cell in cells(size)),
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    """Every width: the prediction as a line with the error of its nodes, the mean over networks, and each network."""
    places, count = np.arange(len(RATIOS[size])), len(RATIOS[size])
    with style.figure(len(PAIRS[size]), width=4.4, height=3.2) as (fig, axes):
        for i, (ax, pair) in enumerate(zip(np.atleast_1d(axes), PAIRS[size], strict=True)):
            for place, cell in zip(places, range(i * count, (i + 1) * count), strict=True):
                error, nodes, runs = predicted["errors"][cell], predicted["nodes"][cell], measured["images"][cell]
                ends, first = (place - 0.4, place + 0.4), place == 0
                ax.fill_between(
                    ends, error - nodes, error + nodes, color=style.COLOURS[1], alpha=0.2, linewidth=0,
                    label="error of its nodes" if first else None,
                )  # fmt: skip
                ax.plot(ends, (error, error), color=style.COLOURS[1], label="prediction" if first else None)
                spread = place + np.linspace(-0.3, 0.3, len(runs))
                ax.plot(spread, runs, ".", color=style.COLOURS[0], alpha=0.4, label="one network" if first else None)
                mean, se = mean_and_error(runs)
                style.dots(ax, place, mean, se, color=style.COLOURS[0], label="their mean" if first else None)
            ax.set_title(f"classes {pair[0]} and {pair[1]}")
            ax.set(xlabel="width over samples k/m", ylabel="test error / Var y", xlim=(-0.6, count - 0.4))
            ax.set_xticks(places, [f"{r:g}" for r in RATIOS[size]])
        return style.svg(fig, below=2)
