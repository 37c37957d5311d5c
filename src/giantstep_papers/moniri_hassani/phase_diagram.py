"""The phase diagram: how many outliers the first layer has for every pair of exponents.

The exponents are those of the step sizes.
"""

from collections.abc import Callable
from functools import partial
from typing import Any

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
)
from giantstep.plot import style
from giantstep.plot.formula import rounded
from giantstep_papers.moniri_hassani import layers, limit

CLAIM = Claim(
    order=3,
    quote="We show that the number of the outliers is determined by the parameters α₁, α₂ through "
    "⌊α₂/(1/2 − α₁)⌋.",
    place="abstract only",
    kind="asymptotic limit",
    statement="The number of the outliers is determined by α₁ and α₂ through ⌊α₂/(1/2 − α₁)⌋.",
    where="the number of outliers over the plane of exponents. We count the first step's own "
    "outlier too, so the number is 1 + ⌊α₂/(1/2 − α₁)⌋; the abstract does not say whether it "
    "does",
    how="We count the cells, off the lines where the formula jumps, that have the formula's "
    "number of outliers. At hand the number is measured, on fresh batches and on one batch "
    "used twice. In the limit it is that of our signal matrix at N = 10¹², beside 10⁶ and "
    "10⁹, on fresh batches. giantstep/signal-matrix compares that matrix with networks.",
    judges=(
        Judge(
            "share of cells with the formula's number",
            side="above",
            margin=0.1,
            departure=0.3,
            because="the cells at the largest α₁, where p^(α₁ − 1/2) vanishes slowly",
        ),
    ),
    seeds={"quick": Seeds(8, 30), "full": Seeds(8, 30)},
)

ALPHAS1 = {"quick": (0.0, 0.15, 0.3, 0.4), "full": (0.0, 0.1, 0.2, 0.3, 0.4)}
ALPHAS2 = {
    "quick": (0.1, 0.2, 0.3, 0.4, 0.45),
    "full": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45),
}
BATCHES = {"fresh": "fresh batches", "reuse": "one batch twice"}
DIMENSIONS = {"quick": 60, "full": 200}
FAR = (1e6, 1e9, 1e12)  # widths at which the signal matrix is followed; the last is judged


def _spectra(function: Callable[..., Data], size: Size, seeds: range) -> Data:
    """Values and thresholds, (batches, first exponents, second exponents, ..., seeds).

    Second steps share one gradient.
    """
    cells = [[((DIMENSIONS[size], a, ALPHAS2[size], b),) for a in ALPHAS1[size]] for b in BATCHES]
    found = cache.over(function, cells, seeds)
    return {key: found[key] for key in ("values", "thresholds")}


measure, predict_draws = partial(_spectra, layers.measured), partial(_spectra, layers.predicted)


def predict(size: Size) -> Data:
    """The number by the signal matrix at widths far beyond those measured.

    It is (widths, first exponents, second exponents).
    """
    far = [
        [[limit.count(width, a, b) for b in ALPHAS2[size]] for a in ALPHAS1[size]] for width in FAR
    ]
    return {"far": np.array(far)}


def shares(size: Size, predicted: Data) -> list[float]:
    """The share of cells off its lines that have the formula's number, at every width."""
    said, off = formula(size)
    return [float(np.mean(counts[off] == said[off])) for counts in predicted["far"]]


