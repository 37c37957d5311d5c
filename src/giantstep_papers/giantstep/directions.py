"""One giant step on targets of several directions at a width of the order of d:
both errors are those predicted."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.giantstep import predictions

CLAIM = Claim(
    order=11,
    of="giantstep",
    statement="After one giant step at a width of the order of d, training and test error on "
    "targets of two and three directions are those predicted at the experiment's own sizes.",
    where="gs.theory on targets of several directions, at a width of the order of d",
    how="Both errors over their prediction must be 1 for three targets and two step sizes. "
    "The power of the drawn labels, of known mean, is regressed out.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=(0.06, 0.025),
            departure=(0.2, 0.08),
            mean=((0.04, 0.015), (0.1, 0.04)),
            because="corrections of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(40, 60), "full": Seeds(30, 140)},
)

TARGETS = ("x1 + x1*x2", "x1 + H2(x2)/sqrt(2)", "tanh(x1) + x2*x3")
ALPHAS = (0.3, 0.45)  # eta = n^alpha
SAMPLES, WIDTH, PENALTY, NOISE = 2, 1.5, 0.1, 0.3  # n/d, p/d
SIZES = {"quick": 150, "full": 800}  # d
LINE = np.linspace(0.0, 0.5, 6)


def experiment(target: str, d: int, alphas: Any = ALPHAS) -> gs.Setting:
    n = SAMPLES * d
    protocol = gs.Protocol((gs.GiantStep(n, gs.power(alphas)),), gs.Ridge(n, PENALTY))
    return gs.Setting(
        gs.Gaussian(d),
        gs.target(target, noise=NOISE),
        gs.Network(round(WIDTH * d), "relu"),
        protocol,
    )


def measure(size: Size, seeds: range) -> Data:
    return predictions.measured([experiment(target, SIZES[size]) for target in TARGETS], seeds)


def predict(size: Size) -> Data:
    """At the step sizes that are simulated, and along a line."""
    at = predictions.predicted([experiment(target, SIZES[size]) for target in TARGETS])
    line = predictions.predicted(
        [experiment(target, SIZES[size], LINE.tolist()) for target in TARGETS]
    )
    return {**at, "line": line["errors"]}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [f"{target}, η = n^{alpha:g}" for target in TARGETS for alpha in ALPHAS]
    return predictions.evidence(predictions.ratios(measured, predicted), at, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    return Verdict(
        sizes=f"d = {d}, n = {SAMPLES}d, p = {WIDTH:g}d, λ = {PENALTY:g}; relu",
        figure=_figure(measured, predicted),
        caption="On targets of two and three directions both errors follow their predictions. "
        f"{predictions.furthest(measured, predicted)}",
        settings=tuple(experiment(target, d).id for target in TARGETS),
    )


def _figure(measured: Data, predicted: Data) -> str:
    mean, error = predictions.dots(measured, predicted)
    with style.figure(len(TARGETS), width=3.0, height=2.8) as (fig, axes):
        for i, (ax, target) in enumerate(zip(axes, TARGETS, strict=True)):
            for j, what in enumerate(predictions.ERRORS.values()):
                style.curve(
                    ax,
                    LINE,
                    predicted["line"][i, j],
                    color=style.COLOURS[j],
                    label=f"{what}, theory",
                )
                look = {"color": style.COLOURS[j], "marker": "os"[j], "label": what}
                style.dots(ax, np.array(ALPHAS), mean[i, j], error[i, j], **look)
            ax.set(xlabel=r"$\alpha$, step size $\eta = n^\alpha$", title=formula(target))
            ax.set_ylim(bottom=0.0)
        axes[0].set_ylabel("error")
        return style.svg(fig, above=4)
