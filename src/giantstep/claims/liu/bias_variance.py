"""Bias and variance of averaged SGD against the width: the one falls, the other rises and, for nonlinear features, falls."""

import numpy as np

import giantstep as gs
from giantstep.checks import cache, power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.liu import runs
from giantstep.claims.liu.runs import NOISE, WIDTHS
from giantstep.claims.margins import Margins
from giantstep.measure import mean_and_error
from giantstep.plot import style
from giantstep.theory.sgd_readout.predict import isotropic_variance

SIZES = {"quick": (30, 150, 12), "full": (60, 600, 36)}  # d, n, seeds
NOISES = 4  # draws of the label noise for every seed: its own, turned
ACTIVATIONS = (runs.ACTIVATION, "tanh")
PARTS = ("bias", "variance")
MARGINS = Margins(level=3.0, granted=4.0, needed=0.5)  # of a part of the error; granted is over min(p, d)


def parts(d: int, n: int, seeds: tuple[int, ...], activation: str) -> np.ndarray:
    """Bias and variance (seeds, 2, widths): fits of labels without noise, and of the noise alone."""
    data = runs.features(d, n, seeds, activation)
    none = np.zeros_like(data["truth"])
    risks = []
    for width in WIDTHS:
        p, readout = round(width * n), gs.SGD(n, runs.rate(activation))
        noises = [np.roll(data["noise"], turn * n // NOISES, axis=1) for turn in range(NOISES)]
        variance = np.mean([runs.risks(data, p, readout, noise, none) for noise in noises], axis=0)
        risks.append((runs.risks(data, p, readout, data["signal"], data["truth"]), variance))
    return np.array(risks).transpose(2, 1, 0)


def measure(size: Size) -> Data:
    """For every activation the two parts, (seeds, 2, widths)."""
    d, n, seeds = SIZES[size]
    groups = runs.groups(seeds)
    found = cache.each(parts, [(d, n, group, name) for name in ACTIVATIONS for group in groups])
    count = len(groups)
    return {name: np.concatenate(found[i * count : (i + 1) * count]) for i, name in enumerate(ACTIVATIONS)}


def predict(size: Size) -> Data:
    """The same given the first layer of every seed, and V3 of Liu et al. against the width, at which they have its peak."""
    d, n, seeds = SIZES[size]
    parts_of: Data = {}
    for name in ACTIVATIONS:
        readout = gs.SGD(n, runs.rate(name))
        each = [[runs.predicted(runs.moments(d, n, w, s, name), readout, n) for w in WIDTHS] for s in range(seeds)]
        parts_of[name] = np.swapaxes(each, 1, 2)
    ratios = np.geomspace(WIDTHS[0], WIDTHS[-1], 60)
    return {**parts_of, "ratios": ratios, "V3": NOISE**2 * ratios * isotropic_variance(runs.SHARE / ratios)}


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    d, n, seeds = SIZES[size]
    sine, tanh = ({k: (x[name].mean(0), mean_and_error(x[name], axis=0)[1]) for k, x in
                   (("found", measured), ("theory", predicted))} for name in ACTIVATIONS)  # fmt: skip
    gaps = {name: mean_and_error(measured[name] - predicted[name], axis=0) for name in ACTIVATIONS}
    relative = np.array(
        [[g / predicted[name].mean(0) for g in gaps[name]] for name in ACTIVATIONS]
    )  # (names, 2, 2, widths)
    granted = MARGINS.granted / np.minimum(d, np.round(np.array(WIDTHS) * n))
    misses = int(np.sum((np.abs(relative[:, 0]) > granted) & (np.abs(relative[:, 0]) > MARGINS.level * relative[:, 1])))
    rises = max(_steepest(measured[name][:, 0], 1) for name in ACTIVATIONS)  # of the bias, from a width to the next
    waves = max(_second_rise(measured[name][:, 1]) for name in ACTIVATIONS)
    top = int(np.argmax(sine["found"][0][1]))
    fall = _apart(measured[ACTIVATIONS[0]][:, 1], top, len(WIDTHS) - 1)
    detectable = max(power.detectable(e, MARGINS.level, g) for e, g in np.broadcast(relative[:, 1], granted))
    wrong = misses > 0 or rises > MARGINS.level or waves > MARGINS.level
    low = float(np.min(relative[:, 0, 1]))
    (b, v), tv = sine["found"][0], tanh["found"][0][1]
    peak = predicted["ratios"][int(np.argmax(predicted["V3"]))]
    return Verdict(
        outcome=power.decided(wrong, detectable if fall > MARGINS.level else np.inf, MARGINS.needed),
        sentence=f"Sine features: the bias falls from {b[0]:.3f} to {b[-1]:.3f}, and the variance rises from {v[0]:.3f} to "
        f"{v[top]:.3f} at p = {WIDTHS[top]:g}n and falls to {v[-1]:.3f}, by {fall:.1f} s.e.; V3 alone would peak at p = "
        f"{peak:.2f}n with {np.max(predicted['V3']):.3f}. tanh: the bias falls too, the variance goes from {tv[0]:.3f} to "
        f"{np.max(tv):.3f} and is {tv[-1]:.3f} at the largest width. {relative[:, 0].size - misses} of {relative[:, 0].size} "
        f"parts lie within {MARGINS.level:g} s.e. or {MARGINS.granted:g}/min(p, d) of the theory, the variance "
        f"at most {-100 * low:.0f}% below it.",
        header=("activation", "part", "p/n", "measured", "s.e.", "theory", "gap in %"),
        rows=tuple(
            (
                name,
                part,
                width,
                *map(
                    float, (x["found"][0][k, i], x["found"][1][k, i], x["theory"][0][k, i], 100 * relative[j, 0, k, i])
                ),
            )
            for j, (name, x) in enumerate(zip(ACTIVATIONS, (sine, tanh), strict=True))
            for k, part in enumerate(PARTS)
            for i, width in enumerate(WIDTHS)
        ),  # fmt: skip
        seeds=f"0-{seeds - 1}",
        sizes=f"d = {d}, n = {n}, one pass, averaged, rate × E σ² = {runs.SHARE:g}, noise {NOISE:g}",
        figure=_figure(d, n, (sine, tanh), predicted),
        caption=f"Two panels, sine and tanh features, show bias and variance against p/n, dots over the lines of the theory, and "
        f"V3 dashed. With sine features the variance peaks at p = {WIDTHS[top]:g}n; with tanh, whose linear part leads, it "
        "levels off instead. The bias falls in both.",
        power=power.stated(
            relative[:, 1].ravel(),
            MARGINS.level,
            np.broadcast_to(granted, relative[:, 1].shape).ravel().tolist(),
            "% of a part",
            scale=100,
            seeds=seeds,
        ),
        settings=tuple(runs.experiment(d, n, w, name).id for name in ACTIVATIONS for w in WIDTHS),
    )


def _apart(values: np.ndarray, i: int, j: int) -> float:
    """By how many standard errors that at width i exceeds that at width j; values (seeds, widths)."""
    mean, se = mean_and_error(values[:, i] - values[:, j], axis=0)
    return float(mean / se) if i != j else 0.0


def _steepest(values: np.ndarray, start: int) -> float:
    """The largest rise from a width to the next, from the width numbered ``start`` on, in standard errors."""
    return max(_apart(values, i, i - 1) for i in range(start, values.shape[1]))


def _second_rise(values: np.ndarray) -> float:
    """Of a curve with one peak: the largest step against its sense, down before the peak or up after it, in standard errors."""
    top = int(np.argmax(values.mean(0)))
    after = _steepest(values, top + 1) if top + 1 < values.shape[1] else 0.0
    return max([after, *(_apart(values, i - 1, i) for i in range(1, top + 1))])


def _figure(d: int, n: int, both: tuple, predicted: Data) -> str:
    with style.figure(2, width=3.6) as (fig, axes):
        for ax, x, name in zip(axes, both, ACTIVATIONS, strict=True):
            for k, part in enumerate(PARTS):
                colour = style.COLOURS[k]
                ax.plot(WIDTHS, x["theory"][0][k], color=colour)
                style.dots(ax, WIDTHS, *(y[k] for y in x["found"]), color=colour, label=part)
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
            ax.set(xscale="log", yscale="log", xlabel="features per sample p/n", ylabel="part of the risk")
            ax.set_xticks([0.1, 0.25, 0.5, 1, 3], ["0.1", "0.25", "0.5", "1", "3"])
            ax.set_yticks([0.03, 0.1, 0.3, 1], ["0.03", "0.1", "0.3", "1"])
            ax.minorticks_off()
            ax.set_title(f"{name.replace('*', '')}, d = {d}, n = {n}", loc="left")
        axes[1].legend()
        return style.svg(fig)


CLAIM = claim("liu/bias-variance", measure=measure, predict=predict, judge=judge)
