"""With the exponential and the logistic loss the training loss goes to zero as one over time, below a bound."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.wang_ma import cases
from giantstep.plot import style
from giantstep.systems.early.classwise import bound

LOSSES = ("exponential", "logistic")
SIZES = {"quick": (40, 20, 6), "full": (100, 40, 20)}  # n, width, seeds
SPEED = 0.4  # rate times width
STEPS = 1000
KEPT = tuple(sorted({*range(0, 12), *(round(1000 ** (k / 60)) for k in range(21, 61)), 500}))  # steps that are compared
EXACT = 1e-3  # granted to a followed loss
POWER = 0.1  # granted to a power of time


def jobs(size: Size) -> list[tuple]:
    n, width, seeds = SIZES[size]
    return [(seed, loss, n, width, SPEED / width, STEPS) for loss in LOSSES for seed in range(seeds)]


def measure(size: Size) -> Data:
    """Losses, (losses, seeds, steps kept)."""
    runs = np.array(cache.each(cases.simulated, jobs(size)))
    return {"losses": runs[:, list(KEPT)].reshape(len(LOSSES), -1, len(KEPT))}


def predict(size: Size) -> Data:
    """Losses followed from the start, bounds on them, and the power of time."""
    followed = [cases.followed(*job) for job in jobs(size)]
    bounds = [bound(cases.system(*job[1:]), *one[-2:]) for job, one in zip(jobs(size), followed, strict=True)]
    shape = (len(LOSSES), -1, len(KEPT))
    return {
        "losses": np.reshape([one[list(KEPT)] for one in followed], shape),
        "bounds": np.reshape([one[list(KEPT)] for one in bounds], shape),
        "power": -1.0,
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, width, seeds), losses, bounds = SIZES[size], measured["losses"], predicted["bounds"]
    apart = float(np.max(np.abs(predicted["losses"] / losses - 1)))
    above = int(np.sum(losses > bounds * (1 + 1e-5)))  # the start is not exactly zero
    slopes = np.log(losses[..., -1] / losses[..., KEPT.index(STEPS // 2)]) / np.log(2)
    off = bool(np.any(np.abs(slopes.mean(axis=1) - predicted["power"]) > POWER))
    last, room = losses[..., -1].mean(axis=1), (bounds[..., -1] / losses[..., -1]).mean(axis=1)
    ends = " and ".join(f"{a:.2g} ({loss})" for loss, a in zip(LOSSES, last, strict=True))
    rates = " and ".join(f"{s:.2f}" for s in slopes.mean(axis=1))
    rows = [
        (loss, seed, *map(float, (losses[i, seed, -1], predicted["losses"][i, seed, -1], bounds[i, seed, -1])))
        for i, loss in enumerate(LOSSES)
        for seed in range(seeds)
    ]
    return Verdict(
        outcome="fails" if apart > EXACT or above or off else "holds",
        sentence=f"The loss falls to {ends} after {STEPS} steps, at the end as the time to the {rates}. It is above the bound in "
        f"{above} of {losses.size} steps; the bound is {room[0]:.1f} and {room[1]:.1f} times larger at the end. The n outputs "
        f"followed without the network have its loss within {apart:.0e} at every step.",
        header=("loss function", "seed", "last loss", "followed", "bound"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {n}, d = {cases.D}, p = {width}; rate {SPEED / width:g}, {STEPS} steps",
        figure=_figure(width, losses, predicted),
        caption="Loss against time, both logarithmic, for the exponential and the logistic loss: dots of single runs on the "
        "lines that follow the outputs alone, below the dashed bounds, at the end along a line of slope -1.",
        power=power.counted(losses.size, "losses below the bound"),
        settings=tuple(cases.system(loss, n, width, SPEED / width, STEPS).id for loss in LOSSES),
    )


def _figure(width: int, losses: np.ndarray, predicted: Data) -> str:
    time = SPEED / width * np.array(KEPT)
    with style.figure(width=4.8) as (fig, ax):
        for loss, own, followed, bound, colour in zip(
            LOSSES, losses, predicted["losses"], predicted["bounds"], style.COLOURS, strict=False
        ):
            ax.plot(time[1:], followed[0, 1:], color=colour, linewidth=1)
            ax.plot(time[1:], bound[0, 1:], color=colour, linewidth=1, linestyle=(0, (4, 3)))
            ax.plot(time[1::2], own[0, 1::2], "o", color=colour, label=f"{loss} loss")
        ax.plot([], [], color=style.INK, linewidth=1, label="followed without the network")
        ax.plot([], [], color=style.INK, linewidth=1, linestyle=(0, (4, 3)), label="bound")
        ax.set(xscale="log", yscale="log", xlabel="time", ylabel="loss")
        ax.legend()
        return style.svg(fig)


CLAIM = claim("wang_ma/convergence", measure=measure, predict=predict, judge=judge)
