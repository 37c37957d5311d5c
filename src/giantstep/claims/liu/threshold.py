"""The interpolation threshold: the minimum-norm fit diverges at p = n, one pass of SGD does not, many passes tend to the fit."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.liu import runs
from giantstep.claims.liu.runs import NOISE
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.theory.sgd_readout.population import minimum_norm

SIZES = {"quick": (20, 80, 24), "full": (40, 200, 48)}  # d, n, seeds
PASSES = {"quick": (1, 10, 100), "full": (1, 10, 100, 1000)}
WIDTHS = (0.25, 0.5, 0.75, 1.0, 1.5, 3.0)  # p/n; the widest is that of the runs
AT = 3  # the place of p = n
BESIDE = (2, 4)  # the places of its neighbours
ABOVE = (4, 5)  # the places of p > n
LEVEL = 3.0  # standard errors
NEAR = 0.1  # granted
PEAK = 3.0  # the least peak of the fit
LEFT = 0.5  # the most that many passes may leave of the way


def errors(d: int, n: int, seeds: tuple[int, ...], passes: tuple[int, ...]) -> np.ndarray:
    """Test errors (seeds, passes and the minimum-norm fit, widths)."""
    data = runs.features(d, n, seeds, runs.ACTIVATION)
    labels, widths = data["signal"] + data["noise"], [round(w * n) for w in WIDTHS]
    risks = [
        [runs.risks(data, p, gs.SGD(n, runs.rate(), passes=times), labels, data["truth"]) for p in widths]
        for times in passes
    ]
    fits = []
    for p in widths:
        b = [np.linalg.lstsq(F[:, :p], y)[0] for F, y in zip(data["F"], labels, strict=True)]
        fits.append(np.mean((np.einsum("stp,sp->st", data["test"][..., :p], b) - data["truth"]) ** 2, axis=1))
    return np.array([*risks, fits]).transpose(2, 0, 1) + NOISE**2


def measure(size: Size) -> Data:
    """Test errors (seeds, passes and the minimum-norm fit, widths)."""
    d, n, seeds = SIZES[size]
    return {"errors": np.concatenate(cache.each(errors, [(d, n, group, PASSES[size]) for group in runs.groups(seeds)]))}


def predict(size: Size) -> Data:
    """Test errors of one pass and of the minimum-norm fit, given the first layer of every seed: (seeds, 2, widths)."""
    d, n, seeds = SIZES[size]
    risks = np.zeros((seeds, 2, len(WIDTHS)))
    for k, i in np.ndindex(seeds, len(WIDTHS)):
        of = runs.moments(d, n, WIDTHS[i], k)
        risks[k, :, i] = sum(runs.predicted(of, gs.SGD(n, runs.rate()), n)), minimum_norm(of, n, NOISE**2)
    return {"errors": np.where(np.isfinite(risks), risks, 0.0) + NOISE**2}  # 0 stands for the divergence at p = n


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (d, n, seeds), passes = SIZES[size], PASSES[size]
    values, theory = measured["errors"], predicted["errors"].mean(0)
    mean, se = mean_and_error(values, axis=0)
    apart, error = mean_and_error(values[:, [0, -1]] - predicted["errors"], axis=0)
    away = [i for i in range(len(WIDTHS)) if i != AT]  # where the fit has an error
    known = np.array([[True] * len(WIDTHS), [i != AT for i in range(len(WIDTHS))]])
    misses = int(np.sum(known & (np.abs(apart) > LEVEL * error) & (np.abs(apart) > NEAR * theory)))
    # log of the error at p = n over the geometric mean beside it: the peak, on the same draws
    peaks, spread = mean_and_error(np.log(values[:, :, AT]) - np.log(values[:, :, BESIDE]).mean(axis=2), axis=0)
    left = (mean[-1] - mean[:-1])[:, ABOVE] / (mean[-1] - mean[0])[ABOVE,]  # of the way to the fit, (passes, widths)
    nearer = bool(np.all(np.diff(left, axis=0) < 0) and np.all(left[-1] < LEFT))
    worse = float(np.max([_beyond(values[:, 0, i] - values[:, -1, i]) for i in away]))  # one pass over the fit, in s.e.
    diverges = peaks[-1] - LEVEL * spread[-1] > np.log(PEAK)
    wrong = misses > 0 or peaks[0] > LEVEL * spread[0] or not nearer or worse > LEVEL or peaks[-1] < LEVEL * spread[-1]
    words = ", ".join(f"{np.exp(peak):.2f} after {times}" for peak, times in zip(peaks, passes, strict=False))
    return Verdict(
        outcome=power.decided(wrong, 0.0 if diverges else np.inf, 1.0),
        sentence=f"At p = n the error over that beside it, at p = {WIDTHS[BESIDE[0]]:g}n and {WIDTHS[BESIDE[1]]:g}n, is {words} "
        f"pass(es) and {np.exp(peaks[-1]):.0f} for the minimum-norm fit. At p = {WIDTHS[ABOVE[0]]:g}n and {WIDTHS[ABOVE[1]]:g}n "
        f"{passes[-1]} passes leave {100 * left[-1, 0]:.0f}% and {100 * left[-1, 1]:.0f}% of the way to the fit. One pass is "
        f"nowhere above the fit, at p = {WIDTHS[-1]:g}n {mean[0, -1]:.3f} ± {se[0, -1]:.3f} against {mean[-1, -1]:.3f} ± "
        f"{se[-1, -1]:.3f}; {int(known.sum()) - misses} of {int(known.sum())} errors of the two lie within {LEVEL:g} s.e. or "
        f"{100 * NEAR:g}% of the theory.",
        header=("readout", "p/n", "test error", "s.e.", "theory"),
        rows=tuple(
            (name, width, float(mean[k, i]), float(se[k, i]), _theory(k, i, len(passes), theory))
            for k, name in enumerate([*(f"{times} passes" for times in passes), "minimum norm"])
            for i, width in enumerate(WIDTHS)
        ),
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n = {n}, averaged, rate {runs.rate():.3g}, noise {NOISE:g}",
        figure=_figure(d, n, passes, np.median(values, axis=0), theory),
        caption=f"Medians of the test error against p/n for {', '.join(map(str, passes))} passes and the minimum-norm fit, with "
        "the theory of one pass and of the fit as lines. One pass falls without a peak; the more passes, the higher the peak at "
        "p = n, which the fit has without bound (off the picture).",
        power=power.stated(
            (error / np.maximum(theory, 1e-9))[known], LEVEL, NEAR, "% of an error", scale=100, seeds=seeds
        ),
        settings=tuple(runs.experiment(d, n, w).id for w in WIDTHS),
    )


def _beyond(differences: np.ndarray) -> float:
    mean, se = mean_and_error(differences)
    return float(mean / se)


def _theory(k: int, i: int, passes: int, theory: np.ndarray) -> str | float:
    """What is predicted: one pass, and the fit away from p = n."""
    if k == passes and i == AT:
        return "infinite"
    return float(theory[0 if k == 0 else 1, i]) if k in (0, passes) else "not known"


def _figure(d: int, n: int, passes: tuple[int, ...], middle: np.ndarray, theory: np.ndarray) -> str:
    with style.figure() as (fig, ax):
        names = [*(f"{times} pass{'es' if times > 1 else ''}" for times in passes), "minimum norm"]
        for k, name in enumerate(names):
            colour, last = style.COLOURS[k], k == len(passes)
            ax.plot(
                WIDTHS,
                middle[k],
                "D" if last else "o",
                color=colour,
                label=name,
                markerfacecolor="white" if last else colour,
            )
            if 0 < k < len(passes):
                ax.plot(WIDTHS, middle[k], color=colour, linewidth=0.8, linestyle=":")
        ax.plot(WIDTHS, theory[0], color=style.COLOURS[0])
        for side in (slice(0, AT), slice(AT + 1, None)):
            ax.plot(WIDTHS[side], theory[1, side], color=style.COLOURS[len(passes)])
        ax.plot([], [], color=style.INK, label="theory")
        ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
        ax.set(xscale="log", yscale="log", xlabel="features per sample p/n", ylabel="test error (median)")
        ax.set_ylim(0.8, 20)
        top = float(np.max(middle[-1]))
        ax.annotate(f"↑ {top:.0f}", (1.03, 17), color=style.COLOURS[len(passes)], va="center")
        ax.set_xticks([0.25, 0.5, 1, 1.5, 3], ["0.25", "0.5", "1", "1.5", "3"])
        ax.set_yticks([1, 2, 5, 10, 20], ["1", "2", "5", "10", "20"])
        ax.minorticks_off()
        ax.set_title(f"averaged SGD, d = {d}, n = {n}", loc="left")
        ax.legend()
        return style.svg(fig)


CLAIM = claim("liu/threshold", measure=measure, predict=predict, judge=judge)
