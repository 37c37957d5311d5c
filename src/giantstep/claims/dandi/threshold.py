"""A target of information exponent l is seen by one giant step from n ~ d^l samples on, and not before.

What is measured does not lean on the predicted share: the same expression at the initial overlaps that were drawn, less its mean,
only takes the luck of the draw out of the averages (a control variate).
"""

from typing import NamedTuple

import numpy as np

from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi.narrow import chain
from giantstep.claims.dandi.share import ACTIVATIONS, STRENGTH, TARGETS, limit, overlaps, setting, share_at
from giantstep.claims.margins import Margins
from giantstep.measure import mean_and_error
from giantstep.plot import style

SIZES = {
    "quick": ({1: (2**9, 2**12, 2**15), 2: (2**6, 2**8, 2**9), 3: (2**5, 2**6, 2**7)}, 14, 2**21),
    "full": ({1: (2**10, 2**14, 2**18), 2: (2**7, 2**9, 2**12), 3: (2**5, 2**7, 2**8)}, 24, 2**24),
}  # dimensions, seeds, largest batch
RATIOS = (1 / 16, 1 / 4, 1, 4)  # n / d^l
GRID = (-8.0, 6.0, 561)  # of log(n / d^l), where the limit is predicted
SEEN = 0.2  # share of a neuron from which on the scale of n is read off: below, chance counts, of order 1/d
MARGINS = Margins(level=3.0, granted=0.05, needed=1.0)  # of a power of d: 1 is the next order


def curves(size: Size) -> list[tuple[int, int, list[int]]]:
    """Orders, dimensions and batch sizes."""
    sizes, _, most = SIZES[size]
    return [
        (order, d, [n for n in (round(x * d**order) for x in RATIOS) if 4 <= n <= most])
        for order, each in sizes.items()
        for d in each
    ]


def measure(size: Size) -> Data:
    """Shares of the neurons along the target, (batch sizes, seeds) for every curve, and the initial overlaps, (seeds, p)."""
    seeds = SIZES[size][1]
    return {
        "shares": [
            np.stack([chain(setting(order, d, n), seeds).captured[:, 0] for n in batches])
            for order, d, batches in curves(size)
        ],
        "initial": [overlaps(order, d, seeds) for order, d, _ in curves(size)],
    }


def predict(size: Size) -> Data:
    """The exponents, the limit of the share on the grid, and its mean at every d and batch size of a curve."""
    x = np.exp(np.linspace(*GRID))
    return {
        "exponents": [float(order) for order in TARGETS],
        "limits": [limit(order, x) for order in TARGETS],
        "means": [limit(order, np.array(n) / float(d) ** order, d) for order, d, n in curves(size)],
    }


class ShareCurve(NamedTuple):
    """Shares of the neurons along the target for one l and d, (batch sizes, seeds), the luck of the draw taken out."""

    order: int
    d: int
    sizes: np.ndarray
    shares: np.ndarray
    limit: np.ndarray  # on the grid

    def limit_at(self, n: np.ndarray) -> np.ndarray:
        return np.interp(np.log(n) - self.order * np.log(self.d), np.linspace(*GRID), self.limit)

    def scale(self, seeds: np.ndarray) -> float:
        """log of the n_c at which the mean share of these seeds is closest to share = limit(n / n_c); nan if all stay low."""
        mean, error = self.shares[:, seeds].mean(1), self.shares.std(1)
        visible = self.shares.mean(1) > SEEN
        if not np.any(visible):
            return float("nan")
        shift = np.linspace(-2, 2, 401)
        gap = self.limit_at(self.sizes[visible] / np.exp(shift[:, None])) - mean[visible]
        return float(self.order * np.log(self.d) + shift[np.argmin(np.sum((gap / error[visible]) ** 2, axis=1))])


