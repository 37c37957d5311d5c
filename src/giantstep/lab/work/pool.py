"""Pool: an executor with worker processes on this machine, each with its own share of the cores.

A worker that dies (out of memory, killed) is replaced, and its task is tried again. A task whose worker dies ``TRIES`` times is
given up with a sentence. Only this process writes trials; a worker that runs a whole claim writes the claim itself.
"""

import queue
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from giantstep._machine.threads import cores
from giantstep.lab.work._child import Child, ChildEnded
from giantstep.lab.work._perform import Done, Task, attempt

__all__ = ["Pool"]

TRIES = 3


@dataclass
class Pool:
    """``run(tasks)`` yields each task when it is done; ``stop`` lets running tasks finish and starts no more. Workers stay for
    the next ``run`` until ``close``."""

    workers: int
    memory: float | None = None  # GiB for all workers together
    cores: int | None = None  # cores of each worker; by default its share of all cores
    stopping: threading.Event = field(default_factory=threading.Event)
    processes: dict[int, Child] = field(default_factory=dict)

    def stop(self) -> None:
        self.stopping.set()

    def close(self) -> None:
        while self.processes:
            self.processes.popitem()[1].close()

    def run(self, tasks: Iterable[Task]) -> Iterator[Done]:
        waiting: queue.Queue[tuple[Task, int]] = queue.Queue()
        for task in tasks:
            waiting.put((task, 0))
        done: queue.Queue[Done | None | BaseException] = queue.Queue()
        working = min(self.workers, waiting.qsize())
        for index in range(working):
            threading.Thread(target=self._serve, args=(index, waiting, done), daemon=True).start()
        try:
            while working:
                answer = done.get()
                if isinstance(answer, BaseException):
                    raise answer
                if answer is None:
                    working -= 1
                else:
                    yield answer
        except BaseException:
            self.stop()
            raise

    def _serve(self, index: int, waiting: "queue.Queue[tuple[Task, int]]", done: queue.Queue) -> None:
        """The thread of one worker: send it a task and wait for the answer, until no task is left."""
        try:
            while not self.stopping.is_set():
                try:
                    task, tries = waiting.get_nowait()
                except queue.Empty:
                    break
                child = self.processes.get(index) or self.processes.setdefault(index, self._start(index))
                try:
                    child.send(attempt, task, None if self.memory is None else self.memory / self.workers)
                    done.put(child.receive())
                    continue
                except ChildEnded:
                    child.kill()
                    code = self.processes.pop(index).close()
                if tries + 1 < TRIES:
                    waiting.put((task, tries + 1))
                else:
                    sentence = f"its worker process ended {TRIES} times (exit code {code}), perhaps because it ran out of memory"
                    done.put(Done(task, refused=sentence))
        except BaseException as problem:  # ``run`` raises it
            done.put(problem)
        finally:
            done.put(None)

    def _start(self, index: int) -> Child:
        every = cores()
        share = self.cores or max(1, len(every) // self.workers)
        return Child([every[(index * share + k) % len(every)] for k in range(share)])
