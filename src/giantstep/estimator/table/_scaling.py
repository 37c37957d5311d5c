"""Scalings of the columns of a table, made with scikit-learn's transformers."""

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import QuantileTransformer, StandardScaler

from giantstep.errors import InputError

ALIKE = 1.5  # the largest ratio of standard deviations of columns that count as having the same unit
FAR = 6.0  # standard deviations: a Gaussian column stays within them up to some 10^8 rows


def standard(X: np.ndarray, weights: np.ndarray) -> Any:
    """Mean zero and variance one."""
    return StandardScaler().fit(X, sample_weight=weights)


def common(X: np.ndarray, weights: np.ndarray) -> Any:
    """Mean zero and one factor for all columns, for columns in the same unit, such as pixels."""
    scaler = StandardScaler().fit(X, sample_weight=weights)
    factor = np.sqrt(np.mean(scaler.var_))  # type: ignore[arg-type]
    scaler.scale_ = np.full(X.shape[1], factor if factor > 0 else 1.0)
    return scaler


def normal(X: np.ndarray, weights: np.ndarray) -> Any:
    """Normal scores: the ranks of every column become Gaussian quantiles; weights are not used."""
    ranks = QuantileTransformer(
        n_quantiles=min(200, len(X)), output_distribution="normal", random_state=0, subsample=100_000
    )
    return make_pipeline(ranks, StandardScaler()).fit(X)


SCALINGS = {"standard": standard, "common": common, "normal": normal}


def choose(name: str, X: np.ndarray, weights: np.ndarray, error: Callable[[Any], float]) -> tuple[str, Any]:
    """The scaling with this name; "auto" takes the one with the smallest error among those that can matter."""
    if name != "auto":
        if name not in SCALINGS:
            raise InputError(f'scaling is "auto", {", ".join(map(repr, SCALINGS))}, not {name!r}'.replace("'", '"'))
        return name, SCALINGS[name](X, weights)
    plain = standard(X, weights)
    fitted = {"standard": plain}
    if plain.scale_.max() > ALIKE * plain.scale_.min():
        fitted["common"] = common(X, weights)
    if np.abs(plain.transform(X)).max() > FAR:
        fitted["normal"] = normal(X, weights)
    if len(fitted) == 1:
        return "standard", plain
    best = min(fitted, key=lambda kind: error(fitted[kind]))
    return best, fitted[best]