def exponent(curves: list[ShareCurve]) -> tuple[float, float]:
    """Slope of log n_c against log d, and its standard error over seeds."""
    rng, count = np.random.default_rng(0), curves[0].shares.shape[1]
    x = np.log([c.d for c in curves])
    slope = lambda seeds: np.polyfit(x, [c.scale(seeds) for c in curves], 1)[0]  # noqa: E731
    again = [slope(rng.integers(0, count, count)) for _ in range(200)]
    return float(slope(np.arange(count))), float(np.std(again))


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    """Whether the exponents are l."""
    sizes, seeds, _ = SIZES[size]
    orders, limits = list(sizes), dict(zip(TARGETS, predicted["limits"], strict=True))
    found = []
    for (order, d, n), shares, g, mean in zip(
        curves(size), measured["shares"], measured["initial"], predicted["means"], strict=True
    ):
        luck = share_at(order, np.array(n) / float(d) ** order, g).mean(2) - mean[:, None]
        found.append(ShareCurve(order, d, np.array(n), shares - luck, limits[order]))
    powers = [exponent([c for c in found if c.order == order]) for order in orders]
    compared = list(zip(powers, predicted["exponents"], strict=True))
    wrong = [k for (value, error), k in compared if not abs(value - k) <= max(MARGINS.level * error, MARGINS.granted)]
    sure = all(power.detectable(error, MARGINS.level, MARGINS.granted) < MARGINS.needed for _, error in powers)
    rows = [row for c in found for row in _rows(c)]
    gap, gap_se = max(((abs(r[4] - r[6]), r[5]) for r in _high(rows, sizes, -1)), default=(np.nan, np.nan))
    gaps = [[abs(r[4] - r[6]) for r in _high(rows, sizes, i)] for i in (0, -1)]
    words = ", ".join(f"{value:.2f} ± {error:.2f} (ℓ = {k})" for k, (value, error) in zip(orders, powers, strict=True))
    return Verdict(
        outcome="fails" if wrong else ("holds" if sure else "inconclusive"),
        sentence=f"The batch at which a neuron turns to the target grows as d to the {words}. Against n/d^ℓ the curves of all d "
        f"fall on one: shares above {SEEN:g} at the largest d are within {gap:.3f} ± {gap_se:.3f} of the predicted limit.",
        header=("ℓ", "d", "n", "log n / log d", "share", "s.e.", "limit"),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes="; ".join(f"ℓ = {k}: d = {', '.join(map(str, v))}" for k, v in sizes.items())
        + f"; one step, p = 4, signs, pairs; s = {STRENGTH:g} d^((ℓ−1)/2)",  # noqa: RUF001
        figure=_figure(found),
        caption="Share of a neuron along the target against log n / log d for three d, one panel each for ℓ = 1, 2, 3, over the "
        f"predicted limit. Curves of all d should cross at ℓ; the powers of d at which they turn up are {words}.",
        power=power.stated(
            [error for _, error in powers], MARGINS.level, MARGINS.granted, " in an exponent", seeds=seeds
        ),
        trend="Shares are "
        + " and ".join(
            f"{np.mean(g):.3f} ({'smallest' if i == 0 else 'largest'} d)" for i, g in enumerate(gaps) if len(g)
        )
        + f" from the limit on average where they are above {SEEN:g}.",
        settings=tuple(setting(k, v[-1], v[-1] ** k).id for k, v in sizes.items()),
    )


def _rows(c: ShareCurve) -> list[tuple]:
    columns = zip(c.sizes, *mean_and_error(c.shares), c.limit_at(c.sizes), strict=True)
    return [
        (c.order, c.d, int(n), float(np.log(n) / np.log(c.d)), float(m), float(e), float(t)) for n, m, e, t in columns
    ]


def _high(rows: list[tuple], sizes: dict[int, tuple[int, ...]], i: int) -> list[tuple]:
    """Those of every order's i-th d whose share is high enough to be seen."""
    return [r for r in rows if r[1] == sizes[r[0]][i] and r[4] > SEEN]


def _figure(curves: list[ShareCurve]) -> str:
    """Share against log n / log d for every d, over the limit in n / d^l; the curves cross at l."""
    with style.figure(len(TARGETS), width=2.9, height=2.9) as (fig, axes):
        for ax, order in zip(axes, TARGETS, strict=True):
            for i, c in enumerate(c for c in curves if c.order == order):
                mean, error = mean_and_error(c.shares)
                fine = np.geomspace(c.sizes[0], c.sizes[-1], 60)
                ax.plot(np.log(fine) / np.log(c.d), c.limit_at(fine), color=style.COLOURS[i])
                style.dots(ax, np.log(c.sizes) / np.log(c.d), mean, error, color=style.COLOURS[i], label=f"d = {c.d}")
            ax.axvline(order, color=style.INK, linewidth=0.8, linestyle=":")
            ax.set(xlabel="log n / log d", ylim=(0, 1))
            ax.set_title(f"$\\ell = {order}$, {ACTIVATIONS[order]}", loc="left")
            ax.legend(loc="upper left")
        axes[0].set_ylabel("share of a neuron along the target")
        return style.svg(fig)


CLAIM = claim("dandi/threshold", measure=measure, predict=predict, judge=judge)
