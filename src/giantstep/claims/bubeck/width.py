"""Width does not protect: at widths of d^2 and d^3 one step flips the sign of nearly all inputs."""

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.bubeck import random_networks
from giantstep.claims.bubeck.flips import CERTAIN
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

NAMES = ("tanh", "relu")
ETA = 3.0
SIZES = {"quick": (16, 24, 36), "full": (16, 32, 64)}  # d
POWERS = (2, 3)  # the width is d to these
SEEDS: dict[Size, Seeds] = {"quick": Seeds(30, 120), "full": Seeds(60, 450)}
SHARE = {"quick": Tolerance(0.04, 0.12), "full": Tolerance(0.02, 0.06)}


def measure(size: Size, seeds: range) -> Data:
    """Shares of flips, (d, powers, activations, seeds)."""
    cases = [[(d, d**power, NAMES, (ETA,), 1) for power in POWERS] for d in SIZES[size]]
    return {"flips": cache.over(random_networks.steps, cases, seeds)[..., 1, :]}


def predict(size: Size) -> Data:
    """The same by the law of the ray: lines of the figure."""
    laws = random_networks.laws([(name, d, d**power) for d in SIZES[size] for power in POWERS for name in NAMES])
    flips = np.array([law.flips(np.array([ETA]))[0] for law in laws])
    return {"flips": flips.reshape(len(SIZES[size]), len(POWERS), len(NAMES))}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share of flips at every dimension and width."""
    at = [f"d = {d}, p = d^{k}, {random_networks.TITLES[name]}" for d in SIZES[size] for k in POWERS for name in NAMES]
    found = measured["flips"].reshape(len(at), -1)
    return statistics.stated(
        statistics.compare(f"share flipped by η = {ETA:g}", found, CERTAIN, at=at, side="above", within=SHARE[size])
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    mean, error = mean_and_error(measured["flips"])
    return Verdict(
        sentence=f"A step with η = {ETA:g} flips {mean.min():.3f} to {mean.max():.3f} of the signs. At d = {sizes[-1]} and "
        f"p = d³ it flips {mean[-1, -1, 0]:.3f} for tanh and {mean[-1, -1, 1]:.3f} for ReLU.",
        sizes=f"d = {', '.join(map(str, sizes))}; p = d² and d³; a network a seed with {random_networks.INPUTS} inputs",
        figure=_figure(sizes, mean, error, predicted["flips"]),
        caption=f"The share of signs flipped by a step with η = {ETA:g} against the dimension, at widths d² and d³; lines are "
        "the law of the ray.",
    )


def _figure(sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray, lines: np.ndarray) -> str:
    with style.figure(len(NAMES), width=3.5, height=3.0) as (fig, axes):
        for j, (ax, name) in enumerate(zip(axes, NAMES, strict=True)):
            for k, (power, marker) in enumerate(zip(POWERS, "os", strict=True)):
                ax.plot(sizes, lines[:, k, j], color=style.COLOURS[k], linewidth=1)
                style.dots(
                    ax,
                    sizes,
                    mean[:, k, j],
                    error[:, k, j],
                    color=style.COLOURS[k],
                    marker=marker,
                    label=f"$p = d^{power}$",
                )
            ax.axhline(CERTAIN, color=style.INK, linestyle=":", linewidth=1)
            ax.set(
                xlabel="dimension d", ylabel=f"share of signs flipped, η = {ETA:g}" if j == 0 else "", ylim=(0, 1.02)
            )
            ticks.logarithmic(ax, "x", sizes)
            ax.set_title(random_networks.TITLES[name])
        axes[0].legend(loc="lower right")
        return style.svg(fig)
