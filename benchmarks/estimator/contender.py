"""Contenders: estimators as they are usually called, behind a StandardScaler where they need one."""

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor
from sklearn.kernel_approximation import Nystroem, RBFSampler
from sklearn.linear_model import LogisticRegression, RidgeClassifierCV, RidgeCV
from sklearn.multioutput import MultiOutputRegressor
from sklearn.neural_network import MLPClassifier, MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, SVR
from sklearn.utils import get_tags

from benchmarks.estimator.recursive import Recursive
from benchmarks.estimator.task import CLASSES, REGRESSION
from giantstep.estimator import GiantStepClassifier, GiantStepRegressor

PENALTIES = np.logspace(-3, 4, 15)
COMPONENTS = 1000
Build = Callable[[int, int], Any]  # (rows, seed) -> estimator


@dataclass(frozen=True)
class Contender:
    """A name, what it is, how to build its regressor and its classifier, and the package without which it is left out."""

    name: str
    about: str
    regressor: Build | None
    classifier: Build | None
    needs: str | None = None

    def has(self, kind: str) -> bool:
        """Whether it is made for this kind of task."""
        return self._make(kind) is not None

    def _make(self, kind: str) -> Build | None:
        return self.regressor if kind == REGRESSION else self.classifier

    def build(self, kind: str, rows: int, outputs: int, seed: int) -> Any:
        """The estimator, one for every output where it can have only one."""
        make = self._make(kind)
        assert make is not None, f"{self.name} is not made for {kind}"
        found = make(rows, seed)
        return found if outputs == 1 or get_tags(found).target_tags.multi_output else MultiOutputRegressor(found)

    @property
    def absent(self) -> str | None:
        """Why it cannot run here."""
        if self.needs is None or find_spec(self.needs):
            return None
        return f"{self.name} is left out: the package {self.needs} is not installed (pip install {self.needs})"


def _scaled(*steps: Any) -> Any:
    return make_pipeline(StandardScaler(), *steps)


def _sampled(seed: int, readout: Any) -> Any:
    return _scaled(RBFSampler(gamma="scale", n_components=COMPONENTS, random_state=seed), readout)  # scaled: 1/d  # type: ignore[arg-type]


def _nystroem(n: int, seed: int, readout: Any) -> Any:
    return _scaled(Nystroem(n_components=min(n, COMPONENTS), random_state=seed), readout)  # the default gamma is 1/d


def _gbm(name: str, seed: int) -> Any:
    import lightgbm  # type: ignore[import-not-found]

    return getattr(lightgbm, name)(random_state=seed, verbose=-1)


def _cat(name: str, seed: int) -> Any:
    import catboost  # type: ignore[import-not-found]

    return getattr(catboost, name)(random_seed=seed, verbose=False, allow_writing_files=False)


OURS = Contender(
    "giantstep",
    "`GiantStepRegressor()`, `GiantStepClassifier()`",
    lambda n, seed: GiantStepRegressor(random_state=seed),
    lambda n, seed: GiantStepClassifier(random_state=seed),
)
CONTENDERS = (
    OURS,
    Contender(
        "random-features",
        "the same with `steps=0`",
        lambda n, seed: GiantStepRegressor(steps=0, random_state=seed),
        lambda n, seed: GiantStepClassifier(steps=0, random_state=seed),
    ),
    Contender(
        "xRFM",
        "`xRFM`, kernel l2 of bandwidth 10, five iterations, a fifth of the rows to choose the iteration",
        lambda n, seed: _scaled(Recursive(REGRESSION, seed)),
        lambda n, seed: _scaled(Recursive(CLASSES, seed)),
        needs="xrfm",
    ),
    Contender(
        "ridge",
        "`RidgeCV`, `RidgeClassifierCV`",
        lambda n, seed: _scaled(RidgeCV(PENALTIES)),
        lambda n, seed: _scaled(RidgeClassifierCV(PENALTIES)),
    ),
    Contender("logistic", "`LogisticRegression`", None, lambda n, seed: _scaled(LogisticRegression(max_iter=1000))),
    Contender(
        "RBF-sampler",
        "1000 random Fourier features, gamma 1/d, then ridge",
        lambda n, seed: _sampled(seed, RidgeCV(PENALTIES)),
        lambda n, seed: _sampled(seed, RidgeClassifierCV(PENALTIES)),
    ),
    Contender(
        "Nystroem",
        "1000 landmarks of the Gaussian kernel, gamma 1/d, then ridge",
        lambda n, seed: _nystroem(n, seed, RidgeCV(PENALTIES)),
        lambda n, seed: _nystroem(n, seed, RidgeClassifierCV(PENALTIES)),
    ),
    Contender(
        "MLP",
        "`MLPRegressor`, `MLPClassifier` with early stopping",
        lambda n, seed: _scaled(MLPRegressor(early_stopping=True, max_iter=1000, random_state=seed)),
        lambda n, seed: _scaled(MLPClassifier(early_stopping=True, max_iter=1000, random_state=seed)),
    ),
    Contender(
        "boosting",
        "`HistGradientBoostingRegressor`, `HistGradientBoostingClassifier`",
        lambda n, seed: HistGradientBoostingRegressor(random_state=seed),
        lambda n, seed: HistGradientBoostingClassifier(random_state=seed),
    ),
    Contender(
        "LightGBM",
        "`LGBMRegressor`, `LGBMClassifier`",
        lambda n, seed: _gbm("LGBMRegressor", seed),
        lambda n, seed: _gbm("LGBMClassifier", seed),
        needs="lightgbm",
    ),
    Contender(
        "CatBoost",
        "`CatBoostRegressor`, `CatBoostClassifier`",
        lambda n, seed: _cat("CatBoostRegressor", seed),
        lambda n, seed: _cat("CatBoostClassifier", seed),
        needs="catboost",
    ),
    Contender("SVM", "`SVR`, `SVC`, C = 1", lambda n, seed: _scaled(SVR()), lambda n, seed: _scaled(SVC())),
)
