"""Minibatches: the early stage is as fast as with all samples.

The mean square loss is known exactly.
"""

from typing import Any

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
from giantstep.theory import theory
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=4,
    of="giantstep",
    statement="In the early stage the mean square loss under small batches follows a closed "
    "recursion of second moments, and the loss of a single run is known from the patterns at its "
    "start and its batches.",
    where="early stage convergence of SGD, which the abstract names in its first sentence; the "
    "recursion is ours",
    how="Mean square losses under small batches must be those of the recursion. Losses of single "
    "runs, for three losses, must be those followed.",
    judges=(
        Judge(
            "mean square loss",
            relative=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="the neurons that the first batch leaves where they are",
        ),
        Judge(
            "loss over the followed one",
            percent=True,
            margin=0.001,
            departure=0.003,
            because="the start, which is small and not zero",
        ),
    ),
    seeds={"quick": Seeds(60, 300), "full": Seeds(300, 2000)},
)

SIZES = {"quick": (40, 60, 4), "full": (80, 120, 4)}  # n, width, batch
LOSSES = ("square", "exponential", "logistic")
RUNS = 10  # every so many seeds are followed
SPEED = 0.3  # rate times width
STEPS = 20
POINTS = (1, 2, 5, 10, 20)


def jobs(size: Size, loss: str, seeds: range) -> list[tuple]:
    n, width, batch = SIZES[size]
    return [(seed, loss, n, width, SPEED / width, STEPS, batch) for seed in seeds]


def measure(size: Size, seeds: range) -> Data:
    """Losses of minibatches by loss function, (steps + 1, seeds).

    The square loss has all seeds, and the others have every tenth.
    """
    several = {loss: seeds if loss == "square" else seeds[::RUNS] for loss in LOSSES}
    own = {loss: cache.each(cases.simulated, jobs(size, loss, of)) for loss, of in several.items()}
    return {loss: np.array(each)[:, :-2].T for loss, each in own.items()}


def predict(size: Size) -> Data:
    """Mean square losses of minibatches, and of all samples for comparison."""
    n, width, batch = SIZES[size]
    what = "square", n, width, SPEED / width, STEPS
    own, every = (theory(cases.system(*what, b)).curves["loss"].y for b in (batch, None))
    return {"mean": own, "all": every}


def predict_draws(size: Size, seeds: range) -> Data:
    """Losses followed from the same starts and batches, by loss function.

    They are (steps + 1, every tenth seed).
    """
    own = {loss: cache.each(cases.followed, jobs(size, loss, seeds[::RUNS])) for loss in LOSSES}
    return {"followed": {loss: np.array(each)[:, :-2].T for loss, each in own.items()}}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Mean square losses against the closed recursion, and single runs against those followed."""
    points, at = list(POINTS), [f"step {k}" for k in POINTS]
    pairs = [
        (measured[k][:, ::RUNS] if k == "square" else measured[k], predicted["followed"][k])
        for k in LOSSES
    ]
    # either sign counts: other batches than those followed leave the mean ratio at 1
    ratio = np.array([1 + np.abs(own / followed - 1)[points] for own, followed in pairs])
    cells = [f"{loss}, step {k}" for loss in LOSSES for k in POINTS]
    mean, expected = measured["square"][points], predicted["mean"][points]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("mean square loss", mean, expected, at=at),
        judge("loss over the followed one", ratio, 1.0, at=cells),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, width, batch = SIZES[size]
    mean, every = predicted["mean"], predicted["all"]
    return Verdict(
        sentence=f"{ruling.stated.sentence} At the end {mean[-1] / mean[0]:.0%} of the loss is "
        f"left, which is {mean[-1] / every[-1]:.2f} times that under gradient descent.",
        sizes=f"n = {n}, d = {cases.D}, p = {width}, batches of {batch}; rate {SPEED / width:g}",
        figure=_figure(batch, measured, predicted),
        caption="The mean loss under batches follows its prediction (left), and every run the "
        "line of its own batches (right).",
        settings=tuple(
            cases.system(loss, n, width, SPEED / width, STEPS, batch).id for loss in LOSSES
        ),
    )


def _figure(batch: int, measured: Data, predicted: Data) -> str:
    steps = np.arange(STEPS + 1)
    with style.figure(2, width=3.7, height=3.0) as (fig, (left, right)):
        left.plot(steps, predicted["mean"], color=style.COLOURS[0], label="predicted")
        dashed: Any = {"color": style.INK, "linestyle": (0, (4, 3)), "linewidth": 1}
        left.plot(steps, predicted["all"], label="all samples", **dashed)
        mean, error = mean_and_error(measured["square"])
        look = {"color": style.COLOURS[0], "label": f"batches of {batch}"}
        style.dots(left, steps[::2], mean[::2], error[::2], **look)
        left.set(xlabel="step", ylabel="mean square loss")
        left.legend()
        for loss, colour, marker in zip(LOSSES, style.COLOURS, "osD", strict=False):
            right.plot(steps, predicted["followed"][loss][:, 0], color=colour, linewidth=0.9)
            look = {"color": colour, "markersize": 3.5, "label": loss}
            right.plot(steps, measured[loss][:, 0], marker, **look)
        right.plot([], [], color=style.INK, linewidth=0.9, label="followed")
        right.set(xlabel="step", ylabel="loss of a run")
        right.legend()
        ticks.logarithmic(left)
        ticks.logarithmic(right)
        return style.svg(fig)
