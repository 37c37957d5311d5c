# %% [markdown]
# # The estimator in a pipeline
# `GiantStepRegressor` is a scikit-learn estimator: it works in pipelines and in grid searches, and it says what it has learned.

# %%
import numpy as np
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.estimator import GiantStepRegressor
from giantstep.plot import style

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 15))
y = np.maximum(X[:, 0] - X[:, 1], 0) + X[:, 2] * X[:, 3] + 0.1 * rng.standard_normal(400)

model = GiantStepRegressor(width=100, random_state=0)
scores = {
    name: cross_val_score(make_pipeline(StandardScaler(), one), X, y, cv=3)
    for name, one in {"linear ridge": RidgeCV(), "giant step": model}.items()
}
print({name: f"R² = {values.mean():.2f}" for name, values in scores.items()})
print(model.fit(X, y).explain())

# %%
with style.figure() as (figure, ax):
    for i, values in enumerate(scores.values()):
        ax.plot([i] * len(values), values, "os"[i])
    ax.set_xticks(range(len(scores)), list(scores))
    ax.set(ylabel="R² on three folds", xlim=(-0.5, 1.5), ylim=(0, 1.05))
figure  # a notebook shows it
