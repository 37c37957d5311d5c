# %% [markdown]
# # One batch twice, or two fresh batches
# The target has no first-order part. Two steps on fresh batches of order d do not find its direction; two steps on one batch do.

# %%
import numpy as np

import giantstep as gs
from giantstep.plot import style
from giantstep.plot.ticks import logarithmic

d, p = 3000, 8
once = gs.GiantStep(n=8 * d, eta=10.0 * p)
again = gs.GiantStep(n=None, eta=10.0 * p, batch="reuse")
base = gs.Setting(
    data=gs.Gaussian(d),
    target=gs.target("(H2(x1)/sqrt(2) + H3(x1)/sqrt(6))/sqrt(2)"),
    network=gs.Network(p, "relu", scale="1/p", second_layer="rademacher", symmetric=True),
    protocol=gs.Protocol((once, once)),
)
shares = {}
for name, steps in (("two fresh batches", (once, once)), ("one batch twice", (once, again))):
    s = base.with_(protocol=gs.Protocol(steps))
    shares[name] = [gs.simulate.evolution(s, seed).shares[-1].mean() for seed in range(6)]
    print(f"{name}: share along x1 {np.mean(shares[name]):.4f}, by chance {1 / d:.4f}")

# %%
with style.figure() as (figure, ax):
    for i, values in enumerate(shares.values()):
        ax.plot([i] * len(values), values, "os"[i])
    ax.axhline(1 / d, color=style.INK, linestyle=":", label="by chance, 1/d")
    ax.set_xticks(range(2), list(shares))
    ax.set(ylim=(1e-4, 1), ylabel="share of a neuron along $x_1$", xlim=(-0.5, 1.5))
    logarithmic(ax)
    ax.legend()
figure  # a notebook shows it
