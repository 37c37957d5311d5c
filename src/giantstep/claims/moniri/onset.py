"""Spikes become visible at a step size that the finite-size prediction knows, far later than the limit's."""

import numpy as np
from scipy.optimize import brentq

import giantstep as gs
from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.compared import compare
from giantstep.checks.power import decided
from giantstep.claims.claim import claim
from giantstep.claims.moniri import predicted as spectra
from giantstep.claims.moniri import talk
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

SIZES = {"quick": ((500, 1000), 3), "full": ((500, 1000, 2000), 5)}
ALPHAS = {
    "quick": (0.06, 0.09, 0.12, 0.15, 0.18, 0.21, 0.28, 0.31, 0.34, 0.37, 0.40),
    "full": tuple(round(0.04 + 0.02 * i, 2) for i in range(20)),
}
LIMITS = (0.0, 0.25)  # the k-th spike of the limit appears at (k - 1)/(2k)
SLACK = 0.02  # in alpha, beyond the grid: what 2% of the edge and of ||beta|| are worth


def experiment(n: int, alphas: tuple[float, ...]) -> Setting:
    return spectra.experiment(n, tuple(float(n**a) for a in alphas))


def onset(n: int, k: int) -> float:
    """The least alpha at which the k-th outlier is predicted beyond the bulk edge by more than the edge's own fluctuation."""

    def beyond(alpha: float) -> float:  # outliers leave the edge as a square
        (law,) = spectra.laws(spectra.experiment(n, float(n**alpha)))
        place = law.outliers[k - 1].position / law.edge if len(law.outliers) >= k else 1.0
        return float(np.sqrt(max(place - 1, 0.0)) - np.sqrt(gs.measure.margin(law.count)))

    return float(brentq(beyond, LIMITS[k - 1] - 0.05, 0.49, xtol=1e-3))  # type: ignore[arg-type]


def counts(n: int, alphas: tuple[float, ...], seed: int) -> np.ndarray:
    """Number of outliers at every step size."""
    return np.array([len(gs.measure.outliers(v)) for v in spectra.values(experiment(n, alphas), seed)])


def measure(size: Size) -> Data:
    """Numbers of outliers, (sizes, seeds, step sizes)."""
    sizes, seeds = SIZES[size]
    runs = cache.each(counts, [(n, ALPHAS[size], seed) for n in sizes for seed in range(seeds)])
    return {"outliers": np.reshape(runs, (len(sizes), seeds, -1))}


def predict(size: Size) -> Data:
    """Onsets, (sizes, spikes)."""
    return {"onsets": np.array([[onset(n, k) for k in (1, 2)] for n in SIZES[size][0]])}


def bracket(alphas: tuple[float, ...], outliers: np.ndarray, k: int) -> tuple[float, float]:
    """The last step size at which a seed shows fewer than k outliers, and the next one; at an end of the grid, that end."""
    few = np.flatnonzero(outliers < k)
    last = int(few[-1]) if few.size else -1
    grid = (alphas[0], *alphas, alphas[-1])
    return float(grid[last + 1]), float(grid[last + 2])


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, seeds), alphas, onsets = SIZES[size], ALPHAS[size], predicted["onsets"]
    ends = np.array(
        [[[bracket(alphas, one, k) for one in outliers] for k in (1, 2)] for outliers in measured["outliers"]]
    )
    wide = (ends[..., 1] - ends[..., 0]).mean(axis=-1)
    comparison = compare(ends.mean(axis=-1), onsets, granted=SLACK + wide / 2)
    later = onsets - np.array(LIMITS)
    rows = [
        (
            n,
            k + 1,
            LIMITS[k],
            *(float(x[i, k]) for x in (onsets, comparison.mean, comparison.error, comparison.granted)),
        )
        for i, n in enumerate(sizes)
        for k in (0, 1)
    ]
    first, second = (", ".join(f"{r[3]:.3f} (n = {r[0]})" for r in rows if r[1] == k) for k in (1, 2))
    gaps = [f"from {later[0, k]:.3f} to {later[-1, k]:.3f}" for k in (0, 1)]
    return Verdict(
        outcome=decided(bool(np.any(comparison.missed)), float(np.max(comparison.seen - later)), 0.0),
        sentence=f"The first spike is predicted to show from alpha = {first} on and the second from {second}; the limit "
        f"says 0 and 1/4. {np.sum(~comparison.missed)} of {len(rows)} measured onsets lie there within the grid and {SLACK:g}, "
        f"the furthest {np.max(np.abs(comparison.mean - onsets)):.3f} away.",
        header=("n", "spike", "limit", "predicted onset", "measured", "s.e.", "granted"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; centred ReLU, rank-one update",
        figure=_figure(alphas, sizes, measured["outliers"], onsets),
        caption=f"Number of outliers against alpha for n = {', '.join(map(str, sizes))}: the measured dots climb the "
        f"predicted stairs, with steps at alpha = {first} and {second}, and not the limit's, with steps at 0 and 1/4.",
        settings=tuple(experiment(n, alphas).id for n in sizes),
        power=comparison.power(" in alpha"),
        trend=f"From n = {sizes[0]} to {sizes[-1]} the predicted distance of the onsets from the limit's falls {gaps[0]} (first "
        f"spike) and {gaps[1]} (second), the measured one from {comparison.mean[0, 0]:.3f} to "
        f"{comparison.mean[-1, 0]:.3f} and from "
        f"{comparison.mean[0, 1] - LIMITS[1]:.3f} to {comparison.mean[-1, 1] - LIMITS[1]:.3f}.",
    )


def _figure(alphas: tuple[float, ...], sizes: tuple[int, ...], counted: np.ndarray, onsets: np.ndarray) -> str:
    """Numbers of outliers against alpha over the predicted staircase, a panel a size; the limit's in grey."""
    with _style.figure(len(sizes), width=2.9 if len(sizes) > 1 else 4.2, height=2.7) as (fig, axes):
        panels = axes if len(sizes) > 1 else [axes]
        for ax, n, outliers, expected in zip(panels, sizes, counted, onsets, strict=True):
            for at, style in ((LIMITS, {"color": "0.65", "linestyle": "--"}), (expected, {"color": _style.INK})):
                label = "limit" if at is LIMITS else "predicted at this n"
                ax.plot([0, at[0], at[0], at[1], at[1], 0.45], [0, 0, 1, 1, 2, 2], label=label, **style)
            mean, error = mean_and_error(outliers, axis=0)
            _style.dots(ax, alphas, mean, error, color=_style.COLOURS[0], label="measured", zorder=3)
            ax.set(xlim=(-0.01, 0.45), yticks=(0, 1, 2), xlabel="exponent α of the step size")
            ax.set_title(f"n = {n}", loc="left")
            ax.set_ylabel("outliers" if ax is panels[0] else "")
        fig.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return _style.svg(fig)


CLAIM = claim("moniri/onset", measure=measure, predict=predict, judge=judge)
