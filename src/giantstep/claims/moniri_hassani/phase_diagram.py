"""The phase diagram: how many outliers the first layer has for every pair of exponents of the step sizes."""

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import counted
from giantstep.claims.claim import claim
from giantstep.claims.moniri_hassani import layers
from giantstep.plot import style
from giantstep.theory.two_steps.predict import limit

ALPHAS1 = {"quick": (0.0, 0.15, 0.3, 0.4, 0.45), "full": (0.0, 0.1, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)}
ALPHAS2 = {"quick": (0.0, 0.1, 0.2, 0.3, 0.4, 0.45), "full": (0.0, 0.05, 0.1, 0.15, 0.2, 0.25, 0.3, 0.35, 0.4, 0.45)}
BATCHES = ("fresh", "reuse")
SIZES = {"quick": (100, 1), "full": (300, 2)}  # d and seeds
FEWEST = 20  # sharp layers from which the verdict says something


def _calls(size: Size) -> list[tuple]:
    d, seeds = SIZES[size]
    return [((d, a, ALPHAS2[size], b), seed) for b in BATCHES for a in ALPHAS1[size] for seed in range(seeds)]


def measure(size: Size) -> Data:
    """Spectra, (batches, first exponents, second exponents, ..., seeds); second step sizes share one gradient."""
    spectra = layers.joined(cache.each(layers.measured, _calls(size)), (len(BATCHES), len(ALPHAS1[size])))
    return {key: spectra[key] for key in ("values", "thresholds")}


def predict(size: Size) -> Data:
    spectra = layers.joined(cache.each(layers.predicted, _calls(size)), (len(BATCHES), len(ALPHAS1[size])))
    return {key: spectra[key] for key in ("values", "thresholds", "own")}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, seeds = SIZES[size]
    counts, expected = layers.counts(measured), layers.counts(predicted)
    agree, sharp = layers.agree(measured, predicted), layers.sharp(measured, predicted)
    limits = np.array([[limit(layers.experiment(d, a, b, BATCHES[0])) for b in ALPHAS2[size]] for a in ALPHAS1[size]])
    reached = np.mean(expected.mean(axis=-1) == limits)
    rows = tuple(
        (BATCHES[i], ALPHAS1[size][j], ALPHAS2[size][k], int(limits[j, k]))
        + tuple(float(x[i, j, k].mean()) for x in (expected, counts))
        for i, j, k in np.ndindex(expected.shape[:3])
    )
    outcome = "fails" if not np.all(agree) else "holds" if np.sum(sharp) >= FEWEST else "inconclusive"
    own = int(np.sum(np.asarray(predicted["own"]) > 0))
    return Verdict(
        outcome=outcome,
        sentence=f"The number of outliers is the predicted one in {np.sum(agree)} of {agree.size} layers, exactly in "
        f"{np.sum(counts == expected)}, {np.sum((counts == expected)[sharp])} of them among the {np.sum(sharp)} "
        f"without an outlier near the "
        f"edge. It grows with both exponents, from {expected.min()} to {expected.max()}; the limit's number is "
        f"reached in {reached:.0%} "
        f"of the cells at p = {4 * d}. In {own} layers shuffled initial weights alone are predicted to make an outlier.",
        header=("batch", "alpha1", "alpha2", "limit", "predicted", "measured"),
        rows=rows,
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, {layers.SHAPE}; {layers.SMOOTH}; C1 = {layers.CONSTANTS[0]}, C2 = {layers.CONSTANTS[1]}",
        figure=_figure(size, expected.mean(axis=-1), counts.mean(axis=-1)),
        caption="Number of outliers over the exponents of the two step sizes, predicted (left) and measured (right), on fresh "
        "batches (above) and on one batch used twice (below). The lines are where the limit's number, 1 plus the integer part of "
        "α₂/(1/2 − α₁), goes up by one; at finite size the steps come later, most of all in the upper right corner.",
        settings=tuple(layers.experiment(d, a, ALPHAS2[size], b).id for b in BATCHES for a in ALPHAS1[size]),
        power=counted(int(np.sum(sharp)), "layers whose number has to be exact"),
    )


def _figure(size: Size, expected: np.ndarray, seen: np.ndarray) -> str:
    """Numbers in a grid of cells, shaded, with the limit's lines alpha_2 = m (1/2 - alpha_1)."""
    x, y = np.array(ALPHAS1[size]), np.array(ALPHAS2[size])
    with style.figure(2, 2, width=3.4, height=2.9) as (fig, axes):
        for i, batch in enumerate(BATCHES):
            for ax, counts, name in zip(axes[i], (expected[i], seen[i]), ("predicted", "measured"), strict=True):
                ax.pcolormesh(*_corners(x, y), counts.T, cmap="Blues", vmin=0, vmax=6)
                for (j, k), value in np.ndenumerate(counts):
                    ax.text(x[j], y[k], f"{value:.2g}", ha="center", va="center", fontsize=8, color=style.INK)
                for m in range(1, 6):
                    fine = np.linspace(0, 0.5, 50)
                    ax.plot(fine, m * (0.5 - fine), color=style.COLOURS[1], linewidth=1.0)
                (left, right), (low, high) = ((c[0], c[-1]) for c in _corners(x, y))
                ax.set(xlim=(left, right), ylim=(low, high), xlabel="α₁", ylabel="α₂")
                ax.set_title(
                    f"{'fresh batches' if batch == 'fresh' else 'one batch twice'}, {name}", loc="left", fontsize=9
                )
        return style.svg(fig)


def _corners(*values: np.ndarray) -> list[np.ndarray]:
    """Borders of cells around the values."""
    middles = [(v[1:] + v[:-1]) / 2 for v in values]
    return [np.concatenate([[2 * v[0] - m[0]], m, [2 * v[-1] - m[-1]]]) for v, m in zip(values, middles, strict=True)]


CLAIM = claim("moniri_hassani/phase-diagram", measure=measure, predict=predict, judge=judge)
