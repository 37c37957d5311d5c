"""Pool: worker processes on this machine, each with its own share of the cores.

A worker that dies (out of memory, killed) is replaced and its task tried again; one that ends its worker ``TRIES`` times is given
up with a sentence. Trials are written by this process alone; a worker that has a whole claim writes it itself.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from giantstep.lab.work.perform import Done, Task

__all__ = ["Pool"]

TRIES = 3


@dataclass
class Pool:
    """``run(tasks)`` yields them done, as they come; ``stop`` lets those at work finish and starts no more. Workers stay for the
    next ``run`` until ``close``."""

    workers: int
    memory: float | None = None  # GiB for all of them
    cores: int | None = None  # of each; by default its share of all
    stopping: threading.Event = field(default_factory=threading.Event)
    processes: "dict[int, subprocess.Popen[bytes]]" = field(default_factory=dict)

    def stop(self) -> None:
        self.stopping.set()

    def close(self) -> None:
        while self.processes:
            _ended(self.processes.popitem()[1])

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
        """One thread for one worker: hand it a task, wait for its answer."""
        try:
            while not self.stopping.is_set():
                try:
                    task, tries = waiting.get_nowait()
                except queue.Empty:
                    break
                process = self.processes.get(index) or self.processes.setdefault(index, self._start(index))
                answer = _ask(process, task)
                if answer is not None:
                    done.put(answer)
                    continue
                code = _ended(self.processes.pop(index))
                if tries + 1 < TRIES:
                    waiting.put((task, tries + 1))
                else:
                    sentence = f"its worker process ended {TRIES} times (exit code {code}): out of memory?"
                    done.put(Done(task, refused=sentence))
        except BaseException as problem:  # told where the results are read
            done.put(problem)
        finally:
            done.put(None)

    def _start(self, index: int) -> "subprocess.Popen[bytes]":
        every = (
            sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
        )
        share = self.cores or max(1, len(every) // self.workers)
        cores = [every[(index * share + k) % len(every)] for k in range(share)]
        memory = "none" if self.memory is None else f"{self.memory / self.workers}"
        command = [sys.executable, "-m", "giantstep.lab.work.worker", ",".join(map(str, cores)), memory]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=pinned(share))


def pinned(threads: int) -> dict[str, str]:
    """The environment of a process with so many threads for BLAS and for XLA."""
    flags = os.environ.get("XLA_FLAGS", "")
    one = "--xla_cpu_multi_thread_eigen=false" if threads == 1 else ""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "XLA_FLAGS": f"{flags} {one}".strip()}


def _ended(process: "subprocess.Popen[bytes]") -> int:
    """The exit code of a worker, which ends when its input does."""
    for pipe in (process.stdin, process.stdout):
        try:
            if pipe is not None:
                pipe.close()
        except BrokenPipeError:  # what it was not read
            pass
    return process.wait()


def _ask(process: "subprocess.Popen[bytes]", task: Task) -> Done | None:
    """The answer of a worker, or None if it is gone."""
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump(task, process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)
    except (EOFError, BrokenPipeError, ConnectionError, pickle.UnpicklingError):
        process.kill()
        return None
