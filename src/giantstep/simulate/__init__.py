"""simulate(setting, seed): draw a finite network and its data, train it, and measure it."""

from collections.abc import Iterable, Sequence
from functools import partial
from typing import Any, overload

from giantstep._given.callable import callable_module
from giantstep._given.declared import a, at_least, given, number, one_of
from giantstep._given.plain import flag
from giantstep._given.seeds import seeds
from giantstep._machine import mesh as _mesh
from giantstep._machine.backend import jax
from giantstep._training import job as _job
from giantstep._training.assemble import assemble
from giantstep._training.job import DTYPES
from giantstep._training.plan import make_plan
from giantstep._training.source import RANDOM
from giantstep._training.tf32 import PRECISIONS
from giantstep.errors import InputError
from giantstep.experiment.protocol import SGD, Ridge
from giantstep.experiment.setting import Setting
from giantstep.results import system as _system
from giantstep.results._bias_variance import Parts
from giantstep.results.outcome import Outcome
from giantstep.results.system import Finding, System
from giantstep.simulate import _bias_variance as _parts
from giantstep.simulate import _cost as cost
from giantstep.simulate import _dense as dense
from giantstep.simulate import _overlap as overlap
from giantstep.simulate._deflated import deflated_errors
from giantstep.simulate._one_pass import sgd
from giantstep.simulate._solver import CHOSEN as ITERATED
from giantstep.simulate._solver import SOLVERS
from giantstep.simulate._solver import planner as solved
from giantstep.simulate._weights import Trained, network, train
from giantstep.simulate.evolution import evolution

METHODS = ("auto", "dense", "overlap")
ROUNDED = (
    "precision='tf32' needs dtype='float32', method='dense', random='device' on one device, and a Ridge readout at positive "
    "penalties without a spectrum"
)


@overload
def simulate(setting: System, seed: int | Iterable[int] = 0) -> Finding: ...
@overload
def simulate(setting: Setting, seed: int | Iterable[int] = 0, **options: Any) -> Outcome: ...
@given(
    setting=a(Setting, System),
    seed=seeds,
    method=one_of(*METHODS),
    n_test=at_least(2),
    spectrum=flag,
    dtype=one_of(*DTYPES),
    memory=number(1e-3),
    progress=flag,
    solver=one_of(*SOLVERS),
    random=one_of(*RANDOM),
    precision=one_of(*PRECISIONS),
)
def simulate(  # pyright: ignore[reportInconsistentOverload]
    setting: Setting | System,
    seed: int | Iterable[int] = 0,
    *,
    method: str = "auto",
    n_test: int = 10_000,
    spectrum: bool = False,
    dtype: str = "float64",
    memory: float | None = None,
    progress: bool | None = None,
    solver: str = "auto",
    devices: int | Sequence[Any] | jax.sharding.Mesh | None = None,
    random: str = "auto",
    precision: str = "full",
) -> Outcome | Finding:
    """Draw the network and the data, take the giant steps, fit the readout, and measure.

    Args:
        setting: the experiment; or a system, which takes only seeds and gives a Finding.
        seed: a whole number, or several (a range or list): the outcome then has a seed axis.
        method: "dense" draws everything in d dimensions; "overlap" draws only the projections that matter, which is
            exact in law at any d; "auto" uses "overlap" if dense does not fit in memory, or is slow and ten times slower.
        n_test: number of test samples.
        spectrum: also compute the singular values of ``F / sqrt(n)``, their bulk edge and outliers.
        dtype: "float64", or "float32" for the matrix products (sums and the ridge fit stay in float64).
        memory: GiB to stay within, on each device that has its own memory; by default a share of the free memory.
        progress: show a progress bar on stderr; by default on a terminal when the work takes a while.
        solver: how a ridge readout is solved: "direct" factorises a matrix of min(n, p) rows; "cg" uses conjugate gradients, for
            larger widths; "auto" uses "cg" if the factorisation does not fit in memory, and the status says so.
        devices: share the samples between devices: a number of local devices, a list of JAX devices, or a mesh with one axis;
            the method is then "dense". By default everything runs on one device.
        random: "host" draws the random numbers on the CPU, "device" where the data are, with other numbers of the same law;
            "auto" uses "device" on an accelerator, and the status says so. Either gives a seed the same data, whatever the
            memory, the number of devices and the dtype.
        precision: "full", or "tf32" for float32 products that a GPU rounds to ten bits, many times faster. The ridge fit of the
            features as rounded is refined to float64, and the status says how far predictions are from those in float64.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=[0.0, 0.4], penalty=0.1)
        >>> o = gs.simulate(s, seed=range(3))
        >>> o.axes, o.test_error.shape
        (('eta', 'seed'), (2, 3))
        >>> o.mean().test_error.shape
        (2,)
    """
    if isinstance(setting, System):
        _system.refuse_options(
            setting, simulate, method=method, n_test=n_test, spectrum=spectrum, dtype=dtype, memory=memory, progress=progress,
            solver=solver, devices=devices, random=random, precision=precision,
        )  # fmt: skip
        return _system.measured(setting, seed)
    job = prepared(
        setting, seed, method=method, n_test=n_test, spectrum=spectrum, dtype=dtype, memory=memory, progress=progress,
        solver=solver, devices=devices, random=random, precision=precision,
    )  # fmt: skip
    route = overlap if job.plan.method == "overlap" else dense
    notes = [cost.CHOSEN] if method == "auto" and route is overlap else []
    notes += [ITERATED] if solver == "auto" and job.plan.solver == "cg" else []
    compiled = dense.on_device(job, spectrum, precision) if route is dense else None
    if compiled is None and precision != "full":
        raise InputError(ROUNDED)
    if compiled is None:
        return assemble(job, _job.in_groups(job, lambda run: route.part(run, job.n_test, spectrum)), notes)
    found = _job.in_groups(compiled[0], lambda run: dense.compiled_part(run, compiled[1], job.plan))
    return assemble(job, found, notes)


