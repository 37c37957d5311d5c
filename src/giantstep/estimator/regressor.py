"""Regression by a network that has taken giant steps."""

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils.validation import check_is_fitted

from giantstep.estimator._base import GiantStepBase
from giantstep.estimator.table._columns import validated


class GiantStepRegressor(RegressorMixin, GiantStepBase):
    """Ridge regression on features that were learned by giant gradient steps, and on kernels in the coordinates they find.

    ``fit(X, y)`` works on any table of numbers. Leave-one-out on rows that the steps do not use chooses every parameter that is
    ``"auto"``; the choice is the same every time for the same ``random_state``.

    Parameters:
        width: number of neurons.
        activation: a name or formula of the library (``"relu"``, ``"gelu"``, ``"tanh"``, ...).
        steps: 0 (random features) to 3.
        eta: step size, in units of the neurons' initial length.
        batch: ``"reuse"`` all rows in every step and in the readout, or ``"fresh"`` ones for each.
        penalty: lam of (1/n) |y - F b|^2 + lam |b|^2, for labels and columns scaled to variance one.
        scaling: ``"standard"`` or ``"normal"`` (normal scores, for columns with values far out).
        model: ``"auto"`` for a mix of the network, kernel readouts, a linear model and boosted trees, or
            ``"network"``, which ``steps`` implies.
        device: ``"cpu"``, ``"gpu"``, or ``"auto"`` for a GPU where there is one.
        memory: GiB to stay within; a fit that needs more is refused before it starts.
        random_state: the seed of the initial network and of the rows held out.
        verbose: print a line for every stage.

    Attributes:
        steps_: the number of giant steps used.
        eta_: their step size.
        batch_: their batches.
        penalty_: the penalty of the readout used.
        width_: the number of neurons used.
        scaling_: the scaling of the columns used.
        weights_: the weights of the models in the mix.
        loo_error_: leave-one-out error, a mean square in units of the variance of y (so 1 - R^2).
        loo_errors_: the errors of the network after 0, 1, ... steps; the first is the error of random features.
        directions_: learned directions with their strength, the null level and the share of variance they carry.
    """

    def __sklearn_tags__(self) -> Any:
        tags: Any = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.multi_output = True
        return tags

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Learn from rows X (n, d) and numbers y, (n,) or (n, outputs)."""
        X, y = self._table(X, y, reset=True)
        self._one_output = y.ndim == 1
        return self._learn(X, y.reshape(len(y), -1), sample_weight)

    def refit(self, X: Any, y: Any, sample_weight: Any = None) -> Self:
        """Fit the readouts to other rows: the features of ``fit`` stay, and leave-one-out chooses the penalties and the weights
        of the mix again.

        The rows must not be those of ``fit``, whose labels the features have seen.
        """
        check_is_fitted(self)
        X, y = self._table(X, y, reset=False)
        return self._refit(X, y.reshape(len(y), -1), sample_weight)

    def _table(self, X: Any, y: Any, reset: bool) -> tuple[np.ndarray, np.ndarray]:
        X, y = validated(
            self, X, y, reset=reset, dtype=[np.float64, np.float32], multi_output=True, y_numeric=True,
            ensure_min_samples=2, ensure_all_finite="allow-nan",
        )  # fmt: skip
        return X, y

    def predict(self, X: Any) -> np.ndarray:
        """The output of the network for every row."""
        outputs = self._predicted(X)
        return outputs[:, 0] if self._one_output else outputs
