# %% [markdown]
# # The staircase
# In x1 + x1*x2 the first step finds w1, and only then does the second step see w2. Dots are simulated, lines are theory.

# %%
import giantstep as gs

step = gs.GiantStep(n=20_000, eta=18.0, residual="full")
s = gs.Setting(
    data=gs.Gaussian(d=8_000),
    target=gs.target("x1 + x1*x2"),
    network=gs.Network(width=12, activation="relu", scale="1/p"),
    protocol=gs.Protocol(steps=(step,) * 4),
)
print(gs.explain(s.target))
paths = [gs.simulate.evolution(s, seed=0), gs.theory.evolution(s, seed=0)]
figure = gs.plot(paths, "shares")
figure  # a notebook shows it
