"""On fresh samples the gap is below its bound and falls with n at least as n^{-1/2}.

It does so in every dimension.
"""

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
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.bounds.theory import on_fresh, spread
from giantstep_papers.nguwi import trainings
from giantstep_papers.shared import said

CLAIM = Claim(
    order=1,
    quote="In the case of independent test data, we obtain a dimension-free rate of order "
    "O(n^{−1/2}) on the n-sample generalization error",
    place="abstract only",
    kind="upper bound",
    statement="With independent test data the n-sample generalization error has a dimension-free "
    "rate of order O(n^(-1/2)).",
    where="the bound for independent test data; tanh and ReLU, d_in = 2 to 16, and a coefficient "
    "of our own",
    how="The mean |Rₙ - R| must be at most the bound at every n, and its exponent in n at most "
    "-1/2 at every d_in, by free fits. The report says how loose the bound is and how it grows "
    "with d_in.",
    judges=(
        Judge(
            "exponent of the gap in n",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge("gap over its bound", side="below", percent=True, margin=0, departure=0.1),
    ),
    seeds={"quick": Seeds(8, 24), "full": Seeds(16, 80)},
)

SAMPLES = (25, 50, 100, 200, 400)
DIMENSIONS = (2, 4, 8, 16)  # d_in
ORACLE = {"quick": 4000, "full": 40_000}  # fresh samples


def measure(size: Size, seeds: range) -> Data:
    """Gaps and Lambda, (cases, d_in, sizes + 1, seeds)."""
    cells = [[(case, d, SAMPLES, ORACLE[size]) for d in DIMENSIONS] for case in trainings.CASES]
    return {"found": cache.over(trainings.fresh, cells, seeds)}


def predict(size: Size) -> Data:
    """The bound at n = 1 known before training, and sqrt(tr Cov Z), (cases, d_in).

    Lambda is multiplied by the latter.
    """
    every = [[trainings.bounds(case, d_in=d) for d in DIMENSIONS] for case in trainings.CASES]
    return {
        "bounds": np.array([[on_fresh(b, 1) for b in row] for row in every]),
        "spread": np.array([[spread(b) ** 0.5 for b in row] for row in every]),
    }


def coefficients(measured: Data) -> np.ndarray:
    """sqrt(n) times the gap in the mean over n, (cases, d_in, seeds)."""
    return np.mean(measured["found"][:, :, :-1] * np.sqrt(SAMPLES)[:, None], axis=2)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Exponents in n at every d_in, at most -1/2, and the gap at every n, at most its bound.

    The bound is that known before training.
    """
    gaps = measured["found"][:, :, :-1]
    cells = [f"{case}, d_in = {d}" for case in trainings.CASES for d in DIMENSIONS]
    rate = statistics.exponent(SAMPLES, np.moveaxis(gaps, 2, 0))
    bounds = predicted["bounds"][..., None] / np.sqrt(SAMPLES)
    each = [f"{cell}, n = {n}" for cell in cells for n in SAMPLES]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of the gap in n", rate, -0.5, at=cells),
        judge("gap over its bound", gaps / bounds[..., None], 1.0, at=each),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    rate, level = ruling.stated.of("exponent of the gap in n"), coefficients(measured).mean(axis=-1)
    exponents = rate.comparison.predicted + rate.difference
    slowest = int(np.argmax(exponents))
    before = predicted["bounds"] / level
    after = measured["found"][:, :, -1].mean(axis=-1) * predicted["spread"] / level
    grown = statistics.exponent(DIMENSIONS, np.moveaxis(coefficients(measured), 1, 0)).mean(axis=-1)
    return Verdict(
        sentence="On n fresh samples the gap goes as "
        f"{said.power('n', exponents[slowest], rate.half[slowest])} or faster, in "
        f"every dimension. The bound known before training is at least {before.min():.0f} times as "
        "large. Its coefficients are ours.",
        sizes=f"d_in = {', '.join(map(str, DIMENSIONS))}, d_out = 1, m = 20; {trainings.STEPS} "
        f"steps of {trainings.RATE:g}, {trainings.TRAININGS} trainings a seed, {ORACLE[size]} "
        "fresh samples",
        figure=_figure(measured, predicted),
        caption="The gap on fresh samples falls as one over √n in every input dimension (left), "
        "far below its bounds (right).",
        trend=f"√n times the gap goes as d_in to the power {said.signed(grown[0], '.2f')} for tanh "
        f"and {said.signed(grown[1], '.2f')} for ReLU. A bound from the weights after training is "
        f"{after.min():.0f} to {after.max():.0f} times the gap.",
        looseness=float(np.median(before)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    found, level = measured["found"], coefficients(measured)
    with style.figure(2, width=3.6, height=3.3) as (fig, (left, right)):
        mean, error = mean_and_error(found[0, :, :-1])
        for k, (d, marker) in enumerate(zip(DIMENSIONS, "osD^", strict=True)):
            colour = style.COLOURS[k]
            left.plot(SAMPLES, level[0, k].mean() / np.sqrt(SAMPLES), color=colour, linewidth=1)
            look = {"color": colour, "marker": marker, "label": f"$d_{{in}}$ = {d}"}
            style.dots(left, SAMPLES, mean[k], error[k], **look)
        left.plot([], [], color=style.INK, linewidth=1, label="slope −1/2")
        left.set(xlabel="fresh samples n", ylabel="mean |Rₙ − R|, tanh", ylim=(0.0018, 0.08))
        ticks.logarithmic(left, "x", SAMPLES)
        ticks.logarithmic(left, at=(0.002, 0.005, 0.01, 0.02, 0.05))
        left.legend(ncols=2, fontsize=8, loc="lower left")
        for i, case in enumerate(trainings.CASES):
            mean, error = mean_and_error(level[i])
            after = found[i, :, -1].mean(axis=-1) * predicted["spread"][i]
            colour = style.COLOURS[4 + i]
            line, before = {"color": colour, "linewidth": 1}, predicted["bounds"][i]
            right.plot(DIMENSIONS, before, "--", label=f"bound before, {case}", **line)
            right.plot(DIMENSIONS, after, label=f"bound after, {case}", **line)
            look = {"color": colour, "marker": "os"[i], "label": f"measured, {case}"}
            style.dots(right, DIMENSIONS, mean, error, **look)
        right.set(xlabel="input dimension $d_{in}$", ylabel="√n mean |Rₙ − R|")
        ticks.logarithmic(right, "x", DIMENSIONS)
        entries = right.get_legend_handles_labels()
        fig.legend(*entries, loc="outside lower center", ncols=3, fontsize=8)
        ticks.logarithmic(right)
        return style.svg(fig)
