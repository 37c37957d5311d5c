"""The distance between a law and its samples, which the bound without independence rests on, is of order n^{-1/D}."""

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import wasserstein

LAWS = ((2, 1.0), (4, 1.0), (4, 0.0))  # d_in and the noise of y; without noise (x, y) fills d_in dimensions only
SIZES = {"quick": (50, 100, 200, 400), "full": (100, 300, 900, 2700)}  # n
SEEDS: dict[Size, Seeds] = {"quick": Seeds(24, 80), "full": Seeds(18, 80)}
# a correction of relative order n^(-1/D) changes a slope by n^(-1/D)/D: 0.07 at n = 140 and 0.06 at n = 520 for D = 5
POWER = {"quick": Tolerance(0.07, 0.14), "full": Tolerance(0.06, 0.1)}
TIMES = Tolerance(0.5, 0.7)  # decades of the bound over E W1, around 1/2: from 1 to 10 times


def measure(size: Size, seeds: range) -> Data:
    """W1 between two samples, (laws, sizes, seeds)."""
    return {"apart": cache.over(trainings.apart, [[(*law, n) for n in SIZES[size]] for law in LAWS], seeds)}


def predict(size: Size) -> Data:
    """The bound, (laws, sizes), and the exponents -1/D, D the dimension that the law fills."""
    return {
        "bounds": np.array([[wasserstein(gs.Bounds(d, noise=s), n) for n in SIZES[size]] for d, s in LAWS]),
        "exponents": np.array([-1 / (d + (s > 0)) for d, s in LAWS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Free exponents of W1 in n, and the explicit bound over W1 of two samples at the largest n."""
    slopes = statistics.exponent(SIZES[size], np.moveaxis(measured["apart"], 1, 0))
    decades = np.log10(predicted["bounds"][:, -1:] / measured["apart"][:, -1])
    at = [_name(*law) for law in LAWS]
    return statistics.stated(
        statistics.compare("exponent of W1 in n", slopes, predicted["exponents"], at=at, within=POWER[size]),
        statistics.compare("decades of the bound over W1", decades, 0.5, at=at, within=TIMES),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, slopes = SIZES[size], ruling.stated.of("exponent of W1 in n")
    fall = ", ".join(
        f"{p + d:.3f} ± {h:.3f} ({_name(*law)}: {p:.3f})"
        for d, h, law, p in zip(slopes.difference, slopes.half, LAWS, predicted["exponents"], strict=True)
    )
    ratio = predicted["bounds"] / measured["apart"].mean(axis=-1)
    return Verdict(
        sentence=f"W1 between two samples of size n falls as n to the {fall}; the explicit bound is {ratio.min():.1f} to "
        f"{ratio.max():.1f} times the measured value, which is itself between one and two times E W1(μ, μₙ).",
        sizes=f"n = {', '.join(map(str, sizes))}; x uniform on a cube, y = sin(2x₁) + noise, uniform",
        figure=_figure(sizes, measured, predicted),
        caption="W1 between two samples against n: dots fall along solid lines of the predicted slopes. The dashed lines are "
        "the explicit bounds.",
    )


def _name(d: int, noise: float) -> str:
    return f"D = {d + 1}" if noise else f"D = {d + 1} without noise"


def _figure(sizes: tuple[int, ...], measured: Data, predicted: Data) -> str:
    n, (mean, error) = np.array(sizes), mean_and_error(measured["apart"])
    with style.figure(width=4.6, height=3.3) as (fig, ax):
        for i, (law, colour, marker) in enumerate(zip(LAWS, style.COLOURS, "osD", strict=False)):
            power = predicted["exponents"][i]
            ax.plot(n, predicted["bounds"][i], "--", color=colour, linewidth=1)
            ax.plot(n, np.exp(np.mean(np.log(mean[i] / n**power))) * n**power, color=colour, linewidth=1)
            style.dots(ax, n, mean[i], error[i], color=colour, marker=marker, label=_name(*law))
        ax.plot([], [], "--", color=style.INK, linewidth=1, label="bound")
        ax.plot([], [], color=style.INK, linewidth=1, label="predicted slope")
        ax.set(xlabel="samples n", ylabel="W1 of two samples")
        ticks.logarithmic(ax, "x", n)
        ticks.logarithmic(ax)
        return style.svg(fig, below=3)
