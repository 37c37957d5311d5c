"""On the training samples themselves the gap is below a bound of order n^{-1/D}, which it does not follow."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.bounds.theory import on_training, spread

CASE = "tanh"  # bounded, so that the samples may be gone through again
SAMPLES = (25, 50, 100, 200, 400)
SIZES = {
    "quick": (8, 8_000, 8),
    "full": (40, 100_000, 40),
}  # seeds of 20 trainings, fresh samples, pairs of samples for W1
MARGINS = Margins(level=3.0, granted=0.05, needed=0.25)  # of an exponent


def measure(size: Size) -> Data:
    """Gap on training samples, on fresh ones, Lambda and its square, (sizes, 4, seeds); W1 of two samples, (sizes, pairs)."""
    seeds, oracle, pairs = SIZES[size]
    jobs = [(CASE, n, n, trainings.RATE, oracle, seed) for n in SAMPLES for seed in range(seeds)]
    runs = np.array(cache.each(trainings.training, jobs)).reshape(len(SAMPLES), seeds, -1)
    distances = cache.each(trainings.apart, [(2, 0.1, n, seed) for n in SAMPLES for seed in range(pairs)])
    return {"found": np.moveaxis(runs, 1, -1), "apart": np.array(distances).reshape(len(SAMPLES), pairs)}


def predict(size: Size) -> Data:
    """The bound known before training, (sizes,), tr Cov Z, and the exponent -1/D of the W1 part."""
    b = trainings.bounds(CASE)
    return {
        "bounds": np.array([on_training(b, n) for n in SAMPLES]),
        "spread": spread(b),
        "exponent": -1 / b.dimension,
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    seeds, oracle, pairs = SIZES[size]
    mean, error = mean_and_error(measured["found"])
    gap, gap_error, n = mean[:, 0], error[:, 0], np.array(SAMPLES)
    distance = measured["apart"].mean(axis=1)
    realised = np.sqrt(mean[:, 3] * (distance**2 + predicted["spread"] / n))
    before = predicted["bounds"]
    slope, slope_error = growth(SAMPLES, measured["found"][:, 0])
    line = float(np.polyfit(np.log(n), np.log(before), 1)[0])
    broken = bool(np.any(gap - MARGINS.level * gap_error > realised) or np.any(realised > before))
    slower = slope - MARGINS.level * slope_error > predicted["exponent"]
    wrong_rate = abs(line - predicted["exponent"]) > 0.1
    sure = power.detectable(slope_error, MARGINS.level, MARGINS.granted) < MARGINS.needed
    return Verdict(
        outcome="fails" if broken or slower or wrong_rate else ("holds" if sure else "inconclusive"),
        sentence=f"On n training samples the gap {gap[0]:.3f} to {gap[-1]:.4f} is below the bound from the weights after "
        f"training, {realised[0]:.2f} to {realised[-1]:.2f}, and that below the bound before, {before[0]:.0f} to "
        f"{before[-1]:.0f}, which falls as n to the {line:.2f} (-1/D = {predicted['exponent']:.2f}); the gap itself falls as n "
        f"to the {slope:.2f} ± {slope_error:.2f}: the rate is that of the worst case.",
        header=("n", "gap on training samples", "s.e.", "gap on fresh samples", "bound after training", "bound before"),
        rows=tuple(
            (int(n[k]), *(float(x[k]) for x in (gap, gap_error, mean[:, 1], realised, before))) for k in range(len(n))
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d_in = 2, d_out = 1, m = 20; {trainings.STEPS} steps of {trainings.RATE:g}, 20 trainings a seed, "
        f"{oracle} fresh samples, "
        f"{pairs} assignments",
        figure=_figure(mean, error, realised, before),
        caption="Gap on the n training samples and on n fresh ones against n on logarithmic axes: both fall alike, "
        f"as n to the {slope:.2f}, below the bound from the weights after training and far below the one before training, whose "
        f"slope is {line:.2f}.",
        power=power.stated([slope_error], MARGINS.level, MARGINS.granted, " in the exponent", seeds=seeds),
        trend=f"Bound after training over gap: {realised[0] / gap[0]:.0f} at n = {n[0]} and {realised[-1] / gap[-1]:.0f} "
        f"at n = {n[-1]}.",
    )


def _figure(mean: np.ndarray, error: np.ndarray, realised: np.ndarray, before: np.ndarray) -> str:
    with style.figure(width=4.4, height=3.2) as (fig, ax):
        ax.plot(SAMPLES, before, "--", color=style.INK, linewidth=1, label="bound before training")
        ax.plot(SAMPLES, realised, color=style.INK, linewidth=1, label="bound after training")
        style.dots(ax, SAMPLES, mean[:, 0], error[:, 0], color=style.COLOURS[0], label="on training samples")
        style.dots(
            ax,
            SAMPLES,
            mean[:, 1],
            error[:, 1],
            color=style.COLOURS[1],
            markerfacecolor="white",
            label="on fresh samples",
        )
        ax.set(xscale="log", yscale="log", xlabel="samples n", ylabel="mean |Rₙ − R|")
        ax.set_xticks(SAMPLES, [str(n) for n in SAMPLES])
        ax.minorticks_off()
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=2)
        return style.svg(fig)


CLAIM = claim("nguwi/training", measure=measure, predict=predict, judge=judge)
