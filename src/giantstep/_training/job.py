"""From a route's call to its Outcome: arguments checked, seeds run in groups, parts joined along the axes."""

import re
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence, Sized
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep import measure
from giantstep._machine.backend import jax
from giantstep._machine.plain import choice, whole
from giantstep._machine.watchdog import watchdog
from giantstep._training.first_layer import Run, Tick
from giantstep._training.plan import Plan, at_once, in_cache, make_plan
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.dataset import Dataset
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting
from giantstep.results.outcome import Outcome, Status
from giantstep.ridge.conjugate_gradients import TOLERANCE

MAX_SEEDS = 10**6  # in one call
SLOW = 1e11  # operations from which a progress bar is worth showing, a few seconds on two cores
SLOWEST_RATE = 2e8  # operations a second below which a run is taken to be stuck

Part = dict[str, Any]  # what _features.measured finds


def check(setting: Any, verb: str, spectrum: bool = False) -> None:
    """Refuse what is not a Setting, and a spectrum that its readout does not have."""
    if not isinstance(setting, Setting):
        raise InputError(f"{verb} takes a Setting, not {type(setting).__name__}")
    if spectrum and setting.protocol.readout is None:
        raise InputError("spectrum=True needs a readout: the features are taken on its samples")
    if spectrum and isinstance(setting.protocol.readout, SGD):
        raise InputError("spectrum=True needs a Ridge readout: SGD forms no matrix of the features' moments")


@dataclass(frozen=True)
class Job:
    """A route's call once its arguments are checked: ``several`` seeds make an axis, ``started`` is when it began."""

    setting: Setting
    route: str
    seeds: tuple[int, ...]
    several: bool
    n_test: int
    dtype: str
    plan: Plan
    progress: bool | None
    started: float
    mesh: jax.sharding.Mesh | None = None


def prepare(
    setting: Setting,
    route: str,
    seed: Any,
    *,
    n_test: Any,
    dtype: Any,
    memory: Any,
    progress: bool | None,
    noise: int = 0,
    planner: Callable[..., Plan] = make_plan,
    mesh: jax.sharding.Mesh | None = None,
) -> Job:
    """Check the arguments and plan the memory; ``noise`` is how many numbers every feature of a row carries beside itself."""
    choice(dtype, ("float64", "float32"), "dtype")
    n_test = whole(n_test, "n_test", least=2)
    seeds, several = _seeds(seed)
    draw.check_size(setting, n_test)
    started = time.perf_counter()
    plan = planner(setting, len(seeds), n_test, 8 if dtype == "float64" else 4, memory, noise)
    return Job(setting, route, seeds, several, n_test, dtype, plan, progress, started, mesh)


def _seeds(seed: Any) -> tuple[tuple[int, ...], bool]:
    if isinstance(seed, str):
        raise InputError(f"seed must be a whole number or a list of them, not the text {seed!r}")
    several = isinstance(seed, Iterable)
    if isinstance(seed, Sized) and len(seed) > MAX_SEEDS:
        raise InputError(f"at most {MAX_SEEDS} seeds are run at once, not {len(seed)}")
    seeds = tuple(whole(s, "seed", least=0) for s in (seed if several else (seed,)))
    if not seeds or len(set(seeds)) < len(seeds):
        raise InputError("seed must be a whole number or a non-empty list of different ones")
    return seeds, several


def in_groups(job: Job, part: Callable[[Run], Part]) -> list[Part]:
    """``part`` of every group of seeds, under a progress bar and a watchdog."""
    plan, parts = job.plan, []
    host = at_once(job.setting, plan, len(job.seeds), job.n_test, job.mesh)
    plan = in_cache(plan, job.setting) if host else plan
    with _progress(job.progress, job.route, plan.work * len(job.seeds)) as tick:
        for start in range(0, len(job.seeds), plan.seeds):
            group = job.seeds[start : start + plan.seeds]
            count = len(group)
            each: Tick = lambda work, count=count: tick(work * count)  # noqa: E731
            run = Run(job.setting, group, plan, np.dtype(job.dtype), each, mesh=job.mesh, host=host)
            stuck = watchdog(f"{job.route} with {count} seed(s)", 60 + count * plan.work / SLOWEST_RATE)
            with stuck, np.errstate(all="ignore"):  # what is not finite is a status
                parts.append(part(run))
    return parts


