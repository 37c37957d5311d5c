"""Bias and variance of averaged SGD against the width.

The one falls, the other rises to one maximum and falls.
"""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import (
    Claim,
    ComparedNumbers,
    Data,
    Evidence,
    Judge,
    Judging,
    Ruling,
    Seeds,
    Size,
    Verdict,
    cache,
    judging,
    statistics,
)
from giantstep.checks.claim import Side
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import formula
from giantstep.theory.sgd_readout.predict import isotropic_variance
from giantstep_papers.liu import runs
from giantstep_papers.liu.runs import NOISE

CLAIM = Claim(
    order=2,
    quote="RF regression still generalizes well for interpolation learning, and is able to "
    "characterize the double descent behavior by the unimodality of variance and monotonic "
    "decrease of bias",
    place="abstract only",
    kind="theorem",
    statement="The variance of random features regression trained with SGD is unimodal in the "
    "width, and the bias decreases monotonically.",
    where="its main result, by bounds; here one pass, averaged, with sin(1.5x) and, for the bias, "
    "tanh; the recursion is ours",
    how="The log bias must not rise from a width to the next. The log variance must rise to the "
    "width near its maximum and fall from there to the widest network, by a tenth at least "
    "each. The limit is judged by our recursion at p = n/10 to 100n and three d: it must have one "
    "maximum, inside, and a bias that never rises. The words that we found do not name the "
    "activation. The sine suits them best.",
    judges=(
        Judge("rise of the log bias", side="below", margin=0, departure=(0.25, 0.1)),
        Judge("change of the log variance", margin=0, departure=(0.25, 0.1)),
        Judge("change of either log by theory", margin=0, departure=0.02),
    ),
    seeds={"quick": Seeds(18, 90), "full": Seeds(60, 700)},
)

SIZES = {"quick": (40, 160), "full": (80, 400)}  # d, n
NOISES = 2  # draws of the label noise for every seed: its own, turned
WIDTHS = (0.1, 0.25, 0.5, 1.0, 3.0)  # p/n
SINE, TANH = ACTIVATIONS = (runs.ACTIVATION, "tanh")
PARTS = ("bias", "variance")
TOP = WIDTHS.index(0.5)  # where the variance of sine features is near its peak
FALL = 0.1  # the least change of a log variance that counts as one
LARGE = (20, 40, 80)  # d of the theory at large widths, n = 4 d
GRID = (0.1, 0.2, 0.4, 0.7, 1.0, 2.0, 5.0, 20.0, 100.0)  # its p/n
SURE = "change of either log by theory"  # a judge


