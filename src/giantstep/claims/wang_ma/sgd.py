"""Minibatches: the early stage is as fast as with all samples, and the mean square loss is known exactly."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.claims.claim import claim
from giantstep.claims.margins import Margins
from giantstep.claims.wang_ma import cases
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.theory import theory

SIZES = {"quick": (40, 60, 4, 60), "full": (80, 120, 4, 400)}  # n, width, batch, seeds of the square loss
LOSSES = ("square", "exponential", "logistic")
RUNS = 6  # runs of every loss that are followed
SPEED = 1.2  # rate times width
STEPS = 40
POINTS = (1, 2, 5, 10, 20, 40)
MARGINS = Margins(level=3.0, granted=0.03, needed=0.5)  # of a mean loss
EXACT = 1e-3  # granted to a followed loss


def jobs(size: Size, loss: str, seeds: int) -> list[tuple]:
    n, width, batch, _ = SIZES[size]
    return [(seed, loss, n, width, SPEED / width, STEPS, batch) for seed in range(seeds)]


def measure(size: Size) -> Data:
    """Losses of minibatches, (seeds, steps + 1), by loss function."""
    seeds = {loss: SIZES[size][-1] if loss == "square" else RUNS for loss in LOSSES}
    return {loss: np.array(cache.each(cases.simulated, jobs(size, loss, k)))[:, :-2] for loss, k in seeds.items()}


def predict(size: Size) -> Data:
    """Followed losses of some runs; mean square losses of minibatches, and of all samples for comparison."""
    n, width, batch, _ = SIZES[size]
    followed = {loss: np.array([cases.followed(*job)[:-2] for job in jobs(size, loss, RUNS)]) for loss in LOSSES}
    own, every = (
        theory(cases.system("square", n, width, SPEED / width, STEPS, b)).curves["loss"].y for b in (batch, None)
    )
    return {"followed": followed, "mean": own, "all": every}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (n, width, batch, seeds), points = SIZES[size], list(POINTS)
    apart = max(float(np.max(np.abs(predicted["followed"][k] / measured[k][:RUNS] - 1))) for k in LOSSES)
    mean, every = predicted["mean"][points], predicted["all"][points]
    comparison = compare(measured["square"][:, points].T, mean, level=MARGINS.level, granted=MARGINS.granted * mean)
    missed, extra = int(np.sum(comparison.missed)), float(mean[-1] / every[-1] - 1)
    sure = float(np.max(comparison.seen / mean)) < MARGINS.needed
    return Verdict(
        outcome="fails" if missed or apart > EXACT else "holds" if sure else "inconclusive",
        sentence=f"{len(points) - missed} of {len(points)} mean square losses under batches of {batch} are the predicted ones "
        f"within 3 s.e. or {MARGINS.granted:.0%}; batches cost {mean[3] / every[3] - 1:+.0%} of the loss after "
        f"{points[3]} steps and "
        f"{extra:+.0%} after {points[-1]}. Single runs of the three losses lie within {apart:.0e} of those followed from "
        "their initial patterns and batches.",
        header=("step", "mean square loss", "s.e.", "predicted", "predicted, all samples"),
        rows=tuple(
            (k, *map(float, (comparison.mean[i], comparison.error[i], mean[i], every[i]))) for i, k in enumerate(points)
        ),
        seeds=f"0-{seeds - 1}; 0-{RUNS - 1} followed",
        sizes=f"n = {n}, d = {cases.D}, p = {width}, batches of {batch}; rate {SPEED / width:g}",
        figure=_figure(batch, measured, predicted),
        caption=f"Left, the mean square loss under batches of {batch} against the step: dots on the predicted line, above the "
        "dashed one of all samples. Right, single runs with the three losses on lines that follow their outputs from the "
        "same batches.",
        power=comparison.relative().power("% of a mean loss", 100),
        settings=tuple(cases.system(loss, n, width, SPEED / width, STEPS, batch).id for loss in LOSSES),
    )


def _figure(batch: int, measured: Data, predicted: Data) -> str:
    steps = np.arange(STEPS + 1)
    with style.figure(2, width=3.7, height=2.9) as (fig, (left, right)):
        left.plot(steps, predicted["mean"], color=style.COLOURS[0], label="predicted")
        left.plot(steps, predicted["all"], color=style.INK, linestyle=(0, (4, 3)), linewidth=1, label="all samples")
        mean, error = mean_and_error(measured["square"], axis=0)
        style.dots(left, steps[::3], mean[::3], error[::3], color=style.COLOURS[0], label=f"batches of {batch}")
        left.set(yscale="log", xlabel="step", ylabel="mean square loss")
        left.legend()
        for loss, colour in zip(LOSSES, style.COLOURS, strict=False):
            right.plot(steps, predicted["followed"][loss][:2].T, color=colour, linewidth=0.9)
            right.plot(steps[::2], measured[loss][0, ::2], "o", color=colour, markersize=3.5, label=loss)
            right.plot(steps[::2], measured[loss][1, ::2], "s", color=colour, markersize=3, markerfacecolor="white")
        right.set(yscale="log", xlabel="step", ylabel="loss of two runs")
        right.legend()
        return style.svg(fig)


CLAIM = claim("wang_ma/sgd", measure=measure, predict=predict, judge=judge)
