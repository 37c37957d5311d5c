# %% [markdown]
# # The spectrum before and after a giant step
# Spikes leave the bulk of the features' singular values. They carry what the step has learned. The histograms pool six networks,
# and each network has its own triangles.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=100),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=200, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=400, eta=[0, 20]),), readout=gs.Ridge(n=400, penalty=0.1)
    ),
)
both = gs.compare(s, seed=range(6), spectrum=True)
figure = gs.plot(both, "spectrum")
figure  # a notebook shows it
