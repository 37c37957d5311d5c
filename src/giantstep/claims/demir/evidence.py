"""What a panel is judged by: whether the models align, whether the axis does what the poster says, and why it does.

A change along the axis is a difference of logarithms, log(error at ``better``) - log(error at ``worse``). That of the raw error
is that of the error over Var(y) plus that of Var(y). "Leads to better performance" is read as learning: the first is then at
least as large as the second, so that no less of the improvement comes from learning than from smaller labels.
"""

import numpy as np

from giantstep.checks import ComparedNumbers, Data, Evidence, Size, Tolerance, statistics
from giantstep.claims.demir.panel import Panel, PanelCurve

MEAN = {"quick": Tolerance(0.05, 0.1), "full": Tolerance(0.02, 0.04)}  # of an error, averaged over a curve
CELL = {"quick": Tolerance(0.1, 0.2), "full": Tolerance(0.05, 0.1)}  # of an error
ORDER = Tolerance(0.1, 0.3)  # of a change that is a factor of 1.6 or more on the poster
CHANGE = {
    "quick": Tolerance(0.05, 0.15),
    "full": Tolerance(0.02, 0.06),
}  # of a difference of logarithms for labels of random direction, and for those along the spikes, where it is a factor of 3
ALONG = {"quick": Tolerance(0.1, 0.3), "full": Tolerance(0.05, 0.12)}
FLAT = {"quick": Tolerance(0.1, 0.2), "full": Tolerance(0.1, 0.15)}


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


def changes(panel: Panel, curve: PanelCurve, errors: Data) -> tuple[np.ndarray, np.ndarray]:
    """log(better) - log(worse) of the network's error over Var(y), and of Var(y), (seeds)."""
    i, j = (curve.x.index(x) for x in (panel.better, panel.worse))
    share, variance = np.log(errors["network"][:, 1] / errors["variance"]), np.log(errors["variance"])
    return share[i] - share[j], variance[i] - variance[j]


def predicted_change(panel: Panel, curve: PanelCurve, predicted: Data) -> float:
    """The same of theory's error over Var(y)."""
    error, variance = predicted[curve.name]
    better, worse = (curve.line.index(x) for x in (panel.better, panel.worse))
    return float(np.log(error[better] / variance[better]) - np.log(error[worse] / variance[worse]))


def compare(panel: Panel, size: Size, measured: Data, predicted: Data) -> Evidence:
    """The statement: models align, raw errors fall, and normalised errors no less than labels. Corrected: normalised errors
    change as theory predicts, or by a tenth at most where there is no theory."""
    aligned = alignment(panel, size, measured)
    if panel.better is None:
        return Evidence(aligned)
    first = panel.curves[size][0]
    both = [c for c in panel.curves[size] if panel.better in c.x and panel.worse in c.x]
    every = {c.name: changes(panel, c, measured[c.name]) for c in both}
    share, variance = every[first.name]
    if first.own:  # the labels of a population are known, and so is the mean of log Var(y)
        variance = np.full_like(variance, predicted["change of log Var(y)"])
    raw = statistics.compare("change of log error", share + variance, side="below", within=ORDER)
    learning = statistics.compare(
        "change of log error/Var(y), against that of log Var(y)", share, variance.mean(), side="below", within=ORDER
    )
    known = [c for c in both if c.line]
    if not known:
        flat = statistics.compare("change of log error/Var(y)", share, within=FLAT[size])
        return Evidence((raw, learning, *aligned), (raw, flat, *aligned))
    theory = [
        statistics.compare(
            f"change of log error/Var(y), against theory, {c.name}",
            every[c.name][0],
            predicted_change(panel, c, predicted),
            within=(ALONG if c.along else CHANGE)[size],
        )
        for c in known
    ]
    return Evidence((raw, learning, *aligned), (raw, *theory, *aligned))
