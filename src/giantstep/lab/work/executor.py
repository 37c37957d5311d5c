"""Executor: runs tasks in this process, in worker processes of this machine, or on the workers of a Dask scheduler."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from giantstep._given.plain import whole
from giantstep._machine import memory as _memory
from giantstep.errors import InputError
from giantstep.lab.work._perform import Done, Task, attempt

__all__ = ["Executor", "Here", "executor"]


class Executor(Protocol):
    """``run(tasks)`` yields each task when it is done and may be called again; ``stop`` lets running tasks finish and starts
    no more; ``close`` ends the workers."""

    stopping: threading.Event

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Here:
    """Runs one task after the other in this process."""

    memory: float | None = None
    stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        self.stopping.set()

    def close(self) -> None:
        pass

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        for task in tasks:
            if self.stopping.is_set():
                return
            yield attempt(task, self.memory)


def executor(workers: int | None = None, scheduler: str | None = None, memory: float | None = None) -> Executor:
    """Make an executor from a number of worker processes or the address of a scheduler; by default it is this process."""
    if workers is not None and scheduler is not None:
        raise InputError(
            "give either workers (processes of this machine) or a scheduler (which has its own workers), not both"
        )
    count = 1 if workers is None else whole(workers, "workers")
    _memory.given(memory, count)  # at once, and not in every trial
    if scheduler is not None:
        from giantstep.lab.work.cluster import Cluster

        return Cluster(scheduler, memory)
    if workers is None or count == 1:
        return Here(memory)
    from giantstep.lab.work.pool import Pool

    return Pool(workers, memory)
