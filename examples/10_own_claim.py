# %% [markdown]
# # A claim of your own
# A claim says before the measurement what is compared, which difference is allowed (the margin) and which must be noticed (the
# departure). One rule decides. This one says that the test error of random features is that of theory. Bars are standard errors,
# and the margin is shaded: at this size networks are a little better than theory, within the margin.

# %%
import numpy as np

import giantstep as gs
from giantstep.checks import Claim, Judge, Seeds, judging, rule, statistics
from giantstep.plot import style as figures

SAMPLES = (100, 200, 400)
NETWORKS, MARGIN = 60, 0.05


def setting(n):
    network, readout = gs.Network(200, "relu", centred=True), gs.Ridge(n, 0.1)
    return gs.Setting(
        gs.Gaussian(100), "x1 + H2(x1)/sqrt(2)", network, gs.Protocol((), readout)
    )


def measure(size, seeds):
    errors = [gs.simulate(setting(n), seeds, progress=False).test_error for n in SAMPLES]
    return {"errors": np.array(errors)}


def predict(size):
    return {"errors": np.array([gs.theory(setting(n)).test_error for n in SAMPLES])}


def compare(size, measured, predicted):
    judge, at = judging(claim, size), [f"n = {n}" for n in SAMPLES]
    return statistics.stated(
        judge("test error", measured["errors"], predicted["errors"], at=at)
    )


claim = Claim(
    name="mine/random-features",
    statement="The test error of random features is that of the limit.",
    paper="mei_montanari",
    where="Theorem 2",
    how="Means over networks are compared with theory.",
    judges=(
        Judge(
            "test error",
            relative=True,
            margin=MARGIN,
            departure=0.2,
            because="terms of order 1/d",
        ),
    ),
    seeds={"quick": Seeds(NETWORKS, NETWORKS)},
    measure=measure,
    compare=compare,
    predict=predict,
)
measured, predicted = measure("quick", range(NETWORKS)), predict("quick")
verdict = rule(claim, "quick", measured, predicted)
print(verdict)

# %%
with figures.figure() as (figure, ax):
    at, theory = range(len(SAMPLES)), predicted["errors"]
    margin, across = MARGIN * theory, 0.5  # the margin is a box around each prediction
    ax.bar(
        at, 2 * margin, across, theory - margin, color=figures.INK, alpha=0.12, label="margin"
    )
    ax.plot(at, theory, "_", color=figures.INK, markersize=24, label="theory")
    mean, spread = (f(measured["errors"], axis=1) for f in (np.mean, np.std))
    standard_error = spread / np.sqrt(NETWORKS - 1)
    figures.dots(ax, at, mean, standard_error, label=f"mean of {NETWORKS} networks")
    ax.set_xticks(at, [f"n = {n}" for n in SAMPLES])
    ax.set(
        ylabel="test error",
        title=f"the claim {verdict.outcome}",
        xlim=(-0.5, 2.5),
        ylim=(1.4, 2.4),
    )
    ax.legend()
figure  # a notebook shows it
