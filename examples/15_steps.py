# %% [markdown]
# # The second talk's examples, step by step
# The talk's networks (signs in pairs, prefactor 1/p) at a width of the order of d. In example 1 one step finds x1 + x2 and the
# second x1 − x2; in example 2 later steps find no more; in example 3 the second step finds x2 + x3. Dots are simulated, lines
# with their bands are theory, and the dotted line is the noise.

# %%
import numpy as np

import giantstep as gs
from giantstep.plot import style

examples = {
    "1:  $x_1 + x_2 + x_1^2 - x_2^2$": "x1 + x2 + x1^2 - x2^2",
    "2:  $x_1 + x_2 + x_1^2 + x_2^2 - 2$": "x1 + x2 + x1^2 + x2^2 - 2",
    "3:  $x_1 + x_1 x_2 + x_1 x_3$": "x1 + x1*x2 + x1*x3",
}
d, n, p, eta = 150, 600, 180, 0.8 * 180
steps = (0, 1, 2, 3)


def setting(target, count):
    network = gs.Network(p, "relu", scale="1/p", second_layer="rademacher", symmetric=True)
    protocol = gs.Protocol((gs.GiantStep(n, eta),) * count, gs.Ridge(n, 0.1))
    return gs.Setting(gs.Gaussian(d), gs.target(target, noise=0.3), network, protocol)


# %%
with style.figure(3, width=2.7, height=2.7) as (figure, axes):
    for ax, (name, target) in zip(axes, examples.items(), strict=True):
        theory = [gs.theory(setting(target, count)) for count in steps]
        measured = [
            gs.simulate(setting(target, count), seed=range(5), progress=False).mean()
            for count in steps
        ]
        for what, colour, marker in zip(
            ("test_error", "train_error"), style.COLOURS, "os", strict=False
        ):
            low, high = np.array([getattr(one, f"{what}_band") for one in theory]).T
            ax.fill_between(steps, low, high, color=colour, alpha=0.15, linewidth=0)
            ax.plot(steps, [getattr(one, what) for one in theory], color=colour)
            means, bars = (
                [getattr(one, key) for one in measured] for key in (what, f"{what}_se")
            )
            style.dots(
                ax,
                steps,
                means,
                bars,
                color=colour,
                marker=marker,
                label=what.replace("train_", "training ").replace("_", " "),
            )
        ax.axhline(0.3**2, color="grey", linewidth=0.8, linestyle=":")
        ax.set_title(f"example {name}", loc="left", fontsize=8.5)
        ax.set(xlabel="giant steps", xticks=steps, ylim=(0, None))
    axes[0].set_ylabel("error")
    axes[0].plot([], [], color=style.INK, label="theory")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
figure  # a notebook shows it
