"""What free directions g, ..., g^l add to random features: the limits of the improvements."""

from itertools import product

import numpy as np

from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
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
    statement="Random features with g, …, g^ℓ as columns free of penalty gain λD in training objective "
    "and −D′/m₁² in test error in the limit, D = bᵀA⁻¹b.",
    where="our limits of the gains in training and test error, with g, …, g^ℓ as columns free of "
    "penalty, for general ℓ; the talk leaves the expression to the paper, of which we could "
    "read the abstract only",
    how="We compare every gain of ℓ = 1, 2, 3 free columns at the largest n with the limit, in "
    "units of the error of random features. The margin is for the noise that free columns "
    "fit, a few times 1/n.",
    seeds={"quick": Seeds(60, 240), "full": Seeds(60, 260)},
)

SIZES = {"quick": (150, 300), "full": (500, 1000)}  # the last is judged
RULE = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.05)}  # of random features' error
COLUMNS = ("training objective", "test error")
LABELS = [f"ℓ = {order}, {what}" for order, what in product((1, 2, 3), COLUMNS)]


def limit(order: int) -> tuple[float, float]:
    """The limits of the gains in training objective and test error for l = ``order``, at the talk's ratios."""
    target = free.targets()[order - 1]
    setting = talk.experiment(1000, 0.0, target, activation=free.ACTIVATION)
    of = bulk.shape(setting.network.activation, 1000, setting.d, setting.p)
    coefficients = [float(target.hermite.get((k,), 0.0)) for k in range(order + 1)]
    rho = formulas.direction(of.phi, coefficients[1], target.power + target.noise**2).cosine
    gains = formulas.improvements(of, paired.PENALTY, coefficients, rho, range(1, order + 1))
    return float(gains.objective), float(gains.test)


def measure(size: Size, seeds: range) -> Data:
    """The gains of l = 1, 2, 3 free directions, (sizes, l, errors, seeds), with control variates; a quarter of the seeds at the
    smaller size, which is only shown."""
    found = []
    for n, some in zip(SIZES[size], (seeds[: len(seeds) // 4], seeds), strict=True):
        runs = cache.over(free.gains, (n,), some)
        found.append(np.array([controlled(*both) for both in zip(runs["gains"], runs["controls"], strict=True)]))
    return {"gains": found}


def predict(size: Size) -> Data:
    """The limits and the errors of random features, (l, errors), whatever the size."""
    settings = [paired.experiment(1000, (), target, activation=free.ACTIVATION) for target in free.targets()]
    before = np.array([paired.predicted(setting)[::-1, 0] for setting in settings])
    return {"limits": np.array([limit(order) for order in (1, 2, 3)]), "before": before}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every gain at the largest n against its limit, in units of the error of random features."""
    before = predicted["before"]
    gains, limits = measured["gains"][-1] / before[..., None], predicted["limits"] / before
    return statistics.stated(
        statistics.compare(
            "gain, in units of the error of random features", gains, limits, at=LABELS, within=RULE[size]
        )
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    off = [
        float(np.max(np.abs(gains.mean(axis=-1) - predicted["limits"]) / predicted["before"]))
        for gains in measured["gains"]
    ]
    return Verdict(
        sizes=f"n = {', '.join(map(str, sizes))} (the last is judged); {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(sizes, measured["gains"], predicted["limits"]),
        caption=f"At n = {sizes[-1]} the gains are at their limits, within {off[-1]:.1%} of the error of random features.",
        settings=tuple(
            talk.experiment(n, 0.0, t, activation=free.ACTIVATION).id for n in sizes for t in free.targets()
        ),
        trend=f"The largest gap between a gain and its limit goes from {off[0]:.1%} to {off[-1]:.1%} of the "
        f"error of random features between n = {sizes[0]} and {sizes[-1]}.",
    )


def _figure(sizes: tuple[int, ...], gains: list[np.ndarray], limits: np.ndarray) -> str:
    """The gains against n, and the limits."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, j in product(range(3), range(2)):
            ax, look = axes[j], {"color": style.COLOURS[i]}
            ax.axhline(limits[i, j], label=f"limit, ℓ = {i + 1}", **look)
            mean, error = zip(*(mean_and_error(each[i, j]) for each in gains), strict=True)
            shift = 1.03 ** (i - 1)  # side by side
            style.dots(
                ax, shift * np.array(sizes), mean, error, label=f"simulation, ℓ = {i + 1}", marker="osD"[i], **look
            )
            ax.set(xlabel="n", ylabel=f"gain in {COLUMNS[j]}")
            ticks.logarithmic(ax, "x", sizes)
            ax.margins(x=0.3, y=0.15)
        return style.svg(fig, below=3)
