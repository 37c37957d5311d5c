# %% [markdown]
# # A sweep on two workers
# The results go to a store, and a sweep that was stopped continues where it was. Here the store is in a temporary folder.

# %%
import tempfile
from pathlib import Path

import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=100),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=200, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=400, eta=10.0),), readout=gs.Ridge(n=400, penalty=0.1)
    ),
)
axes = {"n/d": [1, 2, 4, 8], "activation": ["relu", "tanh"]}
with tempfile.TemporaryDirectory() as folder:
    store, routes = Path(folder) / "results.sqlite", ["simulate", "theory"]
    asked = {"seeds": range(4), "routes": routes, "store": store, "progress": False}
    found = gs.sweep(s, axes, **asked, workers=2)
    # The second call finds everything in the store and runs nothing.
    again = gs.sweep(s, axes, **asked)
assert found.identical(again)
figure = gs.plot(found)
figure  # a notebook shows it
