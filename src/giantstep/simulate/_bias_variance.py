"""Measure bias and variance of a readout. Ridge and SGD are linear in the labels, so each part is a fit of its own.

b(f* + noise) = b(f*) + b(noise),   E risk = risk of b(f*) + E <b(noise), F>^2,   F the features of a new input
"""

from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np

from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.experiment.target import target
from giantstep.measure import mean_and_error
from giantstep.results._bias_variance import Parts
from giantstep.results.outcome import Outcome


def halves(setting: Setting) -> tuple[Setting, Setting]:
    """The same experiment with labels without noise, and with noise alone; a seed draws the same numbers in both."""
    readout = setting.protocol.readout
    if setting.protocol.steps or readout is None or readout.path == "gcv":
        raise InputError(
            "parts needs a protocol without steps and a readout that is linear in the labels: Ridge with given penalties, or SGD"
        )
    noise = target("0*x1", noise=setting.target.noise)
    return replace(setting, target=replace(setting.target, noise=0.0)), replace(setting, target=noise)


def measured(run: Any, setting: Setting, seed: int | Iterable[int]) -> Parts:
    """Measure bias and variance by two calls of ``run(setting, seed)``, averaged over the seeds."""
    if not setting.target.noise:
        raise InputError("parts needs label noise: without noise the bias is the whole risk")
    seed = seed if isinstance(seed, int) else tuple(seed)
    bias, variance = (_risk(run(each, seed)) for each in halves(setting))
    both = None
    if isinstance(seed, tuple) and len(seed) > 1:
        sums = np.asarray(bias[2]) + np.asarray(variance[2])
        both = mean_and_error(sums, -1)[1]
    return Parts(bias[0], variance[0], bias_se=bias[1], variance_se=variance[1], risk_se=both)


def _risk(outcome: Outcome) -> tuple[Any, Any, Any]:
    """The mean, the standard error over seeds (None for one seed), and the values of all seeds."""
    mean = outcome.mean()
    several = "seed" in outcome.axes and len(outcome.seeds or ()) > 1
    return mean.risk, mean.risk_se if several else None, outcome.risk
