"""What every column says about the labels by itself."""

import numpy as np
from jaxtyping import Float

from giantstep.estimator.steps.network import Table

BINS = 8


def explained_by_columns(table: Table) -> Float[np.ndarray, " d"]:
    """The share of the variance of the labels that the bins of a column explain, above what chance explains; with the share for
    their distance from the mean, in which a column shows that acts on the labels together with another one."""
    Y = np.concatenate([table.Y, np.abs(table.Y)], axis=1)
    w = table.weights / table.weights.sum()
    Y = Y - w @ Y
    Y = Y / np.sqrt(np.maximum(w @ Y**2, 1e-300))
    bins = min(BINS, len(table) // 2)
    cuts = np.linspace(0, len(table), bins + 1).astype(int)[:-1]
    order = np.argsort(table.X, axis=0, kind="stable")
    total = np.add.reduceat(w[order], cuts, axis=0)  # (bins, d)
    found = np.zeros(table.X.shape[1])
    for y in Y.T:
        sums = np.add.reduceat((w * y)[order], cuts, axis=0)
        ratio = (sums**2 / np.maximum(total, 1e-300)).sum(axis=0)
        chance = (bins - 1) * float((w**2).sum())
        found = np.maximum(
            found, ratio - chance * (1 + 2 * np.sqrt(2 / max(bins - 1, 1)) * np.sqrt(2 * np.log(1 + len(ratio))))
        )
    return np.maximum(found, 0.0)
