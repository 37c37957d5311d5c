"""The phase diagram: how many outliers the first layer has for every pair of exponents of the step sizes."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.claims.moniri_hassani import layers, limit
from giantstep.plot import style

ALPHAS1 = {"quick": (0.0, 0.15, 0.3, 0.4), "full": (0.0, 0.1, 0.2, 0.3, 0.4)}
ALPHAS2 = {"quick": (0.1, 0.2, 0.3, 0.4, 0.45), "full": (0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)}
BATCHES = {"fresh": "fresh batches", "reuse": "one batch twice"}
DIMENSIONS = {"quick": 60, "full": 200}
FAR = (1e6, 1e9, 1e12)  # widths at which the signal matrix is followed; the last is judged
SEEDS: dict[Size, Seeds] = {"quick": Seeds(8, 30), "full": Seeds(8, 30)}
STATED = Tolerance(0.1, 0.3)  # of a share of cells


def _spectra(function: Callable[..., Data], size: Size, seeds: range) -> Data:
    """Values and thresholds, (batches, first exponents, second exponents, ..., seeds); second steps share one gradient."""
    cells = [[((DIMENSIONS[size], a, ALPHAS2[size], b),) for a in ALPHAS1[size]] for b in BATCHES]
    found = cache.over(function, cells, seeds)
    return {key: found[key] for key in ("values", "thresholds")}


measure, predict_draws = partial(_spectra, layers.measured), partial(_spectra, layers.predicted)


def predict(size: Size) -> Data:
    """The number by the signal matrix at widths far beyond those measured, (widths, first exponents, second exponents)."""
    far = [[[limit.count(width, a, b) for b in ALPHAS2[size]] for a in ALPHAS1[size]] for width in FAR]
    return {"far": np.array(far)}


def shares(size: Size, predicted: Data) -> list[float]:
    """Of the cells off the formula's lines, those in which the signal matrix has its number, at every width."""
    said, off = formula(size)
    return [float(np.mean(counts[off] == said[off])) for counts in predicted["far"]]


def formula(size: Size) -> tuple[np.ndarray, np.ndarray]:
    """1 + floor(alpha_2/(1/2 - alpha_1)), the first step's own outlier included; and the cells that are on no line of it."""
    ratio = np.array(ALPHAS2[size]) / (0.5 - np.array(ALPHAS1[size]))[:, None]
    return 1 + np.floor(ratio + 1e-9).astype(int), np.abs(ratio - np.round(ratio)) > 1e-9


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The formula's number in the cells off its lines, as measured and in the limit by the signal matrix."""
    said, off = formula(size)
    reached = np.mean(layers.counts(measured)[:, off] == said[off][:, None], axis=(0, 1))
    what = "share of cells with the formula's number"
    return Evidence(
        (statistics.compare(what, reached[None], 1.0, side="above", within=STATED),),
        limit=(
            statistics.compare(
                f"{what} at N = {FAR[-1]:.0e}",
                shares(size, predicted)[-1:],
                1.0,
                side="above",
                noisy=False,
                within=STATED,
            ),
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, (said, off) = DIMENSIONS[size], formula(size)
    counts, expected = layers.counts(measured), layers.counts(predicted)
    reached = np.mean(counts[:, off] == said[off][:, None])
    reaches = ", ".join(f"{share:.0%}" for share in shares(size, predicted))
    first = layers.CONSTANTS[0] * (layers.WIDTH * d) ** (ALPHAS1[size][-1] - 0.5)  # C1 p^(alpha_1 - 1/2)
    return Verdict(
        sentence=f"At p = {layers.WIDTH * d} the number of outliers is the formula's in {reached:.0%} of the cells off its "
        f"lines. By our signal matrix it is so in {reaches} of them at N = 10⁶, 10⁹, 10¹². "
        f"The widths at hand are far from the limit: at "
        f"α₁ = {ALPHAS1[size][-1]:g} the first correction is of relative order {first:.1f}.",
        header=("batch", "α₁", "α₂", "formula", "N = 1e12", "predicted", "measured"),
        rows=tuple(
            (BATCHES[b], ALPHAS1[size][j], ALPHAS2[size][k], int(said[j, k]), int(predicted["far"][-1, j, k]))
            + tuple(float(x[i, j, k].mean()) for x in (expected, counts))
            for i, b in enumerate(BATCHES)
            for j, k in np.ndindex(said.shape)
        ),
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=_figure(size, expected.mean(axis=-1), counts.mean(axis=-1), predicted["far"][-1]),
        caption="Mean number of outliers over the exponents of the two step sizes, predicted by signal and null matrix and "
        "measured, on fresh batches (above) and on one batch used twice (below); on the right by the signal matrix at "
        "N = 10¹² (above) and by the formula (below). Lines are where the formula, 1 plus the integer part of "
        "α₂/(1/2 − α₁), goes up by one.",
        settings=tuple(layers.experiment(d, a, ALPHAS2[size], b).id for b in BATCHES for a in ALPHAS1[size]),
    )


def _figure(size: Size, expected: np.ndarray, seen: np.ndarray, far: np.ndarray) -> str:
    """Numbers in a grid of cells of equal size, shaded, with the formula's lines alpha_2 = m (1/2 - alpha_1)."""
    said, _ = formula(size)
    d = DIMENSIONS[size]
    panels = [
        (f"{name}, {what}, d = {d}", counts[i])
        for i, name in enumerate(BATCHES.values())
        for what, counts in (("predicted", expected), ("measured", seen))
    ]
    panels.insert(2, ("signal matrix, N = 10$^{12}$", far))
    panels.append(("formula (limit)", said))
    shades: Any = None
    with style.figure(3, 2, width=3.1, height=2.9) as (fig, axes):
        for ax, (title, counts) in zip(axes.ravel(), panels, strict=True):
            shades = _panel(ax, size, np.asarray(counts, dtype=float))
            ax.set_title(title, fontsize=9.5)
        fig.colorbar(shades, ax=axes, label="number of outliers", shrink=0.6)
        return style.svg(fig, below=1)


def _panel(ax: Any, size: Size, counts: np.ndarray) -> Any:
    """Cells at whole numbers; a line of the formula is drawn through the rows by interpolation of the exponents."""
    x, y = np.array(ALPHAS1[size]), np.array(ALPHAS2[size])
    shades = ax.imshow(counts.T, origin="lower", aspect="auto", cmap="Blues", vmin=0, vmax=7)
    for m in range(1, 5):
        fine = np.linspace(0, len(x) - 1, 60)
        height = m * (0.5 - np.interp(fine, range(len(x)), x))
        rows = np.interp(height, y, range(len(y)), left=np.nan, right=np.nan)
        label = "where the formula goes up by one" if m == 1 else None
        ax.plot(fine, rows, color=style.COLOURS[1], linewidth=1.2, linestyle=(0, (4, 2)), label=label)
    for (j, k), value in np.ndenumerate(counts):
        ax.text(
            j, k, f"{value:.2g}", ha="center", va="center", fontsize=9, color="white" if value > 4.5 else style.INK,
            bbox={"boxstyle": "round,pad=0.12", "facecolor": shades.cmap(shades.norm(value)), "edgecolor": "none"},
        )  # fmt: skip
    ax.set_xticks(range(len(x)), [f"{a:g}" for a in x])
    ax.set_yticks(range(len(y)), [f"{a:g}" for a in y])
    ax.set(xlabel="α₁", ylabel="α₂")
    return shades