@contextmanager
def _progress(wanted: bool | None, label: str, work: float) -> Iterator[Any]:
    """A function to call with the operations done; a bar on stderr if wanted."""
    if not (sys.stderr.isatty() and work > SLOW if wanted is None else wanted):
        yield lambda done: None
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=work)
        yield lambda done: bar.advance(task, done)


def outcome(job: Job, parts: list[Part], notes: Sequence[str] = ()) -> Outcome:
    """Join the groups and drop the axes that were not asked for; ``notes`` are said before those of the fits."""
    setting, protocol = job.setting, job.setting.protocol
    etas = protocol.etas(setting.d, setting.p)
    readout = protocol.readout
    lists = [t for t, step in enumerate(protocol.steps) if step.listed]
    path = readout is not None and isinstance(readout.path, tuple)
    axes = (*(("eta",) if lists else ()), *((readout.axis,) if path else ()), *(("seed",) if job.several else ()))  # type: ignore[union-attr]
    joined = {k: np.concatenate([p[k] for p in parts], axis=1) for k in parts[0] if k != "notes"}

    def errors(array: np.ndarray) -> Any:  # (E, S, L) -> (E, L, S), unused axes dropped
        return drop(np.moveaxis(array, 2, 1), (bool(lists), path, job.several))

    def layers(array: np.ndarray) -> Any:  # (E, S, ...)
        return drop(array, (bool(lists), job.several))

    values: dict[str, Any] = {
        k: errors(joined[k]) for k in ("risk", "risk_se", "train_error", "train_objective") if k in joined
    }
    values["test_error"] = errors(joined["risk"] + setting.target.noise**2)
    values["test_error_se"] = values["risk_se"]
    values |= {k: layers(joined[k]) for k in ("overlaps", "norms", "captured", "captured_se", "learned", "null_level")}
    if "squares" in joined:
        singular = np.sqrt(np.maximum(joined["squares"], 0.0))
        values["singular_values"] = layers(singular)
        if singular.shape[-1] >= measure.FEWEST and np.all(np.isfinite(singular)):
            values["bulk_edge"] = layers(np.apply_along_axis(measure.bulk_edge, -1, singular))
            values["outliers"] = layers(np.apply_along_axis(lambda v: len(measure.outliers(v)), -1, singular))
    if readout is not None:
        values[readout.axis] = layers(joined["penalty"][:, :, 0]) if readout.path == "gcv" else readout.path
    converged, iterated = _iterated(joined)
    said = [*notes, *iterated, *_merged([note for part in parts for note in part["notes"]])]
    said += setting.data.notes if isinstance(setting.data, Dataset) else ()
    finite = all(
        np.all(np.isfinite(v)) for k, v in values.items() if k in ("risk", "train_error", "overlaps", "captured")
    )
    if not finite:
        said.insert(0, "some numbers are not finite: the step size or the weights overflow")
    eta = tuple(np.atleast_2d(etas)[:, lists[0]].tolist()) if lists else (float(etas[0]) if etas.size == 1 else None)
    return Outcome(
        setting, job.route, axes, eta, seeds=job.seeds if job.several else None,
        seconds=time.perf_counter() - job.started, status=Status(finite and converged, tuple(said)), **values,
    )  # fmt: skip


def _iterated(joined: dict[str, np.ndarray]) -> tuple[bool, list[str]]:
    """Whether conjugate gradients have converged wherever numbers are finite, and the sentence that says how well."""
    if "residual" not in joined or not np.isfinite(joined["residual"]).any():
        return True, []
    worst, count = np.nanmax(joined["residual"]), joined["iterations"].max()
    how = f"relative residual {worst:.1g} after {count} iterations"
    if worst <= TOLERANCE:
        return True, [f"ridge by conjugate gradients: {how}"]
    return False, [f"ridge by conjugate gradients did not converge: {how}, not the {TOLERANCE:.0e} asked for"]


def _merged(notes: list[str]) -> list[str]:
    """One sentence of each kind (they differ in their numbers), with how often it was said."""
    kinds: dict[str, list[str]] = {}
    for note in notes:
        kinds.setdefault(re.sub(r"[-+.e\d]+", "#", note), []).append(note.rstrip("."))
    return [said[0] if len(said) == 1 else f"{said[0]} (and {len(said) - 1} more such)" for said in kinds.values()]


def drop(array: np.ndarray, keep: tuple[bool, ...]) -> Any:
    """Without the leading axes that are not kept; a number where none is left."""
    index = tuple(slice(None) if k else 0 for k in keep)
    result = array[index]
    return result.item() if np.ndim(result) == 0 else result
