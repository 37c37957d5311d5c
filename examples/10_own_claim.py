# %% [markdown]
# # A claim of your own
# A claim says before the measurement what is compared, which difference is allowed (the margin) and which must be noticed (the
# departure). One rule decides. This one says that the random-features error of theory is that of simulated networks.

# %%
import numpy as np
from matplotlib.figure import Figure

import giantstep as gs
from giantstep.checks.claim import Claim, Verdict
from giantstep.checks.statistics import Evidence, Seeds, Tolerance, compare

SAMPLES = (60, 120, 240)


def setting(n):
    network = gs.Network(120, "relu", centred=True)
    return gs.Setting(gs.Gaussian(60), "x1 + H2(x1)/sqrt(2)", network, gs.Protocol((), gs.Ridge(n, 0.1)))


def measure(size, seeds):
    return {"errors": np.array([gs.simulate(setting(n), seeds, progress=False).test_error for n in SAMPLES])}


def predict(size):
    return {"errors": np.array([gs.theory(setting(n)).test_error for n in SAMPLES])}


def evidence(size, measured, predicted):
    at, within = [f"n = {n}" for n in SAMPLES], Tolerance(margin=0.05, departure=0.2)
    return Evidence(
        (compare("test error", measured["errors"], predicted["errors"], within=within, at=at, relative=True),)
    )


claim = Claim(
    name="mine/random-features",
    statement="The test error of random features is that of the limit.",
    paper="mei_montanari",
    where="Theorem 2",
    test="The mean over networks is compared with theory at three n; the margin is 5%, and 20% must be noticed.",
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
figure = Figure(figsize=(4.2, 3.1), layout="constrained")
ax = figure.subplots()
ax.boxplot(measured["errors"].T, tick_labels=[f"n = {n}" for n in SAMPLES])
ax.plot(range(1, 4), predicted["errors"], "_", markersize=40)
ax.set(ylabel="test error", title=verdict.as_stated)
