"""A step of size √log(1/γ) fails with probability γ at most, also at a width that grows as d^2."""

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
from giantstep_papers.bubeck import random_networks

CLAIM = Claim(
    order=5,
    of="giantstep",
    statement="A step of size √(2v₀ log(1/γ))/v₁ flips the sign of a random network with "
    "probability at least 1 − γ, at widths that grow as the dimension and as its square.",
    where="Theorem 1 of arXiv:2104.03863, of which we could read the first sentence only; that "
    "√log(1/γ) is the size of the step in γ, and the constant √(2v₀)/v₁, are ours",
    how="We count the signs that the step does not flip, at p = 4d and p = d² and for three γ. "
    "Their share over γ must be at most 1. The share itself must be that of the law of the "
    "ray. A linear network with the same output serves "
    "as control variate.",
    judges=(
        Judge(
            "share not flipped over γ",
            side="below",
            margin=(0.1, 0.05),
            departure=(0.6, 0.3),
            because="terms of order 1/√d and the scatter of a share of a few hundredths",
        ),
        Judge(
            "share not flipped",
            margin=(0.03, 0.015),
            departure=(0.1, 0.05),
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(60, 400), "full": Seeds(100, 800)},
)

NAMES = ("relu", "tanh")
GAMMAS = (0.5, 0.2, 0.1)
# (d, p): p = 4d, and p = d^2
SIZES = {"quick": ((100, 400), (48, 2304)), "full": ((400, 1600), (100, 10_000))}


def sizes_of(name: str) -> tuple[float, ...]:
    """eta = sqrt(2 v0 log(1/gamma))/v1 for every gamma:
    in the limit P(failure) = 2 Phi(-eta v1/sqrt(v0)) is below gamma."""
    (law,) = random_networks.laws([(name, 1, 1)])
    return tuple(float(np.sqrt(2 * law.v0 * np.log(1 / gamma)) / law.v1) for gamma in GAMMAS)


def failures(name: str, d: int, p: int, seed: int) -> np.ndarray:
    """Shares of signs that steps of these sizes do not flip, (gammas)."""
    return 1 - random_networks.steps(d, p, (name,), sizes_of(name), 1, seed)[0, 1:]


def cells(size: Size) -> list[tuple[str, int, int]]:
    return [(name, *pair) for name in NAMES for pair in SIZES[size]]


def measure(size: Size, seeds: range) -> Data:
    """Shares that are not flipped, (cells, gammas, seeds)."""
    return {"failures": cache.over(failures, cells(size), seeds)}


def predict(size: Size) -> Data:
    """The same by the law of the ray."""
    every = cells(size)
    laws = zip(random_networks.laws(every), every, strict=True)
    shares = [1 - law.flips(np.array(sizes_of(name))) for law, (name, *_) in laws]
    return {"failures": np.array(shares)}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share that is not flipped is at most gamma, and that of the law of the ray."""
    found = measured["failures"]
    at = [
        f"{random_networks.TITLES[name]}, d = {d}, p = {p}, γ = {g:g}"
        for name, d, p in cells(size)
        for g in GAMMAS
    ]
    over = found / np.array(GAMMAS)[:, None]
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("share not flipped over γ", over, 1.0, at=at),
        judge("share not flipped", found, predicted["failures"], at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    mean, error = mean_and_error(measured["failures"])
    worst = float(np.max(mean / np.array(GAMMAS)))
    return Verdict(
        sentence=f"The step leaves at most {worst:.2f} γ of the signs unflipped, where γ is "
        f"allowed. {ruling.stated.sentence}",
        sizes="; ".join(f"d = {d}, p = {p}" for d, p in SIZES[size])
        + f"; a network a seed with {random_networks.INPUTS} inputs on the sphere of radius √d",
        figure=_figure(size, mean, error, predicted["failures"]),
        caption="At every γ the share of signs that stay is less than γ (dotted), at most "
        f"{worst:.2f} of it.",
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, lines: np.ndarray) -> str:
    with style.figure(width=4.6, height=3.2) as (fig, ax):
        for k, (name, d, p) in enumerate(cells(size)):
            label = f"{random_networks.TITLES[name]}, d = {d}, p = {p}"
            style.curve(
                ax, GAMMAS[::-1], lines[k][::-1], log="xy", color=style.COLOURS[k], linewidth=1
            )
            style.dots(
                ax, GAMMAS, mean[k], error[k], color=style.COLOURS[k], marker="osD^"[k], label=label
            )
        ax.plot(GAMMAS, GAMMAS, ":", color=style.INK, linewidth=1, label="γ")
        ax.set(xlabel="γ", ylabel="share of signs not flipped")
        ticks.logarithmic(ax, "x", GAMMAS)
        ticks.logarithmic(ax, "y", (0.05, 0.1, 0.2, 0.4))
        ax.legend(fontsize=8)
        return style.svg(fig)
