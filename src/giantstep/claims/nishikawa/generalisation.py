"""Generalisation: how test less training loss of the regularised minimiser goes with n, with the penalty and the dimension."""

import numpy as np

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
from giantstep.checks.random import Stream, normals
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.systems.mean_field import dual
from giantstep.systems.mean_field.theory import rademacher
from giantstep.systems.mean_field.training import features

SIZES = {"quick": (80, 160, 320), "full": (100, 200, 400, 800)}  # n
SEEDS: dict[Size, Seeds] = {"quick": Seeds(30, 150), "full": Seeds(80, 400)}
DRAWS = 250  # the pool that is the prior
LAM, OTHERS = 0.02, (0.005, 0.08)  # the penalty, and others at the second n
BASES = (16, 128)  # J
POWER = {"quick": Tolerance(0.08, 0.2), "full": Tolerance(0.04, 0.1)}  # of an exponent
SAME = {"quick": Tolerance(0.04, 0.1), "full": Tolerance(0.015, 0.04)}  # of a ratio
TIGHT = Tolerance(1.0, 1.2)  # decades of the bound over the gap, around 1: from 1 to 100 times


def gaps(sizes: tuple[int, ...], J: int, lam: float, seed: int) -> np.ndarray:
    """Test less training loss of the minimiser at every n, and its bound 2G B sqrt(2 KL/n), (n, 2).

    The test loss is that of curves left out one at a time, which has the mean of fresh curves and less noise. To first order the
    residual r_i becomes r_i/(1 - S_ii) without curve i, where S = C/(I + C), C = Cov(h_i, h_j)/(lam n) over the minimiser.
    """
    s = gs.MeanField(2, basis=J, penalty=lam, data=seed)
    X, y = s.sample(0, max(sizes), 0)
    H = features(X * s.deviations, normals(seed, (Stream.SKETCH,), 0, DRAWS, max(BASES))[:, :J], s.training)
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
    """Gaps and bounds at every n, (n, 2, seeds); at the second n with other penalties, (penalties, 2, seeds), and at J = 128."""
    sizes = SIZES[size]
    middle = (sizes[1],)
    jobs = {
        "n": [(sizes, BASES[0], LAM)],
        "penalties": [(middle, BASES[0], lam) for lam in OTHERS],
        "wide": [(middle, BASES[1], LAM)],
    }
    found = {name: [cache.over(gaps, each, seeds) for each in several] for name, several in jobs.items()}
    return {name: np.concatenate(each) for name, each in found.items()}


def across(measured: Data) -> np.ndarray:
    """Gaps and bounds at the middle n in the order of the penalties, (penalties, 2, seeds)."""
    return np.stack([measured["penalties"][0], measured["n"][1], measured["penalties"][1]])


def slope(sizes: tuple[float, ...], values: np.ndarray) -> np.ndarray:
    return statistics.exponent(sizes, values, of_means=True)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """As stated, the gap goes as its bound; as corrected, as 1/n and up with the penalty. Both: J does not matter."""
    sizes, n, penalties = SIZES[size], measured["n"], (OTHERS[0], LAM, OTHERS[1])
    by_n, by_lam = slope(sizes, n[:, 0]), slope(penalties, across(measured)[:, 0])
    bound = float(np.polyfit(np.log(penalties), np.log(across(measured)[:, 1].mean(axis=-1)), 1)[0])
    ratio = statistics.pseudovalues(
        lambda v: v[0].mean(axis=-1) / v[1].mean(axis=-1), np.stack([measured["wide"][0, 0], n[1, 0]])
    )
    tight = statistics.pseudovalues(lambda v: np.log10(np.mean(v[:, 1], axis=-1) / np.mean(v[:, 0], axis=-1)), n)
    same = statistics.compare("gap at J = 128 over that at J = 16", ratio, 1.0, within=SAME[size])
    return Evidence(
        (
            statistics.compare("exponent of the gap in n, as of the bound", by_n, -0.5, within=POWER[size]),
            statistics.compare("exponent of the gap in λ, as of the bound", by_lam, bound, within=POWER[size]),
            statistics.compare(
                "decades of the bound over the gap", tight, 1.0, at=[f"n = {k}" for k in sizes], within=TIGHT
            ),
            same,
        ),
        (
            statistics.compare("exponent of the gap in n", by_n, -1.0, within=POWER[size]),
            statistics.compare("exponent of the gap in λ", by_lam, 0.0, side="above", within=POWER[size]),
            same,
        ),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    sizes = SIZES[size]
    assert ruling.corrected is not None
    n, lam = (ruling.corrected.of(f"exponent of the gap in {x}") for x in ("n", "λ"))
    over, same = (
        ruling.stated.of("decades of the bound over the gap"),
        ruling.corrected.of("gap at J = 128 over that at J = 16"),
    )
    times = 10 ** (1 + over.difference)
    return Verdict(
        sentence=f"Test less training loss falls as n to the {n.difference[0] - 1:.2f} ± {n.half[0]:.2f}, where its bound falls "
        f"as n to the -1/2, and goes as λ to the {lam.difference[0]:+.2f} ± {lam.half[0]:.2f}, where the bound falls. With 128 "
        f"basis functions it is {1 + same.difference[0]:.2f} ± {same.half[0]:.2f} times that with 16. The bound is "
        f"{times[0]:.0f} times the gap at n = {sizes[0]} and {times[-1]:.0f} times at n = {sizes[-1]}.",
        sizes=f"n = {', '.join(map(str, sizes))}; λ = {OTHERS[0]:g}, {LAM:g}, {OTHERS[1]:g} at n = {sizes[1]}; a pool of "
        f"{DRAWS} draws as the prior",
        figure=_figure(sizes, measured),
        caption="Test less training loss of the regularised minimiser, left against the number of curves and right against the "
        "penalty: dots with error bars, the dashed bound above and a dotted line of slope -1. The square has 128 basis "
        "functions. The bound falls with the penalty, the gap rises.",
    )


def _figure(sizes: tuple[int, ...], measured: Data) -> str:
    penalties = (OTHERS[0], LAM, OTHERS[1])
    with style.figure(2, width=3.5, height=3.1) as (fig, axes):
        for ax, x, values in zip(axes, (sizes, penalties), (measured["n"], across(measured)), strict=True):
            mean, error = mean_and_error(values)
            ax.plot(x, mean[:, 1], "--", color=style.INK, linewidth=1, label="bound")
            style.dots(ax, x, mean[:, 0], error[:, 0], color=style.COLOURS[0], label="J = 16")
            ticks.logarithmic(ax, "x", x)
            ticks.logarithmic(ax)
        mean = measured["n"][:, 0].mean(axis=-1)
        axes[0].plot(
            sizes, np.exp(np.mean(np.log(mean * sizes))) / np.array(sizes), ":", color=style.INK, label="slope −1"
        )
        style.dots(
            axes[0], [sizes[1] * 1.06], *([v] for v in mean_and_error(measured["wide"][0, 0])), color=style.COLOURS[1],
            marker="s", label="J = 128",
        )  # fmt: skip
        axes[0].set(xlabel="curves n", ylabel="test less training loss")
        axes[1].set(xlabel=f"penalty λ, n = {sizes[1]}")
        return style.svg(fig, below=4)
