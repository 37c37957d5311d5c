# %% [markdown]
# # The estimator in a pipeline
# `GiantStepRegressor` is a scikit-learn estimator: it works in pipelines and in grid searches, and it says what it has learned.
# These labels depend on four of fifteen columns, through a kink and a product. Dots are three folds, lines their mean.

# %%
import numpy as np
from sklearn.ensemble import GradientBoostingRegressor
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import learning_curve
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.estimator import GiantStepRegressor
from giantstep.plot import style

rng = np.random.default_rng(0)
X = rng.standard_normal((600, 15))
y = np.maximum(X[:, 0] - X[:, 1], 0) + X[:, 2] * X[:, 3] + 0.1 * rng.standard_normal(600)

models = {
    "giant step": GiantStepRegressor(width=100, random_state=0),
    "gradient boosting": GradientBoostingRegressor(random_state=0),
    "linear ridge": RidgeCV(),
}
rows, scores = np.array([50, 100, 200, 400]), {}
for name, model in models.items():
    pipeline = make_pipeline(StandardScaler(), model)
    scores[name] = learning_curve(pipeline, X, y, train_sizes=rows, cv=3)[2].T
    print(name, np.round(scores[name].mean(axis=0), 2))
print(models["giant step"].fit(X, y).explain())

# %%
with style.figure() as (figure, ax):
    for (name, folds), colour, marker in zip(
        scores.items(), style.COLOURS, "os^", strict=False
    ):
        ax.plot(rows, folds.T, marker, color=colour, alpha=0.6)
        ax.plot(rows, folds.mean(axis=0), color=colour, label=name)
    ax.set(xlabel="rows for training", ylabel="R² on other rows", ylim=(None, 1.05))
    ax.legend()
figure  # a notebook shows it
