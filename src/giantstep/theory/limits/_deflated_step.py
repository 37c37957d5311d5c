"""The test error after one long step on labels without their linear part, from n of the order of d^2 on (``by_term``).

Dandi et al. (2023, arXiv 2305.18270) take such a step, eta s of order sqrt(n/p), and fit the readout to the same deflated batch.
What is left out is of relative order d/n: the noise in the directions that the step learns, and what a sample does to the
features that it is fitted with.
"""

from dataclasses import replace

import numpy as np

from giantstep.experiment.protocol import Ridge
from giantstep.experiment.setting import Setting
from giantstep.theory._answer import Answer, penalties_of
from giantstep.theory.limits._grouped_rows import grouped_rows
from giantstep.theory.limits.by_term import fitted

MOST = 3  # n/d^2 up to which networks were compared


def deflated_step(setting: Setting) -> Answer:
    """Predict the test error (E, L) and the shares (E, r)."""
    notes: list[str] = []
    (step,), readout = setting.protocol.steps, setting.protocol.readout
    assert isinstance(readout, Ridge)
    penalties = penalties_of(setting, notes)
    values, shares = [], []
    for eta in np.ravel(setting.protocol.etas(setting.d, setting.p)).tolist():
        own = replace(step, eta=eta)
        read = replace(readout, n=setting.protocol.readout_size, batch="fresh", penalty=tuple(penalties.tolist()))
        single = replace(setting, protocol=replace(setting.protocol, steps=(own,), readout=read))
        values.append(fitted(single).risk + setting.target.noise**2)
        rows = grouped_rows(single)
        along = (rows.u[: setting.target.rank] ** 2 / (np.sum(rows.u**2, axis=0) + rows.b**2)) @ rows.omega
        shares.append(along)
    off = setting.d / setting.protocol.sizes()[0]
    notes.append(
        "One step on labels without their linear part is predicted by the shares of the target's terms. What is left out is of "
        f"relative order d/n = {off:.2g}."
    )
    if setting.protocol.sizes()[0] > MOST * setting.d**2:
        notes.insert(0, f"Networks were compared with this prediction up to n = {MOST} d^2, and n is larger.")
    captured = np.array(shares)
    null = (1 - captured.sum(axis=1)) / max(setting.d - setting.target.rank, 1)
    return Answer(
        {"test_error": np.array(values), "captured": captured, "null_level": null, "penalty": penalties}, notes
    )
