"""A mixture fitted to images: its theory predicts the learning curve before a network is trained, and how far that goes."""

from dataclasses import replace
from functools import cache
from typing import Any, NamedTuple

import numpy as np

import giantstep as gs
from giantstep.checks import cache as _cache
from giantstep.checks import power
from giantstep.checks.claim import Data, Size, Verdict
from giantstep.claims.claim import claim
from giantstep.claims.demir.fashion import HERMITE, NAMES, errors, experiment, read
from giantstep.experiment.mixture import Mixture
from giantstep.experiment.setting import Setting
from giantstep.measure import mean_and_error
from giantstep.plot import style as _style

PAIRS = {"quick": ((0, 1),), "full": ((0, 1), (5, 9))}
SIZES = {"quick": (250, 6), "full": (500, 24)}  # m, and seeds
RATIOS = {"quick": (0.1, 1.0), "full": (0.1, 0.5, 1.0, 5.0)}  # k/m
STEPS = {0.0: "no step", 1.0: "η = 1"}
SPIKES = 20  # of every class
NODES = {"quick": 256, "full": 512}  # Sobol points of the prediction
CONTROL, IMAGES = "Gaussian control", "images"
GRANTED = {CONTROL: 6.0, IMAGES: 30.0}  # % within which the prediction should be
LEVEL = 3.0  # standard errors
ENOUGH = 25.0  # % that the test should see on the control


def mixture(size: Size, m: int, pair: Any, ratio: float, etas: Any = tuple(STEPS)) -> Setting:
    """The experiment with the images replaced by the mixture fitted to them."""
    return replace(experiment(size, m, pair, "relu", ratio, list(etas)), data=fitted(size, *pair))


@cache
def fitted(size: Size, *pair: int) -> Mixture:
    return experiment(size, 1, pair, "relu", 1.0).data.fitted(spikes=SPIKES)  # type: ignore[union-attr]


def prediction(size: Size, m: int, first: int, second: int, ratio: float) -> list[list[float]]:
    """Test errors without a step and with it, and their errors of quadrature."""
    outcome = gs.theory(mixture(size, m, (first, second), ratio), nodes=NODES[size])
    none = np.zeros(len(STEPS))
    return [
        list(map(float, x))
        for x in (outcome.test_error, none if outcome.test_error_se is None else outcome.test_error_se)
    ]


def cells(size: Size) -> list[tuple[Any, float]]:
    return [(pair, ratio) for pair in PAIRS[size] for ratio in RATIOS[size]]


def measure(size: Size) -> Data:
    """Test errors on images and of the control (cells, no step and the step, seeds), and of the polynomial (cells, seeds)."""
    (m, seeds), errors_of = SIZES[size], {CONTROL: [], IMAGES: [], HERMITE: []}
    for pair, ratio in cells(size):
        setting = read(experiment(size, m, pair, "relu", ratio, list(STEPS)))
        errors_of[IMAGES].append(errors(setting, seeds))
        errors_of[CONTROL].append(errors(mixture(size, m, pair, ratio), seeds))
        errors_of[HERMITE].append(errors(experiment(size, m, pair, "relu", ratio), seeds, HERMITE))
    return {name: np.array(values) for name, values in errors_of.items()}


def predict(size: Size) -> Data:
    """Test errors (cells, no step and the step) and their errors of quadrature."""
    m, _ = SIZES[size]
    runs = np.array(_cache.each(prediction, [(size, m, *pair, ratio) for pair, ratio in cells(size)]))
    return {"errors": runs[:, 0], "nodes": runs[:, 1]}


class FittedRow(NamedTuple):
    """Errors as shares of the labels' variance, which is 1; the prediction's distance in %."""

    classes: str
    ratio: float
    step: str
    what: str
    measured: float
    spread: float
    predicted: float
    off: float
    error: float

    @property
    def missed(self) -> bool:
        return abs(self.off) > max(LEVEL * self.error, GRANTED[self.what])


def rows_of(size: Size, measured: Data, predicted: Data) -> list[FittedRow]:
    rows = []
    for what in (CONTROL, IMAGES):
        mean, spread = mean_and_error(measured[what])
        for i, (pair, ratio) in enumerate(cells(size)):
            for j, step in enumerate(STEPS.values()):
                here, se, there, nodes = (
                    float(x[i, j]) for x in (mean, spread, predicted["errors"], predicted["nodes"])
                )
                off = 100 * (there / here - 1), 100 * (se**2 + nodes**2) ** 0.5 / here
                rows.append(FittedRow(f"{pair[0]} vs {pair[1]}", ratio, step, what, here, se, there, *off))
    return rows


