"""The second talk's examples at a width of the order of d:
both errors after every giant step are those predicted."""

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.giantstep import predictions

CLAIM = Claim(
    order=12,
    of="giantstep",
    statement="With the talk's networks, signs in pairs, at a width of the order of d, training "
    "and test error after no, one and two giant steps on fresh batches are those predicted by "
    "following the law of the rows from step to step.",
    where="gs.theory after several steps, on examples 1, 2 and 3 of the talk of Dandi et al. "
    "(2023)",
    how="Both errors over their prediction must be 1 for three targets and three numbers of "
    "steps. The power of the drawn labels, of known mean, is regressed out.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=(0.07, 0.03),
            departure=(0.2, 0.08),
            mean=((0.04, 0.015), (0.1, 0.04)),
            because="corrections of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(36, 50), "full": Seeds(28, 110)},
)

EXAMPLES = {  # of the talk
    "example 1": "x1 + x2 + x1^2 - x2^2",
    "example 2": "x1 + x2 + x1^2 + x2^2 - 2",
    "example 3": "x1 + x1*x2 + x1*x3",
}
STEPS = (0, 1, 2)
SAMPLES, WIDTH, PENALTY, NOISE = 3, 1.2, 0.1, 0.3  # n/d of every batch, p/d
STRENGTH = 0.5  # eta/p
SIZES = {"quick": 120, "full": 800}  # d


def experiment(target: str, d: int, steps: int) -> gs.Setting:
    """The talk's network, signs in pairs with the prefactor 1/p, at p of the order of d,
    and that many steps on fresh batches."""
    n, p = SAMPLES * d, 2 * round(WIDTH * d / 2)
    network = gs.Network(p, "relu", scale="1/p", second_layer="rademacher", symmetric=True)
    protocol = gs.Protocol((gs.GiantStep(n, STRENGTH * p),) * steps, gs.Ridge(n, PENALTY))
    return gs.Setting(gs.Gaussian(d), gs.target(target, noise=NOISE), network, protocol)


def experiments(size: Size) -> list[gs.Setting]:
    return [
        experiment(target, SIZES[size], steps) for target in EXAMPLES.values() for steps in STEPS
    ]


def measure(size: Size, seeds: range) -> Data:
    return predictions.measured(experiments(size), seeds)


def predict(size: Size) -> Data:
    return predictions.predicted(experiments(size))


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [f"{name}, {steps} steps" for name in EXAMPLES for steps in STEPS]
    return predictions.evidence(predictions.ratios(measured, predicted), at, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    return Verdict(
        sizes=f"d = {d}, n = {SAMPLES}d a batch, p = {WIDTH:g}d in pairs, η/p = {STRENGTH:g}, λ = "
        f"{PENALTY:g}; relu",
        figure=_figure(measured, predicted),
        caption="After no, one and two giant steps both errors follow their predictions. "
        f"{predictions.furthest(measured, predicted)}",
        settings=tuple(each.id for each in experiments(size)),
    )


def _figure(measured: Data, predicted: Data) -> str:
    shape = (len(EXAMPLES), len(STEPS), len(predictions.ERRORS))
    mean, error = (each.reshape(shape) for each in predictions.dots(measured, predicted))
    theory = predicted["errors"].reshape(shape)
    with style.figure(len(EXAMPLES), width=3.0, height=2.8) as (fig, axes):
        for i, (ax, (name, target)) in enumerate(zip(axes, EXAMPLES.items(), strict=True)):
            for j, what in enumerate(predictions.ERRORS.values()):
                look = {"color": style.COLOURS[j]}
                ax.plot(STEPS, theory[i, :, j], label=f"{what}, theory", **look)
                drawn = {"marker": "os"[j], "label": what}
                style.dots(ax, np.array(STEPS), mean[i, :, j], error[i, :, j], **look, **drawn)
            ax.set(xlabel="giant steps")
            ax.set_title(f"{name}:\n{formula(target)}", fontsize=9)
            ax.set_xticks(STEPS)
            ax.set_ylim(bottom=0.0)
        axes[0].set_ylabel("error")
        return style.svg(fig, above=4)
