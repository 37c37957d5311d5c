"""Generalisation: test less training error of the regularised minimiser is below its bound, falls,
and ignores the dimension."""

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
from giantstep.plot import rows, style, ticks
from giantstep.plot.frame import entry, explain_below
from giantstep.systems.mean_field import dual
from giantstep.systems.mean_field.theory import rademacher
from giantstep.systems.mean_field.training import features

CLAIM = Claim(
    order=5,
    quote="We first give a generalization error bound, which shows that the regularized empirical "
    "risk minimizer properly generalizes when the data size is sufficiently large, despite "
    "the neurons being infinite-dimensional.",
    place="abstract only",
    kind="upper bound",
    statement="The regularized empirical risk minimizer has a generalization error bound: it "
    "properly generalizes when the data size is sufficiently large, although the neurons are "
    "infinite-dimensional.",
    where="abstract; the bound 2G·B√(2KL/n) and its constants are derived in "
    "giantstep.systems.mean_field.theory",
    how="Test less training loss must be at most the bound at every n, penalty and basis size. "
    "From the smallest n to the largest it must at least halve, as a bound of order n^(−1/2) "
    "does when n grows fourfold. With 128 basis functions it must be that with 16. The test "
    "loss is that of curves left out one at a time, to first order. A pool of draws is the "
    "prior.",
    judges=(
        Judge(
            "gap over its bound",
            side="below",
            percent=True,
            margin=0.0,
            departure=0.1,
        ),
        Judge(
            "log of the gap at the largest n over that at the smallest",
            side="below",
            margin=0.0,
            departure=(0.2, 0.1),
        ),
        Judge(
            "gap at J = 128 over that at J = 16",
            percent=True,
            margin=(0.04, 0.015),
            departure=(0.1, 0.04),
            because="the coordinates that the smaller basis cuts",
        ),
    ),
    seeds={"quick": Seeds(30, 150), "full": Seeds(80, 400)},
)

SIZES = {"quick": (80, 160, 320), "full": (100, 200, 400, 800)}  # n
DRAWS = 250  # the pool that is the prior
LAM, OTHERS = 0.02, (0.005, 0.08)  # the penalty, and others at the second n
BASES = (16, 128)  # J


def gaps(sizes: tuple[int, ...], J: int, lam: float, seed: int) -> np.ndarray:
    """Test less training error of the minimiser at every n, and its bound, (n, 2).

    The bound is 2G B sqrt(2 KL/n). The test loss is that of curves left out one at a time, which
    has the mean of fresh curves and less noise. To first order the residual r_i becomes
    r_i/(1 - S_ii) without curve i, where S = C/(I + C), and C = Cov(h_i, h_j)/(lam n) over the
    minimiser.
    """
    s = gs.MeanField(2, basis=J, penalty=lam, data=seed)
    X, y = s.sample(0, max(sizes), 0)
    pool = normals(seed, (Stream.SKETCH,), 0, DRAWS, max(BASES))[:, :J]
    H = features(X * s.deviations, pool, s.training)
    rows = []
    for n in sizes:
        h, best = H[:, :n], dual.optimum(H[:, :n], y[:n], lam, s.loss)[1]
        root = (h - best.outputs) * np.sqrt(best.weights / (lam * n))[:, None]  # C = root' root
        # S_ii = root_i' (I + root root')^-1 root_i
        leverage = np.sum(root * np.linalg.solve(np.eye(len(h)) + root @ root.T, root), axis=0)
        residual = y[:n] - best.outputs
        gap = np.mean((residual / (1 - leverage)) ** 2 - residual**2) / 2
        rows.append((gap, 2 * losses.steepest(s.loss, 1.0, y) * rademacher(1.0, best.kl, n)))
    return np.array(rows)