def judge(size: Size, measured: Data, predicted: Data) -> Verdict:
    (m, seeds), rows = SIZES[size], rows_of(size, measured, predicted)
    control, images = ([r for r in rows if r.what == what] for what in (CONTROL, IMAGES))
    missed, sure = [r for r in rows if r.missed], _detectable(control)
    worst, far = (max(some, key=lambda r: abs(r.off)) for some in (control, images))
    mean = [sum(abs(r.off) for r in some) / len(some) for some in (control, images)]
    here, there = measured[IMAGES][:, 1].mean(axis=-1), measured[HERMITE].mean(axis=-1)
    own = 100 * float(max(abs(there / here - 1)))
    return Verdict(
        outcome="fails" if missed else ("holds" if sure else "inconclusive"),
        sentence=f"From {SPIKES} spikes a class alone the theory gives the control's test errors to {mean[0]:.1f}% on average, "
        f"{worst.off:+.1f} ± {worst.error:.1f}% at most ({worst.classes}, k = {worst.ratio:g}m, {worst.step}), and those of the "
        f"images to {mean[1]:.1f}% and {far.off:+.1f} ± {far.error:.1f}% ({far.classes}, k = {far.ratio:g}m, {far.step}): images "
        f"are not a Gaussian mixture. {len(rows) - len(missed)} of {len(rows)} are within what is granted. The polynomial, on "
        f"the images and trained on them, stays within {own:.1f}% of the network.",
        header=(
            "classes",
            "k/m",
            "step",
            "data",
            "test error / Var y",
            "s.e.",
            "predicted",
            "prediction off in %",
            "s.e. of it",
        ),
        rows=tuple(rows),
        seeds=f"0-{seeds - 1}",
        sizes=f"m = {m}, d = 784; λ = 1e-4; relu; {SPIKES} spikes a class; {NAMES[size]}",
        figure=_figure(size, measured, predicted, rows),
        caption="Left, test error over the labels' variance against the width k/m: the prediction, made from the fitted "
        f"mixture, lies on the Gaussian control, within {abs(worst.off):.1f}%, with a step and without; the network on the "
        f"images and its polynomial model run beside it, {abs(far.off):.0f}% away at most. Right, the prediction's distance from "
        "both in %.",
        power=power.stated(
            [r.error for r in control], LEVEL, GRANTED[CONTROL], "% of the control's error", seeds=seeds
        ),
        settings=tuple(experiment(size, m, pair, "relu", ratio, list(STEPS)).id for pair, ratio in cells(size)),
    )


def _detectable(rows: list[FittedRow]) -> bool:
    return all(power.detectable(r.error, LEVEL, GRANTED[CONTROL]) < ENOUGH for r in rows)


def _figure(size: Size, measured: Data, predicted: Data, rows: list[FittedRow]) -> str:
    """Learning curves, and how far the prediction is from them; one row a pair of classes."""
    x, count = np.array(RATIOS[size]), len(RATIOS[size])
    with _style.figure(2, len(PAIRS[size]), width=3.9, height=2.8) as (fig, axes):
        for i, ((left, right), pair) in enumerate(zip(axes.reshape(-1, 2), PAIRS[size], strict=True)):
            part = slice(i * count, (i + 1) * count)
            _curves(left, x, {name: values[part] for name, values in measured.items()}, predicted["errors"][part])
            left.set_title(f"classes {pair[0]} and {pair[1]}", loc="left")
            for what, colour, side in ((CONTROL, _style.COLOURS[2], -1), (IMAGES, _style.COLOURS[0], 1)):
                for j, (step, fill) in enumerate(zip(STEPS.values(), ("none", None), strict=True)):
                    here = [r for r in rows if (r.classes, r.step, r.what) == (f"{pair[0]} vs {pair[1]}", step, what)]
                    values = [r.off for r in here], [r.error for r in here]
                    style = {"color": colour, "marker": "so"[side > 0], "markerfacecolor": fill or colour}
                    _style.dots(right, x * 1.05 ** (2 * side + j - 0.5), *values, **style)
            right.axhline(0, color=_style.COLOURS[1])
            right.axhspan(-GRANTED[CONTROL], GRANTED[CONTROL], color=_style.INK, alpha=0.07, linewidth=0)
            right.set_ylabel("prediction off in %")
            for ax in (left, right):
                ax.set(xscale="log", xlabel="width k/m")
                ax.set_xticks(x, [f"{r:g}" for r in x])
                ax.minorticks_off()
        fig.legend(*axes.flat[0].get_legend_handles_labels(), loc="outside lower center", ncols=4)
        return _style.svg(fig)


def _curves(ax: Any, x: np.ndarray, measured: Data, predicted: np.ndarray) -> None:
    sides = {CONTROL: 0.94, IMAGES: 1.06}
    for j, (step, line, fill) in enumerate(zip(STEPS.values(), ("--", "-"), ("none", None), strict=True)):
        ax.plot(
            x, predicted[:, j], line, marker="d", markersize=3.5, color=_style.COLOURS[1], label=f"prediction, {step}"
        )
        for what, colour, mark in ((CONTROL, _style.COLOURS[2], "s"), (IMAGES, _style.COLOURS[0], "o")):
            style = {"color": colour, "marker": mark, "markerfacecolor": fill or colour}
            _style.dots(ax, sides[what] * x, *mean_and_error(measured[what][:, j]), **style, label=f"{what}, {step}")
    ax.plot(1.15 * x, measured[HERMITE].mean(axis=-1), "x", color=_style.INK, label="polynomial on the images")
    ax.set_ylabel("test error / Var y")


CLAIM = claim("giantstep/fitted", measure=measure, predict=predict, judge=judge)
