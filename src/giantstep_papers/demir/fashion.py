"""Images in place of a mixture: the polynomial model has the network's error at every width."""

from typing import Any

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
from giantstep.errors import InputError, MissingData
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks

CLAIM = Claim(
    order=9,
    quote="The generalization errors of the NNs and the Hermite model closely align.",
    place="ICLR slides of Demir and Dogan, “Real Data: Fashion-MNIST Classification”",
    kind="figure",
    statement="On Fashion-MNIST the generalization errors of the networks and the Hermite model "
    "closely align.",
    where="classes 0 and 1, 5 and 9, with the images themselves in place of a generative model's "
    "samples, and their η = 1, which changes the error by about a tenth at most",
    how="We centre and scale the images and add noise as in the paper. Then "
    "log(polynomial/network) of the test error on the same draws must be 0, in every cell and on "
    "average over a pair of classes. The penalty is the paper's at full size. At quick size it is "
    "ten times that, because errors near interpolation scatter too much.",
    judges=(
        Judge(
            "log of the polynomial's error over the network's",
            margin=(0.1, 0.05),
            departure=(0.2, 0.1),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="the corrections that are granted to aligned models on their mixtures",
        ),
    ),
    seeds={"quick": Seeds(8, 24), "full": Seeds(10, 48)},
)

PAIRS = ((0, 1), (5, 9))
SIZES = {"quick": 240, "full": 500}  # m
RATIOS = {"quick": (0.3, 1.0), "full": (0.1, 0.5, 1.0, 5.0)}  # k/m
ACTIVATIONS = {"quick": ("relu",), "full": ("relu", "tanh", "sigmoid")}
HERMITE, GIVEN = "polynomial", "conditional"
ORDER = 5  # l, and b = 1: the choice of the paper
# the paper's is 1e-4, with which errors near interpolation scatter too much
PENALTIES = {"quick": 1e-3, "full": 1e-4}
N_TEST = {"quick": 1000, "full": 2000}  # of 2000 test images of two classes, in the sample too
SOURCES = {"quick": "sample", "full": "full"}  # quick verdicts are the same on every machine
NAMES = {"quick": "the sample of Fashion-MNIST", "full": "Fashion-MNIST"}
JUDGED = "log of the polynomial's error over the network's"
Cell = tuple[tuple[int, int], str, float]


def experiment(
    size: Size, m: int, pair: Any, activation: str, ratio: float, eta: Any = 1.0
) -> gs.Setting:
    k, penalty = round(ratio * m), PENALTIES[size]
    return gs.presets.fashion(
        m, k, tuple(pair), eta, penalty, activation=activation, path=SOURCES[size]
    )


def read(setting: gs.Setting) -> gs.Setting:
    """The setting, once its images are there.

    A claim that cannot read them is unmeasured, and the sentence says why.
    """
    try:
        setting.data.split()  # type: ignore[union-attr]
    except MissingData:
        raise
    except InputError as problem:
        raise cache.Unmeasured(str(problem)) from None
    return setting


def errors(size: Size, setting: gs.Setting, seeds: range, model: str | None = None) -> np.ndarray:
    """Test errors of the network or of a model on the same draws."""
    how: Any = {"n_test": N_TEST[size], "dtype": "float32"}
    if model is None:
        return cache.simulate(setting, seeds, **how).test_error
    if model == HERMITE:
        return cache.equivalent(
            setting, "hermite", seeds, degree=ORDER - 1, width=1.0, **how
        ).test_error
    return cache.equivalent(setting, GIVEN, seeds, **how).test_error


def cells(size: Size) -> list[Cell]:
    return [(pair, a, ratio) for pair in PAIRS for a in ACTIVATIONS[size] for ratio in RATIOS[size]]


