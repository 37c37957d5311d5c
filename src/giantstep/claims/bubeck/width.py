"""Width does not protect: far beyond the dimension a step flips the sign as often."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.bubeck import random_networks
from giantstep.claims.claim import claim
from giantstep.plot import style

NAMES = ("tanh", "relu")
ETA = 2.0
SIZES = {  # d, widths over d, seeds, networks of a seed
    "quick": (16, (1, 8, 64, 512), 16, 25),
    "full": (32, (1, 8, 64, 512, 4096, 32768), 20, 60),
}
GRANTED = 0.03
NEEDED = 0.15  # what the test should see


def measure(size: Size) -> Data:
    """Shares of flips, (widths, activations, seeds)."""
    d, ratios, seeds, networks = SIZES[size]
    jobs = [(d, r * d, NAMES, (ETA,), networks, seed) for r in ratios for seed in range(seeds)]
    flips = np.array(cache.each(random_networks.steps, jobs))[..., 1].reshape(len(ratios), seeds, len(NAMES))
    return {"flips": np.moveaxis(flips, 1, -1)}


def predict(size: Size) -> Data:
    """The same by the law of the ray."""
    d, ratios, _, _ = SIZES[size]
    laws = random_networks.laws([(name, d, r * d) for r in ratios for name in NAMES])
    return {"flips": np.array([law.flips(np.array([ETA]))[0] for law in laws]).reshape(len(ratios), len(NAMES))}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, ratios, seeds, networks = SIZES[size]
    expected = predicted["flips"]
    comparison = compare(measured["flips"], expected, granted=GRANTED)
    ends = " and ".join(
        f"{comparison.mean[-1, j]:.3f} ± {comparison.error[-1, j]:.3f} ({random_networks.TITLES[name]}; "
        f"{comparison.mean[0, j]:.3f} at p = d)"
        for j, name in enumerate(NAMES)
    )
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(comparison.seen)), NEEDED),
        sentence=f"At p = {ratios[-1]}d, d = {d}, a step with η = {ETA:g} flips {ends} of the signs; all "
        f"{expected.size} shares are "
        f"within {np.max(np.abs(comparison.mean - expected)):.3f} of the law of the ray.",
        header=("activation", "p/d", "share flipped", "s.e.", "predicted", "in s.e."),
        rows=tuple(
            (name, r, *(float(x[i, j]) for x in (comparison.mean, comparison.error, expected, comparison.distance)))
            for j, name in enumerate(NAMES)
            for i, r in enumerate(ratios)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}; p/d = {', '.join(map(str, ratios))}; {networks} networks a seed",
        figure=_figure(size, comparison.mean, comparison.error, expected),
        caption=f"The share of signs flipped by a step with η = {ETA:g} against the width over the dimension, d = {d}: dots stay "
        f"level on the lines of the law of the ray, up to {ends} at the largest width.",
        power=comparison.power(" of a probability"),
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, expected: np.ndarray) -> str:
    d, ratios, _, _ = SIZES[size]
    with style.figure(width=4.2, height=3.0) as (fig, ax):
        for j, (name, colour) in enumerate(zip(NAMES, style.COLOURS, strict=False)):
            ax.plot(ratios, expected[:, j], color=colour, linewidth=1)
            style.dots(ax, ratios, mean[:, j], error[:, j], color=colour, label=random_networks.TITLES[name])
        ax.set(xscale="log", xlabel=f"width over dimension p/d, d = {d}", ylabel=f"share of signs flipped, η = {ETA:g}")
        ax.set_ylim(0, 1.02)
        ax.legend(loc="lower right")
        return style.svg(fig)


CLAIM = claim("bubeck/width", measure=measure, predict=predict, judge=judge)
