"""The readout on the step's own batch, as on the first talk's slides:
both errors are those predicted."""

from typing import Any

import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Data, Evidence, Judge, Ruling, Seeds, Size, Verdict, judging
from giantstep.plot import style
from giantstep.plot.formula import formula
from giantstep_papers.giantstep import predictions

CLAIM = Claim(
    order=14,
    of="giantstep",
    statement="When the readout is fitted to the samples that the rank-one step has learned from, "
    "training and test error are those predicted from the exact law of these samples given "
    "their labels.",
    where="gs.theory with the readout on the step's own batch, the protocol of the slides of "
    "Moniri et al. (2024)",
    how="Both errors over their prediction must be 1 for two targets and three step sizes. The "
    "power of the drawn labels, of known mean, is regressed out.",
    judges=(
        Judge(
            "error over its prediction",
            percent=True,
            margin=(0.08, 0.04),
            departure=(0.2, 0.1),
            mean=((0.05, 0.02), (0.1, 0.04)),
            because="corrections of order 1/d and the labels' tails",
        ),
    ),
    seeds={"quick": Seeds(80, 260), "full": Seeds(60, 300)},
)

TARGETS = ("x1 + H2(x1)/sqrt(2)", "x1 + x1*x2")
ALPHAS = (0.0, 0.15, 0.3)  # eta = n^alpha
SAMPLES, WIDTH, PENALTY, NOISE = 2, 1.5, 0.1, 0.3  # n/d, p/d
SIZES = {"quick": 120, "full": 800}  # d
LINE = np.linspace(0.0, 0.3, 4)


def experiment(target: str, d: int, alphas: Any = ALPHAS, batch: str = "reuse") -> gs.Setting:
    """The rank-one part of a step, then a readout on its batch or on a fresh one."""
    n = SAMPLES * d
    step = gs.GiantStep(n, gs.power(alphas), update="rank1")
    protocol = gs.Protocol((step,), gs.Ridge(n, PENALTY, batch=batch))
    labels, network = gs.target(target, noise=NOISE), gs.Network(round(WIDTH * d), "relu")
    return gs.Setting(gs.Gaussian(d), labels, network, protocol)


def measure(size: Size, seeds: range) -> Data:
    return predictions.measured([experiment(target, SIZES[size]) for target in TARGETS], seeds)


def predict(size: Size) -> Data:
    """At the step sizes that are simulated, and along lines: on the own batch,
    and on a fresh one."""
    d = SIZES[size]
    at = predictions.predicted([experiment(target, d) for target in TARGETS])
    lines = [
        predictions.predicted([experiment(target, d, LINE.tolist(), batch) for target in TARGETS])
        for batch in ("reuse", "fresh")
    ]
    return {**at, "lines": np.array([each["errors"] for each in lines])}


def compare(size: Size, measured: Data, predicted: Data) -> Evidence:
    at = [f"{target}, η = n^{alpha:g}" for target in TARGETS for alpha in ALPHAS]
    return predictions.evidence(predictions.ratios(measured, predicted), at, judging(CLAIM, size))


def describe(size: Size, measured: Data, predicted: Data, ruling: Ruling) -> Verdict:
    d = SIZES[size]
    own, fresh = predicted["lines"][:, :, :, -1]
    return Verdict(
        sizes=f"d = {d}, n = {SAMPLES}d, p = {WIDTH:g}d, λ = {PENALTY:g}; relu, rank-one update",
        figure=_figure(measured, predicted),
        caption="A readout on the step's own batch has "
        f"{100 * (1 - own[0, 1] / fresh[0, 1]):.0f}% less training error than on a fresh batch "
        "(dashed), as predicted (solid).",
        settings=tuple(experiment(target, d).id for target in TARGETS),
    )


def _figure(measured: Data, predicted: Data) -> str:
    mean, error = predictions.dots(measured, predicted)
    with style.figure(len(TARGETS), width=3.6, height=2.8) as (fig, axes):
        for i, (ax, target) in enumerate(zip(axes, TARGETS, strict=True)):
            for j, what in enumerate(predictions.ERRORS.values()):
                look = {"color": style.COLOURS[j]}
                style.curve(ax, LINE, predicted["lines"][0, i, j], label=f"{what}, theory", **look)
                fresh = {"linestyle": "--", "linewidth": 0.9, "label": f"{what}, fresh batch"}
                style.curve(ax, LINE, predicted["lines"][1, i, j], **fresh, **look)
                drawn = {"marker": "os"[j], "label": what}
                style.dots(ax, np.array(ALPHAS), mean[i, j], error[i, j], **look, **drawn)
            ax.set(xlabel=r"$\alpha$, step size $\eta = n^\alpha$", title=formula(target))
            ax.set_ylim(bottom=0.0)
        axes[0].set_ylabel("error")
        return style.svg(fig, above=3)