def measure(size: Size, seeds: range) -> Data:
    """Test errors of the network and of the polynomial; Var y is 1.

    They are (cells, no step and the step, seeds) and (cells, seeds).
    """
    m = SIZES[size]
    return {
        "network": np.array(
            [
                errors(size, read(experiment(size, m, *cell, [0.0, 1.0])), seeds)
                for cell in cells(size)
            ]
        ),
        "model": np.array(
            [errors(size, experiment(size, m, *cell), seeds, HERMITE) for cell in cells(size)]
        ),
    }


def gaps(measured: Data) -> np.ndarray:
    """log(model) - log(network), (cells, seeds)."""
    return np.log(measured["model"] / measured["network"][:, 1])


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """The polynomial against the network: the mean over a pair of classes, and every cell."""
    off = gaps(measured)
    at = [
        f"{pair[0]} vs {pair[1]}, {activation}, k = {ratio:g}m"
        for pair, activation, ratio in cells(size)
    ]
    means = off.reshape(len(PAIRS), -1, off.shape[-1]).mean(axis=1)
    names, judge = [f"{a} vs {b}" for a, b in PAIRS], judging(CLAIM, size)
    within = judge.mean_tolerance(JUDGED)
    return statistics.stated(
        statistics.compare("log model/network, mean", means, at=names, within=within),
        judge("log model/network", off, by=JUDGED, at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    m, network = SIZES[size], measured["network"].mean(axis=-1)
    change = network[:, 1] / network[:, 0] - 1
    return Verdict(
        sentence=f"{ruling.stated.sentence} The step changes the error by at most "
        f"{100 * np.abs(change).max():.0f}%.",
        sizes=f"m = {m}, d = 784; λ = {PENALTIES[size]:g}, η = 1; l = {ORDER}, b = 1; images of "
        f"{NAMES[size]}, {N_TEST[size]} for the test",
        figure=_figure(size, measured),
        caption="On images the polynomial is within "
        f"{100 * np.abs(gaps(measured).mean(axis=-1)).max():.1f}% of the network at every width "
        "(below).",
        settings=tuple(experiment(size, m, *cell).id for cell in cells(size)),
    )


def _figure(size: Size, measured: Data) -> str:
    off, margin = gaps(measured), 100 * judging(CLAIM, size).tolerance(JUDGED).margin
    with style.figure(len(PAIRS), 2, width=3.8, height=2.5) as (fig, axes):
        for column, pair in zip(axes.T, PAIRS, strict=True):
            for i, activation in enumerate(ACTIVATIONS[size]):
                own = [k for k, cell in enumerate(cells(size)) if cell[:2] == (pair, activation)]
                x, colour = np.array([cells(size)[k][2] for k in own]), style.COLOURS[i]
                look = {"color": colour, "marker": "os^"[i], "linestyle": "-", "linewidth": 0.8}
                style.dots(
                    column[0],
                    x,
                    *mean_and_error(measured["network"][own, 1]),
                    **look,
                    label=f"network, {activation}",
                )
                none = measured["network"][own, 0].mean(axis=-1)
                column[0].plot(x, none, ":", color=colour, label=f"no step, {activation}")
                model = mean_and_error(measured["model"][own])
                cross = {"color": colour, "marker": "x", "markersize": 6}
                style.dots(column[0], 1.07 * x, *model, **cross, label=f"polynomial, {activation}")
                mean, error = mean_and_error(100 * off[own])
                style.dots(
                    column[1],
                    x * 1.05 ** (i - len(ACTIVATIONS[size]) // 2),
                    mean,
                    error,
                    color=colour,
                    marker="os^"[i],
                )
            column[0].set_title(f"classes {pair[0]} and {pair[1]}")
            for ax in column:
                ax.set_xscale("log")
                ticks.logarithmic(ax, "x", RATIOS[size])
                ax.margins(x=0.15)
            column[1].set_xlabel("width k/m")
            column[1].axhline(0, color=style.INK, linewidth=0.8)
            column[1].axhspan(-margin, margin, color=style.INK, alpha=0.07, linewidth=0)
        axes[0, 0].set_ylabel("test error / Var y")
        axes[1, 0].set_ylabel("log(model / network), %")
        return style.svg(fig, below=3)
