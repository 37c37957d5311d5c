"""The interpolation threshold: after many passes the test error of SGD peaks at p = n.

It descends again beyond.
"""

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
from giantstep.plot import style, ticks
from giantstep.theory.sgd_readout.population import minimum_norm
from giantstep_papers.liu import runs
from giantstep_papers.liu.runs import NOISE

CLAIM = Claim(
    order=3,
    quote="observe the double descent phenomenon both theoretically and empirically",
    place="abstract only",
    kind="remark",
    statement="With SGD the test error of random features shows the double descent phenomenon.",
    where="the double descent, here after the most of several numbers of passes",
    how="The words that we found do not name the number of passes, and many suit them best. After"
    " the most passes we compare the log of the error at p = n with that beside it, at p = "
    "0.75n and 1.5n. It must be larger by a tenth at least, and so it must be beside the "
    "widest network.",
    judges=(
        Judge(
            "log of the error at p = n over that at another width",
            side="above",
            margin=0,
            departure=(0.2, 0.1),
        ),
    ),
    seeds={"quick": Seeds(18, 80), "full": Seeds(72, 600)},
)

SIZES = {"quick": (20, 80), "full": (40, 200)}  # d, n
PASSES = {"quick": (1, 10, 100), "full": (1, 10, 100, 1000)}
WIDTHS = (0.25, 0.5, 0.75, 1.0, 1.5, 3.0)  # p/n
AT, BESIDE = 3, [2, 4]  # the places of p = n and of its neighbours
PEAK = "log of the error at p = n over that beside it"
PEAKED = 0.1  # the least log of a ratio that counts as a peak, or as a descent
JUDGED = "log of the error at p = n over that at another width"


def errors(d: int, n: int, seeds: tuple[int, ...], passes: tuple[int, ...]) -> np.ndarray:
    """Test errors (seeds, passes and the minimum-norm fit, widths)."""
    data = runs.features(d, n, seeds, runs.ACTIVATION, WIDTHS[-1])
    labels, widths = data["signal"] + data["noise"], [round(w * n) for w in WIDTHS]
    risks = [
        [runs.risks(data, p, gs.SGD(n, runs.rate(), passes=times), labels) for p in widths]
        for times in passes
    ]
    fits = [runs.risk_of(data, _fits(data["F"][:, :, :p], labels)) for p in widths]
    return np.array([*risks, fits]).transpose(2, 0, 1) + NOISE**2


def _fits(features: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Coefficients of the minimum-norm fits, (S, p)."""
    pairs = zip(features, labels, strict=True)
    return np.array([np.linalg.lstsq(F, y)[0] for F, y in pairs])


def expected(d: int, n: int, seed: int) -> np.ndarray:
    """Test errors of one pass and of the minimum-norm fit given the first layer, (2, widths).

    They are 0 where the fit diverges.
    """
    of, readout = [runs.moments(d, n, w, seed) for w in WIDTHS], gs.SGD(n, runs.rate())
    pairs = [(sum(runs.predicted(x, readout, n)), minimum_norm(x, n, NOISE**2)) for x in of]
    found = np.array(pairs).T
    return np.where(np.isfinite(found), found + NOISE**2, 0.0)


def measure(size: Size, seeds: range) -> Data:
    """Test errors (passes and the minimum-norm fit, widths, seeds)."""
    jobs = [(*SIZES[size], group, PASSES[size]) for group in runs.groups(seeds)]
    found = cache.each(errors, jobs)
    return {"errors": np.moveaxis(np.concatenate(found), 0, -1)}


def predict_draws(size: Size, seeds: range) -> Data:
    """Test errors of one pass and of the fit given the first layers, means over seeds.

    They are (2, widths), and only drawn.
    """
    some = seeds[: CLAIM.seeds[size].pilot] if size == "full" else seeds
    found = cache.each(expected, [(*SIZES[size], seed) for seed in some])
    return {"errors": np.mean(found, axis=0)}


def peaks(measured: Data) -> np.ndarray:
    """Logs of the error at p = n over that beside it, (passes and the fit, seeds)."""
    logs = np.log(measured["errors"])
    return logs[:, AT] - logs[:, BESIDE].mean(axis=1)


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """After the most passes the error has a peak at p = n.

    It descends from there to the widest network.
    """
    logs, at = np.log(measured["errors"][-2]), [f"{PASSES[size][-1]} passes"]
    judge, descent = judging(CLAIM, size), (logs[AT] - logs[-1])[None]
    widest = "log of the error at p = n over that at p = 3n"
    return statistics.stated(
        judge(PEAK, peaks(measured)[-2:-1], PEAKED, by=JUDGED, at=at),
        judge(widest, descent, PEAKED, by=JUDGED, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    (d, n), passes = SIZES[size], PASSES[size]
    height = np.exp(np.mean(peaks(measured), axis=-1))
    middle = np.median(measured["errors"], axis=-1)
    return Verdict(
        sentence=f"After {passes[-1]} passes the error at p = n is {height[-2]:.2f} times that "
        "beside it. We did not find how many passes the authors made, and one pass has no peak "
        "(giantstep/one-pass).",
        sizes=f"d = {d}, n = {n}, averaged, rate {runs.rate():.3g}, noise {NOISE:g}",
        figure=figure(d, n, passes, middle, predicted["errors"]),
        caption="The more passes, the higher the peak of the error at p = n, where the "
        "minimum-norm fit (hollow) diverges.",
        settings=tuple(runs.experiment(d, n, w).id for w in WIDTHS),
    )


def figure(d: int, n: int, passes: tuple[int, ...], middle: np.ndarray, theory: np.ndarray) -> str:
    with style.figure(width=5.0, height=3.4) as (fig, ax):
        names = [*(f"{times} pass{'es' if times > 1 else ''}" for times in passes), "minimum norm"]
        for k, name in enumerate(names):
            colour, last = style.COLOURS[k], k == len(passes)
            mark, face = "D" if last else "os^v"[k], "white" if last else colour
            ax.plot(WIDTHS, middle[k], mark, color=colour, label=name, markerfacecolor=face)
            if 0 < k < len(passes):
                ax.plot(WIDTHS, middle[k], color=colour, linewidth=0.8, linestyle=":")
        style.curve(ax, WIDTHS, theory[0], log="xy", color=style.COLOURS[0])
        for side in (slice(0, AT), slice(AT + 1, None)):
            ax.plot(WIDTHS[side], theory[1, side], color=style.COLOURS[len(passes)])
        ax.plot([], [], color=style.INK, label="theory (the fit diverges at p = n)")
        ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
        ax.set(xlabel="features per sample p/n", ylabel="test error (median)", ylim=(0.8, 20))
        top = float(np.max(middle[-1]))
        ax.annotate(f"↑ fit: {top:.0f}", (1.03, 17), color=style.COLOURS[len(passes)], va="center")
        ticks.logarithmic(ax, "x", [0.25, 0.5, 1, 1.5, 3])
        ticks.logarithmic(ax, "y", [1, 2, 5, 10, 20])
        ax.set_title(f"averaged SGD, d = {d}, n = {n}")
        ax.legend(fontsize=8)
        return style.svg(fig)
