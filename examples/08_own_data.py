# %% [markdown]
# # Data of your own
# A table with real labels goes through the simulation, an equivalent model, and the theory of the mixture and the target that are
# fitted to it. The target `"y"` is the labels themselves.

# %%
import numpy as np

import giantstep as gs

rng = np.random.default_rng(0)
X = rng.standard_normal((3000, 30)) * np.linspace(1.5, 0.5, 30)
signal = X @ rng.standard_normal(30) / 6
y = signal + 0.3 * signal**2 + 0.2 * rng.standard_normal(3000)

data = gs.Dataset((X, y))
s = gs.Setting(
    data=data,
    target=gs.target("y"),
    network=gs.Network(width=60, activation="relu", centred=True, rows="trace"),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=600, eta=[0.0, 2.0, 5.0, 10.0]),),
        readout=gs.Ridge(n=600, penalty=0.1),
    ),
)
o = gs.simulate(s, seed=range(4), n_test=1500)
e = gs.equivalent(s, "hermite", seed=range(4), n_test=1500)
fitted = s.with_(data=data.fitted(spikes=2), target=data.fitted_target())
print(fitted)
figure = gs.plot([o, e, gs.theory(fitted)], labels=["data", "data", "fitted mixture"])
figure  # a notebook shows it
