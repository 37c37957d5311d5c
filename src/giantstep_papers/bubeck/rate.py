"""The perturbation that flips a sign is at most d^{-1/2} of the input."""

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
from giantstep_papers.bubeck import random_networks
from giantstep_papers.shared import said

CLAIM = Claim(
    order=2,
    quote="a single gradient step on f […] suffices to find such adversarial examples, with "
    "roughly ‖δ‖ ≃ ‖x‖/√d = 1",
    place="introduction of arXiv:2104.03863",
    kind="upper bound",
    statement="A single gradient step suffices to find adversarial examples with roughly ‖δ‖ ≃ "
    "‖x‖/√d.",
    where="the main theorems: ‖δ‖ ≲ ‖x‖/√d",
    how="We measure the median relative distance to the other sign, times √d, at three d and p = "
    "2d. It must be at most 1 at every d, and its exponent in d at most 0. The median of |f|, "
    "which is known, serves as control variate. At full size a seed has more networks at the "
    "smaller d, where they scatter more.",
    judges=(
        Judge(
            "exponent of √d ‖δ‖/‖x‖",
            side="below",
            margin=EXPONENT,
            departure=(0.2, 0.1),
            because="the bend at finite sizes that every exponent is granted",
        ),
        Judge(
            "log median of √d ‖δ‖/‖x‖",
            side="below",
            margin=(0.04, 0.02),
            departure=(0.1, 0.04),
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(20, 80), "full": Seeds(30, 150)},
)

NAMES = ("relu", "tanh")
RATIO = 2  # p/d
SIZES = {"quick": (80, 160, 320), "full": (100, 400, 1600)}  # d
# networks of a seed, by d; else two
NETWORKS: dict[Size, dict[int, int]] = {"quick": {}, "full": {100: 16, 400: 6}}


def measure(size: Size, seeds: range) -> Data:
    """Log median distances over ‖x‖, (d, activations, seeds)."""
    each = [(d, RATIO * d, NAMES, NETWORKS[size].get(d, 2)) for d in SIZES[size]]
    return {"medians": cache.over(random_networks.medians, each, seeds)}


def predict(size: Size) -> Data:
    """Log medians by the law of the ray, (d, activations)."""
    laws = random_networks.laws([(name, d, RATIO * d) for d in SIZES[size] for name in NAMES])
    return {"medians": np.log([law.median / law.d**0.5 for law in laws]).reshape(-1, len(NAMES))}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """√d times the median of ‖δ‖/‖x‖ is at most 1 at every d, and its exponent in d at most 0."""
    names = [random_networks.TITLES[name] for name in NAMES]
    lengths = measured["medians"] + np.log(SIZES[size])[:, None, None] / 2
    slopes = statistics.exponent(SIZES[size], np.exp(lengths))
    at = [f"d = {d}, {name}" for d in SIZES[size] for name in names]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("exponent of √d ‖δ‖/‖x‖", slopes, 0.0, at=names),
        judge("log median of √d ‖δ‖/‖x‖", lengths, 0.0, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    slopes = mean_and_error(statistics.exponent(sizes, np.exp(measured["medians"])))
    fall = " and ".join(
        f"{said.power('d', s, e)} for {random_networks.TITLES[n]}"
        for n, s, e in zip(NAMES, *slopes, strict=True)
    )
    mean, error = mean_and_error(measured["medians"])
    medians = np.exp(mean)
    scaled = medians * np.sqrt(sizes)[:, None]
    return Verdict(
        sentence=f"The median perturbation that flips the sign is {np.min(scaled):.2f} to "
        f"{np.max(scaled):.2f} times ‖x‖/√d. Over ‖x‖ it goes as {fall}.",
        looseness=float(1 / np.median(scaled)),
        sizes=f"d = {', '.join(map(str, sizes))}; p = {RATIO}d; two networks a "
        f"seed{''.join(f', {count} at d = {d}' for d, count in NETWORKS[size].items())}, "
        f"{random_networks.INPUTS} inputs each",
        figure=_figure(sizes, medians, medians * error, np.exp(predicted["medians"])),
        caption="The distance to the other sign falls as one over √d, along the law of the ray.",
        trend=f"For ReLU the median over ‖x‖/√d is {scaled[0, 0]:.3f} at the smallest d and "
        f"{scaled[-1, 0]:.3f} at the largest.",
    )


def _figure(
    sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray, expected: np.ndarray
) -> str:
    with style.figure(width=4.4, height=3.1) as (fig, ax):
        for j, (name, colour, marker) in enumerate(zip(NAMES, style.COLOURS, "os", strict=False)):
            title = random_networks.TITLES[name]
            ax.plot(
                sizes, expected[:, j], color=colour, linewidth=1, label=f"law of the ray, {title}"
            )
            look = {"color": colour, "marker": marker, "label": f"measured, {title}"}
            style.dots(ax, sizes, mean[:, j], error[:, j], **look)
        ax.set(xlabel="dimension d", ylabel="median ‖δ‖ / ‖x‖ that flips the sign")
        ticks.logarithmic(ax, "x", sizes)
        ticks.logarithmic(ax)
        ax.legend()
        return style.svg(fig)
