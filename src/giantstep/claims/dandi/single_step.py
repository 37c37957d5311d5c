"""The figure of one giant step on deflated labels: its printed errors again, and the risk behind them."""

from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.dandi import deflated
from giantstep.claims.dandi.deflated import FORMULA, N_TEST, D, P, experiment
from giantstep.plot import style

EXPONENTS = (1.3, 1.65, 2.0)  # log n / log d
PRINTED = ((0.33600, 0.00632), (0.20675, 0.00589), (0.07742, 0.00208))  # mean and spread of ten batches of one network
SEEDS = {"quick": (2, 1, 0), "full": (10, 10, 10)}
LEVEL = 3.0  # standard errors
ENOUGH = 0.5  # of a printed error: what the test should see
RANDOM = {"quick": (1, 1, 0), "full": (10, 4, 2)}  # seeds of random features


def measure(size: Size) -> Data:
    """For every n the error as printed and the risk, (seeds, 2), and the mean risk of random features; no more seeds at "
    "larger n."""
    seeds = SEEDS[size]
    jobs = [
        (tuple(int(D**e) for e, k in zip(EXPONENTS, seeds, strict=True) if s < k), D, P, s, N_TEST)
        for s in range(max(seeds))
    ]
    runs = cache.each(deflated.both, jobs)
    without = [experiment(int(D**e), D, P, 0) for e in EXPONENTS]
    return {
        "errors": [np.array([run[i] for run in runs[:count]]) for i, count in enumerate(seeds) if count],
        "random": [
            float(cache.simulate(without[i], range(count), dtype="float32", progress=False).risk.mean())
            for i, count in enumerate(RANDOM[size])
            if count
        ],
    }


def predict(size: Size) -> Data:
    """The printed means and spreads, and what random features and a network that knows only w1 + w2 have at best as d grows.

    w1 + w2 is all that labels as they are show to one step.
    """
    floor = gs.explain(FORMULA, batch="d", width="d").floor
    return {
        "printed": [mean for mean, _ in PRINTED],
        "spread": [spread for _, spread in PRINTED],
        "floors": [floor["random_features"], floor["network"]],
    }


class SingleStepRow(NamedTuple):
    """Errors at one n: printed, as it was printed again with its distance in s.e., the risk, and that of random features."""

    exponent: float
    n: int
    seeds: int
    printed: float
    again: float
    error: float
    distance: float
    risk: float
    risk_error: float
    random: float


def summary(values: np.ndarray, spread: float) -> tuple[float, float, float, float, float]:
    """Mean and s.e. of the error as printed, that of its distance from the printed one, mean and s.e. of the risk; (seeds, 2).

    The printed mean is that of ten batches of one network, so its own error has what our seeds spread beyond the batches once
    more: the spread between networks.
    """
    count = len(values)
    own = np.maximum(
        values.std(axis=0, ddof=1) if count > 1 else np.zeros(2), spread
    )  # of few seeds it is too small by chance
    mean, error = values.mean(axis=0), own / count**0.5
    apart = np.sqrt(error[0] ** 2 + spread**2 / 10 + own[0] ** 2 - spread**2)
    return tuple(map(float, (mean[0], error[0], apart, mean[1], error[1])))  # type: ignore[return-value]


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    rows, errors = [], []
    for i, (values, random) in enumerate(zip(measured["errors"], measured["random"], strict=True)):
        printed = predicted["printed"][i]
        again, error, apart, *risk = summary(values, predicted["spread"][i])
        distance = (again - printed) / apart
        at = (EXPONENTS[i], int(D ** EXPONENTS[i]), len(values))
        rows.append(SingleStepRow._make((*at, printed, again, error, distance, *risk, random)))
        errors.append(apart / printed)
    missed = [r for r in rows if abs(r.distance) > LEVEL]
    sure = all(power.detectable(error, LEVEL) < ENOUGH for error in errors)
    words = ", ".join(f"{r.again:.4f} ± {r.error:.4f} where {r.printed:.3f} is printed" for r in rows)
    risks = ", ".join(f"{r.risk:.4f} ± {r.risk_error:.4f}" for r in rows)
    most = max(rows, key=lambda r: abs(r.distance))
    left = "" if len(rows) == len(EXPONENTS) else " n = d² is left to the full size."
    names = (
        "log n / log d",
        "n",
        "seeds",
        "printed",
        "again",
        "s.e.",
        "distance in s.e.",
        "risk",
        "s.e.",
        "random features",
    )
    gaps = [f"{100 * (r.again / r.printed - 1):+.1f}% at n = d^{r.exponent:g}" for r in rows]
    return Verdict(
        outcome="fails" if missed else ("holds" if sure else "inconclusive"),
        sentence=f"At n = {', '.join(f'd^{r.exponent:g}' for r in rows)} the error is {words}: at most {abs(most.distance):.1f} "
        f"s.e. apart. The printed numbers take the linear part of the test labels from the test labels. The risk of the "
        f"prediction, with that of the training batch, is {risks}: the features mend part of its error. Random features "
        f"have {', '.join(f'{r.random:.3f}' for r in rows)}, and {predicted['floors'][0]:.3f} at best as d grows.{left}",
        header=names,
        rows=tuple(rows),
        seeds=f"0-{max(SEEDS[size]) - 1}",
        sizes=f"d = {D}, p = {P}, {N_TEST} test samples; products in float32",
        figure=_figure(rows, predicted),
        caption=f"Test error against log n / log d: printed means as bars, {len(rows)} of the three measured again. The error is "
        f"{words}; the risk is {risks}, that of random features {', '.join(f'{r.random:.3f}' for r in rows)}.",
        power=power.stated(errors, LEVEL, 0.0, "% of a printed error", scale=100, seeds=10),
        trend=f"The distance from the printed error is {', '.join(gaps)}.",
        settings=tuple(experiment(r.n, D, P).id for r in rows),
    )


def _figure(rows: list[SingleStepRow], predicted: Data) -> str:
    """Errors against log n / log d: as printed, again, and the risk; dotted, the floors."""
    with style.figure(width=4.8, height=3.4) as (fig, ax):
        ax.plot(EXPONENTS, predicted["printed"], "_", color=style.INK, markersize=30, label="printed", zorder=1)
        series: tuple[tuple[str, Any, Any], ...] = (
            ("as printed, again", [r.again for r in rows], [r.error for r in rows]),
            ("risk", [r.risk for r in rows], [r.risk_error for r in rows]),
        )
        for (label, y, error), colour, shift in zip(series, style.COLOURS, (-0.015, 0.015), strict=False):
            style.dots(ax, [r.exponent + shift for r in rows], y, error, color=colour, label=label)
        at = [r.exponent + 0.045 for r in rows]
        style.dots(ax, at, [r.random for r in rows], color=style.COLOURS[3], marker="s", label="random features")
        names = ("random features at best, as d grows", "$w_1 + w_2$ alone at best")
        for level, name in zip(predicted["floors"], names, strict=True):
            ax.axhline(level, color=style.INK, linewidth=0.8, linestyle=":", zorder=0)
            ax.annotate(name, (EXPONENTS[0] - 0.05, level), (0, -9), textcoords="offset points", fontsize=8)
        ax.set(
            xlabel="log n / log d",
            ylabel="test error",
            ylim=(0, 0.45),
            xlim=(EXPONENTS[0] - 0.06, EXPONENTS[-1] + 0.06),
        )
        ax.legend(loc="upper right", ncols=2)
        return style.svg(fig)


CLAIM = claim("dandi/single-step", measure=measure, predict=predict, judge=judge)
