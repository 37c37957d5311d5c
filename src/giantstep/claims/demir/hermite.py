"""On a mixture with spikes the activation can be replaced by a polynomial of the right order, and not by one of a smaller."""

from math import floor
from typing import NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.demir.conditional import difference, experiment, network, replaced, ticks
from giantstep.claims.margins import Margins
from giantstep.measure import mean_and_error
from giantstep.plot import style

CASES = ((0.0, 0.5), (0.5, 0.74), (0.0, 0.74), (0.0, 0.86))  # alpha, beta; the last is beyond 3/4
ORDERS = (
    2,
    4,
    6,
    8,
)  # l, the degree plus one; h_3 = h_5 = h_7 = 0 for relu, so that l - 1 is the same model from l = 4 on
NAMES = ("2", "3, 4", "5, 6", "7, 8")
SIZES = {"quick": ((160,), 12), "full": ((400, 800), 24)}  # n, and seeds; m = k = 5n/4
STRESS = (0.0, 0.74)  # where the linear model has to fail
WHAT = "test_error"
MARGINS = Margins(level=3.0, granted=5.0, needed=15.0)  # % of an error
LINEAR = 2


def even(order: int) -> int:
    """The order of ORDERS that is the same model."""
    return (order + 1) // 2 * 2


def measure(size: Size) -> Data:
    """By n: test errors of the network (cases, no step and the step, seeds), of the polynomials (cases, orders, seeds)."""
    (sizes, seeds), errors_of = SIZES[size], {}
    for n in sizes:
        relu = [("relu", *case) for case in CASES]
        models = [[replaced(n, case, seeds, "hermite", degree=order - 1)[WHAT] for case in relu] for order in ORDERS]
        errors_of[f"n = {n}"] = {
            "network": np.stack([network(n, case, seeds)[WHAT] for case in relu]),
            "models": np.stack(models, axis=1),
            "variance": [gs.labels(experiment(n, *case)).total for case in relu],
        }
    return errors_of


def predict(size: Size) -> Data:
    """The order l that theorem 4 calls for in every case, (l-2)/(l-1) < beta < (l-1)/l, by how many % the model of that order
    differs from the network as n grows, and the factor by which the linear one should at least be off."""
    return {"orders": [floor(1 / (1 - beta)) + 1 for _, beta in CASES], "difference": 0.0, "factor": 2.0}


class HermiteRow(NamedTuple):
    """``network`` and ``none``, without a step, as shares of the labels' variance; the model's difference in %."""

    n: int
    alpha: float
    beta: float
    order: int
    none: float
    network: float
    mean: float
    error: float

    def off(self, expected: float) -> bool:
        return abs(self.mean - expected) > max(MARGINS.level * self.error, MARGINS.granted)

    @property
    def wording(self) -> str:
        digits = 1 if abs(self.mean) < 10 else 0
        return f"{self.mean:+.{digits}f} ± {self.error:.{digits}f}%"

    @property
    def name(self) -> str:
        return NAMES[ORDERS.index(self.order)].replace(",", " and")


