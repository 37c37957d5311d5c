"""Cluster: an executor on the workers of a Dask scheduler. They send outcomes back, and this process writes the store."""

import threading
import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from giantstep import __version__
from giantstep._machine.plain import identifier
from giantstep.errors import InputError
from giantstep.lab.store.digest import digest
from giantstep.lab.work.call import Call
from giantstep.lab.work.perform import Done, Task, attempt

__all__ = ["Cluster"]

TIMEOUT = 15  # seconds to reach the scheduler
FIRST = 15  # seconds to wait for a first worker
PATIENCE = 60  # seconds without any worker before the run gives up
POLL = 2  # seconds between checks


@dataclass
class Cluster:
    """``run(tasks)`` yields each task when it is done; ``stop`` lets running tasks finish and starts no more."""

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
        """Submit twice as many tasks as the workers have threads; tasks that still wait can be cancelled."""
        queue = iter(tasks)
        wanted: dict[Any, Task] = {}
        while True:
            room = 2 * max(1, sum(client.nthreads().values())) - len(wanted) if not self.stopping.is_set() else 0
            for _, task in zip(range(room), queue, strict=False):
                wanted[client.submit(attempt, task, self.memory, pure=False, key=_key(task))] = task
            if not wanted:
                return
            for future in self._next(client, list(wanted)):
                task = wanted.pop(future)
                if future.status == "finished":
                    yield future.result()
                elif not self.stopping.is_set():
                    yield Done(task, refused=_reason(future))
            if self.stopping.is_set():
                at_work = {key for keys in client.processing().values() for key in keys}
                idle = [future for future in wanted if future.key not in at_work]
                client.cancel(idle, force=True)
                wanted = {future: task for future, task in wanted.items() if future not in idle}

    def _next(self, client: Any, futures: list[Any]) -> list[Any]:
        """Wait for at least one future to end and return those that have; raise if all workers are gone."""
        from distributed import wait

        alone = time.monotonic()
        with client.as_current():
            while not (ended := [future for future in futures if future.done()]):
                try:
                    wait(futures, timeout=POLL, return_when="FIRST_COMPLETED")
                except TimeoutError:
                    if client.status == "running" and client.nthreads():
                        alone = time.monotonic()
                    elif time.monotonic() - alone > PATIENCE:
                        raise InputError(
                            f"all workers of {self.address!r} are gone; what they sent is stored, so run this again to go on"
                        ) from None
        return ended


def _key(task: Task) -> str:
    content = task.key if isinstance(task, Call) else [list(trial.key) for trial in task.trials]
    return f"giantstep-{identifier(content)}"


def _reason(future: Any) -> str:
    problem = future.exception()
    name = type(problem).__name__
    if name == "KilledWorker":
        return "its workers died again and again, perhaps because they ran out of memory"
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
        lines = str(problem).strip().splitlines()
        raise InputError(f"no Dask scheduler answers at {address!r}: {lines[0] if lines else problem}") from None


def _check(client: Any, address: str) -> None:
    """Check that every worker has this version of the package, first with a function of the standard library."""
    try:
        client.wait_for_workers(1, timeout=FIRST)
    except TimeoutError:
        raise InputError(f"the Dask scheduler at {address!r} has no workers: start some and run this again") from None
    versions = client.run(metadata.version, "giantstep", on_error="return")
    for worker, version in versions.items():
        if isinstance(version, BaseException):
            raise InputError(f"the worker {worker} does not have giantstep: install giantstep {__version__} there")
        if version != __version__:
            raise InputError(
                f"the worker {worker} has giantstep {version}, and this machine has {__version__}: install the same version"
            )
    for worker, code in client.run(digest).items():
        if code != digest():
            raise InputError(
                f"the worker {worker} has different source files of giantstep {__version__}: install the same ones there"
            )
