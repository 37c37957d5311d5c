"""One gradient step flips the sign of a random network, over- and undercomplete, with the predicted probability."""

import numpy as np
from scipy.special import ndtr

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.bubeck import random_networks
from giantstep.claims.claim import claim
from giantstep.plot import style

NAMES = ("relu", "tanh")
RATIOS = {4.0: "p = 4d", 0.25: "p = d/4"}
ETAS = (0.5, 1.0, 2.0, 3.0)
LINE = tuple(0.25 * k for k in range(1, 13))  # where the lines of the figure are computed
SIZES = {"quick": (100, 24, 32), "full": (400, 40, 250)}  # d, seeds, networks of a seed
GRANTED = 0.02  # of a probability or of the gradient's square
NEEDED = 0.12  # of the same: what the test should see
CERTAIN = 0.9  # what the largest step must flip


def measure(size: Size) -> Data:
    """Mean ||grad f||^2 and shares of flips, (widths, activations, 1 + etas, seeds)."""
    d, seeds, networks = SIZES[size]
    jobs = [(d, int(r * d), NAMES, ETAS, networks, seed) for r in RATIOS for seed in range(seeds)]
    runs = np.array(cache.each(random_networks.steps, jobs))
    return {"found": np.moveaxis(runs.reshape(len(RATIOS), seeds, len(NAMES), 1 + len(ETAS)), 1, -1)}


def predict(size: Size) -> Data:
    """The same from the law of the ray, and its limit v1 and 2 Phi(eta v1/sqrt(v0)) - 1, (activations, 1 + etas)."""
    d, etas = SIZES[size][0], np.array(ETAS)
    laws = random_networks.laws([(name, d, int(r * d)) for r in RATIOS for name in NAMES])
    lines = np.array([law.flips(np.array(LINE)) for law in laws]).reshape(len(RATIOS), len(NAMES), -1)
    finite = np.array(
        [
            [law.gradient, *np.interp(etas, LINE, line)]
            for law, line in zip(laws, lines.reshape(-1, len(LINE)), strict=True)
        ]
    )
    limit = [[law.v1, *(2 * ndtr(etas * law.v1 / law.v0**0.5) - 1)] for law in laws[: len(NAMES)]]
    return {"finite": finite.reshape(len(RATIOS), len(NAMES), -1), "limit": np.array(limit), "lines": lines}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds, networks = SIZES[size]
    runs, finite, limit = measured["found"], predicted["finite"], predicted["limit"]
    granted = np.concatenate([GRANTED * finite[..., :1], np.full(finite[..., 1:].shape, GRANTED)], axis=-1)
    comparison = compare(runs, finite, granted=granted)
    surest = float(np.min(comparison.mean[..., -1]))
    worst = np.unravel_index(np.argmax(np.abs(comparison.mean - finite)[..., 1:]), finite[..., 1:].shape)
    at = (*worst[:-1], worst[-1] + 1)
    off = np.max(np.abs(comparison.mean - limit)[..., 1:])
    gradient = np.max(np.abs(comparison.mean[..., 0] / finite[..., 0] - 1))
    wrong = bool(np.any(comparison.missed)) or surest + 3 * float(np.max(comparison.error[..., -1])) < CERTAIN
    labels = ["‖∇f‖²", *(f"flips at η = {eta:g}" for eta in ETAS)]
    return Verdict(
        outcome=decided(wrong, float(np.max(comparison.seen[..., 1:])), NEEDED),
        sentence=f"Shares of flipped signs are within {abs(comparison.mean[at] - finite[at]):.3f} ± "
        f"{comparison.error[at]:.3f} of the law of "
        f"the ray (within {off:.3f} of its limit), ‖∇f‖² within {100 * gradient:.1f}%; a step with η = {ETAS[-1]:g} flips "
        f"{surest:.3f} or more, over- and undercomplete, for ReLU and tanh.",
        header=("activation", "width", "quantity", "measured", "s.e.", "predicted", "limit"),
        rows=tuple(
            (
                name,
                RATIOS[r],
                what,
                *(float(x[i, j, k]) for x in (comparison.mean, comparison.error, finite)),
                float(limit[j, k]),
            )
            for i, r in enumerate(RATIOS)
            for j, name in enumerate(NAMES)
            for k, what in enumerate(labels)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}; {networks} networks a seed, one input each on the sphere of radius √d",
        figure=_figure(d, comparison.mean, comparison.error, predicted["lines"], limit),
        caption="The share of signs flipped by one step against its size η, one panel an activation: dots for p = 4d and "
        f"p = d/4 lie on the lines of the law at d = {d} (largest distance "
        f"{abs(comparison.mean[at] - finite[at]):.3f}), close to the "
        "crosses of the limit.",
        power=comparison[..., 1:].power(" of a probability"),
    )


def _figure(d: int, mean: np.ndarray, error: np.ndarray, lines: np.ndarray, limit: np.ndarray) -> str:
    with style.figure(len(NAMES), width=3.4, height=2.8) as (fig, axes):
        for j, (ax, name) in enumerate(zip(axes, NAMES, strict=True)):
            ax.plot(ETAS, limit[j, 1:], "x", color=style.INK, markersize=5, label="limit")
            for i, (r, colour) in enumerate(zip(RATIOS, style.COLOURS, strict=False)):
                ax.plot((0, *LINE), [0, *lines[i, j]], color=colour, linewidth=1)
                style.dots(ax, ETAS, mean[i, j, 1:], error[i, j, 1:], color=colour, label=RATIOS[r])
            ax.set_title(f"{random_networks.TITLES[name]},  d = {d}", loc="left")
            ax.set(xlabel="step size η", ylabel="share of signs flipped" if j == 0 else "", ylim=(0, 1.02))
        axes[0].legend(loc="lower right")
        return style.svg(fig)


CLAIM = claim("bubeck/flips", measure=measure, predict=predict, judge=judge)
