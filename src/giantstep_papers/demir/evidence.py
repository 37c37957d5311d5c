"""What a panel is judged by: whether the models align, and what the axis does to the raw error.

A change along the axis is a difference of logarithms, log(error at ``better``) - log(error at
``worse``), of the error as the poster defines it, E(y - f)^2. It is that of the error over Var(y)
plus that of Var(y).
"""

import numpy as np

from giantstep.checks import (
    Claim,
    ComparedNumbers,
    Data,
    Evidence,
    Judging,
    Size,
    judging,
    statistics,
)
from giantstep_papers.demir.panel import Panel, PanelCurve

SEEN = 0.1  # a change that is smaller could be one between models that are said to align
# the judges of a claim on a panel
CHANGE = "change of the log error"
ALIGNED = "error of the Hermite model over that of the network"


def gaps(curve: PanelCurve, errors: Data) -> np.ndarray:
    """Hermite model over network, less one, on the same draws, (aligned x, fewer seeds)."""
    some = errors["hermite"].shape[-1]
    here = errors["network"][[curve.x.index(x) for x in curve.aligned], 1, :some]
    return (errors["hermite"] - here) / here.mean(axis=-1, keepdims=True)


def alignment(panel: Panel, judge: Judging, measured: Data) -> tuple[ComparedNumbers, ...]:
    """The Hermite model against the network: the mean over every curve, and every abscissa."""
    curves = [curve for curve in panel.curves[judge.size] if curve.aligned]
    every = [gaps(curve, measured[curve.name]) for curve in curves]
    at = [f"{curve.name}, {panel.symbol} = {x:g}" for curve in curves for x in curve.aligned]
    what = "Hermite model less network"
    means = np.array([each.mean(axis=0) for each in every])
    names, within = [curve.name for curve in curves], judge.mean_tolerance(ALIGNED)
    return (
        statistics.compare(f"{what}, mean", means, at=names, within=within),
        judge(what, np.concatenate(every), by=ALIGNED, at=at),
    )


def changes(
    panel: Panel, curve: PanelCurve, errors: Data, predicted: Data
) -> tuple[np.ndarray, np.ndarray]:
    """log(better) - log(worse) of the network's error over Var(y), and of Var(y), (seeds).

    The mean of log Var(y) over populations is known, and takes the place of its draws.
    """
    i, j = (curve.x.index(x) for x in (panel.better, panel.worse))
    share = np.log(errors["network"][:, 1] / errors["variance"])
    variance = np.log(errors["variance"])
    labels = variance[i] - variance[j]
    if curve.own:
        labels = np.full_like(labels, predicted["change of log Var(y)"])
    return share[i] - share[j], labels


def raw_change(panel: Panel, size: Size, measured: Data, predicted: Data) -> np.ndarray:
    """That of the raw error on the poster's curve, (seeds)."""
    curve = panel.curves[size][0]
    return np.sum(changes(panel, curve, measured[curve.name], predicted), axis=0)


def compare(claim: Claim, panel: Panel, size: Size, measured: Data, predicted: Data) -> Evidence:
    """Models align, and the raw error changes by a tenth at least.

    Where the poster names a direction, the error must fall.
    """
    judge = judging(claim, size)
    aligned = alignment(panel, judge, measured)
    if panel.better is None:
        return Evidence(aligned)
    change = raw_change(panel, size, measured, predicted)
    if panel.directed:
        moved = judge("change of log error", change, -SEEN, by=CHANGE)
    else:
        either = np.sign(change.mean()) * change
        moved = judge("change of log error, either way", either, SEEN, by=CHANGE)
    return Evidence((moved, *aligned))
