"""On fresh samples the gap falls as n^{-1/2} in every dimension; its coefficient and the bound's go with the dimension."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.nguwi import trainings
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import on_fresh, spread

SAMPLES = (25, 50, 100, 200, 400)
DIMENSIONS = (2, 4, 8, 16)  # d_in
ORACLE = {"quick": 4000, "full": 40_000}  # fresh samples
SEEDS: dict[Size, Seeds] = {"quick": Seeds(8, 24), "full": Seeds(16, 80)}
POWER = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.04, 0.1)}  # of an exponent
DECADES = Tolerance(0.5, 0.7)  # of a bound over the gap: a range of one decade
BEFORE, AFTER = 2.5, 1.5  # its centre: from 100 to 1000 times before training, from 10 to 100 times after


def measure(size: Size, seeds: range) -> Data:
    """Gaps and Lambda, (cases, d_in, sizes + 1, seeds)."""
    cells = [[(case, d, SAMPLES, ORACLE[size]) for d in DIMENSIONS] for case in trainings.CASES]
    return {"found": cache.over(trainings.fresh, cells, seeds)}


def predict(size: Size) -> Data:
    """The bound at n = 1 known before training, and sqrt(tr Cov Z), which Lambda is multiplied by; (cases, d_in)."""
    every = [[trainings.bounds(case, d_in=d) for d in DIMENSIONS] for case in trainings.CASES]
    return {
        "bounds": np.array([[on_fresh(b, 1) for b in row] for row in every]),
        "spread": np.array([[spread(b) ** 0.5 for b in row] for row in every]),
    }


def coefficients(measured: Data) -> np.ndarray:
    """sqrt(n) times the gap in the mean over n, (cases, d_in, seeds)."""
    return np.mean(measured["found"][:, :, :-1] * np.sqrt(SAMPLES)[:, None], axis=2)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in n at every d_in, exponents in d_in, and decades of the bounds over the gap."""
    found, level = measured["found"], coefficients(measured)
    cells = [f"{case}, d_in = {d}" for case in trainings.CASES for d in DIMENSIONS]
    rate = statistics.exponent(SAMPLES, np.moveaxis(found[:, :, :-1], 2, 0))
    grown = statistics.exponent(DIMENSIONS, np.moveaxis(level, 1, 0))
    before = np.log10(predicted["bounds"][..., None] / level)
    after = np.log10(found[:, :, -1] * predicted["spread"][..., None] / level)
    in_n = statistics.compare("exponent of the gap in n", rate, -0.5, at=cells, within=POWER[size])
    return Evidence(
        (
            in_n,
            statistics.compare("exponent of the gap in d_in", grown, 0.0, at=list(trainings.CASES), within=POWER[size]),
            statistics.compare("decades of the bound before training", before, BEFORE, at=cells, within=DECADES),
        ),
        (in_n, statistics.compare("decades of the bound after training", after, AFTER, at=cells, within=DECADES)),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    assert ruling.corrected is not None
    rate, grown = (ruling.stated.of(f"exponent of the gap in {x}") for x in ("n", "d_in"))
    times = [10 ** (ruling.stated.of("decades of the bound before training").difference + BEFORE)]
    times.append(10 ** (ruling.corrected.of("decades of the bound after training").difference + AFTER))
    half = len(DIMENSIONS)
    powers = " and ".join(
        f"{d:+.2f} ± {h:.2f} ({c})" for c, d, h in zip(trainings.CASES, grown.difference, grown.half, strict=True)
    )
    return Verdict(
        sentence=f"The gap on n fresh samples falls as n to the {rate.difference.min() - 0.5:.3f} to "
        f"{rate.difference.max() - 0.5:.3f} (± {rate.half.max():.3f}) for d_in = {DIMENSIONS[0]} to {DIMENSIONS[-1]}, but the "
        f"gap itself goes as d_in to the {powers}. The bound known before training is {times[0][:half].min():.0f} to "
        f"{times[0][:half].max():.0f} times the gap for tanh and {times[0][half:].min():.0f} to {times[0][half:].max():.0f} "
        f"times for ReLU; the bound from the weights after training is {times[1].min():.0f} to {times[1].max():.0f} times it.",
        sizes=f"d_in = {', '.join(map(str, DIMENSIONS))}, d_out = 1, m = 20; {trainings.STEPS} steps of {trainings.RATE:g}, 20 "
        f"trainings a seed, {ORACLE[size]} fresh samples",
        figure=_figure(measured, predicted),
        caption="Left, the gap on n fresh samples against n for four input dimensions (tanh): all fall along lines of slope "
        "-1/2. Right, √n times the gap against d_in for two networks, filled markers, with the bounds from the weights after "
        "training (solid) and known before (dashed).",
    )


def _figure(measured: Data, predicted: Data) -> str:
    found, level = measured["found"], coefficients(measured)
    with style.figure(2, width=3.6, height=3.3) as (fig, (left, right)):
        mean, error = mean_and_error(found[0, :, :-1])
        for k, (d, marker) in enumerate(zip(DIMENSIONS, "osD^", strict=True)):
            colour = style.COLOURS[k]
            left.plot(SAMPLES, level[0, k].mean() / np.sqrt(SAMPLES), color=colour, linewidth=1)
            style.dots(left, SAMPLES, mean[k], error[k], color=colour, marker=marker, label=f"$d_{{in}}$ = {d}")
        left.plot([], [], color=style.INK, linewidth=1, label="slope −1/2")
        left.set(xlabel="fresh samples n", ylabel="mean |Rₙ − R|, tanh", ylim=(0.0018, 0.08))
        ticks.logarithmic(left, "x", SAMPLES)
        ticks.logarithmic(left, at=(0.002, 0.005, 0.01, 0.02, 0.05))
        left.legend(ncols=2, fontsize=8, loc="lower left")
        for i, case in enumerate(trainings.CASES):
            mean, error = mean_and_error(level[i])
            after = found[i, :, -1].mean(axis=-1) * predicted["spread"][i]
            colour = style.COLOURS[4 + i]
            right.plot(
                DIMENSIONS, predicted["bounds"][i], "--", color=colour, linewidth=1, label=f"bound before, {case}"
            )
            right.plot(DIMENSIONS, after, color=colour, linewidth=1, label=f"bound after, {case}")
            style.dots(right, DIMENSIONS, mean, error, color=colour, marker="os"[i], label=f"measured, {case}")
        right.set(xlabel="input dimension $d_{in}$", ylabel="√n mean |Rₙ − R|")
        ticks.logarithmic(right, "x", DIMENSIONS)
        fig.legend(*right.get_legend_handles_labels(), loc="outside lower center", ncols=3, fontsize=8)
        ticks.logarithmic(right)
        return style.svg(fig)
