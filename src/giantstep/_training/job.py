"""Job: the call of a route with checked arguments and a memory plan; its seeds run in groups."""

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np

from giantstep._given.plain import choice, whole
from giantstep._given.seeds import checked as seeds_given
from giantstep._machine.backend import alone, full_precision, jax
from giantstep._machine.watchdog import watchdog
from giantstep._shown.notebook import NotebookBar, inside_notebook
from giantstep._training.first_layer import Run, Tick
from giantstep._training.first_layer import start as begin
from giantstep._training.plan import Plan, in_cache, make_plan, runs_on_numpy
from giantstep._training.source import resolved
from giantstep.errors import InputError
from giantstep.experiment import draw
from giantstep.experiment.protocol import SGD
from giantstep.experiment.setting import Setting

DTYPES = ("float64", "float32")
SLOW = 1e11  # operations from which a progress bar is worth showing, a few seconds on two cores
SLOWEST_RATE = 2e8  # operations per second below which a run counts as stuck

Part = dict[str, Any]  # what features.measured returns


def check(setting: Any, verb: str, spectrum: bool = False) -> None:
    """Refuse anything that is not a Setting, and a spectrum that the readout does not have."""
    if not isinstance(setting, Setting):
        raise InputError(f"{verb} takes a Setting, not {type(setting).__name__}")
    if spectrum and setting.protocol.readout is None:
        raise InputError("spectrum=True needs a readout: the features are computed on its samples")
    if spectrum and isinstance(setting.protocol.readout, SGD):
        raise InputError("spectrum=True needs a Ridge readout: SGD does not form the matrix of moments of the features")


@dataclass(frozen=True)
class Job:
    """The call of a route with checked arguments; ``several`` seeds make an axis, ``started`` is the time it began, and
    ``random`` says who draws: "host" or "device"."""

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
    random: str = "host"
    memory: float | None = None


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
    random: str = "auto",
) -> Job:
    """Check the arguments and plan the memory; ``noise`` is the number of additional numbers for every feature of a row."""
    choice(dtype, DTYPES, "dtype")
    random = resolved(random, setting)
    n_test = whole(n_test, "n_test", least=2)
    seeds, several = seeds_given(seed)
    draw.check_size(setting, n_test)
    started = time.perf_counter()
    plan = planner(setting, len(seeds), n_test, 8 if dtype == "float64" else 4, memory, noise)
    return Job(setting, route, seeds, several, n_test, dtype, plan, progress, started, mesh, random, memory)


def in_groups(job: Job, part: Callable[[Run], Part]) -> list[Part]:
    """Run ``part`` for every group of seeds, with a progress bar, and a watchdog over what JAX runs, which was seen to hang."""
    plan, parts = job.plan, []
    device = job.random == "device"
    host = not device and runs_on_numpy(job.setting, plan, len(job.seeds), job.n_test, job.mesh)
    plan = in_cache(plan, job.setting) if host else plan
    with _progress(job.progress, job.route, plan.work * len(job.seeds)) as tick:
        for start in range(0, len(job.seeds), plan.seeds):
            group = job.seeds[start : start + plan.seeds]
            count = len(group)
            each: Tick = lambda work, count=count: tick(work * count)  # noqa: E731
            stuck = watchdog(f"{job.route} with {count} seed(s)", 60 + count * plan.work / SLOWEST_RATE)
            with (
                nullcontext() if host else alone(),
                nullcontext() if host else stuck,
                full_precision(),
                np.errstate(all="ignore"),
            ):  # the status mentions numbers that are not finite
                run = begin(job.setting, group, plan, job.dtype, each, mesh=job.mesh, host=host, device=device)
                parts.append(part(run))
    return parts


@contextmanager
def _progress(wanted: bool | None, label: str, work: float) -> Iterator[Any]:
    """Yield a function to call with the operations done; it moves a bar on stderr or in the notebook if one is wanted."""
    notebook = inside_notebook()
    if not ((sys.stderr.isatty() or notebook) and work > SLOW if wanted is None else wanted):
        yield lambda done: None
        return
    if notebook:
        with NotebookBar(label, work) as shown:
            yield shown.add
        return
    from rich.console import Console
    from rich.progress import Progress

    with Progress(console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task(label, total=work)
        yield lambda done: bar.advance(task, done)
