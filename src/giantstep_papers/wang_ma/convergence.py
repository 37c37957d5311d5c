"""With the exponential and the logistic loss gradient descent takes the loss towards zero."""

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
from giantstep.plot import style
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=3,
    quote="for exponential type loss functions, and under some assumptions on the training data, we"
    " show global convergence of GD",
    place="abstract only",
    kind="theorem",
    statement="For exponential type loss functions, and under some assumptions on the training "
    "data, GD converges globally.",
    where="global convergence; here the exponential and the logistic loss, on orthogonally "
    "separable data",
    how="At most a twentieth of the loss may be left at the end. The loss must at least halve "
    "whenever the time is four times as long, three times in a row, which a loss that levels "
    "off does not. The width is large enough that every sample has a neuron at the start.",
    judges=(
        Judge("share of the loss at the end", side="below", margin=0, departure=0.05),
        Judge(
            "log of the loss over that at a quarter of the time",
            side="below",
            margin=0,
            departure=0.2,
        ),
    ),
    seeds={"quick": Seeds(4, 24), "full": Seeds(20, 60)},
)

LOSSES = ("exponential", "logistic")
# n, width: with fewer neurons some starts leave a sample that no neuron follows
SIZES = {"quick": (20, 32), "full": (100, 40)}
SPEED = 1.0  # rate times width
STEPS = 1024
KEPT = (0, *(2**k for k in range(11)))  # steps kept
QUARTERS = (16, 64, 256, 1024)  # each four times the one before
SMALL = 0.05  # the share of the first loss that must not be left at the end


def measure(size: Size, seeds: range) -> Data:
    """Losses, (losses, steps kept, seeds)."""
    n, width = SIZES[size]
    jobs = [(seed, loss, n, width, SPEED / width, STEPS) for loss in LOSSES for seed in seeds]
    runs = np.array(cache.each(cases.simulated, jobs))
    return {"losses": runs[:, list(KEPT)].reshape(len(LOSSES), len(seeds), -1).swapaxes(1, 2)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share of the loss that is left at the end, and how it falls.

    It is compared each time that the time is four times as long.
    """
    losses = measured["losses"]
    falls = np.diff(np.log(losses[:, [KEPT.index(k) for k in QUARTERS]]), axis=1)
    share, half = losses[:, -1] / losses[:, 0], float(np.log(0.5))
    steps = [f"{loss}, step {k}" for loss in LOSSES for k in QUARTERS[1:]]
    judge = judging(CLAIM, size)
    return statistics.trend(
        judge("share of the loss at the end", share, SMALL, at=LOSSES),
        judge("log of the loss over that at a quarter of the time", falls, half, at=steps),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (n, width), losses = SIZES[size], measured["losses"]
    share = (losses[:, -1] / losses[:, 0]).mean(axis=-1)
    quarter = (losses[:, -1] / losses[:, KEPT.index(QUARTERS[-2])]).mean(axis=-1)
    return Verdict(
        sentence=f"At the end {100 * share[0]:.1f}% of the {LOSSES[0]} loss and "
        f"{100 * share[1]:.1f}% of the {LOSSES[1]} one are left. The last three quarters of the "
        f"steps divide both by {1 / quarter.max():.1f} or more.",
        sizes=f"n = {n}, d = {cases.D}, p = {width}; rate {SPEED / width:g}, {STEPS} steps",
        figure=_figure(losses),
        caption="Both losses fall in every run, and still at the end.",
        settings=tuple(cases.system(loss, n, width, SPEED / width, STEPS).id for loss in LOSSES),
    )


def _figure(losses: np.ndarray) -> str:
    with style.figure(width=4.6, height=3.2) as (fig, ax):
        for own, loss, colour in zip(losses, LOSSES, style.COLOURS, strict=False):
            ax.plot(KEPT[1:], own[1:, :8], color=colour, linewidth=0.8)
            ax.plot([], [], color=colour, label=f"{loss} loss")
        ax.set(xscale="log", yscale="log", xlabel="step", ylabel="loss of a run")
        ax.legend()
        return style.svg(fig)
