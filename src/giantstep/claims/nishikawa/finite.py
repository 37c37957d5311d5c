"""Finite sample: dual coordinate ascent closes the excess exponentially, no slower than guaranteed."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.nishikawa import exact
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.mean_field.dual import contraction

CASES = {
    "square, λ = 0.02": ("square", 0.02),
    "square, λ = 0.005": ("square", 0.005),
    "logistic, λ = 0.005": ("logistic", 0.005),
}
SIZES = {"quick": (40, 20, 7), "full": (200, 40, 20)}  # curves, passes, seeds
LEVEL = 3.0  # standard errors
ROUNDING = 1e-11  # share of the start below which excess is rounding
HEADER = ("case", "part of the run", "decades a pass", "s.e.", "guaranteed", "ratio")


def excess(loss: str, lam: float, n: int, passes: int, seed: int) -> np.ndarray:
    """D* - D after every pass, over that of the start."""
    objectives = exact.run(loss, lam, "finite", n, passes, seed)["dual"]
    return objectives / objectives[0]


def measure(size: Size) -> Data:
    """For every case, (seeds, passes + 1)."""
    n, passes, seeds = SIZES[size]
    jobs = [(*case, n, passes, seed) for case in CASES.values() for seed in range(seeds)]
    runs = np.array(cache.each(excess, jobs)).reshape(len(CASES), seeds, -1)
    return dict(zip(CASES, runs, strict=True))


def predict(size: Size) -> Data:
    """The guaranteed decades a pass, -n log10(1 - 1/(n + B^2 L/lam))."""
    n = SIZES[size][0]
    return {name: float(-n * np.log10(1 - contraction(n, 1.0, lam, loss))) for name, (loss, lam) in CASES.items()}


def slopes(runs: np.ndarray) -> list[tuple[str, float, float]]:
    """Decades a pass and their standard error, of the first and the second half of what is above rounding."""
    above = int(np.argmax(np.append(runs.max(axis=0), 0.0) < ROUNDING))
    rates = []
    for name, (low, high) in {"first half": (0, above // 2), "second half": (above // 2, above - 1)}.items():
        fall = -np.log10(runs[:, high] / runs[:, low]) / (high - low)
        mean, error = mean_and_error(fall)
        rates.append((name, float(mean), float(error)))
    return rates


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, passes, seeds = SIZES[size]
    rows = tuple(
        (case, part, mean, error, predicted[case], mean / predicted[case])
        for case in CASES
        for part, mean, error in slopes(measured[case])
    )
    slow = [row for row in rows if row[2] < row[4] - LEVEL * row[3]]
    over = 0
    for case in CASES:
        mean, error = mean_and_error(measured[case], 0)
        bound = 10 ** (-predicted[case] * np.arange(passes + 1))
        over += int(np.sum((mean - LEVEL * error > bound)[mean > ROUNDING][1:]))
    ratios = [row[5] for row in rows]
    detectable = max(power.detectable(row[3], LEVEL) / row[4] for row in rows)
    return Verdict(
        outcome=power.decided(bool(slow or over), detectable, 1.0),
        sentence=f"The dual excess falls by {min(row[2] for row in rows):.2f} to {max(row[2] for row in rows):.2f} decades a "
        f"pass, {min(ratios):.1f} to {max(ratios):.1f} times as fast as guaranteed, in the second half of a run as in the first; "
        f"its mean over seeds is above the guaranteed curve at {over} points.",
        header=HEADER,
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}, J = 16, {passes} passes, a pool of {exact.POOL} draws as the prior, B = 1",
        figure=_figure(measured, predicted),
        caption="Dual excess over its start against passes through the curves, one panel a case: runs are thin lines, the "
        "guarantee is dashed. All runs are straight on a logarithmic axis and below the guarantee, until rounding.",
        power=power.stated([row[3] / row[4] for row in rows], LEVEL, 0.0, " times the guaranteed rate", seeds=seeds),
        settings=tuple(exact.system(*case, "finite", n, passes).id for case in CASES.values()),
    )


def _figure(measured: Data, predicted: Data) -> str:
    with style.figure(len(CASES), width=2.7, height=2.6) as (fig, axes):
        for ax, case, colour in zip(axes, CASES, style.COLOURS, strict=False):
            runs = measured[case]
            passes = np.arange(runs.shape[1])
            lines = ax.plot(passes, np.where(runs > ROUNDING, runs, np.nan).T, color=colour, linewidth=0.7, alpha=0.7)
            lines[0].set_label("runs")
            ax.plot(passes, 10 ** (-predicted[case] * passes), "--", color=style.INK, label="guaranteed")
            ax.set(yscale="log", xlabel="passes", ylim=(ROUNDING, 3))
            ax.set_title(case, loc="left")
            ax.legend()
        axes[0].set_ylabel("(D* − D) over its start")
        return style.svg(fig)


CLAIM = claim("nishikawa/finite", measure=measure, predict=predict, judge=judge)
