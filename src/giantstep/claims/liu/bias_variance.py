"""Bias and variance of averaged SGD against the width: the one falls, the other rises and, for nonlinear features, falls."""

import numpy as np
from jaxtyping import Float

import giantstep as gs
from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Tolerances, Verdict, cache, statistics
from giantstep.claims.liu import runs
from giantstep.claims.liu.runs import NOISE
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep.plot.formula import formula
from giantstep.theory.sgd_readout.predict import isotropic_variance

SIZES = {"quick": (40, 160), "full": (80, 400)}  # d, n
SEEDS: dict[Size, Seeds] = {"quick": Seeds(18, 90), "full": Seeds(60, 700)}
NOISES = 2  # draws of the label noise for every seed: its own, turned
WIDTHS = (0.1, 0.25, 0.5, 1.0, 3.0)  # p/n
SINE, TANH = ACTIVATIONS = (runs.ACTIVATION, "tanh")
PARTS = ("bias", "variance")
TOP = WIDTHS.index(0.5)  # where the variance of sine features is near its peak
FALL = 0.1  # the least fall of log variance that counts as one
ORDER = {"quick": Tolerance(0.0, 0.25), "full": Tolerance(0.0, 0.1)}  # of a log of a ratio
RULE = {
    "quick": Tolerances(Tolerance(0.06, 0.3), Tolerance(0.05, 0.2)),
    "full": Tolerances(Tolerance(0.03, 0.1), Tolerance(0.02, 0.04)),
}  # of a mean part, and of the mean of all four


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
    """V3 of Liu et al. against the width, at which they have its peak."""
    ratios = np.geomspace(WIDTHS[0], WIDTHS[-1], 60)
    return {"ratios": ratios, "V3": NOISE**2 * ratios * isotropic_variance(runs.SHARE / ratios)}


def predict_draws(size: Size, seeds: range) -> Data:
    """For every activation the two parts given the first layer of every seed, (2, widths, seeds)."""
    return {
        name: np.stack(cache.each(expected, [(*SIZES[size], seed, name) for seed in seeds]), axis=-1)
        for name in ACTIVATIONS
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The bias falls from each width to the next, and the variance falls from its peak; with tanh it does not."""
    falls = [_bias(size, measured, name) for name in ACTIVATIONS]
    sine, tanh = (_variance(size, measured, name) for name in ACTIVATIONS)
    level = _variance(size, measured, TANH, side="above")
    theory = statistics.each_and_mean(
        "mean over the predicted", np.concatenate([_theory(measured, predicted, name) for name in ACTIVATIONS]), 1.0,
        at=[f"{part}, {name}" for name in ACTIVATIONS for part in PARTS], within=RULE[size],
    )  # fmt: skip
    return Evidence((*falls, sine, tanh), (*falls, sine, level, *theory))


def _bias(size: Size, measured: Data, name: str) -> statistics.ComparedNumbers:
    logs = np.log(measured[name][0])
    at = [f"{name}, p = {a:g}n to {b:g}n" for a, b in zip(WIDTHS, WIDTHS[1:], strict=False)]
    return statistics.compare(
        "rise of the log bias", np.diff(logs, axis=0), 0.0, at=at, side="below", within=ORDER[size]
    )


def _variance(size: Size, measured: Data, name: str, side: statistics.Side = "below") -> statistics.ComparedNumbers:
    """log of the mean variance at the largest width over that at its peak, at most or at least -FALL, as jackknife values."""
    change = statistics.pseudovalues(
        lambda v: np.log(np.mean(v[-1], axis=-1) / np.mean(v[TOP], axis=-1)), measured[name][1]
    )
    at = [f"{name}, p = {WIDTHS[TOP]:g}n to {WIDTHS[-1]:g}n"]
    return statistics.compare("change of the log variance", change[None], -FALL, at=at, side=side, within=ORDER[size])


def _theory(measured: Data, predicted: Data, name: str) -> Float[np.ndarray, "parts seeds"]:
    """Means over the widths of each part over its prediction given the first layers."""
    scale = predicted[name].mean(axis=-1, keepdims=True)
    return np.mean(1 + (measured[name] - predicted[name]) / scale, axis=1)


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, n = SIZES[size]
    found = {name: mean_and_error(measured[name]) for name in ACTIVATIONS}
    theory = {name: predicted[name].mean(axis=-1) for name in ACTIVATIONS}
    words = "; ".join(
        f"{name}: bias {m[0, 0]:.2f} to {m[0, -1]:.2f}, variance {m[1, TOP]:.3f} at p = {WIDTHS[TOP]:g}n and {m[1, -1]:.3f} at "
        f"p = {WIDTHS[-1]:g}n"
        for name, (m, _) in found.items()
    )
    return Verdict(
        sentence=f"{words}. {ruling.sentence}",
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {runs.SHARE:g}, noise {NOISE:g}",
        figure=_figure(d, n, found, theory, predicted),
        caption=f"Two panels, sine and tanh features, show bias and variance against p/n, dots over the theory given the first "
        f"layers, and V3 dashed. {words}.",
        settings=tuple(runs.experiment(d, n, w, name).id for name in ACTIVATIONS for w in WIDTHS),
    )


def _figure(d: int, n: int, found: Data, theory: Data, predicted: Data) -> str:
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
