"""Behind the scenes of one step: how far a neuron moves towards the target, and how much longer it gets.

For y = sum_k mu_k h_l(x_k), a separable target of one order, a neuron w (unit length, second layer a) and s = eta/p, the gradient
gives (Dandi et al. 2024; the constants here)

    <w^1 - w, w*_k> = s a c_l l sqrt(l!) mu_k <w, w*_k>^(l-1),     |w^1|^2 = 1 + s^2 a^2 (d/n) E[y^2] E[sigma'^2] + |signal|^2

with l! c_l = E[sigma^(l)]: the first falls like d^(-(l-1)/2) over neurons, the second like d/n.
"""

from math import factorial
from typing import NamedTuple

import numpy as np

from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi.narrow import chain, experiment, steepness
from giantstep.claims.growth import line
from giantstep.claims.margins import Margins
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.simulate.projections import initial

MU = (1.0, -0.5)
ACTIVATIONS = {1: "relu", 2: "relu", 3: "H3"}
SIZES = {
    "quick": ({1: (2**9, 2**11, 2**13), 2: (2**6, 2**7, 2**8), 3: (32, 48, 96)}, 12),
    "full": ({1: (2**10, 2**13, 2**16), 2: (2**7, 2**9, 2**10), 3: (32, 64, 96)}, 24),
}
RATIO = 4  # n / d^l
MARGINS = Margins(level=3.0, granted=0.03, needed=0.5)  # of a ratio
DRAWN = ("start", "overlaps", "lengths", "second_layer")


def setting(order: int, d: int) -> Setting:
    target = " + ".join(f"({mu})*H{order}(x{k})/sqrt({factorial(order)})" for k, mu in enumerate(MU, 1))
    return experiment(target, d, RATIO * d**order, 1, p=8, activation=ACTIVATIONS[order])


def measure(size: Size) -> Data:
    """For every l and d: overlaps with the target at the start and after the step, (seeds, p, r), lengths and a_i, (seeds, p)."""
    sizes, seeds = SIZES[size]
    samples: Data = {name: [] for name in DRAWN}
    for here in (setting(order, d) for order, each in sizes.items() for d in each):
        outcome = chain(here, seeds)
        start = np.stack([initial(here, seed) for seed in range(seeds)])[:, :, : len(MU)]
        a = np.stack([draw.second_layer(here, seed) for seed in range(seeds)])
        for name, values in zip(DRAWN, (start, outcome.overlaps, outcome.norms, a), strict=True):
            samples[name].append(values)
    return samples


def predict(size: Size) -> Data:
    """The factors of s a <w, w*_k>^(l-1), (orders, r), and of s^2 a^2 d/n, (orders,), and the powers of d at n = 4 d^l."""
    sigmas = {order: setting(order, 100).network.activation for order in ACTIVATIONS}
    factors = [sigma.hermite(order)[order] * order * factorial(order) ** 0.5 for order, sigma in sigmas.items()]
    power_of_labels = sum(mu**2 for mu in MU)
    return {
        "overlap": np.outer(factors, MU),
        "length": [power_of_labels * steepness(sigma) for sigma in sigmas.values()],
        "powers": [[-(order - 1) / 2, float(1 - order)] for order in ACTIVATIONS],
    }


class ScalingRow(NamedTuple):
    """One l and d: measured over predicted overlaps and extra length, and their sizes."""

    order: int
    d: int
    overlap: float  # root mean square over neurons, directions and seeds
    overlap_theory: float
    slope: float  # of the measured against the predicted ones
    slope_se: float
    extra: float  # squared length gained outside the target
    extra_theory: float
    ratio: float
    ratio_se: float


def rows_of(size: Size, measured: Data, predicted: Data) -> list[ScalingRow]:
    """What every neuron gained against the factors times its own start and second layer."""
    cases = [(order, d) for order, each in SIZES[size][0].items() for d in each]
    rows = []
    for (order, d), *samples in zip(cases, *(measured[name] for name in DRAWN), strict=True):
        start, overlaps, lengths, a = samples
        i = list(ACTIVATIONS).index(order)
        gained = a[:, :, None] * predicted["overlap"][i] * start ** (order - 1)
        extra = a**2 * d / (RATIO * d**order) * predicted["length"][i]
        moved = overlaps - start
        squares = lengths**2 - np.sum(overlaps**2, axis=2) - (1 - np.sum(start**2, axis=2))
        slope = _ratio((moved * gained).sum((1, 2)), (gained**2).sum((1, 2)))
        ratio = mean_and_error(squares.mean(1) / extra.mean(1))
        typical = (np.sqrt(np.mean(x**2)) for x in (moved, gained))
        rows.append(ScalingRow._make((order, d, *map(float, (*typical, *slope, squares.mean(), extra.mean(), *ratio)))))
    return rows


