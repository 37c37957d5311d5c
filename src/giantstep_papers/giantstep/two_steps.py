"""Two giant steps that grow with the width as p^alpha: both errors of a ridge readout are those
predicted."""

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep.experiment.setting import Setting
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.giantstep import predictions

CLAIM = Claim(
    order=13,
    of="giantstep",
    statement="After two giant steps of sizes p^α₁ and p^α₂ on fresh batches, at a width of the "
    "order of d, the test and training errors of a ridge readout are those predicted, for three "
    "targets.",
    where="the errors of a readout after the two steps of Moniri and Hassani, with neurons that "
    "move by more than their own length",
    how="Both errors over their predictions must be 1 for three targets and two pairs of "
    "exponents. The power of the labels drawn, of known mean, is regressed out.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=0.06,
            departure=0.15,
            mean=(0.025, 0.04),
            because="terms of order 1/√d of neurons that have moved by 1.4 times their length",
        ),
    ),
    seeds={"full": Seeds(16, 180)},
)

TARGETS = ("x1 + x1*x2 + H2(x1)*x3/sqrt(2)", "x1 + x1*x2", "x1 + H2(x1)/sqrt(2)")
ALPHAS = ((0.2, 0.4), (0.4, 0.45))
CONSTANTS = (2.7, 4.4)  # C1 and C2, as in the claims on the outliers
SAMPLES, WIDTH, PENALTY = 15, 4, 0.1  # n/d of every batch, p/d
ACTIVATION = "tanh(x+0.8)"
DIMENSION, TEST = 600, 16  # d, and test samples over d


def experiment(target: str, alphas: tuple[float, float], d: int) -> Setting:
    """The steps of Moniri and Hassani on fresh batches, the gradient of the labels alone,
    and a readout."""
    return gs.presets.moniri_hassani(
        SAMPLES * d,
        d,
        WIDTH * d,
        *alphas,
        C1=CONSTANTS[0],
        C2=CONSTANTS[1],
        penalty=PENALTY,
        target=target,
        activation=ACTIVATION,
        residual="target",
    )


def experiments() -> list[Setting]:
    return [experiment(target, alphas, DIMENSION) for target in TARGETS for alphas in ALPHAS]


def measure(size: Size, seeds: range) -> Data:
    return predictions.measured(experiments(), seeds, TEST)


def predict(size: Size) -> Data:
    return predictions.predicted(experiments())


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [f"{target}, α = {a:g}, {b:g}" for target in TARGETS for a, b in ALPHAS]
    return predictions.evidence(predictions.ratios(measured, predicted), at, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    return Verdict(
        sizes=f"d = {DIMENSION}, n = {SAMPLES}d a batch, p = {WIDTH}d, λ = {PENALTY:g}; "
        f"{ACTIVATION}; C1 = {CONSTANTS[0]}, C2 = {CONSTANTS[1]}",
        figure=_figure(measured, predicted),
        caption="After two giant steps both errors are those predicted (bars). "
        f"{predictions.furthest(measured, predicted)}",
        settings=tuple(each.id for each in experiments()),
    )


def _figure(measured: Data, predicted: Data) -> str:
    shape = (len(TARGETS), len(ALPHAS), len(predictions.ERRORS))
    mean, error = (each.reshape(shape) for each in predictions.dots(measured, predicted))
    theory = predicted["errors"].reshape(shape)
    with style.figure(len(TARGETS), width=3.0, height=2.8) as (fig, axes):
        for i, (ax, target) in enumerate(zip(axes, TARGETS, strict=True)):
            for j, what in enumerate(predictions.ERRORS.values()):
                at, colour = np.arange(len(ALPHAS)) + 0.2 * (2 * j - 1), style.COLOURS[j]
                ax.bar(at, theory[i, :, j], 0.36, color=colour, alpha=0.3, label=f"{what}, theory")
                style.dots(
                    ax, at, mean[i, :, j], error[i, :, j], color=colour, marker="os"[j], label=what
                )
            ax.set(xticks=range(len(ALPHAS)), xticklabels=[f"α = {a:g}, {b:g}" for a, b in ALPHAS])
            ax.set_title(formula(target), loc="left", fontsize=9)
        axes[0].set_ylabel("error")
        return style.svg(fig, above=4)
