"""Larger steps on images: the network learns features, the conditional model follows it, and the polynomial does not."""

from typing import Any

import numpy as np

from giantstep.checks import Count, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.claims.demir.fashion import GIVEN, HERMITE, N_TEST, NAMES, ORDER, PENALTIES, errors, experiment, read
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

ETAS = {"quick": (0.0, 148.0), "full": (0.0, 4.4, 28.0, 148.0, 784.0)}  # up to d
FAR = 148.0  # where the step should have done its work
SIZES = {"quick": 240, "full": 500}  # m = k
SEEDS: dict[Size, Seeds] = {"quick": Seeds(10, 48), "full": Seeds(10, 320)}
HALF = Tolerance(0.1, 0.3)  # of the logarithm of a factor of two
RARE: Any = {"allowed": 0.05, "departure": 0.8}  # of draws in which the polynomial is closer than a factor of two
NEAR = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.04)}


def sweep(size: Size, etas: tuple[float, ...]) -> Setting:
    return experiment(size, SIZES[size], (0, 1), "relu", 1.0, list(etas))


def measure(size: Size, seeds: range) -> Data:
    """Test errors of the network (step sizes, seeds) and of the models (without the first, seeds); Var y is 1.

    The polynomial, which is far off, is measured on every second seed.
    """
    etas = ETAS[size]
    some = {GIVEN: seeds, HERMITE: seeds[::2]}
    models = {model: errors(size, sweep(size, etas[1:]), own, model) for model, own in some.items()}
    return {"network": errors(size, read(sweep(size, etas)), seeds), **models}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The step halves the error at least, the conditional model follows, and the polynomial is off by a factor of two."""
    etas, network = ETAS[size], np.log(measured["network"])
    far = etas.index(FAR)
    at = [f"η = {eta:g}" for eta in etas[1:]]
    gain, miss = network[far] - network[0], np.log(measured[HERMITE][far - 1]) - network[far, ::2]
    near = np.log(measured[GIVEN]) - network[1:]
    return statistics.stated(
        statistics.compare(f"log error at η = {FAR:g} over no step", gain, -np.log(2), side="below", within=HALF),
        Count(
            f"draws with log polynomial/network below log 2 at η = {FAR:g}",
            int(np.sum(miss < np.log(2))),
            miss.size,
            **RARE,
        ),
        statistics.compare("log conditional model/network", near, at=at, within=NEAR[size]),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    m, etas, mean = SIZES[size], ETAS[size], {name: x.mean(axis=-1) for name, x in measured.items()}
    far = etas.index(FAR)
    return Verdict(
        sentence=f"{ruling.stated.sentence} A step of η = {FAR:g} lowers the test error from {mean['network'][0]:.3f} to "
        f"{mean['network'][far]:.3f} of the labels' variance, where the conditional model has {mean[GIVEN][far - 1]:.3f} and the "
        f"polynomial of order {ORDER} {mean[HERMITE][far - 1]:.3g}.",
        sizes=f"m = k = {m}, d = 784; λ = {PENALTIES[size]:g}; relu; classes 0 and 1 of {NAMES[size]}, "
        f"{N_TEST[size]} images for the test",
        figure=_figure(size, measured),
        caption=f"Left, test error over the labels' variance against the step size: the network falls from "
        f"{mean['network'][0]:.2f} to {mean['network'][far]:.2f} with the conditional model on it, while the polynomial rises to "
        f"{mean[HERMITE][-1]:.2g}. Right, the conditional model's differences from the network, over a grey band of the margin.",
        settings=(sweep(size, etas).id,),
    )


def _figure(size: Size, measured: Data) -> str:
    """Errors by step size, none first, and the conditional model's differences."""
    etas, margin = ETAS[size], 100 * NEAR[size].margin
    x = np.arange(len(etas))
    with style.figure(2, width=3.9, height=3.1) as (fig, (left, right)):
        values = mean_and_error(measured["network"])
        left.axhline(values[0][0], color=style.INK, linestyle=":", linewidth=1.0, label="network, no step")
        style.dots(left, x, *values, color=style.COLOURS[0], linestyle="-", markersize=6, label="network")
        for model, name, mark, colour in (
            (GIVEN, "conditional model", "x", style.COLOURS[1]),
            (HERMITE, f"polynomial of order {ORDER}", "^", style.COLOURS[4]),
        ):
            look = {"color": colour, "marker": mark, "zorder": 3, "markersize": 6, "label": name}
            style.dots(left, x[1:], *mean_and_error(measured[model]), **look)
        left.set_ylabel("test error / Var y")
        ticks.logarithmic(left)
        right.axhspan(-margin, margin, color=style.INK, alpha=0.07, linewidth=0, label=f"margin, ±{margin:g}%")
        right.axhline(0, color=style.INK, linewidth=0.8)
        off = 100 * np.log(measured[GIVEN] / measured["network"][1:])
        style.dots(right, x[1:], *mean_and_error(off), color=style.COLOURS[1], marker="x", markersize=6)
        right.set_ylabel("log(conditional / network), %")
        for ax in (left, right):
            ax.set_xlabel("step size η")
            ax.set_xlim(-0.4, len(etas) - 0.6)
            ax.set_xticks(x, ["none", *(f"{eta:g}" for eta in etas[1:])])
        return style.svg(fig, below=4)