def _ratio(top: np.ndarray, bottom: np.ndarray) -> tuple[float, float]:
    """sum(top) / sum(bottom) over seeds, and its standard error."""
    value = top.sum() / bottom.sum()
    return float(value), float(((top - value * bottom) ** 2).sum() ** 0.5 / bottom.sum())


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether overlaps and lengths are the predicted ones as d grows."""
    sizes, seeds = SIZES[size]
    rows = rows_of(size, measured, predicted)
    powers, limits = {}, {}
    for order in sizes:
        d, overlap, _, slope, slope_se, extra, _, ratio, ratio_se = zip(*[r[1:] for r in rows if r.order == order])  # noqa: B905
        powers[order] = [float(np.polyfit(np.log(d), np.log(y), 1)[0]) for y in (overlap, extra)]
        limits[order] = [line(1 / np.array(d), *each)[:2] for each in ((slope, slope_se), (ratio, ratio_se))]
    both = [each for pair in limits.values() for each in pair]
    wrong = [value for value, error in both if abs(value - 1) > max(MARGINS.level * error, MARGINS.granted)]
    sure = all(power.detectable(error, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, error in both)
    ends = [
        [max(abs(getattr(r, what) - 1) for r in rows if r.d == sizes[r.order][i]) for i in (0, -1)]
        for what in ("slope", "ratio")
    ]
    expected = dict(zip(sizes, predicted["powers"], strict=True))
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence="As d grows (a line in 1/d) overlaps gained are "
        + ", ".join(f"{value:.3f} ± {error:.3f}" for (value, error), _ in limits.values())
        + " times the predicted ones for ℓ = 1, 2, 3, and the squared length gained is "
        + ", ".join(f"{value:.2f} ± {error:.2f}" for _, (value, error) in limits.values())
        + " times. With n = 4d^ℓ overlaps go as d to the "
        + ", ".join(f"{powers[k][0]:+.2f} ({expected[k][0]:+.1f})" for k in powers)
        + " and the length as d to the "
        + ", ".join(f"{powers[k][1]:+.2f} ({expected[k][1]:+.0f})" for k in powers)
        + "; in brackets the predicted powers.",
        header=("ℓ", "d", "overlap", "predicted", "slope", "s.e.", "length² gained", "predicted", "ratio", "s.e."),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"ℓ = {k}: d = {', '.join(map(str, v))}" for k, v in sizes.items())
        + "; n = 4d^ℓ, one step, p = 8, signs, pairs; s = 1",
        figure=_figure(rows),
        caption="Left the overlap gained (root mean square), right the squared length gained, against d on logarithmic axes, "
        "dots over the predicted lines for ℓ = 1, 2, 3: both stay for ℓ = 1 and fall with d for larger ℓ, the overlap as d to "
        "the "
        + ", ".join(f"{powers[k][0]:+.2f}" for k in powers)
        + ", the length as d to the "
        + ", ".join(f"{powers[k][1]:+.2f}" for k in powers)
        + ".",
        power=power.stated(
            [error for _, error in both],
            MARGINS.level,
            MARGINS.granted,
            "% of a predicted constant",
            scale=100,
            seeds=seeds,
        ),
        trend=f"From the smallest to the largest d the furthest ratio of overlaps goes from {100 * ends[0][0]:.0f}% to "
        f"{100 * ends[0][1]:.0f}% away from one, that of lengths from {100 * ends[1][0]:.0f}% to {100 * ends[1][1]:.0f}%.",
        settings=tuple(setting(k, v[-1]).id for k, v in sizes.items()),
    )


def _figure(rows: list[ScalingRow]) -> str:
    """Overlap and squared length gained against d, dots over the predicted lines."""
    with style.figure(2, width=3.4, height=2.8) as (fig, axes):
        for i, order in enumerate(ACTIVATIONS):
            here = [r for r in rows if r.order == order]
            d, colour, label = [r.d for r in here], style.COLOURS[i], f"$\\ell = {order}$"
            axes[0].plot(d, [r.overlap_theory for r in here], color=colour)
            style.dots(axes[0], d, [r.overlap for r in here], color=colour, label=label)
            axes[1].plot(d, [r.extra_theory for r in here], color=colour)
            error = [r.ratio_se * r.extra_theory for r in here]
            style.dots(axes[1], d, [r.extra for r in here], error, color=colour, label=label)
        axes[0].set(xscale="log", yscale="log", xlabel="d", ylabel="overlap gained (rms)")
        axes[1].set(xscale="log", yscale="log", xlabel="d", ylabel="squared length gained")
        axes[0].legend()
        return style.svg(fig)


CLAIM = claim("dandi/scaling", measure=measure, predict=predict, judge=judge)
