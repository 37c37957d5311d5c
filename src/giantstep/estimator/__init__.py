"""scikit-learn estimators with features learned by giant gradient steps."""

from giantstep.estimator.classifier import GiantStepClassifier
from giantstep.estimator.explanation import FitExplanation
from giantstep.estimator.regressor import GiantStepRegressor
from giantstep.estimator.steps.directions import Directions

__all__ = ["Directions", "FitExplanation", "GiantStepClassifier", "GiantStepRegressor"]
