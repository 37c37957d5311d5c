"""equivalent(setting, model, seed): the experiment with its features replaced by a simpler model of them, measured."""

from collections.abc import Iterable
from dataclasses import replace
from functools import partial

from giantstep import _assemble
from giantstep._callable import callable_module
from giantstep._errors import InputError
from giantstep._plan import make_plan
from giantstep._record import choice
from giantstep.equivalent import conditional, gaussian, moments, spiked
from giantstep.outcome import Outcome
from giantstep.setting import Setting, need_gaussian

MODELS = ("gaussian", "spiked", "conditional")


def equivalent(
    setting: Setting,
    model: str = "gaussian",
    seed: int | Iterable[int] = 0,
    *,
    degree: int | None = None,
    base: str = "network",
    directions: int | None = None,
    n_test: int = 10_000,
    spectrum: bool = False,
    dtype: str = "float64",
    memory: float | None = None,
    progress: bool | None = None,
) -> Outcome:
    """Draw what ``simulate`` draws from the same seed, replace the features by a model of them, fit the readout, measure.

    Args:
        setting: the experiment; it needs a readout.
        model: "gaussian" for ``c_0 + c_1 X W^T + c_{>1} Z`` with the trained W, any number of steps; "spiked" for the random
            features of the initial W plus a polynomial in ``X beta``, one step; "conditional" for features that are Gaussian
            given the directions along which W moved, any number of giant steps.
        seed: a whole number, or several (a range or list): the outcome then has a seed axis.
        degree: degree of the polynomial of the spiked model; by default chosen for every step size, as the status says.
        base: random features of the spiked model: those of the "network", or their own "gaussian" equivalent.
        directions: how many directions the conditional model takes as given; by default one a step.
        n_test: number of test samples.
        spectrum: also the singular values of ``F / sqrt(n)``, their bulk edge and outliers.
        dtype: "float64", or "float32" for the matrix products (sums and the ridge fit stay in float64).
        memory: GiB to stay within; by default a share of what is free.
        progress: show a progress bar on stderr; by default on a terminal when the work takes a while.

    The overlaps of the spiked model are those of ``W + eta c_1 s a beta^T``, the first layer it stands for.
    """
    _assemble.check(setting, "equivalent")
    need_gaussian(setting, "equivalent")
    choice(model, MODELS, "model")
    choice(base, ("network", "gaussian"), "base")
    if setting.protocol.readout is None:
        raise InputError("equivalent needs a readout: without one there is nothing to fit to the replaced features")
    if model != "spiked" and (degree is not None or base != "network"):
        raise InputError(f"degree and base are options of model='spiked'; model={model!r} takes neither")
    if model != "conditional" and directions is not None:
        raise InputError(f"directions is an option of model='conditional'; model={model!r} does not take it")
    degrees = spiked.degrees(setting, degree) if model == "spiked" else ()
    count = conditional.directions(setting, directions) if model == "conditional" else 0
    given = model == "conditional"
    job = _assemble.prepare(
        setting, "equivalent", seed, n_test=n_test, dtype=dtype, memory=memory, progress=progress,
        noise=conditional.BESIDE if given else int("gaussian" in (model, base)),
        planner=partial(make_plan, table=moments.USUAL if given else 0),
    )  # fmt: skip
    if model == "gaussian":
        parts = _assemble.in_groups(job, lambda run: gaussian.part(run, job.n_test, spectrum))
        return _assemble.outcome(job, parts, gaussian.notes(parts))
    if given:
        parts = _assemble.in_groups(job, lambda run: conditional.part(run, count, job.n_test, spectrum))
        found = _assemble.outcome(job, parts, conditional.notes(setting, count, parts))
        return found if conditional.known(parts) else replace(found, status=replace(found.status, ok=False))
    parts = _assemble.in_groups(job, lambda run: spiked.part(run, degrees, base, job.n_test, spectrum))
    return _assemble.outcome(job, parts, spiked.notes(setting, degrees, degree is None, parts))


__all__ = ["MODELS", "equivalent"]
callable_module(__name__, equivalent)
