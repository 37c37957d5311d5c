"""Errors and shares of narrow networks: the evolution of their overlaps, averaged over second layers, and the readout on top."""

import numpy as np

from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory.narrow.evolution import evolution, readout

DRAWS = 16  # of the second layer; laws with one value need one


def narrow_network(setting: Setting) -> Answer:
    """Predict any number of steps on fresh batches, for any target; the arrays are (E, L), the shares (E, r)."""
    notes: list[str] = []
    given = setting.protocol.readout
    assert isinstance(given, Ridge)
    penalties = np.zeros(1) if given.penalty == "gcv" else penalties_of(setting, notes)
    a_law = setting.network.second_layer
    count = len(np.atleast_2d(setting.protocol.etas(setting.d, setting.p)))
    seeds = range(1 if a_law == "constant" or (a_law == "rademacher" and setting.network.symmetric) else DRAWS)
    runs = [[evolution(setting, seed, e) for seed in seeds] for e in range(count)]
    errors = [[readout(setting, run, penalties) for run in each] for each in runs]
    values = {k: np.array([np.mean([x[k] for x in each], axis=0) for each in errors]) for k in errors[0][0]}
    learned = np.array([np.mean([run.shares[-1].mean(0) for run in each], axis=0) for each in runs])
    null = (1 - learned.sum(1)) / setting.d  # what chance gives each direction
    over = f", as a mean over {len(seeds)} second layers" if len(seeds) > 1 else ""
    notes.append(f"The narrow network is predicted by the limit of large d{over}.")
    notes.append(
        f"Expect gaps of order p/d = {setting.p / setting.d:.2g} and p/n = "
        f"{setting.p / setting.protocol.readout_size:.2g}."
    )
    order = setting.target.information_exponent
    if order is not None and order > 1:
        notes.insert(
            0,
            f"Nothing is learned in this limit, because the target's information exponent is {order}. Finite networks learn "
            "from their initial overlaps, which theory.evolution(setting, start='draw') follows.",
        )
    if given.penalty == "gcv":
        notes.append("GCV takes no penalty here: with p far below n nothing is gained from one.")
    penalty = np.zeros((count, 1)) if given.penalty == "gcv" else penalties
    return Answer(values | {"captured": learned + null[:, None], "null_level": null, "penalty": penalty}, notes)
