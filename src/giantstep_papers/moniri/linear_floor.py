"""Random features do not beat the best linear predictor, with any samples, width or penalty."""

from itertools import product

import numpy as np
from scipy import linalg

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
from giantstep.checks.cache import one_blas_thread
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import style, ticks
from giantstep_papers.moniri import talk
from giantstep_papers.shared import population
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=12,
    quote="Random features models can only learn linear functions.",
    place="Moniri's talk of March 2024, slide “Random Features Models”",
    kind="remark",
    statement="Random features models can only learn linear functions.",
    where="the random-feature baseline (with Mei and Montanari 2022, Hu and Lu 2023) in the "
    "proportional regime, and its floor c*²_{>1} + noise²",
    how="We measure the exact test error at the best of eight penalties, for two widths and three "
    "numbers of samples. It must be above the floor of linear functions, and equal to its limit, "
    "in which the quadratic part is noise.",
    judges=(
        Judge(
            "test error against the floor",
            side="above",
            relative=True,
            margin=(0.02, 0.01),
            departure=(0.1, 0.05),
            because="corrections of order 1/d",
        ),
        Judge(
            "test error",
            relative=True,
            margin=(0.05, 0.02),
            departure=(0.1, 0.05),
            because="corrections of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(30, 80), "full": Seeds(30, 90)},
)

DIMENSIONS = {"quick": 100, "full": 400}
SAMPLES = (2.0, 4.0, 8.0)
WIDTHS = (1.0, 4.0)
CASES = tuple(product(WIDTHS, SAMPLES))
PENALTIES = (1e-4, 1e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0, 10.0)
LINE = tuple(np.geomspace(SAMPLES[0], SAMPLES[-1], 15).tolist())


def experiment(d: int, width: float, samples: float) -> gs.Setting:
    network = gs.Network(int(width * d), "relu", centred=True)
    readout = gs.Ridge(int(samples * d), PENALTIES)
    return gs.Setting(gs.Gaussian(d), talk.setting_2(), network, gs.Protocol((), readout))


def best(d: int, width: float, samples: float) -> tuple[float, float]:
    """The penalty with the least predicted test error, and that error."""
    errors = np.asarray(gs.theory(experiment(d, width, samples)).test_error)
    return PENALTIES[int(np.argmin(errors))], float(errors.min())


def errors(d: int, penalties: tuple[float, ...], seed: int) -> dict[str, list[float]]:
    """Exact test errors of all cases at these penalties, and controls.

    The controls are means of y^2, y x_1, x_1^2 over the samples, centred. Fewer samples are the
    first rows of more, and fewer neurons the first ones.
    """
    largest = experiment(d, max(WIDTHS), max(SAMPLES))
    W = draw.weights(largest, seed)[0]
    X, y = draw.rows(largest, seed, draw.readout_batch(largest))
    found, controls = [], []
    with one_blas_thread(len(W)):
        moments = population.moments(largest, W)
        F = np.asarray(largest.network.activation(X @ W.T))
        for (width, samples), penalty in zip(CASES, penalties, strict=True):
            p, n = int(width * d), int(samples * d)
            gram = F[:n, :p].T @ F[:n, :p] / n + penalty * np.eye(p)
            b = linalg.solve(gram, F[:n, :p].T @ y[:n] / n, assume_a="pos")
            cross, square = moments.cross[:p], moments.square[:p, :p]
            part = population.PopulationMoments(moments.power, cross, square)
            found.append(float(part.error(b)))
    for samples in SAMPLES:
        z, r = X[: int(samples * d), 0], y[: int(samples * d)]
        centred = np.mean(r**2) - moments.power, np.mean(r * z) - 1, np.mean(z**2) - 1
        controls += [float(mean) for mean in centred]
    return {"errors": found, "controls": controls}


def measure(size: Size, seeds: range) -> Data:
    """Test errors at the penalty that is predicted to be best, (cases, seeds).

    They have control variates.
    """
    d = DIMENSIONS[size]
    penalties = tuple(best(d, *case)[0] for case in CASES)
    found = cache.over(errors, (d, penalties), seeds)
    return {"test_error": controlled(found["errors"], found["controls"])}


def predict(size: Size) -> Data:
    """The floor, and the limits of the test errors in the cases and along a line."""
    d = DIMENSIONS[size]
    return {
        "floor": population.linear_floor(talk.setting_2()),
        "test_error": np.array([best(d, *case)[1] for case in CASES]),
        "lines": np.array([[best(d, width, s)[1] for s in LINE] for width in WIDTHS]),
    }


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every test error against the floor from above, and against its limit.

    In the limit the quadratic part is noise.
    """
    judge, found = judging(CLAIM, size), measured["test_error"]
    at = [f"p = {width:g}d, n = {samples:g}d" for width, samples in CASES]
    return statistics.stated(
        judge("test error against the floor", found, predicted["floor"], at=at),
        judge("test error", found, predicted["test_error"], at=at),
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d, least = DIMENSIONS[size], predicted["floor"]
    mean, error = mean_and_error(measured["test_error"])
    return Verdict(
        sizes=f"d = {d}; at the best of {len(PENALTIES)} penalties",
        figure=_figure(mean, error, predicted),
        caption=f"Random features improve with n and p, down to {mean.min():.2f}, but stay above "
        f"the linear floor of {least:.2f}.",
        settings=tuple(experiment(d, *case).id for case in CASES),
    )


def _figure(mean: np.ndarray, error: np.ndarray, predicted: Data) -> str:
    mean, error = (x.reshape(len(WIDTHS), -1) for x in (mean, error))
    with style.figure() as (fig, ax):
        for i, width in enumerate(WIDTHS):
            label = f"random features, p = {width:g}d".replace("= 1d", "= d")
            look = {"color": style.COLOURS[i], "marker": "os"[i]}
            ax.plot(LINE, predicted["lines"][i], color=style.COLOURS[i])
            style.dots(ax, SAMPLES, mean[i], error[i], label=label, **look)
        ax.plot([], [], color=style.INK, label="limit")
        ax.axhline(predicted["floor"], color=style.INK, linestyle="--", label="linear floor")
        ax.set(xlabel="samples per dimension n/d", ylabel="test error at the best penalty")
        ticks.logarithmic(ax, "x", SAMPLES)
        ax.set_ylim(0.9, None)
        return style.svg(fig, below=2)
