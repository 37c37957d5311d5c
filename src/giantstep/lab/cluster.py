"""Cluster: the workers of a Dask scheduler, by its address. They send outcomes back; this process writes the store."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from giantstep import __version__
from giantstep._errors import InputError
from giantstep._record import identifier
from giantstep.lab.call import Call
from giantstep.lab.perform import Done, Task, attempt

__all__ = ["Cluster"]

TIMEOUT = 15  # seconds to reach the scheduler, and to wait for a first worker


@dataclass
class Cluster:
    """``run(tasks)`` yields them done, as they come; ``stop`` lets those at work finish and starts no more."""

    address: str
    memory: float | None = None  # GiB for one task
    stopping: threading.Event = field(default_factory=threading.Event)
    client: Any = None

    def stop(self) -> None:
        self.stopping.set()

    def close(self) -> None:
        if self.client is not None:
            self.client.close()
        self.client = None

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        if self.client is None:
            self.client = _client(self.address)
            _check(self.client, self.address)
        yield from self._spread(self.client, list(tasks))

    def _spread(self, client: Any, tasks: list[Task]) -> Iterator[Done]:
        """As many tasks on their way as the workers have threads, twice: those that wait can still be called off."""
        from distributed import as_completed

        queue = iter(tasks)
        wanted: dict[Any, Task] = {}
        arriving = as_completed(raise_errors=False)

        def more() -> None:
            room = 2 * max(1, sum(client.nthreads().values())) - len(wanted)
            for _, task in zip(range(room), queue, strict=False):
                future = client.submit(attempt, task, self.memory, pure=False, key=_key(task))
                wanted[future] = task
                arriving.add(future)

        more()
        while wanted:
            future = next(arriving)
            task = wanted.pop(future)
            if not self.stopping.is_set():
                more()
            if future.status == "finished":
                yield future.result()
            elif future.status != "cancelled":
                yield Done(task, refused=_reason(future))
            if self.stopping.is_set():
                idle = [each for each in wanted if not _at_work(client, each)]
                client.cancel(idle, force=True)
                for each in idle:
                    wanted.pop(each)


def _key(task: Task) -> str:
    content = task.key if isinstance(task, Call) else [list(trial.key) for trial in task.trials]
    return f"giantstep-{identifier(content)}"


def _at_work(client: Any, future: Any) -> bool:
    return any(future.key in keys for keys in client.processing().values())


def _reason(future: Any) -> str:
    problem = future.exception()
    name = type(problem).__name__
    if name == "KilledWorker":
        return "its workers ended again and again: out of memory?"
    lines = str(problem).strip().splitlines()
    return f"{name}: {lines[0]}" if lines else name


def _client(address: str) -> Any:
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'giantstep[cluster]'") from None
    try:
        return Client(address, timeout=TIMEOUT, set_as_default=False)
    except (OSError, ValueError, TypeError) as problem:
        said = str(problem).strip().splitlines()
        raise InputError(f"no Dask scheduler answers at {address!r}: {said[0] if said else problem}") from None


def _check(client: Any, address: str) -> None:
    """Every worker has this version of the package; ``run`` of a function of the standard library needs none of ours."""
    try:
        client.wait_for_workers(1, timeout=TIMEOUT)
    except TimeoutError:
        raise InputError(f"the Dask scheduler at {address!r} has no workers: start some and run this again") from None
    found = client.run(metadata.version, "giantstep", on_error="return")
    for worker, version in found.items():
        if isinstance(version, BaseException):
            raise InputError(f"the worker {worker} does not have giantstep: install giantstep {__version__} there")
        if version != __version__:
            raise InputError(f"the worker {worker} has giantstep {version}, here is {__version__}: install one version")
