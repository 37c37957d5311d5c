"""What a panel is judged by: whether the models align, and whether the axis does to the raw error what the poster says.

A change along the axis is a difference of logarithms, log(error at ``better``) - log(error at ``worse``), of the error as the
poster defines it, E(y - f)^2. It is that of the error over Var(y) plus that of Var(y).
"""

import numpy as np

from giantstep.checks import ComparedNumbers, Data, Evidence, Size, Tolerance, statistics
from giantstep_papers.demir.panel import Panel, PanelCurve

MEAN = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.04)}  # of an error, averaged over a curve
CELL = {"quick": Tolerance(0.1, 0.2), "full": Tolerance(0.05, 0.1)}  # of an error
SEEN = 0.1  # a change that is smaller could be one between models that are said to align
CHANGE = Tolerance(0.0, SEEN)  # no change at all must be noticed


def gaps(curve: PanelCurve, errors: Data) -> np.ndarray:
    """Hermite model over network, less one, on the same draws, (aligned x, fewer seeds)."""
    some = errors["hermite"].shape[-1]
    here = errors["network"][[curve.x.index(x) for x in curve.aligned], 1, :some]
    return (errors["hermite"] - here) / here.mean(axis=-1, keepdims=True)


def alignment(panel: Panel, size: Size, measured: Data) -> tuple[ComparedNumbers, ...]:
    """The Hermite model against the network: the mean over every curve, and every abscissa."""
    curves = [curve for curve in panel.curves[size] if curve.aligned]
    every = [gaps(curve, measured[curve.name]) for curve in curves]
    at = [f"{curve.name}, {panel.symbol} = {x:g}" for curve in curves for x in curve.aligned]
    means = np.array([each.mean(axis=0) for each in every])
    return (
        statistics.compare("Hermite model less network, mean", means, at=[c.name for c in curves], within=MEAN[size]),
        statistics.compare("Hermite model less network", np.concatenate(every), at=at, within=CELL[size]),
    )


def changes(panel: Panel, curve: PanelCurve, errors: Data, predicted: Data) -> tuple[np.ndarray, np.ndarray]:
    """log(better) - log(worse) of the network's error over Var(y), and of Var(y), (seeds).

    The mean of log Var(y) over populations is known, and takes the place of its draws.
    """
    i, j = (curve.x.index(x) for x in (panel.better, panel.worse))
    share, variance = np.log(errors["network"][:, 1] / errors["variance"]), np.log(errors["variance"])
    labels = variance[i] - variance[j]
    return share[i] - share[j], np.full_like(labels, predicted["change of log Var(y)"]) if curve.own else labels


def raw_change(panel: Panel, size: Size, measured: Data, predicted: Data) -> np.ndarray:
    """That of the raw error on the poster's curve, (seeds)."""
    curve = panel.curves[size][0]
    return np.sum(changes(panel, curve, measured[curve.name], predicted), axis=0)


def compare(panel: Panel, size: Size, measured: Data, predicted: Data) -> Evidence:
    """Models align, and the raw error changes by a tenth at least: downwards where the poster names a direction."""
    aligned = alignment(panel, size, measured)
    if panel.better is None:
        return Evidence(aligned)
    change = raw_change(panel, size, measured, predicted)
    if panel.directed:
        moved = statistics.compare("change of log error", change, -SEEN, side="below", within=CHANGE)
    else:
        either = np.sign(change.mean()) * change
        moved = statistics.compare("change of log error, either way", either, SEEN, side="above", within=CHANGE)
    return Evidence((moved, *aligned))
