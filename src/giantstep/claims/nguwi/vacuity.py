"""Until which amount of training the bounds known before it say more than the error of predicting zero."""

import numpy as np
from scipy.optimize import brentq

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.bounds.theory import modulus, on_fresh, spread, trivial

AMOUNTS = (0.02, 0.2, 1.0, 5.0)  # rate times steps
N = 4000  # fresh samples that the gap is of; the training samples are as many as steps
SIZES = {"quick": (4, 24_000), "full": (20, 200_000)}  # seeds of 20 trainings, fresh samples
LEVEL = 3.0


def measure(size: Size) -> Data:
    """Gaps on training and on fresh samples, Lambda and its square, (cases, amounts, 4, seeds)."""
    seeds, oracle = SIZES[size]
    jobs = [
        (case, trainings.STEPS, N, amount / trainings.STEPS, oracle, seed)
        for case in trainings.CASES
        for amount in AMOUNTS
        for seed in range(seeds)
    ]
    runs = np.array(cache.each(trainings.training, jobs)).reshape(len(trainings.CASES), len(AMOUNTS), seeds, -1)
    return {"found": np.moveaxis(runs, 2, -1)}


def predict(size: Size) -> Data:
    """Bounds on fresh samples and on Lambda, (cases, amounts), the error of predicting zero, and where the bound passes it."""
    at = lambda case, amount: trainings.bounds(case, trainings.STEPS, amount / trainings.STEPS)  # noqa: E731
    useless = [trivial(at(case, 0.0)) for case in trainings.CASES]
    passed = []
    for case, error in zip(trainings.CASES, useless, strict=True):
        more = lambda amount, case=case, error=error: on_fresh(at(case, amount), N) - error  # noqa: E731
        passed.append(float(brentq(more, 0.0, 20.0)) if more(0.0) < 0 else 0.0)  # type: ignore[arg-type]
    return {
        "bounds": np.array([[on_fresh(at(case, t), N) for t in AMOUNTS] for case in trainings.CASES]),
        "modulus": np.array([[modulus(at(case, t))[0] for t in AMOUNTS] for case in trainings.CASES]),
        "spread": np.array([spread(at(case, 0.0)) for case in trainings.CASES]),
        "trivial": np.array(useless),
        "passed": np.array(passed),
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    seeds, oracle = SIZES[size]
    mean, error = mean_and_error(measured["found"])
    gap, gap_error, realised = mean[:, :, 1], error[:, :, 1], mean[:, :, 2] * np.sqrt(predicted["spread"] / N)[:, None]
    before, useless = predicted["bounds"], predicted["trivial"]
    broken = bool(np.any(gap - LEVEL * gap_error > realised) or np.any(realised > before))
    broken = broken or bool(np.any(mean[:, :, 2] - LEVEL * error[:, :, 2] > predicted["modulus"]))
    useful = before < useless[:, None]
    names = list(trainings.CASES)
    ends = " and ".join(f"{predicted['passed'][i]:.2g} ({case})" for i, case in enumerate(names))
    most = " and ".join(f"{before[i, -1]:.2g} ({case})" for i, case in enumerate(names))
    return Verdict(
        outcome="fails" if broken or not np.all(useful[:, 0]) or np.any(useful[:, -1]) else "holds",
        sentence=f"At n = {N} the bound known before training is below the error of predicting zero, {useless[0]:.2f} and "
        f"{useless[1]:.2f}, until rate × steps = {ends}, and {most} at {AMOUNTS[-1]:g}; the bound from the weights after "
        f"training stays at {realised.min():.2f} to {realised.max():.2f} and the gap at {gap.min():.3f} to {gap.max():.3f}.",
        header=(
            "case",
            "rate × steps",
            "gap",
            "s.e.",
            "bound after training",
            "bound before",
            "predicting zero",
            "vacuous",
        ),
        rows=tuple(
            (
                case,
                amount,
                *(float(x[i, k]) for x in (gap, gap_error, realised, before)),
                float(useless[i]),
                "no" if useful[i, k] else "yes",
            )
            for i, case in enumerate(names)
            for k, amount in enumerate(AMOUNTS)
        ),  # fmt: skip
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {N}, d_in = 2, d_out = 1, m = 20; {trainings.STEPS} steps, 20 trainings a seed, {oracle} fresh samples",
        figure=_figure(gap, gap_error, realised, before, useless),
        caption="Bounds and measured gap on fresh samples against rate × steps, one panel a network: the dashed bound known "
        f"before training crosses the dotted error of predicting zero at {ends} and rises steeply, for ReLU exponentially, while "
        "the bound from the weights after training and the dots of the gap stay nearly level.",
        power=f"{gap.size} gaps and moduli at {LEVEL:g} s.e.: measured gaps are {float(np.min(realised / gap)):.0f} or more "
        "times below the bounds, so only a bound too small by that factor is seen; moduli are "
        f"{float(np.min(predicted['modulus'] / mean[:, :, 2])):.1f} or more times below theirs.",
    )


def _figure(gap: np.ndarray, error: np.ndarray, realised: np.ndarray, before: np.ndarray, useless: np.ndarray) -> str:
    with style.figure(len(trainings.CASES), width=3.4, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, trainings.CASES, strict=True)):
            ax.plot(AMOUNTS, before[i], "--", color=style.INK, linewidth=1, label="bound before training")
            ax.plot(AMOUNTS, realised[i], color=style.INK, linewidth=1, label="bound after training")
            ax.axhline(useless[i], color=style.COLOURS[1], linewidth=1, linestyle=":", label="predicting zero")
            style.dots(ax, AMOUNTS, gap[i], error[i], color=style.COLOURS[0], label="measured")
            ax.set(
                xscale="log", yscale="log", xlabel="rate × steps", ylabel=f"mean |Rₙ − R|, n = {N}" if i == 0 else ""
            )
            ax.set_ylim(3e-4, 1e3)
            ax.set_xticks(AMOUNTS, [f"{t:g}" for t in AMOUNTS])
            ax.minorticks_off()
            ax.set_title(trainings.TITLES[case], loc="left", fontsize=9)
        handles, labels = axes[0].get_legend_handles_labels()
        fig.legend(handles, labels, loc="outside lower center", ncols=4)
        return style.svg(fig)


CLAIM = claim("nguwi/vacuity", measure=measure, predict=predict, judge=judge)
