# %% [markdown]
# # The best step size, verified
# `gs.optimal` minimises the predicted test error; `verify=True` simulates the optimum and says how far the prediction was off.
# The dotted line is the optimum; beyond it the band is wide, and the predicted line is dashed.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=100),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=200, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=400, eta=10.0),), readout=gs.Ridge(n=400, penalty=0.1)
    ),
)
best = gs.optimal(s, over="eta", verify=True, seed=range(4))
print(best)

# %%
etas = [0, 5, 20, 60, 150, 300]
figure = gs.plot([gs.simulate(s.with_(eta=etas), seed=range(4)), gs.theory(s.with_(eta=etas))])
figure.axes[0].axvline(best.eta, color="grey", linestyle=":")
figure  # a notebook shows it
