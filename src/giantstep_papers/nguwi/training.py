"""On the training samples the gap is below its bound and falls with n at least as n^{-1/D}."""

import numpy as np

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
from giantstep.systems.bounds.theory import on_training
from giantstep_papers.nguwi import trainings
from giantstep_papers.shared import said

CLAIM = Claim(
    order=2,
    quote="whereas without independence assumption, we derive a bound of order "
    "O(n^{−1/(dᵢₙ+dₒᵤₜ)})",
    place="abstract only",
    kind="upper bound",
    statement="Without the independence assumption the generalization error has a bound of order "
    "O(n^(-1/(dᵢₙ+dₒᵤₜ))).",
    where="the bound without independence, here on the training sample itself; the coefficient is "
    "our own",
    how="The mean |Rₙ - R| on the n training samples must be at most the bound at every n, and "
    "its exponent in n at most -1/D, D = d_in + d_out, by a free fit for two D. A faster "
    "fall is no contradiction.",
    judges=(
        Judge(
            "exponent of the gap in n",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge("gap over its bound", side="below", percent=True, margin=0, departure=0.1),
    ),
    seeds={"quick": Seeds(16, 80), "full": Seeds(60, 300)},
)

SAMPLES = (25, 50, 100, 200, 400)
DIMENSIONS = (2, 4)  # d_in; d_out = 1
ORACLE = {"quick": 4000, "full": 40_000}  # fresh samples


def measure(size: Size, seeds: range) -> Data:
    """Gap on training samples, on fresh ones and Lambda squared, (d_in, sizes, 3, seeds)."""
    cells = [[(d, n, ORACLE[size]) for n in SAMPLES] for d in DIMENSIONS]
    return {"found": cache.over(trainings.training, cells, seeds)}


def predict(size: Size) -> Data:
    """The bound known before training, (d_in, sizes)."""
    systems = [trainings.bounds("tanh", d_in=d) for d in DIMENSIONS]
    return {"bounds": np.array([[on_training(each, n) for n in SAMPLES] for each in systems])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The exponent of the gap, at most -1/D, and the gap at every n, at most its bound.

    The bound is that known before training.
    """
    gaps = measured["found"][:, :, 0]
    slopes = statistics.exponent(SAMPLES, np.moveaxis(gaps, 1, 0), of_means=True)
    at, rates = [f"D = {d + 1}" for d in DIMENSIONS], [-1 / (d + 1) for d in DIMENSIONS]
    each = [f"{D}, n = {n}" for D in at for n in SAMPLES]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of the gap in n", slopes, rates, at=at),
        judge("gap over its bound", gaps / predicted["bounds"][..., None], 1.0, at=each),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    slopes = ruling.stated.of("exponent of the gap in n")
    times = predicted["bounds"] / measured["found"][:, :, 0].mean(axis=-1)
    exponents = slopes.comparison.predicted + slopes.difference
    slowest = int(np.argmax(exponents))
    return Verdict(
        sentence="On the n training samples the gap goes as "
        f"{said.power('n', exponents[slowest], slopes.half[slowest])} or faster. The bound, of "
        f"order n^(−1/D), is at least {times.min():.0f} times as large. Its coefficients are ours.",
        sizes=f"d_in = {', '.join(map(str, DIMENSIONS))}, d_out = 1, m = 20, tanh; "
        f"{trainings.STEPS} steps of {trainings.RATE:g}, {trainings.TRAININGS} trainings a seed, "
        f"{ORACLE[size]} fresh samples",
        figure=_figure(measured, predicted),
        caption="The gap on the training samples falls faster than n^(−1/D) (dotted), far below "
        "its bound (dashed).",
        trend=f"For D = {DIMENSIONS[0] + 1} the bound is {times[0, 0]:.0f} times the gap at the "
        f"smallest n and {times[0, -1]:.0f} times at the largest.",
        looseness=float(np.median(times)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    n, mean_error = np.array(SAMPLES), mean_and_error(measured["found"])
    looks = (
        {"label": "on training samples"},
        {"label": "on fresh samples", "marker": "s", "markerfacecolor": "white"},
    )
    with style.figure(len(DIMENSIONS), width=3.5, height=3.2) as (fig, axes):
        for i, (ax, d) in enumerate(zip(axes, DIMENSIONS, strict=True)):
            mean, error = (each[i] for each in mean_error)
            bound, slope = predicted["bounds"][i], mean[0, 0] * (n / n[0]) ** (-1 / (d + 1))
            ax.plot(n, bound, "--", color=style.INK, linewidth=1, label="bound before training")
            ax.plot(n, slope, ":", color=style.INK, label="$n^{-1/D}$")
            for k, look in enumerate(looks):
                style.dots(ax, n, mean[:, k], error[:, k], color=style.COLOURS[k], **look)
            ax.set(xlabel="samples n", ylabel="mean |Rₙ − R|" if i == 0 else "")
            ax.set_title(f"D = {d + 1}")
            ticks.logarithmic(ax, "x", SAMPLES)
            ticks.logarithmic(ax)
        return style.svg(fig, below=4, fontsize=8)
