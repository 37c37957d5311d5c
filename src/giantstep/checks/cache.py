"""The bench of a claim: measurements that are stored and may be spread over workers; without a bench they are simply made.

Inside ``on(bench)`` earlier measurements are read from the store, and new ones are written to it as soon as they are made. So a
claim that was killed goes on where it was.
"""

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from giantstep._machine.random import keep_drawn
from giantstep._machine.threads import one_blas_thread
from giantstep.checks.code import calling
from giantstep.errors import MissingData
from giantstep.lab.work._call import Call, call

if TYPE_CHECKING:  # reading the list of claims must stay fast
    from giantstep.experiment.setting import Setting
    from giantstep.lab.store import Store
    from giantstep.lab.work._perform import Done
    from giantstep.lab.work.executor import Executor
    from giantstep.results.outcome import Outcome

__all__ = [
    "Bench",
    "Interrupted",
    "Unmeasured",
    "each",
    "equivalent",
    "keep_drawn",
    "on",
    "one_blas_thread",
    "over",
    "simulate",
]

NARROW = 64  # the largest width for which overlaps and lengths are stored
EVERYWHERE = {"random": "host"}  # gives the numbers of every machine
_RUN_OPTIONS = ("memory", "progress", "devices", "solver")  # options that change no number


class Interrupted(Exception):
    """The executor was stopped before everything was measured."""


class Unmeasured(Exception):
    """A measurement was refused or failed; the message says why."""


@dataclass(frozen=True)
class Bench:
    """A store and an executor."""

    store: "Store"
    where: "Executor"


_CURRENT: ContextVar[Bench | None] = ContextVar("bench", default=None)


@contextmanager
def on(bench: Bench) -> Iterator[None]:
    """Use this bench inside a ``with`` statement."""
    token = _CURRENT.set(bench)
    try:
        yield
    finally:
        _CURRENT.reset(token)


def simulate(setting: "Setting", seed: int | Iterable[int] = 0, **options: Any) -> "Outcome":
    """``giantstep.simulate``, read from the store if possible."""
    bench = _CURRENT.get()
    if bench is None:
        from giantstep.simulate import simulate as now

        return now(setting, seed=seed, **{**EVERYWHERE, **options})
    return _trials(bench, setting, "simulate", options, seed)


def equivalent(setting: "Setting", model: str = "gaussian", seed: int | Iterable[int] = 0, **options: Any) -> "Outcome":
    """``giantstep.equivalent``, read from the store if possible."""
    bench = _CURRENT.get()
    if bench is None:
        from giantstep.equivalent import equivalent as now

        return now(setting, model, seed=seed, **{**EVERYWHERE, **options})
    return _trials(bench, setting, "equivalent", {"model": model, **options}, seed)


def _trials(
    bench: Bench, setting: "Setting", verb: str, options: dict[str, Any], seed: int | Iterable[int]
) -> "Outcome":
    from giantstep.lab.store.stored_row import ARRAYS
    from giantstep.lab.store.trial import Route
    from giantstep.lab.sweep.run import missing, run
    from giantstep.lab.work.block import Block, join, members, portions
    from giantstep.lab.work.forecast import together

    route = Route(verb, {name: value for name, value in options.items() if name not in _RUN_OPTIONS})
    several = isinstance(seed, Iterable)
    seeds = tuple(seed) if isinstance(seed, Iterable) else (seed,)
    whole = Block(setting, members(setting), seeds, route)
    count = together(setting, route)
    todo = [whole.narrowed(some) for some in portions(seeds, count)]
    refused: list[Done] = []  # the others are dropped, because their outcomes may be large

    def tick(done: "Done") -> None:
        if done.refused is not None:
            refused.append(done)

    ended = run(missing(todo, bench.store), bench.store, bench.where, tick, _trim)
    _raise_first(refused)
    if ended.left:
        raise Interrupted
    return join(whole, bench.store.find(whole.trials, ARRAYS), several=several)


def _trim(outcome: "Outcome") -> "Outcome":
    """Drop the arrays with an entry for every neuron of a wide network; they would fill the store, and no claim uses them."""
    return outcome if outcome.setting.p <= NARROW else replace(outcome, overlaps=None, norms=None)


def each(function: Callable[..., Any], arguments: Sequence[tuple], *, threads: bool = False) -> list[Any]:
    """``function(*argument)`` for every argument, read from the store if possible.

    Args:
        function: a function of a module, so that workers can import it; it returns plain data or an array.
        arguments: tuples of plain values (text, numbers, true and false, None, tuples of these).
        threads: run them side by side in threads with one BLAS thread each, which suits small solves of NumPy and SciPy.
            JAX must not run inside.
    """
    from giantstep.lab.work.executor import Here

    bench = _CURRENT.get()
    if bench is None:
        return list(_threaded(function, arguments) if threads else (function(*each) for each in arguments))
    calls = [call(function, argument) for argument in arguments]
    keys = [_key(one) for one in calls]
    found = {key: bench.store.get_record(key) for key in dict.fromkeys(keys)}
    lacking = {key: one for key, one in zip(keys, calls, strict=True) if found[key] is None}
    todo = list(lacking.values())
    refused: list[Done] = []
    if threads and isinstance(bench.where, Here):
        for one, value in zip(todo, _threaded(function, [c.arguments for c in todo]), strict=True):
            bench.store.put_record(_key(one), value)
    else:
        for done in bench.where.run(todo):
            assert isinstance(done.task, Call)
            if done.refused is not None:
                refused.append(done)
            else:
                bench.store.put_record(_key(done.task), done.value, done.seconds, done.provenance)
    _raise_first(refused)
    found |= {key: bench.store.get_record(key) for key in lacking}  # as it will be read from now on
    records = [record for key in keys if (record := found[key]) is not None]
    if len(records) < len(keys):
        raise Interrupted
    return [value for value, _ in records]


def over(function: Callable[..., Any], cases: Any, seeds: Iterable[int]) -> Any:
    """``function(*case, seed)`` for every case and seed as an array, (cases, axes of one result, seeds).

    A function that returns a dict gives a dict of arrays.

    Args:
        function: as for ``each``; its last argument is the seed.
        cases: the arguments before the seed: a tuple, for one case; a list of tuples; or lists of lists, for more axes.
        seeds: the last axis.
    """
    several, lists = tuple(seeds), cases
    shape: list[int] = []
    flat = [cases]
    while isinstance(lists, list):
        shape.append(len(lists))
        flat, lists = [case for part in flat for case in part], lists[0]
    runs = each(function, [(*case, seed) for case in flat for seed in several])

    def shaped(values: list[Any]) -> np.ndarray:
        found = np.array(values)
        return np.moveaxis(found.reshape(*shape, len(several), *found.shape[1:]), len(shape), -1)

    if isinstance(runs[0], dict):
        return {name: shaped([run[name] for run in runs]) for name in runs[0]}
    return shaped(runs)


def _raise_first(refused: "Sequence[Done]") -> None:
    """Raise the first refusal. This waits until everything was tried, because a pool that is left in the middle stops."""
    for done in refused:
        raise MissingData(done.refused) if done.cause == "data" else Unmeasured(done.refused)


def _key(one: Call) -> str:
    """The call, and the version of the code of its function."""
    return f"{calling(one.function)} {one.key}"


def _threaded(function: Callable[..., Any], arguments: Sequence[tuple]) -> Iterator[Any]:
    from concurrent.futures import ThreadPoolExecutor

    with one_blas_thread(), ThreadPoolExecutor(min(os.cpu_count() or 1, 4)) as pool:
        yield from pool.map(lambda argument: function(*argument), arguments)
