"""In the early stage the loss loses a fixed share, with the square loss and with cross entropy."""

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
from giantstep.plot import style
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=2,
    quote="including the most commonly used square loss and cross entropy loss […]. We show that "
    "the loss is decreased by a significant amount in the early stage of the training, and "
    "this decrease is fast.",
    place="abstract only",
    kind="theorem",
    statement="In the early stage of the training the loss decreases by a significant amount, and "
    "fast, with the square loss and with cross entropy.",
    where="early stage convergence; here ReLU networks of two classes, whose cross entropy is the "
    "logistic loss, GD and SGD",
    how="At the end of an early stage, a fixed time over the width, at least a fifth of the loss "
    "must be lost, for two losses, three data sets, two widths, gradient descent and "
    "minibatches. The words that we found do not say how the time goes with width and n.",
    judges=(Judge("share of the loss that is left", side="below", margin=0, departure=0.1),),
    seeds={"quick": Seeds(16, 120), "full": Seeds(24, 200)},
)

WIDTHS = (16, 64)
LOSSES = {"square": "square loss", "logistic": "cross entropy"}  # of two classes
DATA = {
    "cones, n = 20": (20, False),
    "cones, n = 80": (80, False),
    "overlapping classes, n = 40": (40, True),
}
BATCHES = {"all samples": None, f"batches of {cases.BATCH}": cases.BATCH}
# the early stage, as width times time: of the order of the time in which outputs reach one
STAGE = 6.0
STEPS = 30  # of it
KEPT = tuple(range(0, STEPS + 1, 5))  # steps kept
LOST = 0.2  # the share that counts as a significant amount


def measure(size: Size, seeds: range) -> Data:
    """The loss over the first, (losses, data, batches, widths, steps kept, seeds)."""
    jobs = [
        (seed, loss, n, width, STAGE / STEPS / width, STEPS, batch, general)
        for loss in LOSSES
        for n, general in DATA.values()
        for batch in BATCHES.values()
        for width in WIDTHS
        for seed in seeds
    ]
    runs = np.array(cache.each(cases.simulated, jobs))[:, :-2]
    shape = len(LOSSES), len(DATA), len(BATCHES), len(WIDTHS), len(seeds), -1
    left = (runs[:, list(KEPT)] / runs[:, :1]).reshape(shape)
    return {"left": np.swapaxes(left, -1, -2)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share of the loss that is left at the end of the early stage, in every case."""
    at = [
        f"{name}, {data}, {batch}, p = {width}"
        for name in LOSSES.values()
        for data in DATA
        for batch in BATCHES
        for width in WIDTHS
    ]
    left = measured["left"][..., -1, :]
    judge = judging(CLAIM, size)
    return statistics.stated(judge("share of the loss that is left", left, 1 - LOST, at=at))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    left = measured["left"][..., -1, :].mean(axis=-1)
    words = " and ".join(
        f"{one.max():.0%} of the {name}" for one, name in zip(left, LOSSES.values(), strict=True)
    )
    return Verdict(
        sentence=f"The early stage leaves at most {words}, for every kind of data and width.",
        sizes=f"d = {cases.D}, p = {' and '.join(map(str, WIDTHS))}, gradient descent and batches "
        f"of {cases.BATCH}; {STEPS} steps",
        figure=_figure(measured["left"]),
        caption="In the early stage the loss falls by more than a fifth (dotted), for both "
        "losses and every kind of data.",
    )


def _figure(left: np.ndarray) -> str:
    effort = STAGE * np.array(KEPT) / STEPS
    mean, error = mean_and_error(left[..., -1, :])
    looks = tuple(zip(DATA, style.COLOURS, "osD", strict=False))
    lost: Any = {"color": style.INK, "linestyle": ":", "linewidth": 1, "label": "a fifth is lost"}
    with style.figure(len(LOSSES), width=3.5, height=3.0) as (fig, axes):
        for i, (ax, name) in enumerate(zip(axes, LOSSES.values(), strict=True)):
            for k, (data, colour, marker) in enumerate(looks):
                course, ends = left[i, k, 0, -1].mean(axis=-1), np.full(mean[i, k].size, STAGE)
                ax.plot(effort, course, color=colour, linewidth=1, label=data)
                both = mean[i, k].ravel(), error[i, k].ravel()
                style.dots(ax, ends, *both, color=colour, marker=marker)
            ax.axhline(1 - LOST, **lost)
            ax.set(xlabel="width × time", title=name, ylim=(0, 1.05))
        axes[0].set_ylabel("loss over the first")
        return style.svg(fig, below=2, fontsize=8)
