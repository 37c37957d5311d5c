# %% [markdown]
# # A learning curve
# Random features (η = 0) learn only the linear part of this target, so more samples do not bring them below the dotted line: the
# power of the quadratic part plus the noise. One giant step (η = 20) goes below it.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=200),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=400, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=800, eta=20.0),), readout=gs.Ridge(n=800, penalty=0.1)
    ),
)
found = gs.sweep(
    s,
    {"n": [500, 1000, 2000, 3000], "eta": [0, 20]},
    seeds=range(4),
    routes=["simulate", "theory"],
    progress=False,
)
figure = gs.plot(found)
figure.axes[0].axhline(1 + 0.5**2, color="grey", linestyle=":")
figure  # a notebook shows it
