"""How far a network is from the spiked model of its own step, in the experiments of Cui et al.,
as the dimension grows."""

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
from giantstep.plot.formula import formula
from giantstep_papers.cui.test_error import CASES, MOST, UPDATES, errors, experiment
from giantstep_papers.shared.said import where_it_holds

CLAIM = Claim(
    order=34,
    of="giantstep",
    statement="As the dimension grows, the network's test error stays two to five per cent away "
    "from that of the spiked model: below it for the teacher sin, where the step has twenty "
    "samples a dimension, and above it for tanh, where it has half a sample.",
    where="the two experiments of the notebooks of Cui et al. (2024) at n = 3d, against the spiked "
    "model of cui/test-error",
    how="On the same draws log(network/spiked model) must be at least two per cent in size, with "
    "the sign stated, at three d. From the smallest d to the largest it must not fall.",
    judges=(
        Judge(
            "size of the gap",
            side="above",
            margin=0.0,
            departure=(0.06, 0.02),
        ),
        Judge(
            "size of the gap, mean of all",
            side="above",
            margin=0.0,
            departure=0.02,
        ),
        Judge(
            "change of the gap from the smallest d to the largest",
            side="above",
            margin=0.01,
            departure=(0.05, 0.025),
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(24, 120), "full": Seeds(40, 320)},
)

DIMENSIONS = {"quick": (100, 150, 200), "full": (150, 300, 600)}  # d = p
# of the gap in each case: the network is below the model for sin, and above it for tanh
SIGNS = np.array([-1.0, 1.0])
LEAST = 0.02  # of the gap; no gap at all must be noticed on average, and in every case at full size


def gap(case: int, d: int, seed: int) -> float:
    """log(network) - log(spiked model) of the population risk at n = 3d, on the same draws."""
    network, model = (errors(case, update, (MOST,), d, seed)[0] for update in UPDATES)
    return float(np.log(network / model))


def measure(size: Size, seeds: range) -> Data:
    """Gaps (cases, dimensions, seeds)."""
    cells = [[(case, d) for d in DIMENSIONS[size]] for case in range(len(CASES))]
    return {"gaps": cache.over(gap, cells, seeds)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The gap is there in every case, and from the smallest to the largest dimension it does not
    fall."""
    sizes = SIGNS[:, None, None] * measured["gaps"]
    at = [f"{case.teacher}, d = {d}" for case in CASES for d in DIMENSIONS[size]]
    fall = np.mean(sizes[:, -1] - sizes[:, 0], axis=0)
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("size of the gap", sizes, LEAST, at=at),
        judge("size of the gap, mean of all", sizes.mean(axis=(0, 1)), LEAST),
        judge("change of the gap from the smallest d to the largest", fall),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    every, means = DIMENSIONS[size], 100 * np.expm1(measured["gaps"].mean(axis=-1))
    at_each = np.mean(SIGNS[:, None, None] * measured["gaps"], axis=(0, 2))
    ranges = [
        f"{min(row):+.1f}% to {max(row):+.1f}% for {formula(c.teacher)}"
        for c, row in zip(CASES, means, strict=True)
    ]
    change = (
        f"{100 * at_each[0]:.1f}% at d = {every[0]} to {100 * at_each[-1]:.1f}% at d = {every[-1]}"
    )
    sizes = ", ".join(map(str, every))
    words = (
        "The network's test error stays off that of the spiked model, by "
        f"{' and by '.join(ranges)}."
    )
    return Verdict(
        sentence=where_it_holds(ruling, words.replace("-", "−")),
        trend=f"On average the size of the gap goes from {change}.".replace("-", "−"),
        sizes=f"d = p = {sizes}; n = {MOST:g}d; "
        + "; ".join(
            f"{c.teacher}: η = {c.eta:g}, n₀ = {c.step_samples:g}d, λ = {c.penalty:g}"
            for c in CASES
        ),
        figure=_figure(size, measured["gaps"]),
        caption="As the dimension grows the network stays off the spiked model: below it for the "
        "teacher sin, above it for tanh.",
        settings=tuple(
            experiment(case, d, MOST, update).id
            for case in CASES
            for d in every
            for update in UPDATES
        ),
    )


def _figure(size: Size, gaps: np.ndarray) -> str:
    every = np.array(DIMENSIONS[size])
    with style.figure(width=4.6, height=3.2) as (fig, ax):
        for i, case in enumerate(CASES):
            values = mean_and_error(100 * gaps[i])
            look = {"color": style.COLOURS[i], "marker": "os"[i], "linestyle": "-"}
            style.dots(ax, every, *values, label=case.teacher, **look)
        ax.axhline(0, color=style.INK, linewidth=0.8)
        ax.set(xlabel="dimension d = p", ylabel="log(network / spiked model), %")
        ticks.logarithmic(ax, "x", every)
        return style.svg(fig, below=2)