def rows_of(size: Size, measured: Data) -> list[HermiteRow]:
    rows = []
    for n in SIZES[size][0]:
        errors_of = measured[f"n = {n}"]
        for case, ours, theirs, variance in zip(
            CASES, *(errors_of[k] for k in ("network", "models", "variance")), strict=True
        ):
            none, here = (float(x.mean() / variance) for x in ours)
            for order, values in zip(ORDERS, theirs, strict=True):
                off, error = difference(ours[1], values)
                rows.append(HermiteRow(n, case[0], case[1], order, none, here, off, error))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, seeds), rows, expected = SIZES[size], rows_of(size, measured), predicted["difference"]
    last = [r for r in rows if r.n == sizes[-1]]
    wanted = [(*case, even(order)) for case, order in zip(CASES, predicted["orders"], strict=True)]
    *proper, beyond = [next(r for r in last if r[1:4] == each) for each in wanted]
    linear = {r[1:3]: r for r in last if r.order == LINEAR}
    stress, least = linear[STRESS], 100 * (predicted["factor"] - 1)
    close = stress.mean + MARGINS.level * stress.error < least  # the linear model would do
    missed, worst = [r for r in proper if r.off(expected)], max(proper, key=lambda r: abs(r.mean))
    far = stress.mean - MARGINS.level * stress.error > least
    sure = far and all(power.detectable(r.error, MARGINS.level, MARGINS.granted) < MARGINS.needed for r in proper)
    agrees = "does not agree" if beyond.off(expected) else "agrees"
    best = min((r for r in last if r.beta > 0.75), key=lambda r: abs(r.mean))
    return Verdict(
        outcome="fails" if missed or close else ("holds" if sure else "inconclusive"),
        sentence=f"For β < 3/4 the order of the theorem agrees with the network in {len(proper) - len(missed)} of {len(proper)} "
        f"settings within 3 s.e. or {MARGINS.granted:g}% ({worst.wording} at most, α = {worst.alpha:g}, β = {worst.beta:g}, "
        f"l = {worst.name}), and the linear model (l = 2) does not: {stress.wording} at α = 0, β = 0.74. At β = 0.86 "
        f"the theorem's "
        f"own order {agrees} at this size, n = {sizes[-1]}: l = {beyond.name} are off by {beyond.wording}, the best, "
        f"l = {best.name}, by {best.wording} and the linear model by {linear[CASES[-1]].wording}.",
        header=("n", "α", "β", "l", "no step, of Var y", "network, of Var y", "difference in %", "s.e."),  # noqa: RUF001
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; m = k = 5n/4; λ = 1e-4; relu; labels along γ₁ + γ₂",
        figure=_figure(measured, last, predicted),
        caption="Test error over the labels' variance against the order l of the polynomial, one panel a setting, at n = "
        f"{sizes[-1]}: dots fall from the linear model at l = 2 onto the line of the network, with a band of its standard error, "
        f"at the order of the theorem, ringed. At β = 0.86 they come no closer than {best.wording}, then rise; there "
        f"the theorem's "
        f"order is off by {beyond.wording}.",
        power=power.stated(
            [r.error for r in proper], MARGINS.level, MARGINS.granted, "% of the network's error", seeds=seeds
        ),
        trend=_trend(sizes, rows, predicted) if len(sizes) > 1 else "",
        settings=tuple(experiment(sizes[-1], "relu", *case).id for case in CASES),
    )


def _trend(sizes: tuple[int, ...], rows: list[HermiteRow], predicted: Data) -> str:
    words = []
    for case, order in zip(CASES, predicted["orders"], strict=True):
        here = [r.wording for r in rows if r[1:4] == (*case, even(order))]
        words.append(f"α = {case[0]:g}, β = {case[1]:g}, l = {order}: {', '.join(here)}")
    return f"The differences at n = {', '.join(map(str, sizes))} are {'; '.join(words)}."


def _figure(measured: Data, rows: list[HermiteRow], predicted: Data) -> str:
    """Errors against the order, over the network's band; the order of the theorem ringed."""
    errors_of = measured[f"n = {rows[0].n}"]
    every = [r.network * (1 + r.mean / 100) for r in rows]
    least, most = min(every), max(every)
    with style.figure(len(CASES), width=2.35, height=2.9) as (fig, axes):
        for i, (ax, case) in enumerate(zip(axes, CASES, strict=True)):
            mean, error = mean_and_error(errors_of["network"][i] / errors_of["variance"][i])
            at = range(len(ORDERS))
            ax.axhspan(mean[1] - error[1], mean[1] + error[1], color=style.COLOURS[0], alpha=0.3, linewidth=0)
            ax.axhline(mean[1], color=style.COLOURS[0], label="network (band: s.e.)")
            ax.axhline(mean[0], color=style.INK, linestyle=":", linewidth=1.0, label="network, no step")
            values = mean_and_error(errors_of["models"][i] / errors_of["variance"][i])
            style.dots(ax, at, *values, color=style.COLOURS[1], label="polynomial of order l")
            k = ORDERS.index(even(predicted["orders"][i]))
            ring = {"color": style.INK, "markerfacecolor": "none", "markersize": 11, "linestyle": "none"}
            ax.plot([k], [values[0][k]], "o", **ring, label="order of the theorem")
            ax.set_xticks(at, NAMES)
            ax.margins(x=0.15)
            ax.set(yscale="log", xlabel="order l", ylim=(0.6 * least, 1.6 * most))
            ticks(ax)
            ax.set_title(f"α = {case[0]:g}, β = {case[1]:g}", loc="left")  # noqa: RUF001
        axes[0].set_ylabel("test error / Var y")
        fig.legend(*axes[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return style.svg(fig)


CLAIM = claim("demir/hermite", measure=measure, predict=predict, judge=judge)
