"""scikit-learn estimators with features learned by giant gradient steps."""

from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.explanation import Explanation
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.importance import Directions

__all__ = ["Directions", "Explanation", "GiantStepClassifier", "GiantStepRegressor"]
