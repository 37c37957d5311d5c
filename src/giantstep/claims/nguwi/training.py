"""On the training samples themselves n^{-1/D} is the rate of the bound; the gap falls faster."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import on_training

SAMPLES = (25, 50, 100, 200, 400)
DIMENSIONS = (2, 4)  # d_in; d_out = 1
ORACLE = {"quick": 4000, "full": 40_000}  # fresh samples
SEEDS: dict[Size, Seeds] = {"quick": Seeds(16, 80), "full": Seeds(60, 300)}
POWER = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.04, 0.1)}  # of an exponent


def measure(size: Size, seeds: range) -> Data:
    """Gap on training samples, on fresh ones and Lambda squared, (d_in, sizes, 3, seeds)."""
    cells = [[(d, n, ORACLE[size]) for n in SAMPLES] for d in DIMENSIONS]
    return {"found": cache.over(trainings.training, cells, seeds)}


def predict(size: Size) -> Data:
    """The bound known before training, (d_in, sizes)."""
    return {
        "bounds": np.array([[on_training(trainings.bounds("tanh", d_in=d), n) for n in SAMPLES] for d in DIMENSIONS])
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent of the gap against -1/D; as corrected, against at most -1/2."""
    slopes = statistics.exponent(SAMPLES, np.moveaxis(measured["found"][:, :, 0], 1, 0), of_means=True)
    at, rates = [f"D = {d + 1}" for d in DIMENSIONS], [-1 / (d + 1) for d in DIMENSIONS]
    return Evidence(
        (statistics.compare("exponent of the gap in n", slopes, rates, at=at, within=POWER[size]),),
        (
            statistics.compare(
                "exponent of the gap in n, at most -1/2", slopes, -0.5, side="below", at=at, within=POWER[size]
            ),
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    slopes = ruling.stated.of("exponent of the gap in n")
    lines = np.polyfit(np.log(SAMPLES), np.log(predicted["bounds"]).T, 1)[0]
    times = predicted["bounds"] / measured["found"][:, :, 0].mean(axis=-1)
    each = " and ".join(
        f"{p + d:.2f} ± {h:.2f} for D = {k + 1}, where the bound falls as n to the {line:.2f}"
        for k, p, d, h, line in zip(
            DIMENSIONS, slopes.comparison.predicted, slopes.difference, slopes.half, lines, strict=True
        )
    )
    return Verdict(
        sentence=f"On its n training samples the gap falls as n to the {each}: n^(-1/D) is the rate of the bound, of the worst "
        f"case over networks, and not of the gap. The bound is {times.min():.0f} to {times.max():.0f} times the gap.",
        sizes=f"d_in = {', '.join(map(str, DIMENSIONS))}, d_out = 1, m = 20, tanh; {trainings.STEPS} steps of "
        f"{trainings.RATE:g}, 20 trainings a seed, {ORACLE[size]} fresh samples",
        figure=_figure(measured, predicted),
        caption="Gap on the n training samples and on n fresh ones against n, one panel for each D = d_in + d_out. The dashed "
        "bound known before training falls slower, as the dotted line n^(-1/D) through the first dot.",
        trend=f"The bound over the gap is {times[0, 0]:.0f} at n = {SAMPLES[0]} and {times[0, -1]:.0f} at n = {SAMPLES[-1]} "
        f"for D = {DIMENSIONS[0] + 1}.",
    )


def _figure(measured: Data, predicted: Data) -> str:
    n, mean_error = np.array(SAMPLES), mean_and_error(measured["found"])
    with style.figure(len(DIMENSIONS), width=3.5, height=3.2) as (fig, axes):
        for i, (ax, d) in enumerate(zip(axes, DIMENSIONS, strict=True)):
            mean, error = (each[i] for each in mean_error)
            ax.plot(n, predicted["bounds"][i], "--", color=style.INK, linewidth=1, label="bound before training")
            ax.plot(n, mean[0, 0] * (n / n[0]) ** (-1 / (d + 1)), ":", color=style.INK, label="$n^{-1/D}$")
            style.dots(ax, n, mean[:, 0], error[:, 0], color=style.COLOURS[0], label="on training samples")
            style.dots(
                ax, n, mean[:, 1], error[:, 1], color=style.COLOURS[1], marker="s", markerfacecolor="white",
                label="on fresh samples",
            )  # fmt: skip
            ax.set(xlabel="samples n", ylabel="mean |Rₙ − R|" if i == 0 else "", title=f"D = {d + 1}")
            ticks.logarithmic(ax, "x", SAMPLES)
            ticks.logarithmic(ax)
        return style.svg(fig, below=4, fontsize=8)
