"""One giant step on mixtures: training and test error predicted at the experiment's own sizes,
against simulation."""

from typing import NamedTuple

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
)
from giantstep.experiment import draw
from giantstep.measure import mean_and_error
from giantstep.plot import rows, style
from giantstep.plot.frame import entry, explain_below
from giantstep_papers.giantstep import predictions
from giantstep_papers.shared.controls import controlled

CLAIM = Claim(
    order=6,
    of="giantstep",
    statement="After one giant step on a mixture with spikes, training and test error of the "
    "readout are those predicted at the experiment's own sizes, for labels along the spikes or "
    "not, and whether the spread or the step is large.",
    where="gs.theory on mixtures, in the settings of Demir and Dogan (2025)",
    how="Both errors over their prediction must be 1. The penalty is that of demir/conditional.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=(0.07, 0.025),
            departure=(0.2, 0.08),
            mean=((0.05, 0.015), (0.1, 0.04)),
            because="corrections of order 1/n with a constant of about 10",
        ),
    ),
    seeds={"quick": Seeds(24, 90), "full": Seeds(20, 100)},
)


class MixtureCase(NamedTuple):
    """Activation, labels along the spikes or a random direction, weighting, strength,
    and neurons per sample."""

    activation: str
    along: bool
    alpha: float
    beta: float
    width: float

    def __str__(self) -> str:
        where = "along the spikes" if self.along else "random"
        return (
            f"{self.activation}, ξ {where}, α = {self.alpha:g}, β = {self.beta:g}, k/m = "
            f"{self.width:g}"
        )


CASES = (
    MixtureCase("relu", False, 0.0, 0.74, 1.0),
    MixtureCase("relu", False, 0.5, 1.0, 1.0),
    MixtureCase("relu", False, 1.0, 0.74, 3.0),
    MixtureCase("relu", True, 0.0, 0.5, 0.5),
    MixtureCase("relu", True, 0.5, 0.74, 3.0),
    MixtureCase("relu", True, 1.0, 1.0, 1.0),
    MixtureCase("tanh", False, 1.0, 1.0, 0.5),
    MixtureCase("tanh", True, 0.0, 0.74, 1.0),
)
QUICK = (1, 3, 5, 6)  # cases at quick size
SIZES = {"quick": 200, "full": 1000}  # n = m
# lambda n, ten times the paper's: without it errors at k = m scatter by a tenth, at interpolation
PENALTY = 1.0
TEST = 4  # test samples over m


def experiment(case: MixtureCase, n: int) -> gs.Setting:
    """Demir and Dogan's, with a larger penalty."""
    options = {
        "alpha": case.alpha,
        "beta": case.beta,
        "spiked_target": case.along,
        "activation": case.activation,
    }
    return gs.presets.demir(n, n, round(case.width * n), penalty=PENALTY / n, **options)


def cases(size: Size) -> tuple[MixtureCase, ...]:
    return tuple(CASES[i] for i in QUICK) if size == "quick" else CASES


def measure(size: Size, seeds: range) -> Data:
    """Errors (errors, cases, seeds), and the power of the labels drawn for the test and the
    readout (2, cases, seeds)."""
    n = SIZES[size]
    work = {"n_test": TEST * n, "dtype": "float32", "method": "dense"}
    outcomes = [cache.simulate(experiment(case, n), seeds, **work) for case in cases(size)]
    drawn = cache.over(energies, [(*case, n) for case in cases(size)], seeds)
    errors = np.array([[getattr(each, name) for each in outcomes] for name in predictions.ERRORS])
    return {"errors": errors, "energies": np.swapaxes(drawn, 0, 1)}


def energies(
    activation: str, along: bool, alpha: float, beta: float, width: float, n: int, seed: int
) -> list[float]:
    """mean(y^2)/E y^2 - 1 of the test labels and of the readout's:
    the larger part of the noise of both errors."""
    setting = experiment(MixtureCase(activation, along, alpha, beta, width), n)
    power = gs.labels(setting).power
    batches = (draw.test_batch(TEST * n), draw.readout_batch(setting))
    return [
        float(np.mean(draw.rows(setting, seed, batch)[1] ** 2) / power - 1) for batch in batches
    ]


def ratios_of(measured: Data, predicted: Data) -> np.ndarray:
    """Errors over their predictions, (errors, cases, seeds),
    without the noise of the labels' power."""
    ratios = measured["errors"] / predicted["errors"][..., None]
    energies = np.moveaxis(measured["energies"], 0, 1)
    both = zip(np.moveaxis(ratios, 1, 0), energies, strict=True)
    return np.stack([controlled(*each) for each in both], axis=1)


def predict(size: Size) -> Data:
    """The same without seeds."""
    found = predictions.predicted([experiment(case, SIZES[size]) for case in cases(size)])
    return {"errors": found["errors"][..., 0].T}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Both errors against the prediction: the mean of the ratios over the cases, and every case."""
    ratios = np.swapaxes(ratios_of(measured, predicted), 0, 1)[:, :, None]  # of one step size
    return predictions.evidence(ratios, [str(case) for case in cases(size)], judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n, every = SIZES[size], cases(size)
    ratios = ratios_of(measured, predicted)
    return Verdict(
        sizes=f"n = m = {n}, λ = {PENALTY / n:g}",
        figure=_figure(size, every, ratios),
        caption="On every mixture the mean errors are within "
        f"{100 * np.abs(ratios.mean(axis=-1) - 1).max():.1f}% of their predictions.",
        settings=tuple(experiment(case, n).id for case in every),
    )


def _figure(size: Size, every: tuple[MixtureCase, ...], ratios: np.ndarray) -> str:
    """How far errors are from their predictions, a row for each mixture."""
    where = {True: "spikes", False: "random"}
    label = "{}, ξ {}, α = {:g},\nβ = {:g}, k/m = {:g}"
    near = 100 * judging(CLAIM, size).tolerance(predictions.JUDGED).margin
    height = rows.height(len(every), lines=2) + 0.2
    with style.figure(width=style.COLUMN, height=height) as (fig, ax):
        ax.axvline(0.0, color=style.INK, linewidth=0.8)
        for j, mark in enumerate("os"):
            for row, each in enumerate(100 * (ratios[j] - 1)):
                look = {"beside": 0.3 * (j - 0.5), "color": style.COLOURS[j], "marker": mark}
                rows.interval(ax, row, *mean_and_error(each), **look)
        for row in range(len(every)):
            rows.allowed(ax, row, -near, near)
        rows.name_rows(
            ax,
            [label.format(c.activation, where[c.along], c.alpha, c.beta, c.width) for c in every],
        )
        ax.set_xlabel("off the prediction, %")
        names = predictions.ERRORS.values()
        marks = [entry(what, "os"[j], color=style.COLOURS[j]) for j, what in enumerate(names)]
        explain_below(fig, [*marks, rows.margin_entry(f"margin, ±{near:g}%")])
        return style.svg(fig)
