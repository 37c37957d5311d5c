"""Minibatches: the early stage is as fast as with all samples, and the mean square loss is known exactly."""

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.theory import theory
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=4,
    of="giantstep",
    statement="In the early stage the mean square loss under small batches follows a closed recursion "
    "of second moments, and the loss of a single run is known from the patterns at its start "
    "and its batches.",
    where="early stage convergence of SGD, which the abstract names in its first sentence; the recursion is ours",
    how="Mean square losses under small batches must be those of the recursion, up to the neurons"
    " that the first batch leaves where they are. Losses of single runs, for three losses, "
    "must be those followed, up to a start that is not zero.",
    seeds={"quick": Seeds(60, 300), "full": Seeds(300, 2000)},
)

SIZES = {"quick": (40, 60, 4), "full": (80, 120, 4)}  # n, width, batch
LOSSES = ("square", "exponential", "logistic")
RUNS = 10  # every so many seeds are followed
SPEED = 0.3  # rate times width
STEPS = 20
POINTS = (1, 2, 5, 10, 20)
MEAN = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.015, 0.04)}  # of a mean loss
EXACT = Tolerance(1e-3, 3e-3)  # of a followed loss: the start is 10⁻⁶ and not zero


def jobs(size: Size, loss: str, seeds: range) -> list[tuple]:
    n, width, batch = SIZES[size]
    return [(seed, loss, n, width, SPEED / width, STEPS, batch) for seed in seeds]


def measure(size: Size, seeds: range) -> Data:
    """Losses of minibatches by loss function, (steps + 1, seeds); all seeds for the square loss, every tenth for the others."""
    several = {loss: seeds if loss == "square" else seeds[::RUNS] for loss in LOSSES}
    return {
        loss: np.array(cache.each(cases.simulated, jobs(size, loss, own)))[:, :-2].T for loss, own in several.items()
    }


def predict(size: Size) -> Data:
    """Mean square losses of minibatches, and of all samples for comparison."""
    n, width, batch = SIZES[size]
    own, every = (
        theory(cases.system("square", n, width, SPEED / width, STEPS, b)).curves["loss"].y for b in (batch, None)
    )
    return {"mean": own, "all": every}


def predict_draws(size: Size, seeds: range) -> Data:
    """Losses followed from the same starts and batches, by loss function, (steps + 1, every tenth seed)."""
    own = {loss: np.array(cache.each(cases.followed, jobs(size, loss, seeds[::RUNS])))[:, :-2].T for loss in LOSSES}
    return {"followed": own}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Mean square losses against the closed recursion, and losses of single runs against those followed."""
    points, at = list(POINTS), [f"step {k}" for k in POINTS]
    pairs = [(measured[k][:, ::RUNS] if k == "square" else measured[k], predicted["followed"][k]) for k in LOSSES]
    # either sign counts: other batches than those followed leave the mean ratio at 1
    ratio = np.array([1 + np.abs(own / followed - 1)[points] for own, followed in pairs])
    cells = [f"{loss}, step {k}" for loss in LOSSES for k in POINTS]
    mean, expected = measured["square"][points], predicted["mean"][points]
    return statistics.stated(
        statistics.compare("mean square loss", mean, expected, at=at, relative=True, within=MEAN[size]),
        statistics.compare("loss over the followed one", ratio, 1.0, at=cells, within=EXACT),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, width, batch = SIZES[size]
    mean, every = predicted["mean"], predicted["all"]
    return Verdict(
        sentence=f"{ruling.stated.sentence} At the end {mean[-1] / mean[0]:.0%} of the loss is left, which is "
        f"{mean[-1] / every[-1]:.2f} times that under gradient descent.",
        sizes=f"n = {n}, d = {cases.D}, p = {width}, batches of {batch}; rate {SPEED / width:g}",
        figure=_figure(batch, measured, predicted),
        caption="The mean loss under batches follows its prediction (left), and every run the "
        "line of its own batches (right).",
        settings=tuple(cases.system(loss, n, width, SPEED / width, STEPS, batch).id for loss in LOSSES),
    )


def _figure(batch: int, measured: Data, predicted: Data) -> str:
    steps = np.arange(STEPS + 1)
    with style.figure(2, width=3.7, height=3.0) as (fig, (left, right)):
        left.plot(steps, predicted["mean"], color=style.COLOURS[0], label="predicted")
        left.plot(steps, predicted["all"], color=style.INK, linestyle=(0, (4, 3)), linewidth=1, label="all samples")
        mean, error = mean_and_error(measured["square"])
        style.dots(left, steps[::2], mean[::2], error[::2], color=style.COLOURS[0], label=f"batches of {batch}")
        left.set(xlabel="step", ylabel="mean square loss")
        left.legend()
        for loss, colour, marker in zip(LOSSES, style.COLOURS, "osD", strict=False):
            right.plot(steps, predicted["followed"][loss][:, 0], color=colour, linewidth=0.9)
            right.plot(steps, measured[loss][:, 0], marker, color=colour, markersize=3.5, label=loss)
        right.plot([], [], color=style.INK, linewidth=0.9, label="followed")
        right.set(xlabel="step", ylabel="loss of a run")
        right.legend()
        ticks.logarithmic(left)
        ticks.logarithmic(right)
        return style.svg(fig)
