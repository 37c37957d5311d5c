# %% [markdown]
# # A sweep on two workers
# The results go to a store, and a sweep that was stopped continues where it was. Here the store is in a temporary folder.

# %%
import tempfile
from pathlib import Path

import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=60),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=120, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=240, eta=10.0),), readout=gs.Ridge(n=240, penalty=0.1)
    ),
)
axes = {"n": [60, 120, 240, 480], "activation": ["relu", "tanh"]}
with tempfile.TemporaryDirectory() as folder:
    store = Path(folder) / "results.sqlite"
    found = gs.sweep(s, axes, seeds=range(4), store=store, workers=2, progress=False)
    # The second call finds everything in the store and runs nothing.
    again = gs.sweep(s, axes, seeds=range(4), store=store, progress=False)
assert found.identical(again)
figure = gs.plot(found)
figure  # a notebook shows it
