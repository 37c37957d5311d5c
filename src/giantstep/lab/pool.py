"""Pool: worker processes on this machine, each with its own share of the cores.

A worker that dies (out of memory, killed) is replaced and its block tried again; blocks that kill their worker ``TRIES`` times
are given up with a sentence. Nothing is written by workers: this process has the store to itself.
"""

import os
import pickle
import queue
import subprocess
import sys
import threading
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from giantstep.lab.block import Block
from giantstep.lab.perform import Done

__all__ = ["Pool"]

TRIES = 3


@dataclass
class Pool:
    """``run(blocks)`` yields them done, as they come; ``stop`` lets those at work finish and starts no more."""

    workers: int
    memory: float | None = None  # GiB for all of them
    stopping: threading.Event = field(default_factory=threading.Event)

    def stop(self) -> None:
        self.stopping.set()

    def run(self, blocks: Iterable[Block]) -> Iterator[Done]:
        waiting: queue.Queue[tuple[Block, int]] = queue.Queue()
        for block in blocks:
            waiting.put((block, 0))
        done: queue.Queue[Done | None | BaseException] = queue.Queue()
        count = min(self.workers, waiting.qsize())
        threads = [
            threading.Thread(target=self._serve, args=(i, waiting, done), daemon=True, name=f"giantstep worker {i}")
            for i in range(count)
        ]
        for thread in threads:
            thread.start()
        ended = 0
        try:
            while ended < count:
                answer = done.get()
                if answer is None:
                    ended += 1
                elif isinstance(answer, BaseException):
                    raise answer
                else:
                    yield answer
        finally:
            self.stop()

    def _serve(self, index: int, waiting: "queue.Queue[tuple[Block, int]]", done: queue.Queue) -> None:
        """One thread for one worker: hand it a block, wait for its answer."""
        process = None
        try:
            while not self.stopping.is_set():
                try:
                    block, tries = waiting.get_nowait()
                except queue.Empty:
                    break
                process = process or self._start(index)
                answer = _ask(process, block)
                if answer is not None:
                    done.put(answer)
                    continue
                code, process = process.wait(), None
                if tries + 1 < TRIES:
                    waiting.put((block, tries + 1))
                else:
                    said = f"its worker process ended {TRIES} times (exit code {code}): out of memory?"
                    done.put(Done(block, refused=said))
        except BaseException as problem:  # told where the results are read
            done.put(problem)
        finally:
            if process is not None and process.stdin is not None:
                process.stdin.close()
                process.wait()
            done.put(None)

    def _start(self, index: int) -> "subprocess.Popen[bytes]":
        every = (
            sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else list(range(os.cpu_count() or 1))
        )
        share = max(1, len(every) // self.workers)
        cores = [every[(index * share + k) % len(every)] for k in range(share)]
        memory = "none" if self.memory is None else f"{self.memory / self.workers}"
        command = [sys.executable, "-m", "giantstep.lab.worker", ",".join(map(str, cores)), memory]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=pinned(share))


def pinned(threads: int) -> dict[str, str]:
    """The environment of a process with so many threads for BLAS and for XLA."""
    flags = os.environ.get("XLA_FLAGS", "")
    one = "--xla_cpu_multi_thread_eigen=false" if threads == 1 else ""
    names = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS")
    return {**os.environ, **dict.fromkeys(names, str(threads)), "XLA_FLAGS": f"{flags} {one}".strip()}


def _ask(process: "subprocess.Popen[bytes]", block: Block) -> Done | None:
    """The answer of a worker, or None if it is gone."""
    assert process.stdin is not None and process.stdout is not None
    try:
        pickle.dump(block, process.stdin)
        process.stdin.flush()
        return pickle.load(process.stdout)
    except (EOFError, BrokenPipeError, ConnectionError, pickle.UnpicklingError):
        process.kill()
        return None
