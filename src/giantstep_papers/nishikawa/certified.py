"""Particles reach the optimum: their network is the optimal one."""

from functools import lru_cache

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    Data,
    Evidence,
    Judge,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.checks.random import Stream, normals
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below
from giantstep.systems.mean_field import MeanField, dual
from giantstep.systems.mean_field.training import features, train
from giantstep_papers.shared import said

CLAIM = Claim(
    order=4,
    quote="We show that the proposed algorithms converge to the (regularized) global optimal "
    "solution",
    place="abstract only",
    kind="theorem",
    statement="The proposed algorithms converge to the (regularized) global optimal solution.",
    where="abstract; the optimum is solved here as a convex problem in n variables, and the "
    "duality gap is ours",
    how="With the most particles the objective, the entropy, the training loss and the test loss "
    "must be those of as many draws of the optimal law on the same curves: each of them, and "
    "on average. The report also shows the duality "
    "gap, which is ours, and how it falls with the particles.",
    judges=(
        Judge(
            "mean of the four numbers over the optimum's",
            percent=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="the bias 1/ESS of a finite pool",
        ),
        Judge(
            "number over that of the optimum",
            percent=True,
            margin=(0.04, 0.015),
            departure=(0.2, 0.08),
            because="the bias 1/ESS of a finite pool",
        ),
    ),
    seeds={"quick": Seeds(16, 48), "full": Seeds(100, 700)},
)

SIZES = {"quick": (30, (80, 240, 720)), "full": (60, (200, 600, 1800, 5400))}  # curves, particles
FEWER = {"quick": 4, "full": 1}  # of so many seeds one runs with fewer particles too
PASSES = 12
LAM = 0.02
# draws of the prior that solve the dual problem, new ones for every seed
POOL = {"quick": 6000, "full": 16000}
TEST = 1000  # fresh curves
NAMES = ("objective P", "KL to the prior", "training error", "test error")


@lru_cache(maxsize=2)
def experiment(n: int, particles: int, seed: int) -> tuple[MeanField, tuple, tuple]:
    """The system with the curves of this seed, the curves, and fresh ones."""
    s = gs.MeanField(n, penalty=LAM, particles=particles, passes=PASSES, pool=2, data=seed)
    return s, s.curves, s.sample(0, TEST, 1)


def trained(n: int, particles: int, seed: int) -> list[float]:
    """Objective, entropy, training and test loss of a run, and its gap."""
    s, (X, y), (Xt, yt) = experiment(n, particles, seed)
    field = train(X, y, s.deviations, s.training, seed)
    test = float(losses.value(s.loss, field.outputs(Xt), yt).mean())
    return [field.objective, field.kl, field.train_loss, test, field.gap]


def optimal(n: int, pool: int, seed: int) -> list[float]:
    """The same numbers of the optimum on the same curves, and mean variances v,
    v_t of h over the optimal law."""
    s, (X, y), (Xt, yt) = experiment(n, 2, seed)
    u = normals(seed, (Stream.SKETCH, 7), 0, pool, X.shape[1])
    H, Ht = (features(each * s.deviations, u, s.training) for each in (X, Xt))
    best = dual.optimum(H, y, LAM, s.loss)[1]
    f, ft = best.weights @ H, best.weights @ Ht
    v, vt = (float(np.mean(best.weights @ h**2 - m**2)) for h, m in ((H, f), (Ht, ft)))
    train_loss, test = (float(losses.value(s.loss, *each).mean()) for each in ((f, y), (ft, yt)))
    return [best.objective, best.kl, train_loss, test, v, vt]


def measure(size: Size, seeds: range) -> Data:
    """Numbers and gap with the most particles, (5, seeds), and with every number of particles,
    (particles, 5, some seeds)."""
    n, sizes = SIZES[size]
    most = cache.over(trained, (n, sizes[-1]), seeds)
    fewer = cache.over(trained, [(n, M) for M in sizes[:-1]], seeds[:: FEWER[size]])
    return {"most": most, "runs": np.concatenate([fewer, most[None, :, :: FEWER[size]]])}


