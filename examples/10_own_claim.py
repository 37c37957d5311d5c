# %% [markdown]
# # A claim of your own
# A claim says before the measurement what is compared, which difference is allowed (the margin) and which must be noticed (the
# departure). One rule decides. This one says that the random-features error of theory is that of simulated networks.

# %%
import numpy as np

import giantstep as gs
from giantstep.checks.claim import Claim, Verdict
from giantstep.checks.statistics import Evidence, Seeds, Tolerance, compare
from giantstep.plot import style as figures

SAMPLES = (60, 120, 240)


def setting(n):
    network, readout = gs.Network(120, "relu", centred=True), gs.Ridge(n, 0.1)
    return gs.Setting(gs.Gaussian(60), "x1 + H2(x1)/sqrt(2)", network, gs.Protocol((), readout))


def measure(size, seeds):
    errors = [gs.simulate(setting(n), seeds, progress=False).test_error for n in SAMPLES]
    return {"errors": np.array(errors)}


def predict(size):
    return {"errors": np.array([gs.theory(setting(n)).test_error for n in SAMPLES])}


def evidence(size, measured, predicted):
    within, at = Tolerance(margin=0.05, departure=0.2), [f"n = {n}" for n in SAMPLES]
    errors = measured["errors"], predicted["errors"]
    return Evidence((compare("test error", *errors, within=within, at=at, relative=True),))


claim = Claim(
    name="mine/random-features",
    statement="The test error of random features is that of the limit.",
    paper="mei_montanari",
    where="Theorem 2",
    test="Means over networks are compared with theory: the margin is 5%, 20% must be noticed.",
    measure=measure,
    compare=evidence,
    describe=lambda size, measured, predicted, ruling: Verdict(sizes="d = 60, p = 120"),
    seeds={"quick": Seeds(60, 60)},
    predict=predict,
)
measured, predicted = claim.measure("quick", range(60)), predict("quick")
verdict = claim.rule("quick", measured, predicted)
print(verdict)

# %%
with figures.figure() as (figure, ax):
    ax.plot(
        range(1, 4), predicted["errors"], "_", color=figures.INK, markersize=24, label="theory"
    )
    mean, spread = (f(measured["errors"], axis=1) for f in (np.mean, np.std))
    figures.dots(ax, range(1, 4), mean, spread, label="60 networks, mean and spread")
    ax.set_xticks(range(1, 4), [f"n = {n}" for n in SAMPLES])
    ax.set(ylabel="test error", title=f"the claim {verdict.outcome}", xlim=(0.5, 3.5))
    ax.legend()
figure  # a notebook shows it
