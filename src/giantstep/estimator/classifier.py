"""Classification by a network that has taken giant steps."""

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, validate_data

from giantstep.errors import InputError
from giantstep.estimator.base import GiantStepBase


class GiantStepClassifier(ClassifierMixin, GiantStepBase):
    """Least squares on class indicators, with features learned by up to three giant gradient steps.

    Parameters and attributes are those of ``GiantStepRegressor``; ``loo_error_`` is for the indicators. Probabilities are
    the softmax of ``sharpness_`` times the fitted indicators, with one number ``sharpness_`` for all classes that minimises the
    logarithmic loss of left-out rows which the steps have not seen. ``class_weight`` multiplies the weights of the rows: a
    dictionary from classes to weights, or ``"balanced"`` for classes of equal total weight.
    """

    def __init__(
        self,
        *,
        width: int | str = "auto",
        activation: str = "relu",
        steps: int | str = "auto",
        eta: float | str = "auto",
        batch: str = "auto",
        penalty: float | str = "auto",
        scaling: str = "auto",
        model: str = "auto",
        class_weight: dict | str | None = None,
        device: str = "cpu",
        memory: float | None = None,
        random_state: Any = 0,
        verbose: bool = False,
    ):
        super().__init__(
            width=width, activation=activation, steps=steps, eta=eta, batch=batch, penalty=penalty, scaling=scaling,
            model=model, device=device, memory=memory, random_state=random_state, verbose=verbose,
        )  # fmt: skip
        self.class_weight = class_weight

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d) and labels y (n,)."""
        X, y = validate_data(
            self, X, y, dtype=[np.float64, np.float32], ensure_min_samples=2, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"a classifier needs at least two classes, and y has one class: {self.classes_[0]!r}")
        if self.class_weight is not None:
            weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
            sample_weight = weights * compute_sample_weight(self.class_weight, y)
        indicators = (number[:, None] == np.arange(len(self.classes_))).astype(float)
        self._learn(X, indicators[:, 1:] if len(self.classes_) == 2 else indicators, sample_weight)
        rows, residuals = self._left_out
        left_out = indicators[rows, -residuals.shape[1] :] - residuals * self._spread
        self.sharpness_ = _sharpness(_both(left_out) if len(self.classes_) == 2 else left_out, number[rows])
        return self

    def _all_classes(self, X: Any) -> np.ndarray:
        """The fitted indicators of all classes."""
        fitted = self._predicted(X)
        return _both(fitted) if len(self.classes_) == 2 else fitted

    def decision_function(self, X: Any) -> np.ndarray:
        """The fitted indicators (n, classes); for two classes, twice the second one minus one, (n,)."""
        fitted = self._predicted(X)
        return 2 * fitted[:, 0] - 1 if len(self.classes_) == 2 else fitted

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        fitted = self._all_classes(X)
        return softmax(self.sharpness_ * fitted, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        fitted = self._all_classes(X)
        return self.classes_[np.argmax(fitted, axis=1)]


def _both(fitted: np.ndarray) -> np.ndarray:
    """The indicators of two classes from the second one, which alone is fitted; they add up to one."""
    return np.concatenate([1 - fitted, fitted], axis=1)


def _sharpness(scores: np.ndarray, number: np.ndarray) -> float:
    """The factor with the smallest logarithmic loss."""

    def loss(logarithm: float) -> float:
        return -float(np.mean(log_softmax(np.exp(logarithm) * scores, axis=1)[np.arange(len(number)), number]))

    minimum: Any = minimize_scalar(loss, bounds=(-2.0, 5.0), method="bounded")
    return float(np.exp(minimum.x))
