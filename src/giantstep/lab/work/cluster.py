"""Cluster: an executor on the workers of a Dask scheduler. They send outcomes back, and this process writes the store."""

import re
import threading
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from importlib import metadata
from typing import Any

from giantstep import __version__
from giantstep._given.plain import identifier
from giantstep.errors import InputError
from giantstep.lab.store._digest import digest
from giantstep.lab.work._call import Call
from giantstep.lab.work._perform import Done, Task, attempt

__all__ = ["Cluster"]

TIMEOUT = 15  # seconds to reach the scheduler
FIRST = 15  # seconds to wait for a first worker
PATIENCE = 60  # seconds without any worker before the run gives up
POLL = 2  # seconds between checks
FAREWELL = 2  # seconds for the end of a connection, which may be dead


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
            with suppress(Exception):  # the scheduler may be gone
                self.client.close(timeout=FAREWELL)
        self.client = None

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        if self.client is None:
            self.client = _client(self.address)
            with _connected(self.address):
                _check(self.client, self.address)
        with _connected(self.address):
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
                elif future.status in ("cancelled", "lost") and not self.stopping.is_set():
                    raise _gone(f"the Dask scheduler at {self.address!r} is gone")
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
                        raise _gone(f"all workers of {self.address!r} are gone") from None
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


def _gone(what: str) -> InputError:
    return InputError(f"{what}; the results that arrived are stored: run this again to continue")


@contextmanager
def _connected(address: str) -> Iterator[None]:
    """Say in one sentence that the connection is lost; Dask raises several kinds of errors then."""
    from concurrent.futures import CancelledError

    try:
        yield
    except (CancelledError, OSError) as problem:  # CommClosedError and TimeoutError are OSErrors
        if isinstance(problem, FileNotFoundError | PermissionError):
            raise
        raise _gone(f"the Dask scheduler at {address!r} is gone") from None


def _client(address: str) -> Any:
    if not re.fullmatch(
        r"((tcp|tls|ws|wss|ucx)://)?[^\s/:]+:[0-9]+|inproc://.+|(tcp|tls)://\[[0-9a-fA-F:]+\]:[0-9]+", address
    ):
        raise InputError(f"no Dask scheduler answers at {address!r}: write an address such as tcp://host:8786")
    try:
        from distributed import Client
    except ImportError:
        raise InputError("--scheduler needs Dask: pip install 'giantstep[cluster]'") from None
    client = Client.__new__(Client)  # known also where it cannot connect, so that nothing waits for its end
    try:
        client.__init__(address, timeout=TIMEOUT, set_as_default=False)
        return client
    except Exception as problem:  # whatever listens there may send anything
        client.status = "closed"
        lines = str(problem).strip().splitlines()
        reason = lines[0] if lines and isinstance(problem, OSError) else "something else listens there"
        raise InputError(f"no Dask scheduler answers at {address!r}: {reason}") from None


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