def formula(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """1 + floor(alpha_2/(1/2 - alpha_1)), and the cells that are on no line of it.

    The first step's own outlier is included.
    """
    ratio = np.array(ALPHAS2[size]) / (0.5 - np.array(ALPHAS1[size]))[:, None]
    return 1 + np.floor(ratio + 1e-9).astype(int), np.abs(ratio - np.round(ratio)) > 1e-9


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The formula's number in the cells off its lines.

    It is measured, and in the limit that of the signal matrix.
    """
    said, off = formula(size)
    reached = np.mean(layers.counts(measured)[:, off] == said[off][:, None], axis=(0, 1))
    what, judge = "share of cells with the formula's number", judging(CLAIM, size)
    last = shares(size, predicted)[-1:]
    far = judge(f"{what} at N = {FAR[-1]:.0e}", last, 1.0, by=what, noisy=False)
    return Evidence((judge(what, reached[None], 1.0),), limit=(far,))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, (said, off) = DIMENSIONS[size], formula(size)
    counts, expected = layers.counts(measured), layers.counts(predicted)
    reached = np.mean(counts[:, off] == said[off][:, None])
    near, *_, far = shares(size, predicted)
    # the first correction: C1 p^(alpha_1 - 1/2)
    first = layers.CONSTANTS[0] * (layers.WIDTH * d) ** (ALPHAS1[size][-1] - 0.5)
    return Verdict(
        sentence=f"At p = {layers.WIDTH * d} the number of outliers is the formula's in "
        f"{reached:.0%} of the cells off its lines. By our signal matrix it is so in {far:.0%} of "
        f"them at N = {rounded(FAR[-1])}.",
        trend=f"By our signal matrix the share of such cells goes from {near:.0%} to {far:.0%} "
        f"between N = {rounded(FAR[0])} and {rounded(FAR[-1])}. At p = {layers.WIDTH * d} the "
        f"first correction to it is of relative order {first:.1f} where α₁ is largest.",
        header=("batch", "α₁", "α₂", "formula", f"N = {rounded(FAR[-1])}", "predicted", "measured"),
        rows=tuple(
            (
                BATCHES[b],
                ALPHAS1[size][j],
                ALPHAS2[size][k],
                int(said[j, k]),
                int(predicted["far"][-1, j, k]),
            )
            + tuple(float(x[i, j, k].mean()) for x in (expected, counts))
            for i, b in enumerate(BATCHES)
            for j, k in np.ndindex(said.shape)
        ),
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = "
        f"{layers.CONSTANTS[1]}",
        figure=_figure(size, counts.mean(axis=-1), predicted["far"][-1]),
        caption=f"The formula's number of outliers is there in {reached:.0%} of the cells at p = "
        f"{layers.WIDTH * d}, and by theory in {far:.0%} at N = {rounded(FAR[-1])}.",
        settings=tuple(
            layers.experiment(d, a, ALPHAS2[size], b).id for b in BATCHES for a in ALPHAS1[size]
        ),
    )


def _figure(size: Size, seen: np.ndarray, far: np.ndarray) -> str:
    """Numbers in cells of equal size, with steps between those of another number by the formula."""
    said, _ = formula(size)
    p = layers.WIDTH * DIMENSIONS[size]
    panels = {
        f"p = {p}, fresh": seen[0],
        f"p = {p}, reused": seen[1],
        f"theory, N = 10$^{{{np.log10(FAR[-1]):.0f}}}$": far,
        "formula": said,
    }
    with style.figure(2, 2, width=1.75, height=0.85 + 0.21 * len(ALPHAS2[size])) as (fig, axes):
        for ax, (title, counts) in zip(axes.ravel(), panels.items(), strict=True):
            _panel(ax, size, np.asarray(counts, dtype=float), said)
            ax.set_title(title, fontsize=8.5)
        for ax in axes[:, 0]:
            ax.set_ylabel("α₂")
        for ax in axes[1]:
            ax.set_xlabel("α₁")
        fig.legend(*axes[0, 0].get_legend_handles_labels(), loc="outside lower center")
        return style.svg(fig)


def _panel(ax: Any, size: Size, counts: np.ndarray, said: np.ndarray) -> None:
    """The numbers, and along the edges of the cells where the formula goes up."""
    shades = ax.imshow(counts.T, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=7)
    for (j, k), value in np.ndenumerate(counts):
        ink = "white" if shades.norm(value) > 0.6 else style.INK
        ax.text(j, k, f"{value:.2g}", ha="center", va="center", fontsize=8.5, color=ink)
    right, up = (np.argwhere(np.diff(said, axis=axis)) for axis in (0, 1))
    edges = [((j + 0.5,) * 2, (k - 0.5, k + 0.5)) for j, k in right]
    edges += [((j - 0.5, j + 0.5), (k + 0.5,) * 2) for j, k in up]
    for i, (x, y) in enumerate(edges):
        label = "where the formula goes up" if i == 0 else None
        ax.plot(x, y, color=style.COLOURS[1], linewidth=2, solid_capstyle="projecting", label=label)
    for which, alphas in (("x", ALPHAS1[size]), ("y", ALPHAS2[size])):
        getattr(ax, f"set_{which}ticks")(
            range(len(alphas)), [f"{a:g}" for a in alphas], fontsize=8.5
        )
    ax.tick_params(length=2)
