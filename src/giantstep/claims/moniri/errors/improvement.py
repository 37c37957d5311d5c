"""One step of any size n^alpha, 0 < alpha < 1/2, improves on random features."""

from itertools import product

import numpy as np

from giantstep.checks import Data, Evidence, Ruling, Seeds, Size, Tolerance, Verdict, statistics
from giantstep.claims import paired
from giantstep.claims.moniri import talk
from giantstep.measure import mean_and_error
from giantstep.plot import style

ALPHAS = (0.1, 0.3, 0.49)
SIZES = {"quick": 300, "full": 1000}
SEEDS: dict[Size, Seeds] = {"quick": Seeds(30, 90), "full": Seeds(30, 240)}
LEAST = {
    "quick": Tolerance(0.5, 1.0),
    "full": Tolerance(0.25, 0.5),
}  # of the predicted gain: what "lowers" means in numbers


def measure(size: Size, seeds: range) -> Data:
    """The gains, (targets, errors, alphas, seeds)."""
    runs = [paired.measured(SIZES[size], ALPHAS, name, seeds) for name in talk.targets()]
    return {"gains": np.array([paired.gains(errors) for errors in runs])}


def predict(size: Size) -> Data:
    """The gains, (targets, errors, alphas), and along a fine grid."""
    fine = np.linspace(0.01, 0.495, 31)
    settings = [paired.experiment(SIZES[size], (*ALPHAS, *fine.tolist()), t) for t in talk.targets().values()]
    gains = np.array([paired.gains(paired.predicted(setting)) for setting in settings])
    return {"gains": gains[..., : len(ALPHAS)], "fine": fine, "lines": gains[..., len(ALPHAS) :]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    """Every gain is positive: at least half (three quarters) of the predicted one; no gain (half of it) must be noticed."""
    at = [f"{t}, {what}, alpha = {a:g}" for t, what, a in product(talk.LABELS, paired.ERRORS.values(), ALPHAS)]
    return statistics.stated(
        statistics.compare(
            "gain", measured["gains"], predicted["gains"], at=at, side="above", relative=True, within=LEAST[size]
        )
    )


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    n = SIZES[size]
    mean, error = mean_and_error(measured["gains"])
    least, most = (f"{mean.flat[i]:.3f} ± {error.flat[i]:.3f}" for i in (mean.argmin(), mean.argmax()))
    return Verdict(
        sizes=f"n = {n}; {talk.RATIOS}; penalty {paired.PENALTY:g}",
        figure=_figure(n, mean, error, predicted),
        caption="Gains over random features in test error (left) and training loss (right) against alpha for both "
        f"targets, dots over the theory's lines: all lie above zero, from {least} to {most}.",
        settings=tuple(paired.experiment(n, ALPHAS, target).id for target in talk.targets().values()),
    )


def _figure(n: int, mean: np.ndarray, error: np.ndarray, predicted: Data) -> str:
    """The gains in both errors over the theory's lines."""
    with style.figure(2, width=3.5, height=2.9) as (fig, axes):
        for i, name in enumerate(talk.LABELS.values()):
            for j, (ax, label) in enumerate(zip(axes, paired.ERRORS.values(), strict=True)):
                look = {"color": style.COLOURS[i]}
                ax.plot(predicted["fine"], predicted["lines"][i, j], **look)
                style.dots(ax, ALPHAS, mean[i, j], error[i, j], label=name, marker="os"[i], **look)
                ax.set_ylabel(f"gain in {label}")
        for ax in axes:
            paired.step_axis(ax, 0.5)
            ax.set(xlim=(0, 0.51), ylim=(0, None))
        axes[0].plot([], [], color=style.INK, label=f"theory at n = {n}")
        return style.svg(fig, below=3)
