"""The distance between a law and its samples, which the bound without independence rests on, is of order n^{-1/D}."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.bounds.theory import wasserstein

LAWS = (
    (2, 1.0),
    (4, 1.0),
    (4, 0.0),
)  # d_in and the noise of y; without noise (x, y) lies on a surface of dimension d_in
SIZES = {"quick": ((50, 100, 200, 400), 16), "full": ((100, 300, 1000, 3000), 30)}
MARGINS = Margins(level=3.0, granted=0.06, needed=0.12)  # of an exponent


def measure(size: Size) -> Data:
    """W1 between two samples, (laws, sizes, seeds)."""
    sizes, seeds = SIZES[size]
    jobs = [(*law, n, seed) for law in LAWS for n in sizes for seed in range(seeds)]
    return {"apart": np.array(cache.each(trainings.apart, jobs)).reshape(len(LAWS), len(sizes), seeds)}


def predict(size: Size) -> Data:
    """The bound, (laws, sizes), and the exponents -1/D, D the dimension that the law fills."""
    return {
        "bounds": np.array([[wasserstein(gs.Bounds(d, noise=s), n) for n in SIZES[size][0]] for d, s in LAWS]),
        "exponents": np.array([-1 / (d + (s > 0)) for d, s in LAWS]),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, seeds = SIZES[size]
    mean, error = mean_and_error(measured["apart"])
    slopes = [growth(sizes, distances) for distances in measured["apart"]]
    off = [
        abs(s - r) > max(MARGINS.level * e, MARGINS.granted)
        for (s, e), r in zip(slopes, predicted["exponents"], strict=True)
    ]
    broken = bool(np.any(mean / 2 - MARGINS.level * error > predicted["bounds"]))
    sure = all(power.detectable(e, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, e in slopes)
    fall = ", ".join(
        f"{s:.3f} ± {e:.3f} ({_name(*law)}: {r:.3f})"
        for (s, e), law, r in zip(slopes, LAWS, predicted["exponents"], strict=True)
    )
    ratio = predicted["bounds"] / mean
    return Verdict(
        outcome="fails" if any(off) or broken else ("holds" if sure else "inconclusive"),
        sentence=f"W1 between two samples of size n falls as n to the {fall}; the explicit bound is {ratio.min():.1f} to "
        f"{ratio.max():.1f} times the measured value, which is itself between one and two times E W1(μ, μₙ).",
        header=("law", "n", "W1 of two samples", "s.e.", "bound"),
        rows=tuple(
            (_name(*law), n, float(mean[i, k]), float(error[i, k]), float(predicted["bounds"][i, k]))
            for i, law in enumerate(LAWS)
            for k, n in enumerate(sizes)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; x uniform on a cube, y = sin(2x₁) + noise, uniform",
        figure=_figure(sizes, mean, error, predicted["bounds"]),
        caption=f"W1 between two samples against n on logarithmic axes: dots fall as n to the {fall}; the dashed lines of the "
        "explicit bound lie above.",
        power=power.stated([e for _, e in slopes], MARGINS.level, MARGINS.granted, " in the exponent", seeds=seeds),
    )


def _name(d: int, noise: float) -> str:
    return f"D = {d + 1}" if noise else f"D = {d + 1} without noise"


def _figure(sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray, bound: np.ndarray) -> str:
    with style.figure(width=4.4, height=3.0) as (fig, ax):
        for i, (law, colour) in enumerate(zip(LAWS, style.COLOURS, strict=False)):
            ax.plot(sizes, bound[i], "--", color=colour, linewidth=1)
            style.dots(ax, sizes, mean[i], error[i], color=colour, label=_name(*law))
        ax.set(xscale="log", yscale="log", xlabel="samples n", ylabel="W1 (dashed: bound)")
        ax.set_xticks(sizes, [str(n) for n in sizes])
        low, high = ax.get_ylim()
        ticks = [t for t in (0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0) if low <= t <= high]
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=len(LAWS))
        return style.svg(fig)


CLAIM = claim("nguwi/wasserstein", measure=measure, predict=predict, judge=judge)
