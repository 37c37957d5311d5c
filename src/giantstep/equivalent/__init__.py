"""equivalent(setting, model, seed): run the experiment with a simpler model of its features."""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import partial
from typing import Any, NamedTuple

from giantstep._given.callable import callable_module
from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._given.plain import flag, real, whole
from giantstep._given.seeds import seeds
from giantstep._training import job as _job
from giantstep._training.assemble import assemble
from giantstep._training.first_layer import Run
from giantstep._training.job import DTYPES
from giantstep._training.plan import make_plan
from giantstep._training.source import RANDOM
from giantstep.equivalent import _conditional as conditional
from giantstep.equivalent import _gaussian as gaussian
from giantstep.equivalent import _hermite as hermite
from giantstep.equivalent import _law as law
from giantstep.equivalent import _moments as moments
from giantstep.equivalent import _spiked as spiked
from giantstep.equivalent import _strength as strength
from giantstep.equivalent._strength import degree_of
from giantstep.errors import InputError
from giantstep.experiment.data.gaussian import Gaussian
from giantstep.experiment.setting import Setting
from giantstep.results.outcome import Outcome

MODELS = ("gaussian", "spiked", "conditional", "hermite")
STRUCTURED = ("conditional", "hermite")  # models that take a Mixture or a Dataset
OPTIONS = {
    "degree": ("spiked", "hermite"),
    "base": ("spiked",),
    "directions": ("conditional",),
    "spikes": ("conditional",),
    "width": ("hermite",),
}  # and the models that take them


@given(
    setting=a(Setting),
    model=one_of(*MODELS),
    seed=seeds,
    degree=whole,
    base=one_of("network", "gaussian"),
    directions=at_least(0),
    spikes=at_least(0),
    width=real,
    n_test=at_least(2),
    spectrum=flag,
    dtype=one_of(*DTYPES),
    memory=number(1e-3),
    progress=flag,
    random=one_of(*RANDOM),
)
def equivalent(
    setting: Setting,
    model: str = "gaussian",
    seed: int | Iterable[int] = 0,
    *,
    degree: int | None = None,
    base: str = "network",
    directions: int | None = None,
    spikes: int | None = None,
    width: float | None = None,
    n_test: int = 10_000,
    spectrum: bool = False,
    dtype: str = "float64",
    memory: float | None = None,
    progress: bool | None = None,
    random: str = "auto",
) -> Outcome:
    """Draw what ``simulate`` draws from the same seed, replace the features by a model of them, fit the readout, and measure.

    Args:
        setting: the experiment; it needs a readout.
        model: "gaussian" for ``c_0 + c_1 X W^T + c_{>1} Z`` with the trained W, any number of steps; "spiked" for the random
            features of the initial W plus a polynomial in ``X beta``, one step; "conditional" for features that are Gaussian
            given the directions along which W moved and, on a Mixture or a Dataset, the component with its spikes and mean, any
            number of giant steps; "hermite" for the activation's Hermite expansion in ``X W^T / b`` up to a degree, plus noise.
            The last two take a Mixture and a Dataset.
        seed: a whole number, or several (a range or list): the outcome then has a seed axis.
        degree: degree of the polynomial of the spiked or the hermite model; by default it is chosen for every step size, and
            the status says which.
        base: random features of the spiked model: those of the "network", or their own "gaussian" equivalent.
        directions: the number of directions that the conditional model takes as given; by default one for each step.
        spikes: the number of eigenvectors of the covariance of every class of a Dataset that the conditional model takes as
            given; by default 20. A Mixture uses all its spikes.
        width: b of the hermite model; by default the standard deviation of ``X W^T`` in the bulk before the steps.
        n_test: number of test samples.
        spectrum: also compute the singular values of ``F / sqrt(n)``, their bulk edge and outliers.
        dtype: "float64", or "float32" for the matrix products (sums and the ridge fit stay in float64).
        memory: GiB to stay within; by default a share of the free memory.
        progress: show a progress bar on stderr; by default on a terminal when the work takes a while.
        random: who draws the random numbers, "host", "device" or "auto", as in ``simulate``.

    The overlaps of the spiked model are those of the first layer ``W + eta c_1 s a beta^T``.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=0.4, penalty=0.1)
        >>> o = gs.equivalent(s, "conditional", seed=range(3))
        >>> o.route, o.test_error.shape
        ('equivalent', (3,))
    """
    options = {"degree": degree, "directions": directions, "spikes": spikes, "width": width}
    work: Any = {"n_test": n_test, "dtype": dtype, "memory": memory, "progress": progress, "random": random}
    job, part, told = prepared(setting, model, seed, options, base=base, spectrum=spectrum, **work)
    parts = _job.in_groups(job, part)
    outcome = assemble(job, parts, told(parts))
    known = model != "conditional" or conditional.known(parts)
    return outcome if known else replace(outcome, status=replace(outcome.status, ok=False))


