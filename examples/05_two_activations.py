# %% [markdown]
# # Two activations
# tanh is odd, so it cannot fit the quadratic part of the target; ReLU can. Every activation has a colour of its own.

# %%
import giantstep as gs

s = gs.Setting(
    data=gs.Gaussian(d=200),
    target=gs.target("x1 + H2(x1)/sqrt(2)", noise=0.5),
    network=gs.Network(width=400, activation="relu", centred=True),
    protocol=gs.Protocol(
        steps=(gs.GiantStep(n=2000, eta=[0, 5, 10, 20, 40]),),
        readout=gs.Ridge(n=2000, penalty=0.1),
    ),
)
outcomes = []
for name in ("relu", "tanh"):
    one = s.with_(activation=name)
    outcomes += [gs.simulate(one, seed=range(4)), gs.theory(one)]
figure = gs.plot(outcomes, labels=["ReLU", "ReLU", "tanh", "tanh"])
figure  # a notebook shows it
