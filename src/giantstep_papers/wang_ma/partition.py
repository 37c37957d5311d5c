"""The activation patterns at the start decide which neurons end up on which class.

A width of log(n/δ) is enough.
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
from giantstep.checks.random import Stream, generator
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.results.table import with_error
from giantstep.systems.early import living_neurons
from giantstep.systems.early.samples import extended, inputs, start
from giantstep_papers.wang_ma import cases

CLAIM = Claim(
    order=1,
    of="giantstep",
    statement="On separable data the activation patterns at the start decide where every neuron "
    "ends: those alive become true-living on their class and dead on the other, the rest stays "
    "dead; a width of order log(n/δ) gives every sample its neuron.",
    where="the neuron partition, and the width condition of the theorems, in our words and for "
    "data in two cones",
    how="The neurons, sorted at the end by sign, must be those alive at the start in every run, "
    "for three losses with and without minibatches. The chance that a start leaves a sample "
    "without a true-living neuron, a bare one, must be the one predicted, by inclusion and "
    "exclusion, at five widths. The mean width needed must grow by at most 1/log(2/(1 + q)) for "
    "every unit of log n.",
    judges=(
        Judge(
            "share of runs with a neuron out of place",
            side="below",
            margin=0,
            departure=(0.1, 0.05),
        ),
        Judge(
            "chance of a bare sample",
            margin=(0.03, 0.015),
            departure=(0.1, 0.05),
            because="the neurons that are drawn for the prediction",
        ),
        Judge(
            "number of neurons by unit of log n",
            side="below",
            margin=0.1,
            departure=0.3,
            because="terms that vanish only as n grows",
        ),
    ),
    seeds={"quick": Seeds(48, 48), "full": Seeds(96, 260)},
)

CASES = [
    (loss, batch) for loss in ("square", "exponential", "logistic") for batch in (None, cases.BATCH)
]
SIZES = {"quick": (40, 16), "full": (100, 40)}  # n and width of the runs
# judges
SORTED = "share of runs with a neuron out of place"
GROWTH = "number of neurons by unit of log n"
# n of the widths needed, the largest width, and starts a seed
SAMPLES, LARGEST, STARTS = (20, 80, 320), 48, 100
WIDTHS = (4, 6, 8, 10, 12)  # at which the chance of a bare sample is compared, for the smallest n
DRAWN = 2**17  # neurons from which that chance is predicted
RATE = 0.005
STEPS = 60


def kept(seed: int, n: int, width: int) -> int:
    """How many numbers of sorted neurons, by sign, differ at the end from those alive at the start.

    Seeds take cases in turn.
    """
    loss, batch = CASES[seed % len(CASES)]
    here = cases.system(loss, n, width, RATE, STEPS, batch)
    B, a = start(here, seed)
    alive = np.any(extended(here) @ B.T > 0, axis=0)
    wanted = [np.sum(alive & (a > 0)), np.sum(alive & (a < 0))]
    return int(np.sum(cases.simulated(seed, loss, n, width, RATE, STEPS, batch)[-2:] != wanted))


def widths(n: int, seed: int) -> np.ndarray:
    """The mean width at which every sample has its true-living neuron.

    Behind it are the chances that it is above each of WIDTHS.
    """
    here = cases.system("square", n, LARGEST * STARTS, RATE, STEPS)
    y, (B, a) = inputs(here)[1], start(here, seed)
    true_living = (extended(here) @ B.T > 0) & (np.outer(y, a) > 0)
    by_start = true_living.reshape(n, STARTS, LARGEST)
    covered = np.all(np.logical_or.accumulate(by_start, axis=2), axis=0)
    needed = np.where(covered[:, -1], np.argmax(covered, axis=1) + 1, LARGEST)
    return np.array([needed.mean(), *(np.mean(needed > m) for m in WIDTHS)])


def measure(size: Size, seeds: range) -> Data:
    """Numbers out of place, (seeds,), and widths with chances, (n, 1 + widths, seeds)."""
    wrong = np.array(cache.each(kept, [(seed, *SIZES[size]) for seed in seeds]))
    return {"wrong": wrong, "widths": cache.over(widths, [(n,) for n in SAMPLES], seeds)}


def bare(n: int) -> np.ndarray:
    """The chance that some sample has no true-living neuron, at every width.

    With D(S) = P(a neuron is dead on all samples of S), N neurons of a class's sign cover all its
    samples with probability sum_S (-1)^|S| D(S)^N. The sum is over all sets of samples of the
    class, and N is Binomial(m, 1/2).
    """
    from scipy.stats import binom  # here: it takes long to import

    here = cases.system("square", n, DRAWN, RATE, STEPS)
    y, neurons = inputs(here)[1], generator(0, Stream.SKETCH).standard_normal((cases.D, DRAWN))
    covered = []
    for sign in (1, -1):
        alive = inputs(here)[0][y == sign] @ neurons > -1
        count, sets = len(alive), np.arange(2 ** len(alive))
        dead_sets = (1 << np.arange(count)) @ ~alive
        dead = np.bincount(dead_sets, minlength=len(sets)).astype(float) / DRAWN
        for i in range(count):  # from the exact set of dead samples to all sets inside it
            halves = dead.reshape(-1, 2, 2**i)
            halves[:, 0] += halves[:, 1]
        signs = (-1.0) ** np.sum((sets[:, None] >> np.arange(count)) & 1, axis=1)
        covered.append([float(signs @ dead**N) for N in range(max(WIDTHS) + 1)])
    one, other = map(np.array, covered)
    both = [binom.pmf(range(m + 1), m, 0.5) * one[: m + 1] @ other[m::-1] for m in WIDTHS]
    return 1 - np.array(both)


def predict(size: Size) -> Data:
    """The chance of a bare sample at the smallest n, bounds on it, (n, widths), and a growth.

    The last is that of the width with log n allowed. Of the union bound, E q^N = ((1 + q)/2)^m for
    m neurons: a chance of delta asks for log(n/delta)/log(2/(1 + q)).
    """
    every = [cases.system("square", n, 4, RATE, STEPS) for n in SAMPLES]
    chances = np.array([[living_neurons.uncovered(one, m) for m in WIDTHS] for one in every])
    dead = 1 - float(living_neurons.active(every[0])[0])
    growth = float(1 / np.log(2 / (1 + dead)))
    return {
        "bare": bare(SAMPLES[0]),
        "least": chances[..., 0],
        "most": chances[..., 1],
        "growth": growth,
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Runs with a neuron out of place, the chance of a bare sample at every width, and a growth.

    It says how the width needed grows with log n.
    """
    wrong, found = measured["wrong"], measured["widths"]
    growth = (found[-1, 0] - found[0, 0]) / np.log(SAMPLES[-1] / SAMPLES[0])
    at = [f"p = {m}" for m in WIDTHS]
    exceptions, judge = int(np.sum(wrong > 0)), judging(CLAIM, size)
    return statistics.stated(
        judge.count("runs with a neuron out of place", exceptions, len(wrong), by=SORTED),
        judge("chance of a bare sample", found[0, 1:], predicted["bare"], at=at),
        judge("neurons by unit of log n", growth, predicted["growth"], by=GROWTH),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (n, width), wrong, found = SIZES[size], measured["wrong"], measured["widths"]
    chance = ruling.stated.of("chance of a bare sample")
    growth = ruling.stated.of("neurons by unit of log n")
    return Verdict(
        sentence=f"In {np.sum(wrong == 0)} of {len(wrong)} runs the neurons that end up on each "
        "class are those counted at the start. The chance that a start leaves a sample without its "
        f"neuron is within {np.max(np.abs(chance.difference)):.3f} of the predicted one. The width "
        f"needed grows by {with_error(predicted['growth'] + growth.difference[0], growth.half[0])} "
        f"for every unit of log n, where the union bound allows {predicted['growth']:.2f}.",
        sizes=f"n = {n}, d = {cases.D}, p = {width}; {STARTS} starts a seed for n = "
        f"{', '.join(map(str, SAMPLES))}",
        figure=_figure(found, predicted),
        caption="The chance that a sample lacks its neuron lies between two bounds (left), and "
        "the width needed grows with log n (right).",
        settings=(cases.system("square", n, width, RATE, STEPS).id,),
    )


def _figure(found: np.ndarray, predicted: Data) -> str:
    mean, error = mean_and_error(found)
    m = np.array(WIDTHS)
    with style.figure(2, width=3.6, height=3.2) as (fig, (left, right)):
        for i, (n, colour, marker) in enumerate(zip(SAMPLES, style.COLOURS, "osD", strict=False)):
            bounds = predicted["least"][i], predicted["most"][i]
            left.fill_between(m, *bounds, color=colour, alpha=0.13, linewidth=0)
            look = {"color": colour, "marker": marker, "label": f"n = {n}"}
            style.dots(left, m, mean[i, 1:], error[i, 1:], **look)
        line: Any = {"color": style.COLOURS[0], "linewidth": 1}
        left.plot(m, predicted["bare"], label=f"predicted, n = {SAMPLES[0]}", **line)
        between: Any = {"alpha": 0.15, "linewidth": 0, "label": "between the bounds"}
        left.fill_between([], [], [], color=style.INK, **between)
        left.set(xlabel="width", ylabel="chance of a bare sample")
        x = np.array(SAMPLES, dtype=float)
        look = {"color": style.COLOURS[0], "label": "mean width needed"}
        style.dots(right, x, mean[:, 0], error[:, 0], **look)
        union = mean[0, 0] + predicted["growth"] * np.log(x / x[0])
        dashed: Any = {"color": style.INK, "linewidth": 1, "label": "slope of the union bound"}
        right.plot(x, union, "--", **dashed)
        right.set(xlabel="samples n", ylabel="width", ylim=(0, None))
        ticks.logarithmic(right, "x", SAMPLES)
        ticks.logarithmic(left)
        left.legend(fontsize=8)
        right.legend(loc="upper left", fontsize=8)
        return style.svg(fig)
