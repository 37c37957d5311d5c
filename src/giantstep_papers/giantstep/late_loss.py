"""With the exponential and the logistic loss the training loss goes to zero as one over time."""

import numpy as np

from giantstep.checks import (
    EXPONENT,
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
from giantstep.systems.early.classwise import bound
from giantstep_papers.shared.said import power, where_it_holds
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=32,
    of="giantstep",
    statement="With the exponential and the logistic loss on separable data the training loss goes "
    "as one over the time, along a curve that the activation patterns at the start determine.",
    where="the end of the training of Wang and Ma (2022), on separable data; the curve and its "
    "bound are ours",
    how="From a quarter of the time on the loss must go as the time to the −1, by a free fit, up "
    "to the logarithm in the rate. At every step compared it must be the one followed from "
    "the initial patterns without the network. The bound is reported, not judged. The width is "
    "large enough that every class has a neuron at the start.",
    judges=(
        Judge(
            "power of time",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "loss over the followed one",
            percent=True,
            margin=1e-3,
            departure=3e-3,
            because="a start that is 10⁻⁶ and not zero",
        ),
    ),
    seeds={"quick": Seeds(4, 24), "full": Seeds(20, 60)},
)

LOSSES = ("exponential", "logistic")
# n, width: fewer neurons leave some starts with a sample that none follows
SIZES = {"quick": (20, 32), "full": (100, 40)}
SPEED = 1.0  # rate times width
STEPS = 1000
SPREAD = [round(STEPS ** (k / 60)) for k in range(21, 61)]
KEPT = tuple(sorted({*range(0, 12), *SPREAD, STEPS // 4}))  # steps
FOLLOWED = (1, 10, STEPS // 4, STEPS)  # steps that are compared
LATE = KEPT.index(STEPS // 4)  # from here on the power of time is fitted


def job(size: Size, loss: str, seed: int) -> tuple:
    n, width = SIZES[size]
    return seed, loss, n, width, SPEED / width, STEPS


def measure(size: Size, seeds: range) -> Data:
    """Losses, (losses, steps kept, seeds)."""
    jobs = [job(size, loss, seed) for loss in LOSSES for seed in seeds]
    runs = np.array(cache.each(cases.simulated, jobs))
    return {"losses": runs[:, list(KEPT)].reshape(len(LOSSES), len(seeds), -1).swapaxes(1, 2)}


def predict_draws(size: Size, seeds: range) -> Data:
    """Losses followed from the start, and the proven bounds on them,
    (losses, steps kept, seeds)."""
    jobs = [job(size, loss, seed) for loss in LOSSES for seed in seeds]
    followed = cache.each(cases.followed, jobs)
    bounds = [
        bound(cases.system(*each[1:]), *one[-2:]) for each, one in zip(jobs, followed, strict=True)
    ]
    shape = (len(LOSSES), len(seeds), len(KEPT))
    return {
        name: np.reshape([one[list(KEPT)] for one in several], shape).swapaxes(1, 2)
        for name, several in (("losses", followed), ("bounds", bounds))
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The free power of time over the last two doublings, and losses against those followed from
    the same starts."""
    late = measured["losses"][:, LATE:]
    power = statistics.exponent(KEPT[LATE:], np.moveaxis(late, 1, 0))
    kept = [KEPT.index(k) for k in FOLLOWED]
    ratio = (measured["losses"] / predicted["losses"])[:, kept]
    points = [f"{loss}, step {k}" for loss in LOSSES for k in FOLLOWED]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("power of time", power, -1.0, at=list(LOSSES)),
        judge("loss over the followed one", ratio, 1.0, at=points),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (n, width), losses = SIZES[size], measured["losses"]
    late = ruling.stated.of("power of time")
    room = (predicted["bounds"][:, -1] / losses[:, -1]).mean(axis=-1)
    exact = ruling.stated.of("loss over the followed one")
    fits = " and ".join(
        f"{power('t', d - 1, h)} with the {loss} loss"
        for loss, d, h in zip(LOSSES, late.difference, late.half, strict=True)
    )
    words = (
        f"At the end the loss falls with the time t like {fits}. The outputs, followed without the "
        f"network, have the same loss within {100 * np.max(np.abs(exact.difference)):.1g}%. The "
        f"proven bound is {room.min():.1f} to {room.max():.1f} times as high."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words),
        sizes=f"n = {n}, d = {cases.D}, p = {width}; rate {SPEED / width:g}, {STEPS} steps",
        figure=_figure(width, losses, predicted),
        caption="Both losses fall as one over the time at the end (dotted), below their bounds "
        "(dashed).",
        settings=tuple(cases.system(loss, n, width, SPEED / width, STEPS).id for loss in LOSSES),
    )


def _figure(width: int, losses: np.ndarray, predicted: Data) -> str:
    time = SPEED / width * np.array(KEPT)
    with style.figure(width=5.0, height=3.6) as (fig, ax):
        for i, (loss, colour, marker) in enumerate(zip(LOSSES, style.COLOURS, "os", strict=False)):
            ax.plot(time[1:], predicted["losses"][i, 1:, 0], color=colour, linewidth=1)
            dashed = {"color": colour, "linewidth": 1, "linestyle": (0, (4, 3))}
            ax.plot(time[1:], predicted["bounds"][i, 1:, 0], **dashed)
            ax.plot(time[1::2], losses[i, 1::2, 0], marker, color=colour, label=f"{loss} loss")
        ax.plot([], [], color=style.INK, linewidth=1, label="followed without the network")
        ax.plot([], [], color=style.INK, linewidth=1, linestyle=(0, (4, 3)), label="bound")
        guide = 0.6 * losses[:, -1, 0].min() * time[-1] / time[LATE:]
        ax.plot(time[LATE:], guide, ":", color=style.INK, label="slope −1")
        ax.set(xscale="log", yscale="log", xlabel="time", ylabel="loss of a run")
        ax.legend()
        return style.svg(fig)
