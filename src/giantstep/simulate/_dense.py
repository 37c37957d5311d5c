"""The dense method: draw weights and data in d dimensions and take the steps. It runs any network and any protocol."""

from dataclasses import replace

import numpy as np

from giantstep._training import whole
from giantstep._training.features import NetworkFeatures, Neurons, measured
from giantstep._training.first_layer import Run, train
from giantstep._training.form import RunForm, covers, formed
from giantstep._training.job import Job, Part
from giantstep._training.plan import Plan
from giantstep.errors import InputError


def part(run: Run, n_test: int, spectrum: bool) -> Part:
    """Measure one group of seeds: F = sigma(X W^T) with the trained W; without a readout the coefficients are s a."""
    run = run.holding_the_last()
    trained = train(run)
    own = None
    if run.setting.protocol.readout is None:
        own = np.asarray(trained.a, dtype=float)[:, None, :] * run.setting.network.factor
    family = NetworkFeatures(Neurons(run.sigma), trained.layers)
    return measured(run, family, trained.layers, n_test, spectrum, own)


def on_device(job: Job, spectrum: bool, precision: str = "full") -> tuple[Job, RunForm] | None:
    """The job as whole programs on the device, which draws its numbers; None for a job that is not such a program."""
    if (
        job.random != "device"
        or job.mesh is not None
        or job.plan.solver != "direct"
        or not covers(job.setting, spectrum)
    ):
        return None
    try:
        form, plan = formed(job.setting, len(job.seeds), job.n_test, job.dtype, job.memory, job.plan.work)
    except InputError:
        return None  # the plan of the job needs less memory
    if precision == "tf32":  # one member and one penalty after the other
        form = replace(form, precision=precision, seeds=1, members=1, penalties=1)
    return replace(job, plan=plan), form


def compiled_part(run: Run, form: RunForm, plan: Plan) -> Part:
    """Measure one group of seeds by one program; a seed with an ill-conditioned ridge problem is measured again by that plan."""
    numbers, again = whole.part(run, form)
    for s in again:
        batches = replace(run.batches, seeds=(run.seeds[s],), rows=plan.rows, room=plan.room)
        better = part(replace(run, batches=batches, plan=plan, tick=lambda work: None), form.n_test, False)
        numbers["notes"] += better["notes"]
        for name in numbers.keys() - {"notes"}:
            numbers[name] = np.array(numbers[name])
            numbers[name][:, s] = better[name][:, 0]
    return numbers
