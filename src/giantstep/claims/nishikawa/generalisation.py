"""Generalisation: laws near the prior have a small Rademacher complexity, however many dimensions a neuron has."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.checks.random import Stream, generator, normals
from giantstep.claims.claim import claim
from giantstep.claims.growth import growth
from giantstep.claims.margins import Margins
from giantstep.functions import losses
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style
from giantstep.systems.mean_field import MeanField, dual
from giantstep.systems.mean_field.theory import complexity, rademacher
from giantstep.systems.mean_field.training import features

SIZES = {"quick": ((20, 40, 80, 160), 1500, 8), "full": ((25, 50, 100, 200, 400, 800), 20000, 20)}  # n, draws, seeds
RADIUS = 1.5  # R
SIGNS = 8  # draws of signs
LAM = 0.02  # the penalty
TEST = 1000  # fresh curves
BASES = (16, 128)  # J
MARGINS = Margins(level=3.0, granted=0.1, needed=0.3)  # of the power of n
HEADER = (
    "n",
    "complexity, J = 16",
    "s.e.",
    "J = 128",
    "bound",
    "test − training loss",
    "s.e. of it",
    "its bound",
    "KL",
)


def system(n: int, J: int, draws: int, seed: int) -> MeanField:
    return gs.MeanField(n, basis=J, penalty=LAM, pool=draws, data=seed)


def numbers(n: int, J: int, draws: int, seed: int) -> list[float]:
    """Complexity of KL <= R on n curves; test less training loss of the optimum, its KL, and the loss of the network 0."""
    s = system(n, J, draws, seed)
    (X, y), (Xt, yt) = s.curves, s.sample(0, TEST, 1)
    u = normals(seed, (Stream.SKETCH,), 0, draws, J)
    H = features(X * s.deviations, u, s.training)
    signs = generator(seed, Stream.SKETCH, 1).choice([-1.0, 1.0], (SIGNS, n))
    rademacher = float(complexity(H, RADIUS, signs).mean())
    if J != BASES[0]:
        return [rademacher, 0.0, 0.0, 0.0]
    best = dual.optimum(H, y, LAM, s.loss)[1]
    test = best.weights @ features(Xt * s.deviations, u, s.training)
    gap = float(np.mean(losses.value(s.loss, test, yt)) - np.mean(losses.value(s.loss, best.outputs, y)))
    return [rademacher, gap, best.kl, float(np.mean(losses.value(s.loss, 0.0 * y, y)))]


def measure(size: Size) -> Data:
    """(J, n, numbers, seeds)."""
    sizes, draws, seeds = SIZES[size]
    runs = np.array(cache.each(numbers, [(n, J, draws, seed) for J in BASES for n in sizes for seed in range(seeds)]))
    return {"runs": runs.reshape(len(BASES), len(sizes), seeds, -1).swapaxes(2, 3)}


def predict(size: Size) -> Data:
    """B sqrt(2 R/n), its power of n, and the largest slope of the loss for labels of order one."""
    sizes, draws, _ = SIZES[size]
    steepest = losses.steepest("square", 1.0, system(sizes[-1], BASES[0], draws, 0).curves[1])
    return {"bounds": np.array([rademacher(1.0, RADIUS, n) for n in sizes]), "power": -0.5, "steepest": steepest}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (sizes, draws, seeds), runs = SIZES[size], measured["runs"]
    mean, error = mean_and_error(runs)
    bounds = predicted["bounds"]
    # 2 G B sqrt(2 KL/n) with the KL that was found: the bound of radius R, rescaled
    promised = 2 * predicted["steepest"] * bounds * np.sqrt(mean[0, :, 2] / RADIUS)
    slope, slope_error = growth(sizes, runs[0, :, 0])
    over = int(np.sum(mean[:, :, 0] - MARGINS.level * error[:, :, 0] > bounds)) + int(
        np.sum(mean[0, :, 1] - MARGINS.level * error[0, :, 1] > promised)
    )
    wrong = bool(over) or abs(slope - predicted["power"]) > max(MARGINS.level * slope_error, MARGINS.granted)
    columns = (
        sizes,
        mean[0, :, 0],
        error[0, :, 0],
        mean[1, :, 0],
        bounds,
        mean[0, :, 1],
        error[0, :, 1],
        promised,
        mean[0, :, 2],
    )
    return Verdict(
        outcome=power.decided(wrong, power.detectable(slope_error, MARGINS.level, MARGINS.granted), MARGINS.needed),
        sentence=_sentence(sizes, mean, bounds, promised, (slope, slope_error)),
        header=HEADER,
        rows=tuple(tuple([int(row[0]), *map(float, row[1:])]) for row in zip(*columns, strict=True)),
        seeds=f"0-{seeds - 1}",
        sizes=f"n = {', '.join(map(str, sizes))}; λ = {LAM:g}, {draws} draws of the prior, {SIGNS} draws of signs, {TEST} fresh "
        "curves",
        figure=_figure(sizes, mean, error, bounds, promised),
        caption="Left, the Rademacher complexity of laws within KL of 1.5 of the prior against n: dots of 16 and 128 "
        "dimensions lie on each other, below the dashed bound and parallel to it. Right, test less training loss of the "
        "optimum, far below its bound.",
        power=power.stated([slope_error], MARGINS.level, MARGINS.granted, " in the power of n", seeds=seeds),
        trend=f"Test less training loss falls from {mean[0, 0, 1]:.4f} to {mean[0, -1, 1]:.4f} between n = {sizes[0]} and "
        f"{sizes[-1]}.",
    )


def _sentence(sizes: tuple[int, ...], mean: np.ndarray, bounds: np.ndarray, promised: np.ndarray, power: tuple) -> str:
    share, trivial, (slope, slope_error) = mean[:, :, 0] / bounds, float(mean[0, :, 3].mean()), power
    vacuous, apart = int((promised > trivial).sum()), 100 * float(abs(mean[1, :, 0] / mean[0, :, 0] - 1).max())
    return (
        f"The complexity of KL ≤ {RADIUS:g} is {share.min():.2f} to {share.max():.2f} of B√(2R/n), the same with "
        f"{BASES[0]} and {BASES[1]} dimensions ({apart:.1f}% apart at most), "
        f"and falls as n to the {slope:.2f} ± {slope_error:.2f}. Test less training loss of the optimum is {mean[0, 0, 1]:.4f} "
        f"at n = {sizes[0]} and {mean[0, -1, 1]:.4f} at n = {sizes[-1]}; its bound 2G·B√(2KL/n) is {promised[0]:.2g} and "
        f"{promised[-1]:.2g}, more than the loss {trivial:.2g} of the network 0, so vacuous, at {vacuous} of {len(sizes)} sizes."
    )


def _figure(
    sizes: tuple[int, ...], mean: np.ndarray, error: np.ndarray, bounds: np.ndarray, promised: np.ndarray
) -> str:
    with _style.figure(2, width=3.4, height=2.8) as (fig, (left, right)):
        for i, J in enumerate(BASES):
            style = {"color": _style.COLOURS[i], "marker": "os"[i], "label": f"J = {J}"}
            _style.dots(left, np.array(sizes) * 1.04 ** (2 * i - 1), mean[i, :, 0], error[i, :, 0], **style)
        left.plot(sizes, bounds, "--", color=_style.INK, label="bound")
        left.set_ylabel(f"complexity of KL ≤ {RADIUS:g}")
        _style.dots(right, sizes, mean[0, :, 1], error[0, :, 1], color=_style.COLOURS[0], label="measured")
        right.plot(sizes, promised, "--", color=_style.INK, label="bound")
        right.set_ylabel("test less training loss")
        for ax in (left, right):
            ax.set(xscale="log", yscale="log", xlabel="curves n")
            ax.set_xticks(sizes, [str(n) for n in sizes])
            ax.minorticks_off()
            ax.legend()
        ticks = [t for t in (0.02, 0.05, 0.1, 0.2, 0.4, 0.8) if mean[:, :, 0].min() / 2 < t < 2 * bounds[0]]
        left.set_yticks(ticks, [f"{t:g}" for t in ticks])
        return _style.svg(fig)


CLAIM = claim("nishikawa/generalisation", measure=measure, predict=predict, judge=judge)
