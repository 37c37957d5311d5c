"""The perturbation that flips a sign is d^{-1/2} of the input."""

import numpy as np

from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.claims.bubeck import random_networks
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.plot import style

NAMES = ("relu", "tanh")
RATIO = 2  # p/d
SIZES = {"quick": ((30, 60, 120, 240), 15, 24), "full": ((50, 200, 800, 3200), 25, 160)}  # d, seeds, networks of a seed
MARGINS = Margins(level=3.0, granted=0.05, needed=0.3)  # of an exponent
CLOSE = 0.05  # granted to a median, as a share of it


def measure(size: Size) -> Data:
    """Median distances over ‖x‖, (d, activations, seeds)."""
    sizes, seeds, networks = SIZES[size]
    medians = cache.each(
        random_networks.medians, [(d, RATIO * d, NAMES, networks, seed) for d in sizes for seed in range(seeds)]
    )
    return {"medians": np.moveaxis(np.array(medians).reshape(len(sizes), seeds, len(NAMES)), 1, -1)}


def predict(size: Size) -> Data:
    """Medians by the law of the ray, (d, activations), and the exponent of the paper."""
    sizes = SIZES[size][0]
    laws = random_networks.laws([(name, d, RATIO * d) for d in sizes for name in NAMES])
    medians = np.array([law.median / law.d**0.5 for law in laws]).reshape(len(sizes), len(NAMES))
    return {"medians": medians, "exponent": -0.5}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, seeds, networks = SIZES[size]
    slopes = [growth(sizes, measured["medians"][:, j]) for j in range(len(NAMES))]
    expected = predicted["medians"]
    comparison = compare(measured["medians"], expected, granted=CLOSE * expected)
    share = comparison.relative()
    off = [abs(slope - predicted["exponent"]) > max(MARGINS.level * error, MARGINS.granted) for slope, error in slopes]
    sure = all(power.detectable(error, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, error in slopes)
    fall = " and ".join(
        f"{s:.3f} ± {e:.3f} ({random_networks.TITLES[n]})" for n, (s, e) in zip(NAMES, slopes, strict=True)
    )
    furthest = float(np.max(np.abs(share.mean - 1)))
    return Verdict(
        outcome="fails" if any(off) or bool(np.any(comparison.missed)) else ("holds" if sure else "inconclusive"),
        sentence=f"The median perturbation that flips the sign, over ‖x‖, falls as d to the {fall} (paper: "
        f"{predicted['exponent']:g}) and is {comparison.mean[-1, 0]:.4f} for ReLU at d = {sizes[-1]}; the medians are within "
        f"{100 * furthest:.0f}% of the law of the ray (s.e. up to {100 * float(np.max(share.error)):.0f}%).",
        header=("activation", "d", "median over ‖x‖", "s.e.", "predicted", "in s.e."),
        rows=tuple(
            (name, d, *(float(x[i, j]) for x in (comparison.mean, comparison.error, expected, comparison.distance)))
            for j, name in enumerate(NAMES)
            for i, d in enumerate(sizes)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {', '.join(map(str, sizes))}; p = {RATIO}d, {networks} networks a seed",
        figure=_figure(sizes, comparison.mean, comparison.error, expected),
        caption="Median distance to the other sign over ‖x‖ against d on logarithmic axes, for ReLU and tanh: the dots fall as d "
        f"to the {fall} along the lines of the law of the ray.",
        power=f"Exponents: "
        f"{power.stated([e for _, e in slopes], MARGINS.level, MARGINS.granted, ' in the exponent', seeds=seeds)} "
        f"Medians: {share.power('%', 100)}",
        trend=f"Median over ‖x‖ times √d for ReLU: {', '.join(f'{x:.3f}' for x in comparison.mean[:, 0] * np.sqrt(sizes))}.",
    )


def _figure(sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    with style.figure(width=4.2, height=3.0) as (fig, ax):
        for j, (name, colour) in enumerate(zip(NAMES, style.COLOURS, strict=False)):
            ax.plot(sizes, expected[:, j], color=colour, linewidth=1)
            style.dots(ax, sizes, mean[:, j], error[:, j], color=colour, label=random_networks.TITLES[name])
        ax.set(xscale="log", yscale="log", xlabel="dimension d", ylabel="median ‖δ‖ / ‖x‖ that flips the sign")
        ax.set_xticks(sizes, [str(d) for d in sizes])
        low, high = ax.get_ylim()
        ticks = [t for t in (0.01, 0.02, 0.03, 0.05, 0.1, 0.15) if low <= t <= high]
        ax.set_yticks(ticks, [f"{t:g}" for t in ticks])
        ax.minorticks_off()
        ax.legend()
        return style.svg(fig)


CLAIM = claim("bubeck/rate", measure=measure, predict=predict, judge=judge)
