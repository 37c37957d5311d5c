"""One gradient step flips the sign of a random network with at least as many neurons as
dimensions."""

from itertools import pairwise

import numpy as np
from scipy.special import ndtr

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
from giantstep.plot import style
from giantstep_papers.bubeck import random_networks

CLAIM = Claim(
    order=1,
    quote="while |f(x)| ≈ 1 with high probability, a single gradient step on f […] suffices to find"
    " such adversarial examples, with roughly ‖δ‖ ≃ ‖x‖/√d = 1",
    place="introduction of arXiv:2104.03863",
    kind="theorem",
    statement="A single gradient step on f suffices to find adversarial examples, with roughly ‖δ‖ "
    "≃ ‖x‖/√d = 1.",
    where="the main theorems for ReLU and smooth activations with k ≥ d neurons; ReLU with fewer "
    "neurons is Daniely and Shacham's",
    how="We count the signs that steps of four sizes flip, for ReLU and tanh at p = d and 4d. "
    "Their share must rise with the step, and the largest step must flip 0.9 at least."
    " The length of that step must be at most 3, which we "
    "take as roughly one. A linear network with the same output serves as control variate.",
    judges=(
        Judge(
            "share flipped",
            side="above",
            margin=(0.04, 0.02),
            departure=(0.1, 0.05),
            because="terms of order 1/√d",
        ),
        Judge(
            "length of the largest step",
            side="below",
            margin=0.1,
            departure=0.5,
            because="terms of order 1/√d",
        ),
    ),
    seeds={"quick": Seeds(40, 160), "full": Seeds(100, 500)},
)

NAMES = ("relu", "tanh")
RATIOS = {4.0: "p = 4d", 1.0: "p = d"}  # ReLU with p below d is the case of Daniely and Shacham
ETAS = (0.5, 1.0, 2.0, 3.0)
LINE = tuple(0.25 * k for k in range(1, 13))  # where the lines of the figure are computed
DIMENSIONS = {"quick": 200, "full": 800}
CERTAIN = 0.9  # what "suffices to find" asks of the largest step
ONE = 3.0  # a length up to which ‖δ‖ is roughly ‖x‖/√d = 1


def measure(size: Size, seeds: range) -> Data:
    """Mean ||grad f||^2 and shares of flips, (widths, activations, 1 + etas, seeds)."""
    d = DIMENSIONS[size]
    cases = [(d, int(r * d), NAMES, ETAS, 1) for r in RATIOS]
    return {"found": cache.over(random_networks.steps, cases, seeds)}


def predict(size: Size) -> Data:
    """The same from the law of the ray; lines for the figure,
    and the limit 2 Phi(eta v1/sqrt(v0)) - 1 of the flips."""
    d, fine = DIMENSIONS[size], np.array(LINE)
    laws = random_networks.laws([(name, d, int(r * d)) for r in RATIOS for name in NAMES])
    lines = np.array([law.flips(fine) for law in laws])
    shares = lines[:, [LINE.index(eta) for eta in ETAS]]
    gradients = np.array([[law.gradient] for law in laws])
    limit = [2 * ndtr(np.array(ETAS) * law.v1 / law.v0**0.5) - 1 for law in laws[: len(NAMES)]]
    shape = (len(RATIOS), len(NAMES), -1)
    return {
        "found": np.concatenate([gradients, shares], axis=1).reshape(shape),
        "lines": lines.reshape(shape),
        "limit": np.array(limit),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The largest step flips nearly all, more than the shorter ones,
    and its length is of order one."""
    found = measured["found"]
    cases = [
        f"{random_networks.TITLES[name]}, {width}" for width in RATIOS.values() for name in NAMES
    ]
    at = [f"{case}, η = {one:g} to {other:g}" for case in cases for one, other in pairwise(ETAS)]
    rises = np.diff(found[:, :, 1:], axis=2)
    last, length = f"η = {ETAS[-1]:g}", "length of the largest step"
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge(f"share flipped by {last}", found[:, :, -1], CERTAIN, by="share flipped", at=cases),
        judge("share flipped, rise with the step", rises, 0.0, by="share flipped", at=at),
        judge(f"length of {last}", lengths(measured), ONE, by=length, at=cases),
    )


def lengths(measured: Data) -> np.ndarray:
    """Root mean square lengths of the largest step, (widths, activations, seeds)."""
    return ETAS[-1] * np.sqrt(measured["found"][:, :, 0])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, long = DIMENSIONS[size], lengths(measured).mean(axis=-1)
    mean, error = mean_and_error(measured["found"][:, :, 1:])
    return Verdict(
        sizes=f"d = {d}; a network a seed with {random_networks.INPUTS} inputs on the sphere of "
        "radius √d",
        sentence=f"The longest step flips {100 * mean[..., -1].min():.0f}% of the signs or more, "
        f"for both activations and widths. Its length is {long.max():.1f} at most, and ‖x‖ is "
        f"{d**0.5:.0f}.",
        figure=_figure(d, mean, error, predicted["lines"], predicted["limit"]),
        caption="A longer step flips more signs, as the law of the ray predicts, and the longest "
        f"flips {100 * mean[..., -1].min():.0f}% of them or more.",
    )


def _figure(
    d: int, mean: np.ndarray, error: np.ndarray, lines: np.ndarray, limit: np.ndarray
) -> str:
    with style.figure(len(NAMES), width=3.5, height=3.0) as (fig, axes):
        for j, (ax, name) in enumerate(zip(axes, NAMES, strict=True)):
            for i, (r, colour, marker) in enumerate(zip(RATIOS, style.COLOURS, "os", strict=False)):
                ax.plot(
                    (0, *LINE),
                    [0, *lines[i, j]],
                    color=colour,
                    linewidth=1,
                    label=f"law of the ray, {RATIOS[r]}",
                )
                look = {"color": colour, "marker": marker, "label": f"measured, {RATIOS[r]}"}
                style.dots(ax, ETAS, mean[i, j], error[i, j], **look)
            ax.plot((0, *ETAS), [0, *limit[j]], ":", color=style.INK, linewidth=1, label="limit")
            ax.set_title(f"{random_networks.TITLES[name]},  d = {d}")
            ax.set(
                xlabel="step size η",
                ylabel="share of signs flipped" if j == 0 else "",
                ylim=(0, 1.02),
            )
        axes[0].legend(loc="lower right")
        return style.svg(fig)
