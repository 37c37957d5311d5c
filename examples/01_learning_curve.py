# %% [markdown]
# # A learning curve at fixed ratios
# The theory speaks of n, d and p that grow together. Here n = 4d and p = 2d, and d grows.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=50),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=100, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=200, eta=gs.power(0.3)),), readout=gs.Ridge(n=200, penalty=0.1)
    ),
)
found = gs.sweep(
    s,
    {"d": [30, 60, 120], "n": "4*d", "width": "2*d"},
    seeds=range(16),
    routes=["simulate", "theory"],
    progress=False,
)
figure = gs.plot(found)
figure  # a notebook shows it
