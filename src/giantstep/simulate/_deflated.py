"""Errors of a readout on labels without their mean and linear part (Dandi et al. 2023)."""

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from giantstep._given.declared import a, at_least, given, list_of, one_of
from giantstep._machine.backend import alone, full_precision
from giantstep._training import features, first_layer, whole
from giantstep._training.form import covers, formed
from giantstep._training.job import DTYPES
from giantstep._training.plan import make_plan
from giantstep._training.source import RANDOM, resolved
from giantstep.experiment import draw
from giantstep.experiment.setting import Setting


@given(
    settings=list_of(a(Setting), "settings"),
    seed=at_least(0),
    n_test=at_least(2),
    dtype=one_of(*DTYPES),
    random=one_of(*RANDOM),
)
def deflated_errors(
    settings: Sequence[Setting], seed: int, n_test: int, dtype: str = "float32", random: str = "host"
) -> np.ndarray:
    """The printed error and the risk of every setting, (settings, 2), from one pass through one test batch.

    For the error that the paper prints, the mean and linear part of the test labels are estimated on the test labels. The
    risk uses the estimates of the training batch, which the prediction includes. ``random`` is that of ``simulate``.
    """
    if all(resolved(random, setting) == "device" and covers(setting, False) for setting in settings):
        with alone(), full_precision():
            return np.array([_on_device(setting, seed, n_test, dtype) for setting in settings])
    errors, held, theirs, test = [], (), None, draw.test_batch(n_test)
    for setting in settings:
        plan = make_plan(setting, 1, n_test, np.dtype(dtype).itemsize, None)
        run = first_layer.start(setting, (seed,), plan, dtype, held=held, host=True)
        run = replace(run, batches=run.batches.holding(test))
        held = run.batches.held
        theirs = theirs or first_layer.linear_part(run, test, 2)
        run = run.holding_the_last()
        family = features.NetworkFeatures(features.Neurons(run.sigma), first_layer.train(run).layers)
        ours = first_layer.linear_part(run, run.batches.readout, 2)
        b = [fit.coefficients for fit in features.fit(run, family, False, ours)]
        errors.append(features.test(run, family, b, n_test, [theirs, ours])[0][:, 0, 0, 0])
    return np.array(errors)


def _on_device(setting: Setting, seed: int, n_test: int, dtype: str) -> tuple[float, float]:
    work = make_plan(setting, 1, n_test, np.dtype(dtype).itemsize, None).work
    form, plan = formed(setting, 1, n_test, dtype, None, work)
    run = first_layer.start(setting, (seed,), plan, dtype, device=True)
    numbers, _ = whole.part(run, replace(form, printed=True))
    return numbers["printed"].item(), numbers["risk"].item()
