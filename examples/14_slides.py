# %% [markdown]
# # The first talk's figure, as its slides write it
# Gaussian rows, the gradient of (y − f)², and one batch for the step and for the readout. A fresh batch for the readout (dashed)
# gives another curve: on its own batch the step writes the residuals into the features.

# %%
import numpy as np

import giantstep as gs
from giantstep.plot import style

n, d, p = 400, 240, 320
alphas = np.linspace(0, 0.5, 6)
targets = {
    "$x_1$ + noise": gs.target("x1", noise=1.0),
    r"$x_1 + H_2(x_1)/\sqrt{2}$": gs.target("x1 + H2(x1)/sqrt(2)"),
}


def setting(target, batch="reuse"):
    network = gs.Network(p, "relu", centred=True, rows="gaussian")
    step = gs.GiantStep(n, gs.power(alphas.tolist()), residual="full")
    return gs.Setting(
        gs.Gaussian(d), target, network, gs.Protocol((step,), gs.Ridge(n, 0.1, batch=batch))
    )


# %%
with style.figure(2, width=3.6, height=3.0) as (figure, axes):
    for (name, target), colour, marker in zip(
        targets.items(), style.COLOURS, "os", strict=False
    ):
        measured = gs.simulate(setting(target), seed=range(6), progress=False).mean()
        own, fresh = (gs.theory(setting(target, batch)) for batch in ("reuse", "fresh"))
        for ax, what in zip(axes, ("test_error", "train_error"), strict=True):
            style.curve(
                ax, alphas, getattr(fresh, what), linestyle="--", color=colour, linewidth=0.9
            )
            style.curve(ax, alphas, getattr(own, what), color=colour)
            style.dots(
                ax,
                alphas,
                getattr(measured, what),
                getattr(measured, f"{what}_se"),
                color=colour,
                marker=marker,
                label=name,
            )
            ax.set(
                xlabel=r"$\alpha$, step size $\eta = n^\alpha$",
                ylabel=what.replace("train_", "training ").replace("_", " "),
            )
    axes[0].plot([], [], color=style.INK, label="theory, the step's own batch")
    axes[0].plot([], [], "--", color=style.INK, linewidth=0.9, label="theory, a fresh batch")
    axes[1].set_ylim(bottom=0)
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=2)
figure  # a notebook shows it