def parts(d: int, n: int, seeds: tuple[int, ...], activation: str) -> np.ndarray:
    """Bias and variance (seeds, 2, widths).

    They are those of fits of labels without noise, and of the noise alone.
    """
    data, risks = runs.features(d, n, seeds, activation), []
    for width in WIDTHS:
        p, readout = round(width * n), gs.SGD(n, runs.rate(activation))
        noises = [np.roll(data["noise"], turn * n // NOISES, axis=1) for turn in range(NOISES)]
        each = [runs.risks(data, p, readout, noise, signal=False) for noise in noises]
        variance = np.mean(each, axis=0)
        # the fit is linear in the noise, whose length and direction are independent:
        # its mean square may be set to its mean
        variance *= NOISE**2 / np.mean(data["noise"] ** 2, axis=1)
        risks.append((runs.risks(data, p, readout, data["signal"]), variance))
    return np.array(risks).transpose(2, 1, 0)


def expected(d: int, n: int, seed: int, activation: str) -> np.ndarray:
    """Bias and variance (2, widths) predicted given the first layer of a seed."""
    readout = gs.SGD(n, runs.rate(activation))
    of = [runs.moments(d, n, width, seed, activation) for width in WIDTHS]
    return np.array([runs.predicted(each, readout, n) for each in of]).T


def measure(size: Size, seeds: range) -> Data:
    """For every activation the two parts, (2, widths, seeds)."""
    found: Data = {}
    for name in ACTIVATIONS:
        own = cache.each(parts, [(*SIZES[size], group, name) for group in runs.groups(seeds)])
        found[name] = np.moveaxis(np.concatenate(own), 0, -1)
    return found


def predict(size: Size) -> Data:
    """V3 of Liu et al. against the width, and both parts at large sizes, (d, 2, widths).

    They have the peak of the variance where V3 has its own.
    """
    ratios = np.geomspace(WIDTHS[0], WIDTHS[-1], 60)
    third = NOISE**2 * ratios * isotropic_variance(runs.SHARE / ratios)
    found: Data = {"ratios": ratios, "V3": third}
    for name in ACTIVATIONS:
        cells = [[limit_parts(d, width, name) for width in GRID] for d in LARGE]
        found[f"large {name}"] = np.moveaxis(np.array(cells), 2, 1)
    return found


def limit_parts(d: int, width: float, name: str) -> tuple[float, float]:
    """Bias and variance at n = 4 d with the features of the limit."""
    n = 4 * d
    return runs.predicted(runs.proportional(d, n, width, name), gs.SGD(n, runs.rate(name)), n)


def predict_draws(size: Size, seeds: range) -> Data:
    """For every activation the two parts, (2, widths, seeds), given the first layers."""
    found: Data = {}
    for name in ACTIVATIONS:
        own = cache.each(expected, [(*SIZES[size], seed, name) for seed in seeds])
        found[name] = np.stack(own, axis=-1)
    return found


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The bias falls from each width to the next.

    The variance of sine features rises to its maximum and falls beyond it.
    """
    sine, judge = measured[SINE][1], judging(CLAIM, size)
    hand = (
        *(_bias(judge, measured, name) for name in ACTIVATIONS),
        _variance(judge, sine, 0, TOP, FALL, "above"),
        _variance(judge, sine, TOP, len(WIDTHS) - 1, -FALL, "below"),
    )
    return Evidence(hand, limit=_limit(judge, predicted))


def _limit(judge: Judging, predicted: Data) -> tuple[ComparedNumbers, ...]:
    """By theory the bias never rises, and the variance of sine features has one maximum."""
    cells = [f"{name}, d = {d}" for name in ACTIVATIONS for d in LARGE]
    # (activations, d, 2, widths)
    every = np.log(np.array([predicted[f"large {name}"] for name in ACTIVATIONS]))
    bias, variances = np.moveaxis(every, 2, 0)
    rises, falls = around_the_maximum(variances[0])

    rise, against = np.diff(bias).max(axis=-1).ravel(), second(variances).ravel()

    def theory(what: str, values: np.ndarray, least: float, side: Side) -> ComparedNumbers:
        at = cells[: len(values)]
        return judge(f"{what}, theory", values, least, by=SURE, at=at, side=side, noisy=False)

    return (
        theory("largest rise of the log bias", rise, 0.0, "below"),
        theory("rise of the log variance to its maximum", rises, FALL, "above"),
        theory("fall of the log variance beyond it", falls, FALL, "above"),
        theory("change of the log variance against one maximum", against, 0.0, "below"),
    )


def around_the_maximum(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far curves (..., widths) rise to their maximum, and fall from it to the last width."""
    top = logs.max(axis=-1)
    return top - logs[..., 0], top - logs[..., -1]


def second(logs: np.ndarray) -> np.ndarray:
    """The largest step of a curve (..., widths) down before its maximum or up after it."""
    steps, top = np.diff(logs), np.argmax(logs, axis=-1)[..., None]
    return np.where(np.arange(steps.shape[-1]) < top, -steps, steps).max(axis=-1)


def _bias(judge: Judging, measured: Data, name: str) -> ComparedNumbers:
    logs = np.log(measured[name][0])
    at = [f"{name}, p = {a:g}n to {b:g}n" for a, b in zip(WIDTHS, WIDTHS[1:], strict=False)]
    return judge("rise of the log bias", np.diff(logs, axis=0), at=at)


def _variance(
    judge: Judging, values: np.ndarray, start: int, end: int, least: float, side: Side
) -> ComparedNumbers:
    """log of the mean variance of the sine at a width over that at another, jackknife values."""
    change = statistics.pseudovalues(
        lambda v: np.log(np.mean(v[end], axis=-1) / np.mean(v[start], axis=-1)), values
    )
    at = [f"{SINE}, p = {WIDTHS[start]:g}n to {WIDTHS[end]:g}n"]
    return judge("change of the log variance", change[None], least, at=at, side=side)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    found = {name: mean_and_error(measured[name]) for name in ACTIVATIONS}
    theory = {name: predicted[name].mean(axis=-1) for name in ACTIVATIONS}
    sine = found[SINE][0][1]
    top = GRID[int(np.argmax(predicted[f"large {SINE}"][-1, 1]))]
    sentence = (
        f"The bias falls with the width. The variance of sine features falls from {sine[TOP]:.3f} "
        f"to {sine[-1]:.3f} beyond its maximum. Theory puts the only maximum at p = {top:g}n."
    )
    return Verdict(
        sentence=sentence if all(each.outcome == "holds" for each in ruling.decisions) else "",
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {runs.SHARE:g}, noise "
        f"{NOISE:g}",
        figure=figure(d, n, found, theory, predicted),
        caption="The bias falls with the width. The variance of sine features falls beyond its "
        "maximum (left), that of tanh features stays (right).",
        settings=tuple(runs.experiment(d, n, w, name).id for name in ACTIVATIONS for w in WIDTHS),
    )


def figure(d: int, n: int, found: Data, theory: Data, predicted: Data) -> str:
    with style.figure(2, width=3.6) as (fig, axes):
        for ax, name in zip(axes, ACTIVATIONS, strict=True):
            for k, (part, marker) in enumerate(zip(PARTS, "os", strict=True)):
                colour = style.COLOURS[k]
                style.curve(ax, WIDTHS, theory[name][k], log="x", color=colour)
                look = {"color": colour, "marker": marker, "label": part}
                style.dots(ax, WIDTHS, *(y[k] for y in found[name]), **look)
            dashed: Any = {"color": style.COLOURS[1], "linestyle": "--", "linewidth": 0.9}
            ax.plot(predicted["ratios"], predicted["V3"], label="V3 alone", **dashed)
            ax.plot([], [], color=style.INK, label="theory")
            ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
            title = f"{formula(name)}, d = {d}, n = {n}"
            ax.set(xlabel="features per sample p/n", ylabel="part of the risk", title=title)
            ticks.logarithmic(ax, "x", [0.1, 0.25, 0.5, 1, 3])
            ticks.logarithmic(ax, "y", [0.03, 0.1, 0.3, 1])
        axes[1].legend()
        return style.svg(fig)
