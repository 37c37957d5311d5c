"""Width does not protect: far beyond the dimension a step flips the sign as often."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.bubeck import random_networks
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

NAMES = ("tanh", "relu")
ETA = 2.0
SIZES = {"quick": (40, (1, 16, 256)), "full": (64, (1, 16, 256, 4096))}  # d and widths over d
FINE = {"quick": tuple(2**k for k in range(9)), "full": tuple(2**k for k in range(13))}  # the lines
SEEDS: dict[Size, Seeds] = {"quick": Seeds(30, 240), "full": Seeds(60, 450)}
SHARE = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.02, 0.05)}


def measure(size: Size, seeds: range) -> Data:
    """Shares of flips, (widths, activations, seeds)."""
    d, ratios = SIZES[size]
    found = cache.over(random_networks.steps, [(d, r * d, NAMES, (ETA,), 1) for r in ratios], seeds)
    return {"flips": found[:, :, 1]}


def predict(size: Size) -> Data:
    """The same by the law of the ray, and along the lines."""
    d, ratios = SIZES[size]
    laws = random_networks.laws([(name, d, r * d) for r in FINE[size] for name in NAMES])
    lines = np.array([law.flips(np.array([ETA]))[0] for law in laws]).reshape(-1, len(NAMES))
    return {"lines": lines, "flips": lines[[FINE[size].index(r) for r in ratios]]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share of flips at every width."""
    at = [f"p = {r}d, {random_networks.TITLES[name]}" for r in SIZES[size][1] for name in NAMES]
    return statistics.stated(
        statistics.compare("share flipped", measured["flips"], predicted["flips"], at=at, within=SHARE[size])
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, ratios = SIZES[size]
    mean, error = mean_and_error(measured["flips"])
    ends = " and ".join(
        f"{mean[-1, j]:.3f} ± {error[-1, j]:.3f} ({random_networks.TITLES[name]}; {mean[0, j]:.3f} at p = d)"
        for j, name in enumerate(NAMES)
    )
    return Verdict(
        sentence=f"At p = {ratios[-1]}d, d = {d}, a step with η = {ETA:g} flips {ends} of the signs. {ruling.stated.sentence}",
        sizes=f"d = {d}; p/d = {', '.join(map(str, ratios))}; a network a seed with {random_networks.INPUTS} inputs",
        figure=_figure(size, mean, error, predicted["lines"]),
        caption=f"The share of signs flipped by a step with η = {ETA:g} against the width over the dimension, d = {d}. The dots "
        f"stay level, on the lines of the law of the ray, up to {ends} at the largest width.",
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, lines: np.ndarray) -> str:
    d, ratios = SIZES[size]
    with style.figure(width=4.4, height=3.1) as (fig, ax):
        for j, (name, colour, marker) in enumerate(zip(NAMES, style.COLOURS, "os", strict=False)):
            title = random_networks.TITLES[name]
            ax.plot(FINE[size], lines[:, j], color=colour, linewidth=1, label=f"law of the ray, {title}")
            style.dots(ax, ratios, mean[:, j], error[:, j], color=colour, marker=marker, label=f"measured, {title}")
        ax.set(xlabel=f"width over dimension p/d, d = {d}", ylabel=f"share of signs flipped, η = {ETA:g}")
        ticks.logarithmic(ax, "x", ratios)
        ax.set_ylim(0, 1.02)
        ax.legend(loc="lower right")
        return style.svg(fig)
