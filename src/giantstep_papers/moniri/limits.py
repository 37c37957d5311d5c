"""What free directions g, ..., g^l add to random features: the limits of the improvements."""

from itertools import product

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
from giantstep.theory.limits import bulk
from giantstep.theory.limits import gains as formulas
from giantstep_papers.moniri import free, talk
from giantstep_papers.shared import paired
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=14,
    of="giantstep",
    statement="Random features with g, …, g^ℓ as columns free of penalty gain λD in training "
    "objective and −D′/m₁² in test error in the limit, D = bᵀA⁻¹b.",
    where="our limits of the gains in training and test error, with g, …, g^ℓ as columns free of "
    "penalty, for general ℓ; the talk leaves the expression to the paper, of which we could "
    "read the abstract only",
    how="We compare every gain of ℓ = 1, 2, 3 free columns at the largest n with the limit, in "
    "units of the error of random features.",
    judges=(
        Judge(
            "gain in units of the error of random features",
            margin=(0.05, 0.02),
            departure=(0.1, 0.05),
            because="the noise that free columns fit, a few times 1/n",
        ),
    ),
    seeds={"quick": Seeds(60, 240), "full": Seeds(60, 260)},
)

SIZES = {"quick": (150, 300), "full": (500, 1000)}  # the last is judged
COLUMNS = ("training objective", "test error")
LABELS = [f"ℓ = {order}, {what}" for order, what in product((1, 2, 3), COLUMNS)]


def limit(order: int) -> tuple[float, float]:
    """The limits of the gains in training objective and test error for l = ``order``.

    They are those at the talk's ratios.
    """
    target = free.targets()[order - 1]
    setting = talk.experiment(1000, 0.0, target, activation=free.ACTIVATION)
    of = bulk.shape(setting.network.activation, 1000, setting.d, setting.p)
    coefficients = [float(target.hermite.get((k,), 0.0)) for k in range(order + 1)]
    power = target.power + target.noise**2
    rho = formulas.direction(of.phi, coefficients[1], power).cosine
    gains = formulas.improvements(of, paired.PENALTY, coefficients, rho, range(1, order + 1))
    return float(gains.objective), float(gains.test)


def measure(size: Size, seeds: range) -> Data:
    """The gains of l = 1, 2, 3 free directions, (sizes, l, errors, seeds), with control variates.

    The smaller size, which is only shown, has a quarter of the seeds.
    """
    found = []
    for n, some in zip(SIZES[size], (seeds[: len(seeds) // 4], seeds), strict=True):
        runs = cache.over(free.gains, (n,), some)
        pairs = zip(runs["gains"], runs["controls"], strict=True)
        found.append(np.array([controlled(*both) for both in pairs]))
    return {"gains": found}


def predict(size: Size) -> Data:
    """The limits and the errors of random features, (l, errors), whatever the size."""
    settings = [
        paired.experiment(1000, (), target, activation=free.ACTIVATION) for target in free.targets()
    ]
    before = np.array([paired.predicted(setting)[::-1, 0] for setting in settings])
    return {"limits": np.array([limit(order) for order in (1, 2, 3)]), "before": before}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every gain at the largest n against its limit, in units of the error of random features."""
    judge, before = judging(CLAIM, size), predicted["before"]
    gains, limits = measured["gains"][-1] / before[..., None], predicted["limits"] / before
    name = "gain in units of the error of random features"
    what = "gain, in units of the error of random features"
    return statistics.stated(judge(what, gains, limits, by=name, at=LABELS))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    gaps = [np.abs(gains.mean(axis=-1) - predicted["limits"]) for gains in measured["gains"]]
    off = [float(np.max(gap / predicted["before"])) for gap in gaps]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))} (the last is judged); {talk.RATIOS}; "
        f"penalty {paired.PENALTY:g}",
        figure=_figure(sizes, measured["gains"], predicted["limits"]),
        caption=f"At n = {sizes[-1]} the gains are at their limits, within {off[-1]:.1%} of the "
        "error of random features.",
        settings=tuple(
            talk.experiment(n, 0.0, target, activation=free.ACTIVATION).id
            for n in sizes
            for target in free.targets()
        ),
        trend=f"The largest gap between a gain and its limit goes from {off[0]:.1%} to "
        f"{off[-1]:.1%} of the error of random features between n = {sizes[0]} and {sizes[-1]}.",
    )


def _figure(sizes: tuple[int, ...], gains: list[np.ndarray], limits: np.ndarray) -> str:
    """The gains against n, and the limits."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, j in product(range(3), range(2)):
            ax, look = axes[j], {"color": style.COLOURS[i]}
            ax.axhline(limits[i, j], label=f"limit, ℓ = {i + 1}", **look)
            mean, error = zip(*(mean_and_error(each[i, j]) for each in gains), strict=True)
            x = 1.03 ** (i - 1) * np.array(sizes)  # side by side
            look |= {"marker": "osD"[i], "label": f"simulation, ℓ = {i + 1}"}
            style.dots(ax, x, mean, error, **look)
            ax.set(xlabel="n", ylabel=f"gain in {COLUMNS[j]}")
            ticks.logarithmic(ax, "x", sizes)
            ax.margins(x=0.3, y=0.15)
        return style.svg(fig, below=3)
