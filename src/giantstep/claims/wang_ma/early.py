"""The loss falls by a fixed share in a time 1/m, whatever n, and for the square loss along a closed curve."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.wang_ma import cases
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.systems.early.path import crossing
from giantstep.theory import theory

SIZES = {"quick": ((8, 16, 32, 64), 12), "full": ((8, 16, 32, 64, 128, 256), 40)}  # widths, seeds
CASES = {"cones, n = 40": (40, False), "cones, n = 160": (160, False), "overlapping classes, n = 40": (40, True)}
SPEED = 0.03  # rate times width
STEPS = 60
DROP = 0.2
LEVEL = 3.0  # standard errors
NEAR = 0.03  # granted to a time
POWER = 0.05  # granted to a power of m
EXACT = 1e-3  # granted to a followed loss


def jobs(size: Size) -> list[tuple]:
    widths, seeds = SIZES[size]
    return [
        (seed, "square", n, m, SPEED / m, STEPS, None, general)
        for n, general in CASES.values()
        for m in widths
        for seed in range(seeds)
    ]


def measure(size: Size) -> Data:
    """Times of the drop (cases, widths, seeds), and losses of the separable case (widths, seeds, steps + 1)."""
    widths, seeds = SIZES[size]
    runs = np.array(cache.each(cases.simulated, jobs(size)))[:, :-2].reshape(len(CASES), len(widths), seeds, -1)
    return {"times": times(widths, runs), "losses": runs[0]}


def times(widths: tuple[int, ...], losses: np.ndarray) -> np.ndarray:
    steps = np.arange(losses.shape[-1])
    every = [
        [[crossing(SPEED / m * steps, one, DROP) for one in own] for own, m in zip(case, widths, strict=True)]
        for case in losses
    ]
    return np.array(every)


def predict(size: Size) -> Data:
    """Losses followed from the start, the mean times of the drop of the separable cases, and the power of m."""
    widths, seeds = SIZES[size]
    own = [cases.followed(*job)[:-2] for job in jobs(size)[: len(widths) * seeds]]
    separable = [n for n, general in CASES.values() if not general]
    law = [[theory(cases.system("square", n, m, SPEED / m, STEPS))["drop_time"][0] for m in widths] for n in separable]
    return {"losses": np.reshape(own, (len(widths), seeds, -1)), "times": np.array(law), "power": -1.0}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (widths, seeds), law = SIZES[size], predicted["times"]
    apart = float(np.max(np.abs(predicted["losses"] / measured["losses"] - 1)))
    comparison = compare(measured["times"][: len(law)], law, level=LEVEL, granted=NEAR * law)
    slopes = [growth(widths, each) for each in measured["times"]]
    off = [abs(s - predicted["power"]) > max(LEVEL * e, POWER) for s, e in slopes]
    missed = int(np.sum(comparison.missed))
    effort = measured["times"].mean(axis=2) * np.array(widths)
    fits = ", ".join(f"{s:.3f} ± {e:.3f} ({name})" for name, (s, e) in zip(CASES, slopes, strict=True))
    rows = [
        (name, m, float(effort[i, j]), float(law[i, j] * m) if i < len(law) else "")
        for i, name in enumerate(CASES)
        for j, m in enumerate(widths)
    ]
    return Verdict(
        outcome="fails" if apart > EXACT or missed or any(off) else "holds",
        sentence=f"A drop of {DROP:.0%} takes a time that goes with the width to the {fits}; "
        f"{comparison.missed.size - missed} of "
        f"{comparison.missed.size} times are the predicted ones within 3 s.e. or {NEAR:.0%}, and from n = 40 to 160 "
        f"the time changes "
        f"by {effort[1, -1] / effort[0, -1] - 1:+.1%}. Losses of single runs lie within {apart:.0e} of those followed from their "
        "initial patterns.",
        header=("data", "width", "width × time of the drop", "predicted"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {cases.D}, p = {', '.join(map(str, widths))}, n = 40, 160; square loss",
        figure=_figure(widths, measured, predicted),
        caption=f"Left, the loss against the width times the time: at every width the dots of single runs lie on lines that were "
        f"followed without the network. Right, the width times the time of a drop of {DROP:.0%} against the width, "
        "level for cones with n = 40 and 160, on the predicted lines, and for classes that overlap.",
        power=comparison.relative().power("% of a time", 100),
        trend=f"Width times time stays: {effort[0, 0]:.3f} at p = {widths[0]}, {effort[0, -1]:.3f} at p = {widths[-1]}.",
        settings=tuple(cases.system("square", 40, m, SPEED / m, STEPS).id for m in widths),
    )


def _figure(widths: tuple[int, ...], measured: Data, predicted: Data) -> str:
    with style.figure(2, width=3.7, height=2.9) as (fig, (left, right)):
        effort = SPEED * np.arange(STEPS + 1)
        for i in range(0, len(widths), 2):
            left.plot(effort, predicted["losses"][i, 0], color=style.COLOURS[i // 2], linewidth=1)
            at = slice(i, None, 4)
            left.plot(
                effort[at], measured["losses"][i, 0][at], "o", color=style.COLOURS[i // 2], label=f"p = {widths[i]}"
            )
        left.set(xlabel="width × time", ylabel="square loss")
        left.legend()
        several = np.array(widths)
        for name, times, colour in zip(CASES, measured["times"], style.COLOURS, strict=False):
            mean, error = mean_and_error(times)
            style.dots(right, widths, mean * several, error * several, color=colour, label=name)
        for line, colour in zip(predicted["times"], style.COLOURS, strict=False):
            right.plot(widths, line * several, color=colour, linewidth=1)
        right.set(xscale="log", xlabel="width", ylabel=f"width × time of a drop of {DROP:.0%}", ylim=(0.6, 0.8))
        right.set_xticks(widths, [str(m) for m in widths])
        right.minorticks_off()
        right.legend()
        return style.svg(fig)


CLAIM = claim("wang_ma/early", measure=measure, predict=predict, judge=judge)
