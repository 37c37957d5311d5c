"""xRFM with the interface of scikit-learn (Beaglehole et al., arXiv 2508.10053; package ``xrfm``)."""

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.model_selection import train_test_split

from benchmarks.estimator.task import CLASSES

PARAMETERS: dict[str, dict[str, Any]] = {  # those of its own documentation, with five iterations
    "model": {"kernel": "l2", "bandwidth": 10.0, "exponent": 1.0, "diag": False, "bandwidth_mode": "constant"},
    "fit": {"reg": 1e-3, "iters": 5, "verbose": False},
}


class Recursive(BaseEstimator):
    """Four fifths of the rows are fitted; the others choose the iteration, as xRFM wants it. On the CPU, as everything here."""

    def __init__(self, kind: str, random_state: int = 0):
        self.kind = kind
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: np.ndarray, y: np.ndarray) -> Self:
        import torch  # type: ignore[import-not-found]
        from xrfm import xRFM  # type: ignore[import-not-found]

        classes = self.kind == CLASSES
        parts = train_test_split(X, y, test_size=0.2, random_state=self.random_state, stratify=y if classes else None)
        rows, held, labels, held_labels = (torch.as_tensor(part) for part in parts)
        if not classes:
            labels, held_labels = (each.float().reshape(len(each), -1) for each in (labels, held_labels))
        metric = "accuracy" if classes else "mse"
        self.model_ = xRFM(
            PARAMETERS, device="cpu", tuning_metric=metric, random_state=self.random_state, verbose=False
        )
        self.model_.fit(rows.float(), labels, held.float(), held_labels)
        self.one_output_ = y.ndim == 1
        return self

    def predict(self, X: np.ndarray) -> np.ndarray:
        found = np.asarray(self.model_.predict(X))
        return found.reshape(len(X)) if self.one_output_ else found
