# %% [markdown]
# # What giant steps can learn of a target
# `gs.explain` needs no simulation: it lists the directions that every step finds, the terms that can be fitted, and the
# least error.

# %%
import giantstep as gs

x = gs.explain("x1 + H2(x1)*x2 + H3(x3)/2", activation="relu")
print(x)
figure = gs.plot(x)
figure  # a notebook shows it
