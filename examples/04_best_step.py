# %% [markdown]
# # The best step size, verified
# `gs.optimal` minimises the predicted test error; `verify=True` simulates the optimum and says how far the prediction was off.
# Half of these labels is noise. A step beyond the dotted line, the optimum, learns more of the noise than of the target.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=400),
    target=gs.target("x1", noise=1.0),
    network=gs.Network(width=800, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=1600, eta=10.0),), readout=gs.Ridge(n=1600, penalty=0.1)
    ),
)
best = gs.optimal(s, over="eta", verify=True, seed=range(4))
print(best)

# %%
etas = [0, 3, 10, 20, 40]
figure = gs.plot([gs.simulate(s.with_(eta=etas), seed=range(4)), gs.theory(s.with_(eta=etas))])
figure.axes[0].axvline(best.eta, color="grey", linestyle=":")
figure  # a notebook shows it
