"""The figure of one giant step on deflated labels: its printed errors again, the risk behind them, and theory where it covers it.

One network was printed, and networks differ by 4% in their error: no measurement can tell how near the printed number is to
the mean over networks. So the printed errors only have to lie where one network may, and what the step learns is judged by the
risk: its mean over many networks against theory, and against what a network that knows w1 + w2 alone has at best.
"""

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.checks.statistics.comparison import Side
from giantstep.claims.dandi.risk import deflated
from giantstep.claims.dandi.risk.deflated import FORMULA, D, P, experiment
from giantstep.measure import mean_and_error
from giantstep.plot import style

EXPONENTS = (1.3, 1.65, 2.0)  # log n / log d
PRINTED = ((0.33600, 0.00632), (0.20675, 0.00589), (0.07742, 0.00208))  # mean and spread of ten batches of one network
N_TEST = 100_000  # as in the notebook: the printed error depends on it
COVERED = (3 * 128**2, 128, 256, 20_000)  # n, d, p and test samples for theory, which lacks terms of order d/n
NETWORKS = 40  # of one seed there
SEEDS: dict[Size, Seeds] = {"full": Seeds(12, 48)}
ONE = Tolerance(0.15, 0.25)  # of a printed error: four times the scatter of networks
THEORY = Tolerance(0.025, 0.04)  # of the mean risk
SIDE = Tolerance(0.02, 0.15)  # of the least risk without the second order


SIZES = tuple(int(D**e) for e in EXPONENTS)


def risk(n: int, d: int, p: int, n_test: int, seed: int) -> float:
    """The mean risk over the networks of a seed; no two seeds share one."""
    return float(np.mean([deflated.both((n,), d, p, NETWORKS * seed + k, n_test)[0, 1] for k in range(NETWORKS)]))


def measure(size: Size, seeds: range) -> Data:
    """Printed error and risk, (2, seeds) for every n; two thirds of the seeds at the largest. And mean risks, (seeds)."""
    counts = [len(seeds), len(seeds), 2 * len(seeds) // 3]
    jobs = [((n,), D, P, seed, N_TEST) for n, count in zip(SIZES, counts, strict=True) for seed in seeds[:count]]
    runs = iter(cache.each(deflated.both, jobs))
    errors = [np.stack([next(runs)[0] for _ in range(count)], axis=-1) for count in counts]
    return {"errors": errors, "risks": cache.over(risk, COVERED, seeds)}


def predict(size: Size) -> Data:
    """The printed means and spreads, and what random features and a network that knows only w1 + w2 have at best as d grows.

    w1 + w2 is all that labels as they are show to one step. And the risk by theory where it is compared.
    """
    floor = gs.explain(FORMULA, batch="d", width="d").floor
    return {
        "printed": [mean for mean, _ in PRINTED],
        "spread": [spread for _, spread in PRINTED],
        "floors": [floor["random_features"], floor["network"]],
        "risk": float(gs.theory(experiment(*COVERED[:3])).test_error),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The mean error against the printed one, the mean risk against theory, and whether the second order is learned."""
    printed = [
        statistics.compare(f"error at n = d^{e:g}", each[:1], [one], at=[""], relative=True, within=ONE)
        for e, each, one in zip(EXPONENTS, measured["errors"], predicted["printed"], strict=True)
    ]
    n, d, p, _ = COVERED
    theory = statistics.compare(
        "risk against theory", measured["risks"][None], [predicted["risk"]], at=[f"n = {n}, d = {d}, p = {p}"],
        relative=True, within=THEORY,
    )  # fmt: skip
    first, *_, last = (each[1:] for each in measured["errors"])
    without = predicted["floors"][1]
    sides: tuple[tuple[float, np.ndarray, Side], ...] = ((EXPONENTS[0], first, "above"), (EXPONENTS[-1], last, "below"))
    learned = [
        statistics.compare(f"risk at n = d^{e:g}", each, [without], at=["w1 + w2 alone"], relative=True, within=SIDE, side=side)
        for e, each, side in sides
    ]  # fmt: skip
    return statistics.stated(*printed, theory, *learned)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    mean = [each.mean(axis=1) for each in measured["errors"]]
    words = ", ".join(
        f"{again:.4f} where {printed:.3f} is printed (risk {risk:.4f})"
        for (again, risk), printed in zip(mean, predicted["printed"], strict=True)
    )
    return Verdict(
        sentence=f"At n = {', '.join(f'd^{e:g}' for e in EXPONENTS)} the error is {words}. "
        f"At n = {COVERED[0]}, d = {COVERED[1]} the risk is {measured['risks'].mean():.4f} where theory has "
        f"{predicted['risk']:.4f}. {ruling.stated.sentence} The printed error takes the linear part of the test labels from the "
        f"test labels; the risk takes it from the training batch.",
        sizes=f"d = {D}, p = {P}, {N_TEST} test samples; theory at d = {COVERED[1]}, p = {COVERED[2]}, n = {COVERED[0]}, "
        f"{NETWORKS} networks a seed; products in float32",
        figure=_figure(measured, predicted),
        caption=f"Test error against log n / log d: printed means as bars with their spread, the same measured again as dots, "
        f"and the risk as squares. The error is {words}.",
        settings=(*(experiment(n, D, P).id for n in SIZES), experiment(*COVERED[:3]).id),
    )


def _figure(measured: Data, predicted: Data) -> str:
    """Errors against log n / log d: as printed, again, and the risk; dotted, the floors."""
    mean, error = (np.stack(part) for part in zip(*map(mean_and_error, measured["errors"]), strict=True))
    x = np.array(EXPONENTS)
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
