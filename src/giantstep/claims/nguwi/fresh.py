"""On fresh samples the gap falls as n^{-1/2}, below a coefficient that is known before training."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.bounds.theory import on_fresh, spread

SAMPLES = (25, 50, 100, 200, 400)
SIZES = {"quick": (8, 20_000), "full": (40, 200_000)}  # seeds of 20 trainings, fresh samples
MARGINS = Margins(level=3.0, granted=0.02, needed=0.15)  # of an exponent


def measure(size: Size) -> Data:
    """Gaps and Lambda, (cases, sizes + 1, seeds)."""
    seeds, oracle = SIZES[size]
    jobs = [(case, SAMPLES, oracle, seed) for case in trainings.CASES for seed in range(seeds)]
    runs = np.array(cache.each(trainings.fresh, jobs)).reshape(len(trainings.CASES), seeds, -1)
    return {"found": np.moveaxis(runs, 1, -1)}


def predict(size: Size) -> Data:
    """The exponent, the bound at n = 1 known before training, and sqrt(tr Cov Z), which Lambda is multiplied by; (cases,)."""
    all_ = [trainings.bounds(case) for case in trainings.CASES]
    return {
        "exponent": -0.5,
        "bounds": np.array([on_fresh(b, 1) for b in all_]),
        "spread": np.array([spread(b) ** 0.5 for b in all_]),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    seeds, oracle = SIZES[size]
    mean, error = mean_and_error(measured["found"])
    slopes = [growth(SAMPLES, runs[:-1]) for runs in measured["found"]]
    scaled, spread_ = mean[:, :-1] * np.sqrt(SAMPLES), error[:, :-1] * np.sqrt(SAMPLES)
    realised, before = mean[:, -1] * predicted["spread"], predicted["bounds"]
    off = [abs(s - predicted["exponent"]) > max(MARGINS.level * e, MARGINS.granted) for s, e in slopes]
    broken = bool(np.any(scaled - MARGINS.level * spread_ > realised[:, None]) or np.any(realised > before))
    sure = all(power.detectable(e, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, e in slopes)
    names = list(trainings.CASES)
    fall = " and ".join(f"{s:.3f} ± {e:.3f} ({c})" for c, (s, e) in zip(names, slopes, strict=True))
    order = " and ".join(
        f"{scaled[i].max():.2g} ≤ {realised[i]:.2g} ≤ {before[i]:.2g} ({case})" for i, case in enumerate(names)
    )
    return Verdict(
        outcome="fails" if any(off) or broken else ("holds" if sure else "inconclusive"),
        sentence=f"The gap on n fresh samples falls as n to the {fall}; √n times the gap, its bound from the weights after "
        f"training and the bound known before are {order}.",
        header=("case", "n", "√n gap", "s.e.", "bound after training", "bound before"),
        rows=tuple(
            (case, n, float(scaled[i, k]), float(spread_[i, k]), float(realised[i]), float(before[i]))
            for i, case in enumerate(names)
            for k, n in enumerate(SAMPLES)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d_in = 2, d_out = 1, m = 20; {trainings.STEPS} steps of {trainings.RATE:g}, 20 trainings a seed, "
        f"{oracle} fresh samples",
        figure=_figure(mean[:, :-1], error[:, :-1], realised, before),
        caption=f"Gap on n fresh samples against n for two networks on logarithmic axes: dots fall as n to the {fall}, below the "
        f"solid line of the bound from the weights after training and the dashed one of the bound before (√n times: {order}).",
        power=power.stated([e for _, e in slopes], MARGINS.level, MARGINS.granted, " in the exponent", seeds=seeds),
    )


def _figure(mean: np.ndarray, error: np.ndarray, realised: np.ndarray, before: np.ndarray) -> str:
    with style.figure(len(trainings.CASES), width=3.4, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, trainings.CASES, strict=True)):
            n = np.array(SAMPLES)
            ax.plot(n, before[i] / np.sqrt(n), "--", color=style.INK, linewidth=1, label="bound before training")
            ax.plot(n, realised[i] / np.sqrt(n), color=style.INK, linewidth=1, label="bound after training")
            style.dots(ax, n, mean[i], error[i], color=style.COLOURS[0], label="measured")
            ax.set(xscale="log", yscale="log", xlabel="fresh samples n", ylabel="mean |Rₙ − R|" if i == 0 else "")
            ax.set_xticks(SAMPLES, [str(x) for x in SAMPLES])
            ax.minorticks_off()
            ax.set_title(trainings.TITLES[case], loc="left", fontsize=9)
        handles, labels = axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=3)
        return style.svg(fig)


CLAIM = claim("nguwi/fresh", measure=measure, predict=predict, judge=judge)
