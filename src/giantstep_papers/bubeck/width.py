"""Width does not protect: at widths of d^2 and d^3 one step flips the sign of nearly all inputs."""

from functools import partial

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
from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.bubeck import random_networks
from giantstep_papers.bubeck.flips import CERTAIN

CLAIM = Claim(
    order=4,
    quote="where the number of neurons is larger than the dimension (yet also subexponential in the"
    " dimension). […] a single step of gradient descent suffices. We also show this result "
    "for any subexponential width random neural network with smooth activation function.",
    place="abstract",
    kind="theorem",
    statement="A single step of gradient descent suffices where the number of neurons is larger "
    "than the dimension, yet subexponential in it, and for any subexponential width with smooth "
    "activation function.",
    where="the theorems on smooth activations and on overcomplete ReLU networks, at widths that "
    "are powers of d",
    how="We count the signs that a step of a fixed size flips, at three d with p = d² and d³ "
    "neurons, for tanh and ReLU. Their share must be at least 0.9. The step is that of "
    "bubeck/flips. A linear network with the same output serves as control variate.",
    judges=(
        Judge(
            "share flipped",
            side="above",
            margin=(0.04, 0.02),
            departure=(0.12, 0.06),
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(30, 120), "full": Seeds(60, 450)},
)

NAMES = ("tanh", "relu")
ETA = 3.0
SIZES = {"quick": (16, 24, 36), "full": (16, 32, 64)}  # d
POWERS = (2, 3)  # the width is d to these


def measure(size: Size, seeds: range) -> Data:
    """Shares of flips, (d, powers, activations, seeds)."""
    cases = [[(d, d**power, NAMES, (ETA,), 1) for power in POWERS] for d in SIZES[size]]
    return {"flips": cache.over(random_networks.steps, cases, seeds)[..., 1, :]}


def predict(size: Size) -> Data:
    """The same by the law of the ray: ticks of the figure."""
    laws = random_networks.laws(
        [(name, d, d**power) for d in SIZES[size] for power in POWERS for name in NAMES]
    )
    flips = np.array([law.flips(np.array([ETA]))[0] for law in laws])
    return {"flips": flips.reshape(len(SIZES[size]), len(POWERS), len(NAMES))}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The share of flips at every dimension and width."""
    at = [
        f"d = {d}, p = d^{k}, {random_networks.TITLES[name]}"
        for d in SIZES[size]
        for k in POWERS
        for name in NAMES
    ]
    found = measured["flips"].reshape(len(at), -1)
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge(f"share flipped by η = {ETA:g}", found, CERTAIN, by="share flipped", at=at)
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    mean, error = mean_and_error(measured["flips"])
    return Verdict(
        sentence=f"A single step flips {100 * mean.min():.0f}% to {100 * mean.max():.0f}% of the "
        f"signs. At the largest width it flips {100 * mean[-1, -1].min():.0f}% or more.",
        sizes=f"d = {', '.join(map(str, sizes))}; p = d² and d³; a network a seed with "
        f"{random_networks.INPUTS} inputs",
        figure=_figure(size, mean, error, predicted["flips"]),
        caption=f"Width does not protect: one step flips {100 * mean.min():.0f}% or more of the "
        "signs at every width.",
    )


def _figure(size: Size, mean: np.ndarray, error: np.ndarray, predicted: np.ndarray) -> str:
    """Shares of flips, a row for each width, the narrowest on top."""
    places = sorted(np.ndindex(mean.shape[:2]), key=partial(_width, SIZES[size]))
    with style.figure(width=style.COLUMN, height=rows.height(len(places)) + 0.2) as (fig, ax):
        for row, at in enumerate(places):
            for j, mark in enumerate("os"):
                beside, colour = 0.36 * (j - 0.5), style.COLOURS[j]
                rows.tick(ax, row, predicted[at][j], beside=beside, reach=0.17, color=colour)
                rows.interval(
                    ax, row, mean[at][j], error[at][j], beside=beside, color=colour, marker=mark
                )
        rows.name_rows(ax, [f"p = {SIZES[size][i]}{'²³'[k]}" for i, k in places])
        least = CERTAIN - judging(CLAIM, size).tolerance("share flipped").margin
        ax.axvspan(least, CERTAIN, color=style.INK, alpha=0.1, linewidth=0)
        ax.axvline(CERTAIN, color=style.INK, linestyle=":", linewidth=1)
        ax.set_xlim(min(ax.get_xlim()[0], least - 0.05), 1.0)
        ax.set_xlabel(f"share of signs flipped, η = {ETA:g}")
        explain_below(
            fig,
            [
                *(
                    entry(random_networks.TITLES[n], "os"[j], color=style.COLOURS[j])
                    for j, n in enumerate(NAMES)
                ),
                entry("law of the ray", "|", markersize=9),
                entry("share to reach", linestyle=":", linewidth=1),
                rows.margin_entry("its margin"),
            ],
        )
        return style.svg(fig)


def _width(sizes: tuple[int, ...], place: tuple[int, int]) -> int:
    """The width at a dimension and a power."""
    return sizes[place[0]] ** POWERS[place[1]]