def predict_draws(size: Size, seeds: range) -> Data:
    """The optimum on the same curves by its dual problem, (numbers and variances, seeds)."""
    return {"optimum": cache.over(optimal, (SIZES[size][0], POOL[size]), seeds)}


def expected(size: Size, predicted: Data) -> np.ndarray:
    """The numbers of M independent draws of the optimal law, (particles, numbers, seeds):
    losses are v/(2M) above the optimum."""
    best = predicted["optimum"]
    extra = np.stack([best[4], np.zeros_like(best[4]), best[4], best[5]])
    return np.array([best[:4] + extra / (2 * M) for M in SIZES[size][1]])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The numbers with the most particles against the optimum."""
    most = measured["most"]
    wanted = expected(size, predicted)[-1]
    scaled = 1 + (most[:4] - wanted) / wanted.mean(axis=1, keepdims=True)
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("mean of the four numbers over the optimum's", scaled.mean(axis=0), 1.0),
        judge("number over that of the optimum", scaled, 1.0, at=NAMES),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, sizes = SIZES[size]
    share = 100 * measured["runs"][:, 4].mean(axis=-1) / predicted["optimum"][0].mean()
    off = ruling.stated.of("number over that of the optimum")
    slope, error = mean_and_error(statistics.exponent(sizes, measured["runs"][:, 4]))
    return Verdict(
        sentence=f"With {sizes[-1]} particles objective, divergence and errors are within "
        f"{100 * np.abs(off.difference).max():.1f}% of the optimum's. The certified gap is "
        f"{share[-1]:.2g}% of the optimal objective.",
        sizes=f"n = {n}, J = {MeanField.basis}, λ = {LAM:g}, {PASSES} passes of coordinate "
        f"ascent; optimum from {POOL[size]} draws of the prior for every seed",
        figure=_figure(size, measured, predicted),
        caption="With the most particles every number is within "
        f"{100 * np.abs(off.difference).max():.1f}% of that of the optimum, and the certified gap "
        f"is {share[-1]:.2g}% of the objective.",
        trend=f"The certified gap is {share[0]:.2g}% with {sizes[0]} particles. With M particles "
        f"it goes as {said.power('M', float(slope), float(error))} (one standard error).",
    )


def _figure(size: Size, measured: Data, predicted: Data) -> str:
    """How far numbers are from the optimum's and the certified gap, a row each;
    the more particles, the darker the dot."""
    M, every = SIZES[size][1], _departures(size, measured, predicted)
    near = 100 * judging(CLAIM, size).tolerance("number over that of the optimum").margin
    shades, apart = np.linspace(0.35, 1.0, len(M)), 0.6 / (len(M) - 1)
    with style.figure(width=style.COLUMN, height=rows.height(len(NAMES) + 1) + 0.8) as (fig, ax):
        ax.axvline(0, color=style.INK, linewidth=0.8)
        for k, numbers in enumerate(every):
            look = {"beside": apart * k - 0.3, "color": style.COLOURS[0], "alpha": shades[k]}
            for row, each in enumerate(numbers):
                rows.interval(ax, row, *mean_and_error(100 * each), **look)
        for row in range(len(NAMES)):
            rows.allowed(ax, row, -near, near)
        rows.name_rows(ax, [*NAMES, "gap, over P*"])
        ax.set_xlabel("off the optimum, %")
        each = zip(M, shades, strict=True)
        marks = [
            entry(f"{count} particles", "o", color=style.COLOURS[0], alpha=shade)
            for count, shade in each
        ]
        explain_below(fig, [*marks, rows.margin_entry("margin")])
        return style.svg(fig)


def _departures(size: Size, measured: Data, predicted: Data) -> list[np.ndarray]:
    """For every number of particles: numbers less the optimum's, over these, and the gap over P*,
    (5, seeds)."""
    *fewer, most = expected(size, predicted)
    some = [*zip(measured["runs"], [each[:, :: FEWER[size]] for each in fewer], strict=False)]
    best = predicted["optimum"][0].mean()
    return [
        np.concatenate(
            [(found[:4] - wanted) / wanted.mean(axis=1, keepdims=True), found[4:] / best]
        )
        for found, wanted in [*some, (measured["most"], most)]
    ]
