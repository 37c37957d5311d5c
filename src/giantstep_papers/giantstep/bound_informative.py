"""Whether our own bounds, known before training, still say something when the network has
learned."""

import numpy as np

from giantstep.checks import (
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
from giantstep.plot import style
from giantstep.systems.bounds.theory import on_fresh, spread, trivial
from giantstep_papers.nguwi import trainings
from giantstep_papers.nguwi.amounts import AMOUNTS, N, passed
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=26,
    of="giantstep",
    statement="With our coefficients the bound known before training is below the error of "
    "predicting zero until a tanh network has learned. For ReLU it passes that error before the "
    "network has learned, and only the bound from the weights after training stays below.",
    where="bounds of the kind of Nguwi and Privault (2026) with our own coefficients, which are "
    "not those of the paper",
    how="We find the amount of training at which the bound on 4000 fresh samples reaches the "
    "error of predicting zero. There the error of the tanh network must be below it, and that"
    " of the ReLU network above it. The bound from the weights after training must be at most"
    " half of it at every amount. The ReLU network's start scatters more.",
    judges=(
        Judge(
            "tanh network's error over that of predicting zero",
            side="below",
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="the finite samples of the error",
        ),
        Judge(
            "ReLU network's error over that of predicting zero",
            side="above",
            margin=(0.04, 0.015),
            departure=(0.3, 0.15),
            because="the finite samples of the error",
        ),
        Judge(
            "bound after training over the error of predicting zero",
            side="below",
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="the finite samples of the error",
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(30, 180)},
)

ORACLE = {"quick": 2000, "full": 20_000}  # fresh samples
HALF = 0.5  # of the error of predicting zero: what the bound after training is at most


def measure(size: Size, seeds: range) -> Data:
    """Error after training, Lambda and gaps, (cases, amounts, 4, seeds)."""
    cells = [
        [(case, share * passed(case), ORACLE[size]) for share in AMOUNTS]
        for case in trainings.CASES
    ]
    return {"found": cache.over(trainings.learned, cells, seeds)}


def predict(size: Size) -> Data:
    """Amounts and the bound at each, (cases, amounts);
    the error of predicting zero and sqrt(tr Cov Z/n), (cases,)."""
    amounts = np.array([[share * passed(case) for share in AMOUNTS] for case in trainings.CASES])
    systems = [
        [trainings.bounds(case, rate=float(a) / trainings.STEPS) for a in row]
        for case, row in zip(trainings.CASES, amounts, strict=True)
    ]
    return {
        "amounts": amounts,
        "bounds": np.array([[on_fresh(b, N) for b in row] for row in systems]),
        "trivial": np.array([trivial(row[0]) for row in systems]),
        "spread": np.array([(spread(row[0]) / N) ** 0.5 for row in systems]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The error when the bound passes that of predicting zero, and the bound after training,
    both over that error."""
    useless, found, at = predicted["trivial"][:, None], measured["found"], AMOUNTS.index(1.0)
    error = found[:, at, 0] / useless
    after = found[:, :, 1] * (predicted["spread"] / predicted["trivial"])[:, None, None]
    rows = zip(trainings.CASES, predicted["amounts"], strict=True)
    cells = [f"{case}, rate × steps = {a:.2g}" for case, row in rows for a in row]
    judge = judging(CLAIM, size)
    learned, still = (
        judge(
            "error when the bound becomes vacuous, over that of predicting zero",
            error[i : i + 1],
            1.0,
            by=f"{case} network's error over that of predicting zero",
            at=[case],
        )
        for i, case in enumerate(trainings.CASES)
    )
    weights = judge("bound after training over the error of predicting zero", after, HALF, at=cells)
    return statistics.stated(learned, still, weights)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    useless, mean = predicted["trivial"], measured["found"].mean(axis=-1)
    at = AMOUNTS.index(1.0)
    there = [
        f"{mean[i, at, 0] / useless[i]:.0%} of it with {case}"
        for i, case in enumerate(trainings.CASES)
    ]
    after = mean[..., 1] * (predicted["spread"] / useless)[:, None]
    words = (
        "Where the bound known before training passes the error of predicting zero, the network's "
        f"error is {' and '.join(there)}. The bound from the weights after training is "
        f"{after.min():.0%} to {after.max():.0%} of it throughout."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"n = {N}, d_in = 2, d_out = 1, m = 20; {trainings.STEPS} steps, 20 trainings a "
        f"seed, {ORACLE[size]} fresh samples",
        figure=_figure(measured, predicted),
        caption="Before training the bound (dashed) is below the error of predicting zero "
        "(dotted) only for short training. After training it always is (solid).",
    )


def _figure(measured: Data, predicted: Data) -> str:
    mean, error = mean_and_error(measured["found"])
    with style.figure(len(trainings.CASES), width=3.5, height=3.1) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, trainings.CASES, strict=True)):
            x = predicted["amounts"][i]
            line = np.geomspace(x[0], x[-1], 40)
            before = [
                on_fresh(trainings.bounds(case, rate=float(a) / trainings.STEPS), N) for a in line
            ]
            ax.plot(line, before, "--", color=style.INK, linewidth=1, label="bound before training")
            ax.plot(
                x,
                mean[i, :, 1] * predicted["spread"][i],
                color=style.INK,
                linewidth=1,
                label="bound after training",
            )
            ax.axhline(
                predicted["trivial"][i],
                color=style.COLOURS[1],
                linestyle=":",
                label="error of predicting zero",
            )
            look = {"color": style.COLOURS[0], "marker": "os"[i], "label": "error after training"}
            style.dots(ax, x, mean[i, :, 0], error[i, :, 0], **look)
            ax.set(
                xscale="log",
                yscale="log",
                xlabel="rate × steps",
                ylabel="error" if i == 0 else "",
                ylim=(0.02, 30),
            )
            ax.set_xticks(x, [f"{t:.2g}" for t in x])
            ax.minorticks_off()
            ax.set_title(trainings.TITLES[case], fontsize=9)
        return style.svg(fig, below=4, fontsize=8)
