# %% [markdown]
# # A phase diagram
# The test error against the step size and the number of samples, from theory alone. A sweep over two axes is drawn as a map.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=100),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=200, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=400, eta=1.0),), readout=gs.Ridge(n=400, penalty=0.1)
    ),
)
found = gs.sweep(
    s,
    {"eta": {"geomspace": [1, 60, 8]}, "n": [100, 150, 200, 300, 400]},
    routes="theory",
    progress=False,
)
figure = gs.plot(found)
figure  # a notebook shows it
