"""The activation patterns at the start decide which neurons end up on which class, and a width of log(n/δ) is enough."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.wang_ma import cases
from giantstep.plot import style
from giantstep.systems.early import living_neurons
from giantstep.systems.early.samples import extended, inputs, start

CASES = [(loss, batch) for loss in ("square", "exponential", "logistic") for batch in (None, cases.BATCH)]
SIZES = {"quick": (40, 16, 12, 1000), "full": (100, 40, 40, 10_000)}  # n, width, seeds, draws of the patterns
SAMPLES, WIDTHS = (20, 80, 320), (4, 6, 8, 10, 12, 14)
RATE = 0.005
STEPS = 60
LEVEL = 3.0  # standard errors


def bare(n: int, width: int, draws: int) -> float:
    """Share of draws in which some sample has no true-living neuron at the start."""
    here = cases.system("square", n, width, RATE, STEPS)
    X, y = extended(here), inputs(here)[1]
    count = 0
    for seed in range(draws):
        B, a = start(here, seed)
        count += not np.all(np.any((X @ B.T > 0) & (np.outer(y, a) > 0), axis=1))
    return count / draws


def measure(size: Size) -> Data:
    """Sorted neurons at the end (cases, seeds, 2), and shares of starts that leave a sample bare (n, widths)."""
    n, width, seeds, draws = SIZES[size]
    jobs = [(seed, loss, n, width, RATE, STEPS, batch) for loss, batch in CASES for seed in range(seeds)]
    runs = np.array(cache.each(cases.simulated, jobs))[:, -2:]
    shares = cache.each(bare, [(k, m, draws) for k in SAMPLES for m in WIDTHS])
    return {"sorted": runs.reshape(len(CASES), seeds, 2), "bare": np.reshape(shares, (len(SAMPLES), -1))}


def predict(size: Size) -> Data:
    """Neurons that are alive at the start, by sign (seeds, 2); bounds on the shares, and the width that 1% asks for."""
    n, width, seeds, _ = SIZES[size]
    here = cases.system("square", n, width, RATE, STEPS)
    starts = [start(here, seed) for seed in range(seeds)]
    alive = [(np.any(extended(here) @ B.T > 0, axis=0), a) for B, a in starts]
    every = [cases.system("square", k, WIDTHS[0], RATE, STEPS) for k in SAMPLES]
    bounds = np.array([[living_neurons.uncovered(one, m) for m in WIDTHS] for one in every])
    return {
        "alive": np.array([[np.sum(s & (a > 0)), np.sum(s & (a < 0))] for s, a in alive]),
        "least": bounds[..., 0],
        "most": bounds[..., 1],
        "width": [living_neurons.width_for(one, 0.01) for one in every],
    }


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    n, width, seeds, draws = SIZES[size]
    wrong = int(np.sum(measured["sorted"] != predicted["alive"]))
    shares, least, most = measured["bare"], predicted["least"], predicted["most"]
    # the error of a share that is the bound itself
    below, above = (LEVEL * np.sqrt(np.maximum(p * (1 - p), 1 / draws) / draws) for p in (least, most))
    outside = int(np.sum((shares < least - below) | (shares > most + above)))
    count = measured["sorted"].size
    rows = [
        (k, m, float(shares[i, j]), float(least[i, j]), float(most[i, j]))
        for i, k in enumerate(SAMPLES)
        for j, m in enumerate(WIDTHS)
    ]
    widths = ", ".join(f"{m} at n = {k}" for k, m in zip(SAMPLES, predicted["width"], strict=True))
    return Verdict(
        outcome="fails" if wrong or outside else "holds",
        sentence=f"{count - wrong} of {count} numbers of neurons that end up on a class, in {len(CASES)} cases (three losses, "
        f"gradient descent and minibatches), are the ones counted at the start. Starts that leave some sample without a "
        f"true-living neuron are within the bounds in {shares.size - outside} of {shares.size} cells; a chance of 1% asks for "
        f"a width of {widths}.",
        header=("n", "width", "share of bare starts", "at least", "at most"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}; 0-{draws - 1} for the starts",
        sizes=f"n = {n}, d = {cases.D}, p = {width}; starts n = {', '.join(map(str, SAMPLES))}",
        figure=_figure(shares, least, most, draws),
        caption=f"Chance that some sample has no true-living neuron against the width, for n = {', '.join(map(str, SAMPLES))}: "
        "the measured dots fall exponentially inside the bands between the two bounds, and a larger n moves them to the right.",
        power=power.counted(count, "numbers of neurons"),
        trend=f"The width that 1% asks for grows with log n: {widths}.",
        settings=(cases.system("square", n, width, RATE, STEPS).id,),
    )


def _figure(shares: np.ndarray, least: np.ndarray, most: np.ndarray, draws: int) -> str:
    with style.figure(width=4.8) as (fig, ax):
        for i, (n, colour) in enumerate(zip(SAMPLES, style.COLOURS, strict=False)):
            ax.fill_between(WIDTHS, least[i], most[i], color=colour, alpha=0.15, linewidth=0)
            positive = shares[i] > 0
            error = np.sqrt(shares[i] * (1 - shares[i]) / draws)
            style.dots(
                ax, np.array(WIDTHS)[positive], shares[i][positive], error[positive], color=colour, label=f"n = {n}"
            )
        ax.fill_between([], [], [], color=style.INK, alpha=0.15, linewidth=0, label="between the bounds")
        ax.set(yscale="log", ylim=(1 / draws / 2, 1.5), xlabel="width", ylabel="chance of a bare sample")
        ax.legend()
        return style.svg(fig)


CLAIM = claim("wang_ma/partition", measure=measure, predict=predict, judge=judge)
