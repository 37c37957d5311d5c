"""Executor: where tasks are performed. In this process, in processes of this machine, or by the workers of a Dask scheduler."""

import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Protocol

from giantstep._machine.plain import whole
from giantstep.errors import InputError
from giantstep.lab.work.perform import Done, Task, attempt

__all__ = ["Executor", "Here", "executor"]


class Executor(Protocol):
    """``run(tasks)`` yields them done, as they come, and may be called again; ``stop`` lets those at work finish and starts no
    more; ``close`` lets the workers go."""

    stopping: threading.Event

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]: ...

    def stop(self) -> None: ...

    def close(self) -> None: ...


@dataclass
class Here:
    """One task after the other in this process."""

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
    """By the number of worker processes, or by the address of a scheduler; by default in this process."""
    if workers is not None and scheduler is not None:
        raise InputError("workers are processes of this machine, a scheduler has its own: give one of the two")
    if scheduler is not None:
        from giantstep.lab.work.cluster import Cluster

        return Cluster(scheduler, memory)
    if workers is None or whole(workers, "workers") == 1:
        return Here(memory)
    from giantstep.lab.work.pool import Pool

    return Pool(workers, memory)