def measure(size: Size, seeds: range) -> Data:
    """Gaps and bounds at every n, (n, 2, seeds); at the second n with other penalties,
    (penalties, 2, seeds), and at J = 128."""
    sizes = SIZES[size]
    middle = (sizes[1],)
    jobs = {
        "n": [(sizes, BASES[0], LAM)],
        "penalties": [(middle, BASES[0], lam) for lam in OTHERS],
        "wide": [(middle, BASES[1], LAM)],
    }
    found = {
        name: [cache.over(gaps, each, seeds) for each in several] for name, several in jobs.items()
    }
    return {name: np.concatenate(each) for name, each in found.items()}


def across(measured: Data) -> np.ndarray:
    """Gaps and bounds at the middle n in the order of the penalties, (penalties, 2, seeds)."""
    return np.stack([measured["penalties"][0], measured["n"][1], measured["penalties"][1]])


def wide(measured: Data) -> np.ndarray:
    """The gap with 128 basis functions over that with 16, as jackknife values."""
    both = np.stack([measured["wide"][0, 0], measured["n"][1, 0]])
    return statistics.pseudovalues(lambda v: v[0].mean(axis=-1) / v[1].mean(axis=-1), both)


def everywhere(measured: Data) -> np.ndarray:
    """Gaps and bounds at every n, with the other penalties, and at J = 128, (cases, 2, seeds)."""
    return np.concatenate([measured["n"], measured["penalties"], measured["wide"]])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The gap is at most its bound at every n and penalty, at least halves as n grows,
    and does not depend on J."""
    sizes, n, every = SIZES[size], measured["n"], everywhere(measured)
    at = [f"n = {k}" for k in sizes] + [f"λ = {lam:g}" for lam in OTHERS] + [f"J = {BASES[1]}"]
    fall = statistics.pseudovalues(
        lambda v: np.log(v[-1].mean(axis=-1) / v[0].mean(axis=-1)), n[:, 0]
    )
    half = float(np.log(0.5))
    judge = judging(CLAIM, size)
    return statistics.stated(
        judge("gap over its bound", every[:, 0] / every[:, 1], 1.0, at=at),
        judge("log of the gap at the largest n over that at the smallest", fall, half),
        judge("gap at J = 128 over that at J = 16", wide(measured), 1.0),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    gap, bound = np.moveaxis(measured["n"].mean(axis=-1), 1, 0)
    times = bound / gap
    least = min(each[1].mean() / each[0].mean() for each in everywhere(measured))
    return Verdict(
        sentence=f"The gap between test and training error goes from {gap[0]:.2g} at the smallest "
        f"n to {gap[-1]:.2g} at the largest. Its bound is {least:.0f} times as large or more.",
        sizes=f"n = {', '.join(map(str, sizes))}; λ = {OTHERS[0]:g}, {LAM:g}, {OTHERS[1]:g} at n = "
        f"{sizes[1]}; a pool of {DRAWS} draws as the prior",
        figure=_figure(sizes, measured),
        caption="Everywhere the gap between test and training error is below its bound, which is "
        f"{least:.0f} times as large or more.",
        trend=f"The bound, which we derived, is {times[0]:.0f} times the gap at the smallest n and "
        f"{times[-1]:.0f} times at the largest. How fast the gap falls is tested in "
        "giantstep/function-gap.",
        looseness=float(np.median(times)),
    )


def _figure(sizes: tuple[int, ...], measured: Data) -> str:
    """The gap and its bound, a row for each case."""
    names = [f"n = {n}" for n in sizes]
    names += [
        f"n = {sizes[1]}, {other}"
        for other in (*(f"λ = {lam:g}" for lam in OTHERS), f"J = {BASES[1]}")
    ]
    with style.figure(width=style.COLUMN, height=rows.height(len(names)) + 0.1) as (fig, ax):
        for row, (gap, bound) in enumerate(everywhere(measured)):
            rows.tick(ax, row, bound.mean())
            rows.interval(ax, row, *mean_and_error(gap), color=style.COLOURS[0])
        rows.name_rows(ax, names)
        ax.set_xlabel("test less training error")
        ticks.logarithmic(ax, "x")
        explain_below(
            fig, [entry("measured", "o", color=style.COLOURS[0]), entry("bound", "|", markersize=9)]
        )
        return style.svg(fig)