class Prepared(NamedTuple):
    """The planned work, what is measured on a group of seeds, and the sentences about all groups."""

    job: _job.Job
    part: Callable[[Run], _job.Part]
    told: Callable[[list[_job.Part]], Sequence[str]]


def prepared(
    setting: Setting,
    model: str,
    seed: int | Iterable[int],
    options: dict[str, Any] | None = None,
    *,
    base: str = "network",
    spectrum: bool = False,
    **work: Any,
) -> Prepared:
    """The work of ``equivalent`` with the options of the model; what cannot run is refused here, before anything is drawn."""
    _job.check(setting, "equivalent", spectrum)
    own: dict[str, Any] = dict.fromkeys(("degree", "directions", "spikes", "width")) | (options or {})
    _check(setting, model, {**own, "base": None if base == "network" else base})
    degree = own["degree"]
    if model == "gaussian":
        part, told = partial(gaussian.part), gaussian.notes
    elif model == "spiked":
        degrees = spiked.degrees(setting, degree)
        part = partial(spiked.part, degrees=degrees, base=base)
        told = partial(spiked.notes, setting, degrees, degree is None)
    elif model == "hermite":
        degrees, b = strength.degrees(setting, degree), hermite.bulk_width(setting, own["width"])
        part = partial(hermite.part, degrees=degrees, b=b)
        told = partial(hermite.notes, setting, degrees, degree is None, b)
    else:
        count = conditional.directions(setting, own["directions"])
        top = law.eigenvectors(setting, own["spikes"], count)
        part = partial(conditional.part, count=count, spikes=top)
        told = partial(conditional.notes, setting, count, top)
    noise, table = extra_numbers(setting, model, base)
    planner = partial(make_plan, table=table)
    job = _job.prepare(setting, "equivalent", seed, noise=noise, planner=planner, **work)
    return Prepared(job, partial(part, n_test=job.n_test, spectrum=spectrum), told)


@given(setting=a(Setting), model=one_of(*MODELS), base=one_of("network", "gaussian"))
def extra_numbers(setting: Setting, model: str, base: str = "network") -> tuple[int, int]:
    """For the memory plan: how many more numbers every feature of a row needs, and how many every neuron holds."""
    if model != "conditional":
        return int(model != "spiked" or base == "gaussian"), 0
    components = 1 if isinstance(setting.data, Gaussian) else len(setting.data.components)
    return conditional.EXTRA, components * moments.USUAL


def _check(setting: Setting, model: str, options: dict[str, Any]) -> None:
    """Refuse options of other models (options that are not None), data that the model does not cover, and no readout."""
    for name, value in options.items():
        if value is not None and model not in OPTIONS[name]:
            owners = " or ".join(map(repr, OPTIONS[name]))
            raise InputError(f"{name} is an option of model={owners}; model={model!r} does not take it")
    if model not in STRUCTURED and not isinstance(setting.data, Gaussian):
        raise InputError(
            f"model={model!r} covers isotropic Gaussian data only: 'conditional' and 'hermite' also take a Mixture or a Dataset"
        )
    if setting.protocol.readout is None:
        raise InputError("equivalent needs a readout: without one there is nothing to fit to the replaced features")


def covers(setting: Setting, model: str) -> bool:
    """Whether the model takes the setting, with the options' default values."""
    try:
        _check(setting, model, {})
        if model == "spiked":
            spiked.degrees(setting, None)
    except InputError:
        return False
    return True


__all__ = ["MODELS", "extra_numbers", "degree_of", "equivalent"]
callable_module(__name__, equivalent)