def prepared(
    setting: Setting,
    seed: int | Iterable[int],
    *,
    method: str,
    n_test: int,
    spectrum: bool,
    dtype: str,
    memory: float | None,
    progress: bool | None,
    solver: str = "auto",
    devices: int | Sequence[Any] | jax.sharding.Mesh | None = None,
    random: str = "auto",
    precision: str = "full",
) -> _job.Job:
    """The planned work of ``simulate``; what cannot run is refused here, before anything is drawn."""
    _job.check(setting, "simulate", spectrum)
    if devices is not None and method == "overlap":
        raise InputError("devices= is an option of method='dense': method='overlap' runs on one device")
    if devices is not None and isinstance(setting.protocol.readout, SGD):
        raise InputError(
            "devices= shares the samples between devices, but an SGD readout uses them one after the other"
        )
    mesh = _mesh.mesh(devices)
    planners = {"auto": cost.best, "dense": make_plan, "overlap": cost.plan}
    if precision != "full" and (dtype != "float32" or not isinstance(setting.protocol.readout, Ridge)):
        raise InputError(ROUNDED)
    planner = solved(planners[method] if mesh is None else partial(make_plan, mesh=mesh), solver, setting, spectrum)
    return _job.prepare(
        setting, "simulate", seed, n_test=n_test, dtype=dtype, memory=memory, progress=progress,
        planner=planner, mesh=mesh, random=random,
    )  # fmt: skip


@given(setting=a(Setting), seed=seeds)
def parts(setting: Setting, seed: int | Iterable[int] = 0, **options: Any) -> Parts:
    """Measure bias and variance of the readout by two simulations, with labels without noise and with noise alone.

    Args:
        setting: an experiment without steps and with label noise.
        seed: one seed, or several to average over.
        options: the options of ``simulate``.

    Examples:
        >>> s = gs.presets.mei_montanari(n=60, d=20, N=30, penalty=0.1, noise=0.5)
        >>> parts = gs.simulate.parts(s, range(4))
        >>> bool(parts.bias > 0 and parts.variance > 0)
        True
    """
    _job.check(setting, "parts")
    return _parts.measured(partial(simulate, **options), setting, seed)


__all__ = ["Trained", "deflated_errors", "evolution", "network", "parts", "sgd", "simulate", "train"]
callable_module(__name__, simulate)
