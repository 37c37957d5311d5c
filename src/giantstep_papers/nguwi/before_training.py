"""The bounds and their coefficients are computed before training.

Nothing that is measured after it exceeds them.
"""

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
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import modulus, on_fresh, on_training
from giantstep_papers.nguwi import trainings
from giantstep_papers.nguwi.amounts import AMOUNTS, passed

CLAIM = Claim(
    order=4,
    quote="Our bounds and their coefficients can be explicitly computed prior to the training of "
    "the model, and are confirmed by numerical simulations.",
    place="abstract only",
    kind="remark",
    statement="The bounds and their coefficients can be computed explicitly prior to training, and "
    "simulations confirm them.",
    where="explicit bounds; their coefficients here are our own",
    how="The Lipschitz coefficient of the trained network, and the gaps on fresh and on training "
    "samples, must be at most what was computed before training, for tanh and ReLU at four "
    "amounts of training.",
    judges=(
        Judge(
            "measured number over its bound", side="below", percent=True, margin=0, departure=0.1
        ),
    ),
    seeds={"quick": Seeds(8, 40), "full": Seeds(30, 180)},
)

NAMES = ("Λ", "gap on fresh samples", "gap on training samples")
LONG = ("the coefficient Λ", *(f"the {name}" for name in NAMES[1:]))
ORACLE = {"quick": 2000, "full": 20_000}  # fresh samples
BELOW = "measured number over its bound"  # the judge


def measure(size: Size, seeds: range) -> Data:
    """Error, Lambda and gaps after training, (cases, amounts, 4, seeds)."""
    cells = [
        [(case, share * passed(case), ORACLE[size]) for share in AMOUNTS]
        for case in trainings.CASES
    ]
    return {"found": cache.over(trainings.learned, cells, seeds)}


def predict(size: Size) -> Data:
    """Amounts of training, (cases, amounts), and the bounds of what NAMES lists.

    The bounds are (cases, amounts, 3).
    """
    amounts = np.array([[share * passed(case) for share in AMOUNTS] for case in trainings.CASES])
    n = trainings.STEPS
    bounds = []
    for case, row in zip(trainings.CASES, amounts, strict=True):
        systems = [trainings.bounds(case, rate=float(amount) / n) for amount in row]
        bounds.append([(modulus(b)[0], on_fresh(b, n), on_training(b, n)) for b in systems])
    return {"amounts": amounts, "bounds": np.array(bounds)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The coefficient and both gaps, over their bounds.

    They are compared for both networks and every amount of training.
    """
    over = measured["found"][:, :, 1:] / predicted["bounds"][..., None]
    rows = zip(trainings.CASES, predicted["amounts"], strict=True)
    cells = [f"{case}, rate × steps = {a:.2g}" for case, row in rows for a in row]
    judge = judging(CLAIM, size)
    each = (
        judge(f"{name} over its bound", over[:, :, k], 1.0, by=BELOW, at=cells)
        for k, name in enumerate(NAMES)
    )
    return statistics.stated(*each)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    times = predicted["bounds"] / measured["found"][:, :, 1:].mean(axis=-1)
    least = times.min(axis=(0, 1))
    closest = int(np.argmin(least))
    return Verdict(
        sentence=f"All bounds are computed before training. The closest, that on {LONG[closest]}, "
        f"is at least {least[closest]:.1f} times what is measured. The coefficients are ours, not "
        "the paper's.",
        sizes=f"n = {trainings.STEPS}, d_in = 2, d_out = 1, m = 20; {trainings.STEPS} steps, "
        f"{trainings.TRAININGS} trainings a seed, {ORACLE[size]} fresh samples",
        figure=_figure(measured, predicted),
        caption="Every gap lies below its bound, known before training (dashed), which grows "
        "with the amount of training.",
        looseness=float(np.median(times)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    mean, error = mean_and_error(measured["found"])
    with style.figure(len(trainings.CASES), width=3.5, height=3.2) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, trainings.CASES, strict=True)):
            x = predicted["amounts"][i]
            for k, (name, marker) in enumerate(zip(NAMES, "osD", strict=True)):
                colour = style.COLOURS[k]
                ax.plot(x, predicted["bounds"][i, :, k], "--", color=colour, linewidth=1)
                look = {"color": colour, "marker": marker, "label": name}
                style.dots(ax, x, mean[i, :, k + 1], error[i, :, k + 1], **look)
            ax.plot([], [], "--", color=style.INK, linewidth=1, label="bounds, known before")
            ax.set(xscale="log", yscale="log", xlabel="rate × steps")
            ticks.logarithmic(ax)
            ax.set_xticks(x, [f"{t:.2g}" for t in x])
            ax.minorticks_off()
            ax.set_title(trainings.TITLES[case], fontsize=9)
        return style.svg(fig, below=4, fontsize=8)
