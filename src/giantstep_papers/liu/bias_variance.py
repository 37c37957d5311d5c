"""Bias and variance of averaged SGD against the width: the one falls, the other rises to one maximum and falls."""

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, cache, statistics
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
    statement="The variance of random features regression trained with SGD is unimodal in the width, "
    "and the bias decreases monotonically.",
    where="its main result, by bounds; here one pass, averaged, with sin(1.5x) and, for the bias, "
    "tanh; the recursion is ours",
    how="The log bias must not rise from a width to the next. The log variance must rise to the "
    "width near its maximum and fall from there to the widest network, by a least amount "
    "each. The limit is judged by our recursion at p/n = 0.1 to 100 and three d: it must have"
    " one maximum, inside, and a bias that never rises. The words that we found do not name "
    "the activation. The sine suits them best.",
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
ORDER = {"quick": Tolerance(0.0, 0.25), "full": Tolerance(0.0, 0.1)}  # of a log of a ratio
SURE = Tolerance(0.0, 0.02)  # of theory, which has no noise


def parts(d: int, n: int, seeds: tuple[int, ...], activation: str) -> np.ndarray:
    """Bias and variance (seeds, 2, widths): fits of labels without noise, and of the noise alone."""
    data, risks = runs.features(d, n, seeds, activation), []
    for width in WIDTHS:
        p, readout = round(width * n), gs.SGD(n, runs.rate(activation))
        noises = [np.roll(data["noise"], turn * n // NOISES, axis=1) for turn in range(NOISES)]
        variance = np.mean([runs.risks(data, p, readout, noise, signal=False) for noise in noises], axis=0)
        # the fit is linear in the noise, whose length and direction are independent: its mean square may be set to its mean
        variance *= NOISE**2 / np.mean(data["noise"] ** 2, axis=1)
        risks.append((runs.risks(data, p, readout, data["signal"]), variance))
    return np.array(risks).transpose(2, 1, 0)


def expected(d: int, n: int, seed: int, activation: str) -> np.ndarray:
    """Bias and variance (2, widths) predicted given the first layer of a seed."""
    readout = gs.SGD(n, runs.rate(activation))
    return np.array([runs.predicted(runs.moments(d, n, w, seed, activation), readout, n) for w in WIDTHS]).T


def measure(size: Size, seeds: range) -> Data:
    """For every activation the two parts, (2, widths, seeds)."""
    return {
        name: np.moveaxis(
            np.concatenate(cache.each(parts, [(*SIZES[size], g, name) for g in runs.groups(seeds)])), 0, -1
        )
        for name in ACTIVATIONS
    }


def predict(size: Size) -> Data:
    """V3 of Liu et al. against the width, at which they have its peak; and both parts at large sizes, (d, 2, widths)."""
    ratios = np.geomspace(WIDTHS[0], WIDTHS[-1], 60)
    found: Data = {"ratios": ratios, "V3": NOISE**2 * ratios * isotropic_variance(runs.SHARE / ratios)}
    for name in ACTIVATIONS:
        cells = [[limit_parts(d, width, name) for width in GRID] for d in LARGE]
        found[f"large {name}"] = np.moveaxis(np.array(cells), 2, 1)
    return found


def limit_parts(d: int, width: float, name: str) -> tuple[float, float]:
    """Bias and variance at n = 4 d with the features of the limit."""
    n = 4 * d
    return runs.predicted(runs.proportional(d, n, width, name), gs.SGD(n, runs.rate(name)), n)


def predict_draws(size: Size, seeds: range) -> Data:
    """For every activation the two parts given the first layer of every seed, (2, widths, seeds)."""
    return {
        name: np.stack(cache.each(expected, [(*SIZES[size], seed, name) for seed in seeds]), axis=-1)
        for name in ACTIVATIONS
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The bias falls from each width to the next; the variance of sine features rises to its maximum and falls beyond it."""
    sine = measured[SINE][1]
    hand = (
        *(_bias(size, measured, name) for name in ACTIVATIONS),
        variance(size, sine, 0, TOP, FALL, "above", SINE),
        variance(size, sine, TOP, len(WIDTHS) - 1, -FALL, "below", SINE),
    )
    at = [f"{name}, d = {d}" for name in ACTIVATIONS for d in LARGE]
    every = np.log(np.array([predicted[f"large {name}"] for name in ACTIVATIONS]))  # (activations, d, 2, widths)
    bias, variances = np.moveaxis(every, 2, 0)
    rises, falls = around_the_maximum(variances[0])

    def theory(what: str, values: np.ndarray, least: float, side: Side, at: list[str]):
        return statistics.compare(what, values, least, at=at, side=side, within=SURE, noisy=False)

    limit = (
        theory("largest rise of the log bias, theory", np.diff(bias).max(axis=-1).ravel(), 0.0, "below", at),
        theory("rise of the log variance to its maximum, theory", rises, FALL, "above", at[: len(LARGE)]),
        theory("fall of the log variance beyond it, theory", falls, FALL, "above", at[: len(LARGE)]),
        theory("change of the log variance against one maximum, theory", second(variances).ravel(), 0.0, "below", at),
    )
    return Evidence(hand, limit=limit)


def around_the_maximum(logs: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """How far curves (..., widths) rise from the first width to their maximum, and fall from it to the last."""
    top = logs.max(axis=-1)
    return top - logs[..., 0], top - logs[..., -1]


def second(logs: np.ndarray) -> np.ndarray:
    """The largest step of a curve (..., widths) down before its maximum or up after it."""
    steps, top = np.diff(logs), np.argmax(logs, axis=-1)[..., None]
    return np.where(np.arange(steps.shape[-1]) < top, -steps, steps).max(axis=-1)


def _bias(size: Size, measured: Data, name: str) -> statistics.ComparedNumbers:
    logs = np.log(measured[name][0])
    at = [f"{name}, p = {a:g}n to {b:g}n" for a, b in zip(WIDTHS, WIDTHS[1:], strict=False)]
    return statistics.compare(
        "rise of the log bias", np.diff(logs, axis=0), 0.0, at=at, side="below", within=ORDER[size]
    )


def variance(
    size: Size, values: np.ndarray, start: int, end: int, least: float, side: Side, name: str
) -> statistics.ComparedNumbers:
    """log of the mean variance at one width over that at another, as jackknife values."""
    change = statistics.pseudovalues(lambda v: np.log(np.mean(v[end], axis=-1) / np.mean(v[start], axis=-1)), values)
    at = [f"{name}, p = {WIDTHS[start]:g}n to {WIDTHS[end]:g}n"]
    return statistics.compare("change of the log variance", change[None], least, at=at, side=side, within=ORDER[size])


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    found = {name: mean_and_error(measured[name]) for name in ACTIVATIONS}
    theory = {name: predicted[name].mean(axis=-1) for name in ACTIVATIONS}
    sine = found[SINE][0][1]
    top = GRID[int(np.argmax(predicted[f"large {SINE}"][-1, 1]))]
    sentence = (
        f"The bias falls with the width. The variance of sine features falls from {sine[TOP]:.3f} to {sine[-1]:.3f} beyond its "
        f"maximum. Theory puts the only maximum at p = {top:g}n."
    )
    return Verdict(
        sentence=sentence if all(each.outcome == "holds" for each in ruling.decisions) else "",
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {runs.SHARE:g}, noise {NOISE:g}",
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
                style.dots(ax, WIDTHS, *(y[k] for y in found[name]), color=colour, marker=marker, label=part)
            ax.plot(
                predicted["ratios"],
                predicted["V3"],
                color=style.COLOURS[1],
                linestyle="--",
                linewidth=0.9,
                label="V3 alone",
            )
            ax.plot([], [], color=style.INK, label="theory")
            ax.axvline(1, color=style.INK, linewidth=0.8, linestyle=":")
            title = f"{formula(name)}, d = {d}, n = {n}"
            ax.set(xlabel="features per sample p/n", ylabel="part of the risk", title=title)
            ticks.logarithmic(ax, "x", [0.1, 0.25, 0.5, 1, 3])
            ticks.logarithmic(ax, "y", [0.03, 0.1, 0.3, 1])
        axes[1].legend()
        return style.svg(fig)
