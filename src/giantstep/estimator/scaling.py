"""How the columns of a table are brought to one scale, by scikit-learn's transformers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from giantstep._errors import InputError

FAR = 6.0  # standard deviations: a Gaussian column stays within them up to some 10^8 rows


def standard(X: np.ndarray, weights: np.ndarray) -> Any:
    """Mean zero and variance one."""
    return StandardScaler().fit(X, sample_weight=weights)


def normal(X: np.ndarray, weights: np.ndarray) -> Any:
    """Normal scores: every column as if it were Gaussian, by its ranks; weights are not used."""
    ranks = QuantileTransformer(
        n_quantiles=min(1000, len(X)), output_distribution="normal", random_state=0, subsample=100_000
    )
    return make_pipeline(ranks, StandardScaler()).fit(X)


SCALINGS = {"standard": standard, "normal": normal}


def choose(name: str, X: np.ndarray, weights: np.ndarray, error: Callable[[np.ndarray], float]) -> tuple[str, Any]:
    """The scaling of that name; for "auto" the one of less error, where some column has values far out."""
    if name != "auto":
        if name not in SCALINGS:
            raise InputError(f'scaling is "auto", "standard" or "normal", not {name!r}')
        return name, SCALINGS[name](X, weights)
    plain = standard(X, weights)
    scaled = plain.transform(X)
    if np.abs(scaled).max() <= FAR:
        return "standard", plain
    ranked = normal(X, weights)
    return ("normal", ranked) if error(ranked.transform(X)) < error(scaled) else ("standard", plain)
