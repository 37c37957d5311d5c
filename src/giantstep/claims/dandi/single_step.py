"""The figure of one giant step on deflated labels: its printed errors again, and the risk behind them."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, statistics
from giantstep.checks.claim import Data, Ruling, Size, Verdict
from giantstep.checks.statistics import Evidence, Seeds
from giantstep.claims.claim import claim
from giantstep.claims.dandi import deflated
from giantstep.claims.dandi.deflated import FORMULA, D, P, experiment
from giantstep.measure import mean_and_error
from giantstep.plot import style

EXPONENTS = (1.3, 1.65, 2.0)  # log n / log d
PRINTED = ((0.33600, 0.00632), (0.20675, 0.00589), (0.07742, 0.00208))  # mean and spread of ten batches of one network
SIZES = {"quick": (1, 10_000), "full": (3, 50_000)}  # how many of the exponents, and test samples
SEEDS: dict[Size, Seeds] = {"quick": Seeds(10, 16), "full": Seeds(8, 12)}
RULE = {"quick": {"margin": 0.05, "departure": 0.1}, "full": {"margin": 0.03, "departure": 0.08}}


def sizes_of(size: Size) -> tuple[int, ...]:
    return tuple(int(D**e) for e in EXPONENTS[: SIZES[size][0]])


def measure(size: Size, seeds: range) -> Data:
    """The error as printed and the risk, (n, 2, seeds)."""
    runs = cache.each(deflated.both, [(sizes_of(size), D, P, seed, SIZES[size][1]) for seed in seeds])
    return {"errors": np.stack(runs, axis=-1)}


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


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The mean error as printed against the printed one."""
    found = measured["errors"][:, 0]
    at = [f"n = d^{e:g}" for e in EXPONENTS[: len(found)]]
    printed = predicted["printed"][: len(found)]
    return Evidence((statistics.compare("error", found, printed, at=at, relative=True, **RULE[size]),))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    mean, _ = mean_and_error(measured["errors"])
    words = ", ".join(
        f"{again:.4f} where {printed:.3f} is printed (risk {risk:.4f})"
        for (again, risk), printed in zip(mean, predicted["printed"], strict=False)
    )
    left = "" if len(mean) == len(EXPONENTS) else " Larger n are left to the full size."
    return Verdict(
        sentence=f"At n = {', '.join(f'd^{e:g}' for e in EXPONENTS[: len(mean)])} the error is {words}. "
        f"{ruling.stated.sentence} The printed error takes the linear part of the test labels from the test labels; the risk "
        f"takes it from the training batch.{left}",
        sizes=f"d = {D}, p = {P}, {SIZES[size][1]} test samples; products in float32",
        figure=_figure(measured, predicted),
        caption=f"Test error against log n / log d: printed means as bars with their spread, the same measured again as dots, "
        f"and the risk as squares. The error is {words}.{left}",
        settings=tuple(experiment(n, D, P).id for n in sizes_of(size)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    """Errors against log n / log d: as printed, again, and the risk; dotted, the floors."""
    mean, error = mean_and_error(measured["errors"])
    x = np.array(EXPONENTS[: len(mean)])
    with style.figure(width=5.6, height=3.6) as (fig, ax):
        ax.errorbar(
            EXPONENTS, predicted["printed"], predicted["spread"], fmt="_", color=style.INK, markersize=16, capsize=3,
            label="printed (spread of 10 batches)", zorder=1,
        )  # fmt: skip
        for k, (label, marker) in enumerate((("measured again", "o"), ("risk", "s"))):
            marks = {"color": style.COLOURS[k], "marker": marker, "label": label}
            style.dots(ax, x + 0.02 * (2 * k - 1), mean[:, k], error[:, k], **marks)
        names = ("random features at best, as d grows", "w₁ + w₂ alone at best")
        for level, name in zip(predicted["floors"], names, strict=True):
            ax.axhline(level, color=style.INK, linewidth=0.8, linestyle=":", zorder=0)
            ax.annotate(name, (EXPONENTS[0] - 0.05, level), (0, -10), textcoords="offset points", fontsize=8.5)
        ax.set(xlabel="log n / log d", ylabel="test error", ylim=(0, 0.45), xlim=(EXPONENTS[0] - 0.06, 2.06))
        fig.legend(*ax.get_legend_handles_labels(), loc="outside lower center", ncols=3)
        return style.svg(fig)


CLAIM = claim("dandi/single-step", measure=measure, predict=predict, compare=compare, describe=describe, seeds=SEEDS)
