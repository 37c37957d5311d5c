# %% [markdown]
# # The estimator in a pipeline
# `GiantStepRegressor` is a scikit-learn estimator: it works in pipelines and in grid searches, and it says what it has learned.

# %%
import numpy as np
from matplotlib.figure import Figure
from sklearn.linear_model import RidgeCV
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from giantstep.estimator import GiantStepRegressor

rng = np.random.default_rng(0)
X = rng.standard_normal((400, 15))
y = np.maximum(X @ np.r_[1.0, -1.0, np.zeros(13)], 0) + X[:, 2] * X[:, 3] + 0.1 * rng.standard_normal(400)

models = {"linear ridge": RidgeCV(), "giant step": GiantStepRegressor(width=100, random_state=0)}
scores = {name: cross_val_score(make_pipeline(StandardScaler(), m), X, y, cv=3) for name, m in models.items()}
print({name: f"R² = {values.mean():.2f}" for name, values in scores.items()})
print(GiantStepRegressor(width=100, random_state=0).fit(X, y).explain())

# %%
figure = Figure(figsize=(4.2, 3.1), layout="constrained")
ax = figure.subplots()
for i, values in enumerate(scores.values()):
    ax.plot([i] * len(values), values, "o")
ax.set_xticks(range(len(scores)), list(scores))
ax.set(ylabel="R² on three folds", xlim=(-0.5, 1.5))
