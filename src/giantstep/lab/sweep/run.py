"""run(blocks, store, executor): perform the blocks and store their outcomes.

A run that was killed can be started again and goes on where it was: a block is written in one transaction or not at all.
"""

import warnings
from collections.abc import Callable, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from giantstep._given import unwritten
from giantstep._given.declared import a, a_path, given, list_of, one_or_more, table, text, texts
from giantstep._given.plain import flag, whole
from giantstep._given.seeds import seeds
from giantstep.errors import InputError
from giantstep.experiment.setting import Setting
from giantstep.lab.store import Store
from giantstep.lab.store.stored_row import ARRAYS
from giantstep.lab.store.trial import Route
from giantstep.lab.sweep._ended import Ended
from giantstep.lab.sweep.sweep import Sweep, make
from giantstep.lab.sweep.toml import read
from giantstep.lab.work._perform import Done
from giantstep.lab.work.block import Block, blocks
from giantstep.lab.work.executor import Executor, executor
from giantstep.lab.work.forecast import together
from giantstep.results.outcome import Outcome

__all__ = ["Ended", "planned", "run", "shard", "sweep"]

Tick = Callable[[Done], None]
NO_TEXT = (
    "a store keeps settings as text, and a Python function has none; "
    "give a formula, such as 'tanh(x + 0.8)', or leave store out"
)
NOT_SENT = "own Python functions are not sent to other processes: leave workers and scheduler out, or give a formula"


def planned(sweep: Sweep) -> list[Block]:
    """All blocks of a sweep, whether they are stored or not."""
    return list(blocks([point.setting for point in sweep.points], sweep.seeds, sweep.routes, together))


def shard(every: Sequence[Block], part: tuple[int, int]) -> list[Block]:
    """Part i of N, counted from 1: every N-th block, so that each part has large and small ones."""
    index, count = part
    whole(count, "the number of shards")
    if not 1 <= whole(index, "the shard") <= count:
        raise InputError(f"the shard must be between 1 and {count}, not {index}")
    return list(every[index - 1 :: count])


def missing(every: Sequence[Block], store: Store) -> list[Block]:
    """The blocks with at least one trial that the store lacks."""
    lacking = {trial.key for trial in store.missing(trial for block in every for trial in block.trials)}
    return [block for block in every if any(trial.key in lacking for trial in block.trials)]


def run(
    todo: Iterable[Block],
    store: Store,
    where: Executor,
    tick: Tick = lambda done: None,
    trim: Callable[[Outcome], Outcome] = lambda outcome: outcome,
    arrays: Sequence[str] = ARRAYS,
) -> Ended:
    """Perform the blocks and write each when it is done, with these of its arrays. ``tick`` is called with each, and ``trim`` may
    shorten its outcomes."""
    every = list(todo)
    new, tried, refused = 0, 0, {}
    for done in where.run(every):
        assert isinstance(done.task, Block)
        if done.refused is None:
            new += store.put([(trial, trim(outcome)) for trial, outcome in done.pairs], done.provenance, arrays)
        else:
            refused[done.refused] = refused.get(done.refused, 0) + len(done.task.trials)
        tried += len(done.task.trials)
        tick(done)
    return Ended(new, tuple(refused.items()), sum(len(block.trials) for block in every) - tried)


@given(
    base=a(Setting, Sweep, str, PurePath),
    axes=table,
    zipped=list_of(table, "tables"),
    seeds=seeds,
    routes=one_or_more(a(Route, str)),
    measures=texts,
    store=a_path,
    workers=whole,
    scheduler=text,
    progress=flag,
)
def sweep(
    base: Setting | Sweep | str | Path,
    axes: dict[str, Any] | None = None,
    *,
    zipped: Iterable[dict[str, Any]] = (),
    seeds: int | Iterable[int] = (0,),
    routes: str | Iterable[str] = ("simulate",),
    measures: str | Iterable[str] = ("test_error",),
    store: str | Path | None = None,
    workers: int | None = None,
    scheduler: str | None = None,
    memory: float | None = None,
    progress: bool | None = None,
    random: str = "auto",
) -> Any:
    """Run every combination of the axes and return an xarray Dataset with a dimension for each axis, for routes and for seeds.

    Args:
        base: a Setting; or a Sweep or its file, which have their own axes, seeds, routes and measures.
        axes: names of fields and their values: a list, an array, ``{"logspace": [-2, 2, 9]}`` (also linspace, geomspace) or an
            expression of other axes such as ``"2*d"``. A list of activations may have functions of your own. ``n`` is the batch
            of every step and of the readout, and ``"n/d"`` sets it by its ratio to d.
        zipped: tables of names whose lists move together; each table is one dimension.
        seeds: the seeds of the random routes.
        routes: "simulate", "theory", "equivalent(model=spiked)", ...
        measures: fields of the outcomes: "test_error", "train_error", "captured", "outliers", ...
        store: a file for the results; trials that it has are not run again. By default nothing is stored. An
            activation or target of your own must be a formula here; without a store it may be a Python function.
        workers: the number of worker processes; by default everything runs in this process.
        scheduler: the address of a Dask scheduler to use instead of worker processes.
        memory: GiB to stay within.
        progress: show a progress bar on stderr; by default on a terminal.
        random: who draws the random numbers, as in ``simulate``: "host", "device", or "auto" for the device on an accelerator.
            It becomes part of the routes and of the keys of stored trials.

    Examples:
        >>> s = gs.presets.moniri(n=80, d=40, N=60, alpha=0.3, penalty=0.1)
        >>> found = gs.sweep(s, {"d": [20, 40], "n": "2*d"}, seeds=range(2), routes=["simulate", "theory"])
        >>> dict(found.test_error.sizes)
        {'route': 2, 'd': 2, 'seed': 2}
    """
    if isinstance(base, str | Path):
        base = read(base)
    with unwritten.named("" if store is None else NO_TEXT) as functions:
        if not isinstance(base, Sweep):
            fresh = replace(base)  # a setting keeps its id, and one of own functions must not outlive their names
            base = make(fresh, axes or {}, zipped=zipped, seeds=seeds, routes=routes, measures=measures, random=random)
        if functions.functions and (scheduler is not None or (workers or 1) > 1):
            raise InputError(NOT_SENT)
        return _swept(base, store, closing(executor(workers, scheduler, memory)), progress)


def _swept(base: Sweep, store: str | Path | None, workers: closing[Executor], progress: bool | None) -> Any:
    """Run what the store lacks, and collect everything."""
    from giantstep.lab.sweep._labelled import bands, dataset
    from giantstep.lab.work._progress import shown

    needed = (*(name for name in base.measures if name in ARRAYS), *bands(base))
    arrays = ARRAYS if store is not None else needed
    with workers as where, Store.at(store) as opened:
        todo = missing(planned(base), opened)
        with shown(todo, progress) as tick:
            ended = run(todo, opened, where, tick, arrays=arrays)  # a temporary store has only what is returned
        _tell(ended, len(base))
        return dataset(base, opened, ended)


def _tell(ended: Ended, trials: int) -> None:
    """Warn of trials that could not be run; a sweep none of whose trials could is refused."""
    if not ended.refused:
        return
    count, first = sum(count for _, count in ended.refused), ended.refused[0][0]
    if count == trials:
        raise InputError(f"none of the {trials} trials could be run: {first}")
    told = f"{count} of the {trials} trials could not be run: {first}"
    warnings.warn(told, stacklevel=5)  # at the call of ``sweep``, which ``named`` wraps
