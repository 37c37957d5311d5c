"""The distance between a law and its samples is below its own bound.

The bound without independence rests on this distance.
"""

import numpy as np

import giantstep as gs
from giantstep.checks import (
    EXPONENT,
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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import wasserstein
from giantstep_papers.nguwi import trainings

CLAIM = Claim(
    order=3,
    of="giantstep",
    statement="The Wasserstein distance between a distribution and its empirical measure is at "
    "most an explicit bound of order n^(−1/D), D = dᵢₙ + dₒᵤₜ.",
    where="the Wasserstein estimates that the abstract names as the tool of its bound without "
    "independence; rate and coefficient for the distance itself are ours",
    how="W1 between two samples is at least the distance to the law. It must be at most the "
    "explicit bound at every n, and its exponent in n at most -1/D, D = d_in + d_out, by free"
    " fits for three laws. One of them fills fewer than D dimensions and falls faster, as a "
    "bound allows.",
    judges=(
        Judge(
            "exponent of W1 in n",
            side="below",
            margin=EXPONENT,
            departure=(0.15, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge("distance W1 over its bound", side="below", percent=True, margin=0, departure=0.1),
    ),
    seeds={"quick": Seeds(24, 80), "full": Seeds(18, 80)},
)

LAWS = ((2, 1.0), (4, 1.0), (4, 0.0))  # d_in and the noise of y; D = d_in + 1
SIZES = {"quick": (50, 100, 200, 400), "full": (100, 300, 900, 2700)}  # n


def measure(size: Size, seeds: range) -> Data:
    """W1 between two samples, (laws, sizes, seeds)."""
    cells = [[(*law, n) for n in SIZES[size]] for law in LAWS]
    return {"apart": cache.over(trainings.apart, cells, seeds)}


def predict(size: Size) -> Data:
    """The bound, (laws, sizes), and its exponents -1/D."""
    systems = [gs.Bounds(d, noise=noise) for d, noise in LAWS]
    bounds = np.array([[wasserstein(each, n) for n in SIZES[size]] for each in systems])
    return {"bounds": bounds, "exponents": np.array([-1 / (d + 1) for d, _ in LAWS])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents of W1 of two samples in n, at most -1/D, and W1 at every n, at most the bound.

    E W1(mu, mu_n) is at most W1 of two samples in the mean, so that it is below whatever the latter
    is below.
    """
    apart, sizes = measured["apart"], SIZES[size]
    slopes = statistics.exponent(sizes, np.moveaxis(apart, 1, 0))
    at = [_name(*law) for law in LAWS]
    each = [f"{law}, n = {n}" for law in at for n in sizes]
    over, judge = apart / predicted["bounds"][..., None], judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of W1 in n", slopes, predicted["exponents"], at=at),
        judge("W1 over its bound", over, 1.0, by="distance W1 over its bound", at=each),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes, slopes = SIZES[size], ruling.stated.of("exponent of W1 in n")
    over = slopes.difference.max()
    pace = (
        f"faster than n^(−1/D), by {-over:.3f} or more"
        if over < 0
        else f"slower than n^(−1/D), by up to {over:.3f}"
    )
    ratio = predicted["bounds"] / measured["apart"].mean(axis=-1)
    return Verdict(
        sentence=f"W1 between two samples falls {pace} in the exponent. The explicit bound is "
        f"{ratio.min():.1f} to {ratio.max():.1f} times as large. Its coefficient is ours.",
        sizes=f"n = {', '.join(map(str, sizes))}; x uniform on a cube, y = sin(2x₁) + noise, "
        "uniform",
        figure=_figure(sizes, measured, predicted),
        caption="Two samples come together as fast as n^(−1/D) (solid) or faster, below the "
        "explicit bounds (dashed).",
        looseness=float(np.median(ratio)),
    )


def _name(d: int, noise: float) -> str:
    return f"D = {d + 1}" if noise else f"D = {d + 1} without noise"


def _figure(sizes: tuple[int, ...], measured: Data, predicted: Data) -> str:
    n, (mean, error) = np.array(sizes), mean_and_error(measured["apart"])
    with style.figure(width=4.6, height=3.3) as (fig, ax):
        for i, (law, colour, marker) in enumerate(zip(LAWS, style.COLOURS, "osD", strict=False)):
            power = predicted["exponents"][i]
            ax.plot(n, predicted["bounds"][i], "--", color=colour, linewidth=1)
            level = np.exp(np.mean(np.log(mean[i] / n**power)))
            ax.plot(n, level * n**power, color=colour, linewidth=1)
            style.dots(ax, n, mean[i], error[i], color=colour, marker=marker, label=_name(*law))
        ax.plot([], [], "--", color=style.INK, linewidth=1, label="bound")
        ax.plot([], [], color=style.INK, linewidth=1, label="slope −1/D")
        ax.set(xlabel="samples n", ylabel="W1 of two samples")
        ticks.logarithmic(ax, "x", n)
        ticks.logarithmic(ax)
        return style.svg(fig, below=3)
