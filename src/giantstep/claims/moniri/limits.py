"""What free directions g, ..., g^l add to random features: the published limits of the improvements."""

from itertools import product
from typing import Any, NamedTuple

import numpy as np

from giantstep.checks import cache
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.power import decided, detectable, stated
from giantstep.claims import paired
from giantstep.claims.claim import claim
from giantstep.claims.moniri import free, talk
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.theory.limits import bulk
from giantstep.theory.limits import gains as published

SIZES = {"quick": ((100, 200, 400), (320, 160, 80)), "full": ((250, 500, 1000), (800, 400, 200))}
SURE = 3.0  # standard errors
NEEDED = 0.3  # of a limit: a departure that must be seen
COLUMNS = ("training loss", "test error")
SQUARE: dict[str, Any] = {"markersize": 6.5, "markerfacecolor": "white"}


def limit(order: int) -> tuple[float, float]:
    """The published gains in training loss and test error for l = ``order``, at the talk's ratios."""
    target = free.targets()[order - 1]
    setting = talk.experiment(1000, 0.0, target, activation=free.ACTIVATION)
    of = bulk.shape(setting.network.activation, 1000, setting.d, setting.p)
    coefficients = [float(target.hermite.get((k,), 0.0)) for k in range(order + 1)]
    rho = published.direction(of.phi, coefficients[1], target.power + target.noise**2).cosine
    gains = published.improvements(of, paired.PENALTY, coefficients, rho, range(1, order + 1))
    return float(gains.objective), float(gains.test)


class Limit(NamedTuple):
    """One row of the table: the published limit, and what the measured gains tend to."""

    order: int
    what: str
    published: float
    value: float
    error: float
    distance: float
    slope: float


def measure(size: Size) -> Data:
    """The gains of l = 1, 2, 3 free directions, for every n (seeds, l, errors)."""
    return {
        "gains": [
            np.array(cache.each(free.gains, [(n, seed) for seed in range(seeds)]))
            for n, seeds in zip(*SIZES[size], strict=True)
        ]
    }


def predict(size: Size) -> Data:
    """The published limits, (l, errors), whatever the size."""
    return {"limits": np.array([limit(order) for order in (1, 2, 3)])}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    sizes, seeds = SIZES[size]
    means, errors = (np.array(x) for x in zip(*(mean_and_error(v, axis=0) for v in measured["gains"]), strict=True))
    rows = []
    for i, j in product(range(3), range(2)):
        value, se, slope = free.extrapolate(sizes, means[:, i, j], errors[:, i, j])
        published = float(predicted["limits"][i, j])
        rows.append(Limit(i + 1, COLUMNS[j], published, value, se, (value - published) / se, slope))
    misses, shares = [r for r in rows if abs(r.distance) > SURE], [r.error / r.published for r in rows]
    worst, steep = max(rows, key=lambda r: abs(r.distance)), max(rows, key=lambda r: abs(r.slope) / r.published)
    gaps = [max(abs(means[i, r.order - 1, COLUMNS.index(r.what)] / r.published - 1) for r in rows) for i in (0, -1)]
    return Verdict(
        outcome=decided(bool(misses), detectable(max(shares), SURE), NEEDED),
        sentence=f"{len(rows) - len(misses)} of {len(rows)} gains, followed along 1/n to infinite n, agree with the "
        f"published limits within {SURE:g} s.e.; the furthest is {worst.value:.4f} ± {worst.error:.4f} against "
        f"{worst.published:.4f} ({worst.distance:+.1f} s.e., {worst.what}, ℓ = {worst.order}). The largest finite-size "
        f"correction is {steep.slope:+.1f}/n ({steep.what}, ℓ = {steep.order}).",
        header=("ℓ", "error", "limit", "measured", "s.e.", "distance in s.e.", "times 1/n"),
        rows=tuple(rows),
        seeds=", ".join(f"0-{s - 1}" for s in seeds),
        sizes=f"n = {', '.join(map(str, sizes))}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(sizes, means, errors, rows),
        caption="Gains in training loss (left) and test error (right) against 1/n for ℓ = 1, 2, 3, with straight lines "
        "through them that end at 1/n = 0 on the published limits: "
        + ", ".join(f"{r.value:.3f} at {r.published:.3f} (ℓ = {r.order}, {r.what})" for r in rows)
        + ".",
        settings=tuple(
            talk.experiment(n, 0.0, t, activation=free.ACTIVATION).id for n in sizes for t in free.targets()
        ),
        power=stated(shares, SURE, unit="% of a limit", scale=100),
        trend=f"The gains are within {gaps[0]:.0%} of the limits at n = {sizes[0]} and within {gaps[1]:.0%} at n = {sizes[-1]}; "
        f"followed to infinite n, within {max(abs(r.value / r.published - 1) for r in rows):.1%}.",
    )


def _figure(sizes: tuple[int, ...], means: np.ndarray, errors: np.ndarray, rows: list[Limit]) -> str:
    """The gains against 1/n, the lines through them, and the published limits."""
    x = 1 / np.array(sizes)
    ends = np.array([0.0, 1.08 * x[0]])
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for row in rows:
            i, j = row.order - 1, COLUMNS.index(row.what)
            ax, colour = axes[j], style.COLOURS[i]
            ax.plot(ends, row.value + row.slope * ends, color=colour, linewidth=1.0)
            ax.axhline(row.published, color=colour, linestyle=":", linewidth=1.0)
            style.dots(ax, x, means[:, i, j], errors[:, i, j], color=colour, label=f"ℓ = {row.order}")
            ax.plot(0, row.published, "s", color=colour, **SQUARE, clip_on=False, zorder=5)
            ax.set(xlabel="1/n", ylabel=f"gain in {row.what}", xlim=(0, ends[1]))
            ax.set_xticks([0.0, *x], ["0", *(f"1/{n}" for n in sizes)])
        axes[0].plot([], [], ":s", color=style.INK, **SQUARE, label="published limit")
        axes[0].plot([], [], color=style.INK, linewidth=1.0, label="line in 1/n")
        axes[0].legend(loc="upper right", ncols=2)
        for ax, room in zip(axes, (1.45, 1.05), strict=True):
            ax.set_ylim(0, room * max(r.published for r in rows if r.what == COLUMNS[ax is axes[1]]))
        return style.svg(fig)


CLAIM = claim("moniri/limits", measure=measure, predict=predict, judge=judge)
