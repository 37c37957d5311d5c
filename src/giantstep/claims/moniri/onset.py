"""Spikes become visible at a step size that the finite-size prediction knows, far later than the limit's."""

from typing import TYPE_CHECKING

from giantstep.claims.moniri import predicted, talk
from giantstep.lab.verdict import Claim, Size, Verdict

if TYPE_CHECKING:
    import numpy as np

SIZES = {"quick": ((500, 1000), 3), "full": ((500, 1000, 2000, 4000), 5)}
ALPHAS = {
    "quick": (0.06, 0.09, 0.12, 0.15, 0.18, 0.21, 0.28, 0.31, 0.34, 0.37, 0.40),
    "full": tuple(round(0.04 + 0.02 * i, 2) for i in range(20)),
}
LIMITS = (0.0, 0.25)  # the k-th spike of the limit appears at (k - 1)/(2k)
SLACK = 0.02  # in alpha, beyond the grid: what 2% of the edge and of ||beta|| are worth


def onset(n: int, k: int) -> float:
    """The least alpha at which the k-th outlier is predicted beyond the bulk edge by more than the edge's own fluctuation."""
    import numpy as np
    from scipy.optimize import brentq

    from giantstep import measure

    def beyond(alpha: float) -> float:  # outliers leave the edge as a square
        (law,) = predicted.laws(predicted.experiment(n, float(n**alpha)))
        place = law.outliers[k - 1].position / law.edge if len(law.outliers) >= k else 1.0
        return float(np.sqrt(max(place - 1, 0.0)) - np.sqrt(measure.margin(law.count)))

    return float(brentq(beyond, LIMITS[k - 1] - 0.05, 0.49, xtol=1e-3))  # type: ignore[arg-type]


def counts(n: int, alphas: tuple[float, ...], seeds: int) -> "np.ndarray":
    """Number of outliers, (seeds, step sizes)."""
    import numpy as np

    from giantstep import measure

    setting = predicted.experiment(n, tuple(float(n**a) for a in alphas))
    return np.array([[len(measure.outliers(v)) for v in predicted.values(setting, s)] for s in range(seeds)])


def bracket(alphas: tuple[float, ...], seen: "np.ndarray", k: int) -> tuple[float, float]:
    """The last step size at which most seeds show fewer than k outliers, and the next one."""
    import numpy as np

    few = np.flatnonzero(np.mean(seen >= k, axis=0) <= 0.5)
    last = int(few[-1]) if few.size else -1
    grid = (-np.inf, *alphas, np.inf)
    return float(grid[last + 1]), float(grid[last + 2])


def run(size: Size) -> Verdict:
    sizes, seeds = SIZES[size]
    alphas, rows, found, misses = ALPHAS[size], [], {}, 0
    for n in sizes:
        seen, expected = counts(n, alphas, seeds), [onset(n, k) for k in (1, 2)]
        found[n] = (seen, expected)
        for k, alpha in enumerate(expected, start=1):
            low, high = bracket(alphas, seen, k)
            misses += not low - SLACK <= alpha <= high + SLACK
            rows.append((n, k, LIMITS[k - 1], alpha, low, high))
    first, second = (", ".join(f"{r[3]:.3f} (n = {r[0]})" for r in rows if r[1] == k) for k in (1, 2))
    return Verdict(
        outcome="fails" if misses else "holds",
        sentence=f"The first spike is predicted to show from alpha = {first} on and the second from {second}; the limit says "
        f"0 and 1/4. {len(rows) - misses} of {len(rows)} onsets, by the majority of the seeds, lie there within the grid "
        f"and {SLACK:g}.",
        header=("n", "spike", "limit", "predicted onset", "not yet at", "most seeds at"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; centred ReLU, rank-one update",
        figure=_figure(alphas, found),
        settings=tuple(predicted.experiment(n, tuple(float(n**a) for a in alphas)).id for n in sizes),
    )


def _figure(alphas: tuple[float, ...], found: dict) -> str:
    """Numbers of outliers against alpha over the predicted staircase, a panel a size; the limit's in grey."""
    from giantstep import canvas
    from giantstep.measure import mean_and_error

    with canvas.figure(len(found), width=2.9 if len(found) > 1 else 4.2, height=2.7) as (fig, axes):
        panels = axes if len(found) > 1 else [axes]
        for ax, (n, (seen, expected)) in zip(panels, found.items(), strict=True):
            for at, style in ((LIMITS, {"color": "0.65", "linestyle": "--"}), (expected, {"color": canvas.INK})):
                label = "limit" if at is LIMITS else "predicted at this n"
                ax.plot([0, at[0], at[0], at[1], at[1], 0.45], [0, 0, 1, 1, 2, 2], label=label, **style)
            mean, error = mean_and_error(seen, axis=0)
            canvas.dots(ax, alphas, mean, error, color=canvas.COLOURS[0], label="measured", zorder=3)
            ax.set(xlim=(-0.01, 0.45), yticks=(0, 1, 2), xlabel="exponent α of the step size")
            ax.set_title(f"n = {n}", loc="left")
            ax.set_ylabel("outliers" if ax is panels[0] else "")
        fig.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return canvas.svg(fig)


ONSET = Claim(
    name="moniri/onset",
    statement="The k-th spike appears at a step size n^alpha with alpha = (k − 1)/(2k) in the limit; at finite n it shows far "
    "later, where the conditional theory says.",
    paper="moniri",
    where="the number of spikes in every regime of alpha, with our finite-size onsets",
    run=run,
)
