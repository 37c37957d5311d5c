"""Classification by a network that has taken giant steps."""

from collections.abc import Callable
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.class_weight import compute_sample_weight
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import _check_sample_weight, check_is_fitted

from giantstep.errors import InputError
from giantstep.estimator._base import GiantStepBase
from giantstep.estimator._calibration import calibrated
from giantstep.estimator.table._columns import validated


class GiantStepClassifier(ClassifierMixin, GiantStepBase):
    """Least squares on class indicators, with features learned by up to three giant gradient steps.

    Parameters and attributes are those of ``GiantStepRegressor``; ``loo_error_`` is for the indicators. Probabilities are
    the softmax of ``sharpness_`` times the fitted indicators plus ``offsets_``. One number ``sharpness_`` for all classes
    minimises the logarithmic loss of left-out rows which the steps have not seen, and ``offsets_``, one for each class, keep the
    average of its indicators. ``class_weight`` multiplies the weights of the rows: a dictionary from classes to weights, or
    ``"balanced"`` for classes of equal total weight. Probabilities are then those of rows drawn with these weights.
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
        X, y = self._table(X, y, reset=True)
        self.classes_, number = np.unique(y, return_inverse=True)
        if len(self.classes_) < 2:
            raise InputError(f"a classifier needs at least two classes, and y has one class: {self.classes_[0]!r}")
        return self._calibrated(self._learn, X, number, self._of_classes(X, y, sample_weight))

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the readouts and the probabilities to other rows: the features of ``fit`` stay, and leave-one-out chooses the
        penalties and the weights of the mix again.

        The rows must not be those of ``fit``, whose labels the features have seen, and their classes must be among those of it.
        """
        check_is_fitted(self)
        X, y = self._table(X, y, reset=False)
        unknown = np.setdiff1d(y, self.classes_)
        if len(unknown):
            raise InputError(f"refit knows the classes of fit alone, and {unknown[0]!r} is not one of them")
        return self._calibrated(
            self._refit, X, np.searchsorted(self.classes_, y), self._of_classes(X, y, sample_weight)
        )

    def _table(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        X, y = validated(
            self, X, y, reset=reset, dtype=[np.float64, np.float32], ensure_min_samples=2, ensure_all_finite="allow-nan"
        )
        check_classification_targets(y)
        return X, y

    def _of_classes(self, X: np.ndarray, y: np.ndarray, sample_weight: Any) -> np.ndarray:
        """The weights of the rows times those of their classes."""
        weights = _check_sample_weight(sample_weight, X, dtype=np.float64, ensure_non_negative=True)
        return weights if self.class_weight is None else weights * compute_sample_weight(self.class_weight, y)

    def _calibrated(self, learn: Callable, X: np.ndarray, number: np.ndarray, weights: np.ndarray) -> Self:
        """Learn the indicators of the classes, then their probabilities from the rows left out."""
        indicators = (number[:, None] == np.arange(len(self.classes_))).astype(float)
        learn(X, indicators[:, 1:] if len(self.classes_) == 2 else indicators, weights)
        rows, residuals = self._left_out
        left_out = indicators[rows, -residuals.shape[1] :] - residuals * self._spread
        left_out = _both(left_out) if len(self.classes_) == 2 else left_out
        found = calibrated(left_out, number[rows], weights[rows] / weights[rows].max())
        self.sharpness_, self.offsets_ = found.sharpness, found.offsets
        return self

    def _scores(self, X: Any) -> np.ndarray:
        """The fitted indicators of all classes plus their offsets."""
        fitted = self._predicted(X)
        return (_both(fitted) if len(self.classes_) == 2 else fitted) + self.offsets_.astype(fitted.dtype)

    def decision_function(self, X: Any) -> np.ndarray:
        """The fitted indicators plus ``offsets_`` (n, classes); for two classes, the second minus the first, (n,)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, in the order of ``classes_``."""
        scores = self._scores(X)
        return softmax(self.sharpness_ * scores, axis=1)

    def predict(self, X: Any) -> np.ndarray:
        """The most probable class of every row."""
        most = np.argmax(self._scores(X), axis=1)
        return self.classes_[most]


def _both(fitted: np.ndarray) -> np.ndarray:
    """The indicators of two classes from the second one, which alone is fitted; they add up to one."""
    return np.concatenate([1 - fitted, fitted], axis=1)
