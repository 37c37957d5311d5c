# %% [markdown]
# # A mixture, and images
# Two classes of Fashion-MNIST, from the sample that comes with giantstep, and the Gaussian mixture fitted to them. The mixture
# has the means and covariances of the images. The gap that a step opens is what the network gains from everything else.

# %%
import giantstep as gs

images = gs.Dataset("fashion-mnist", classes=(5, 9), path="sample")
s = gs.Setting(
    data=images,
    target=gs.target("-1 | 1"),
    network=gs.Network(width=200, activation="relu", centred=True, rows="trace"),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=400, eta=[0.0, 1.0, 2.5, 5.0, 10.0, 20.0]),),
        readout=gs.Ridge(n=400, penalty=0.1),
    ),
)
o = gs.simulate(s, seed=range(6), n_test=1000)
mixture = gs.simulate(s.with_(data=images.fitted(spikes=20)), seed=range(6), n_test=1000)
figure = gs.plot([o, mixture], labels=["images", "fitted mixture"])
figure  # a notebook shows it
